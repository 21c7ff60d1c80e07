internal import Foundation

/// What one try to send a message came to.
enum MessageTry: Sendable {
    case ended(MessageOutcome)
    /// It may go better in a moment.
    case retry(reason: String, after: Duration?)
}

/// Tries until a message is sent, refused, or of no use any more.
struct RepeatedTries: Sendable {
    let retry: RetryPolicy
    let timing: PushTiming

    /// - Returns: How it ended, at the latest soon after `expiresAt`.
    func run(until expiresAt: Date, _ attempt: () async -> MessageTry) async -> MessageOutcome {
        var last: String?
        var tries = 0
        func gaveUp(_ what: String) -> MessageOutcome { .gaveUp(reason: last.map { "\(what), after \($0)" } ?? what) }
        while !Task.isCancelled {
            guard timing.now() < expiresAt else { return gaveUp("expired") }
            tries += 1
            switch await attempt() {
            case .ended(let outcome): return outcome
            case .retry(let reason, let after):
                last = reason
                guard let pause = retry.pause(afterTries: tries, retryAfter: after, jitter: timing.jitter()) else {
                    return gaveUp("too many tries")
                }
                guard timing.now().addingTimeInterval(pause / .seconds(1)) < expiresAt else { return gaveUp("expires before the next try") }
                do {
                    try await timing.sleep(pause)
                } catch {
                    return gaveUp("cancelled")
                }
            }
        }
        return gaveUp("cancelled")
    }
}
