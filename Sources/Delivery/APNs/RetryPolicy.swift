/// How often a push is tried, and how long the pauses are.
///
/// The n-th pause is between half and the whole of `base` times 2ⁿ⁻¹, `cap` at most, and never shorter than what the gateway asked for
/// (`Retry-After`).
public struct RetryPolicy: Sendable, Hashable {
    /// The longest first pause.
    public var base: Duration
    /// The longest pause.
    public var cap: Duration
    /// The most tries, the first one included; at least 1.
    public var attempts: Int

    /// Sets the policy.
    ///
    /// - Parameters:
    ///   - base: The longest first pause; by default half a second.
    ///   - cap: The longest pause; by default 30 seconds.
    ///   - attempts: The most tries, the first one included, at least 1; by default 10, which take some two minutes.
    public init(base: Duration = .milliseconds(500), cap: Duration = .seconds(30), attempts: Int = 10) {
        self.base = base
        self.cap = cap
        self.attempts = max(attempts, 1)
    }

    /// The pause after a failed try.
    ///
    /// - Parameters:
    ///   - tries: How many tries there were, from 1.
    ///   - retryAfter: What the gateway asked for.
    ///   - jitter: A number from 0 up to 1.
    /// - Returns: The pause; nil if that was the last try.
    func pause(afterTries tries: Int, retryAfter: Duration?, jitter: Double) -> Duration? {
        guard tries < attempts else { return nil }
        // Beyond 2³⁰ every cap is reached.
        let whole = min(base * (1 << min(tries - 1, 30)), cap)
        let pause = whole / 2 + whole / 2 * min(max(jitter, 0), 1)
        return max(pause, retryAfter ?? .zero)
    }
}
