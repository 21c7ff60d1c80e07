public import AuthFoundation

extension OktaFactorPush {
    /// Asks again and again for what became of the activation or of the push, until it is decided.
    ///
    /// A rate limit of the server, or a connection that fails a few times, only slows it down. It ends at once when its task is cancelled, and
    /// when the transaction is.
    ///
    /// - Parameters:
    ///   - interval: How many seconds to wait between two questions; three to five are meant, and less than one is one.
    ///   - count: How often to ask at most.
    ///   - clock: What waits.
    ///   - onWaiting: Is called with each status that still waits, on the main actor: its factor may have a number to show
    ///     (``OktaFactorPush/correctAnswer``).
    /// - Returns: The status after the decision: another one, or the same with `.rejected` or `.timeout`; the last that waits if it took longer.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled, or the transaction meanwhile.
    @MainActor
    public func pollFactorResult(
        every interval: Double = 4, atMost count: Int = 150, clock: any OAuth2Clock = DeviceClock(),
        onWaiting: (@MainActor (OktaAuthStatus) -> Void)? = nil
    ) async throws -> OktaAuthStatus {
        var asked = 1
        var failures = 0
        while true {
            do {
                let status = try await checkFactorResult()
                failures = 0
                guard status.factorResult == .waiting, asked < count else { return status }
                onWaiting?(status)
            } catch OktaError.serverRespondedWithError(let refusal) where refusal.errorCode == "E0000047" && asked < count {
                // Too many requests: what waits goes on waiting.
            } catch OktaError.connectionError(let error) where asked < count && failures < 5 {
                // Phones change networks.
                failures += 1
                if error is CancellationError { throw error }
            }
            asked += 1
            try await clock.sleep(for: max(interval, 1))
        }
    }
}
