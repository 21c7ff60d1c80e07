public import Foundation

/// How a push ended. Every push ends in exactly one of these.
public enum PushOutcome: Sendable, Hashable {
    /// The gateway took it; whether the device shows it, nobody says. The id is the one that the gateway knows it by.
    case delivered(id: String)
    /// The device token is good for nothing any more: push to it no more, unless it was registered after the given time. Nil says that the
    /// token never was one for this topic and environment.
    case tokenDead(since: Date?)
    /// The gateway refused it for a reason that the next try would meet again: credentials, configuration or a mistake of ours. An operator
    /// should hear of it.
    case refused(reason: String, status: Int)
    /// It was tried, and time or tries ran out; or it had expired before it was its turn.
    case gaveUp(reason: String)
    /// It was never tried: the queue was full, or ended.
    case dropped
}
