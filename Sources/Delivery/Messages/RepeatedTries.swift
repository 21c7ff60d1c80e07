internal import Foundation

/// The result of one attempt to send a message.
enum MessageTry: Sendable {
    case ended(MessageOutcome)
    /// A temporary failure; a later attempt may succeed.
    case retry(reason: String, after: Duration?)
}

/// Repeats attempts until the message is delivered, refused or expired, or the attempts run out.
struct RepeatedTries: Sendable {
    let retry: RetryPolicy
    let timing: PushTiming

    /// Returns the outcome at the latest soon after `expiresAt`.
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
