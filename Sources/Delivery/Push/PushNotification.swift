package import Foundation
internal import JOSE

/// One push to one device (device-authenticator reference 9.2).
///
/// Its descriptions show neither the device token nor the payload.
package struct PushNotification: Sendable {
    /// What kind of push it is.
    package enum PushType: String, Sendable, Hashable {
        /// Shown to the person.
        case alert
        /// Wakes the app only; goes with ``Priority/whenConvenient``.
        case background
    }

    /// How much the gateway hurries.
    package enum Priority: Int, Sendable, Hashable {
        /// At once.
        case immediate = 10
        /// When it suits the device's battery.
        case whenConvenient = 5
    }

    /// The device, in lower-case hexadecimal.
    package var deviceToken: String
    /// The bundle id of the app.
    package var topic: String
    /// The world that the device token belongs to.
    package var environment: PushEnvironment
    /// A JSON object, at most 4096 bytes.
    package var payload: [UInt8]
    /// Nobody wants the push after that.
    package var expiresAt: Date
    /// The push's own id, a UUID in lower case.
    package var id: String
    /// A later push with the same text replaces this one, 64 bytes at most; nil for none.
    package var collapseID: String?
    /// What kind of push it is.
    package var pushType: PushType
    /// How much the gateway hurries.
    package var priority: Priority
    /// What the provider signs in with.
    package var credentials: APNsCredentials

    /// Describes a push.
    ///
    /// - Parameters:
    ///   - deviceToken: The device, in lower-case hexadecimal.
    ///   - topic: The bundle id of the app.
    ///   - environment: The world that the device token belongs to.
    ///   - payload: A JSON object, at most 4096 bytes.
    ///   - expiresAt: When nobody wants the push any more; it is neither sent nor kept after that.
    ///   - id: The push's own id, a UUID in lower case.
    ///   - collapseID: What a later push replaces this one by, 64 bytes at most; by default nothing.
    ///   - pushType: What kind of push it is; by default one that is shown.
    ///   - priority: How much the gateway hurries; by default it does.
    ///   - credentials: What the provider signs in with.
    package init(
        deviceToken: String, topic: String, environment: PushEnvironment, payload: [UInt8], expiresAt: Date, id: String,
        collapseID: String? = nil, pushType: PushType = .alert, priority: Priority = .immediate, credentials: APNsCredentials
    ) {
        self.deviceToken = deviceToken
        self.topic = topic
        self.environment = environment
        self.payload = payload
        self.expiresAt = expiresAt
        self.id = id
        self.collapseID = collapseID
        self.pushType = pushType
        self.priority = priority
        self.credentials = credentials
    }
}

extension PushNotification: Redacted {
    /// The push's id, topic and environment.
    package var description: String { "PushNotification(\(id), \(topic), \(environment.rawValue))" }
}

/// Which of the push service's two worlds a device token belongs to (device-authenticator reference 9.1).
///
/// A token of one is unknown in the other.
public enum PushEnvironment: String, Sendable, Hashable, CaseIterable {
    /// Apps from the store and test distribution.
    case production
    /// Apps that a developer's machine signed.
    case development
}

/// How a push ended. Every push ends in exactly one of these.
package enum PushOutcome: Sendable, Hashable {
    /// The gateway accepted it; whether the device shows it is unknown. The id is the gateway's.
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

/// Brings pushes to devices.
package protocol PushSender: Sendable {
    /// Sends one push, and tries again as long as that makes sense.
    ///
    /// Returns soon after the push expired or the task was cancelled, at the latest. Safe from any task, many at once. Where an answer is
    /// lost on its way, the push may arrive twice, with the same id.
    ///
    /// - Parameter notification: What to send, and to whom.
    /// - Returns: How it ended.
    func send(_ notification: PushNotification) async -> PushOutcome
}
