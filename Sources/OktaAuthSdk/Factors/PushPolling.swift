public import AuthFoundation

extension OktaFactorPush {
    /// Polls the result of the activation or the push until the result is no longer `.waiting`.
    /// Rate limits and up to five consecutive connection errors only delay the result. Polling ends at once when the task or the
    /// transaction is cancelled.
    /// - Parameters:
    ///   - interval: The seconds between two requests, at least 1; use 3 to 5.
    ///   - count: The maximum number of requests.
    ///   - clock: The clock for the wait between requests.
    ///   - onWaiting: Called on the main actor with each waiting status. The status's factor may have a number to show
    ///     (``OktaFactorPush/correctAnswer``).
    /// - Returns: The status after the decision: the next status, or the same status with the result `.rejected` or `.timeout`. After
    ///   `count` requests, the last waiting status.
    /// - Throws: `OktaError`; `CancellationError` if the task or the transaction was cancelled.
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
                // Too many requests: polling continues.
            } catch OktaError.connectionError(let error) where asked < count && failures < 5 {
                // Polling continues, because phones change networks.
                failures += 1
                if error is CancellationError { throw error }
            }
            asked += 1
            try await clock.sleep(for: max(interval, 1))
        }
    }
}
