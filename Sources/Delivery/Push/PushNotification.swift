package import Foundation
internal import JOSE

/// One push to one device (Documentation/Protocol/Devices.md §9.2). Descriptions show neither the device token nor the payload.
package struct PushNotification: Sendable {
    package enum PushType: String, Sendable, Hashable {
        /// A push that the device shows to the user.
        case alert
        /// A push that only wakes the app. Its priority is ``Priority/whenConvenient``.
        case background
    }

    /// The delivery priority at the gateway (`apns-priority`).
    package enum Priority: Int, Sendable, Hashable {
        /// The gateway delivers the push at once.
        case immediate = 10
        /// The gateway may delay the push to save the device's battery.
        case whenConvenient = 5
    }

    /// The device token in lower-case hexadecimal.
    package var deviceToken: String
    /// The topic at the gateway (`apns-topic`): the app's bundle ID.
    package var topic: String
    package var environment: PushEnvironment
    /// The payload: a JSON object of at most 4096 bytes.
    package var payload: [UInt8]
    /// The time after which the push is neither sent nor stored by the gateway.
    package var expiresAt: Date
    /// The push's ID: a lower-case UUID.
    package var id: String
    /// The collapse ID, at most 64 bytes; `nil` for none. A later push with the same collapse ID replaces this push.
    package var collapseID: String?
    package var pushType: PushType
    package var priority: Priority
    package var credentials: APNsCredentials

    package init(
        deviceToken: String, topic: String, environment: PushEnvironment, payload: [UInt8], expiresAt: Date, id: String,
        collapseID: String? = nil, pushType: PushType = .alert, priority: Priority = .immediate, credentials: APNsCredentials
    ) {
        (self.deviceToken, self.topic, self.environment, self.payload) = (deviceToken, topic, environment, payload)
        (self.expiresAt, self.id, self.collapseID, self.pushType, self.priority) = (expiresAt, id, collapseID, pushType, priority)
        self.credentials = credentials
    }
}

extension PushNotification: Redacted {
    package var description: String { "PushNotification(\(id), \(topic), \(environment.rawValue))" }
}

/// The push service environment that a device token belongs to (Documentation/Protocol/Devices.md §9.1). A token is valid in one
/// environment only.
public enum PushEnvironment: String, Sendable, Hashable, CaseIterable {
    /// Apps from the App Store and from test distribution.
    case production
    /// Apps with a development signature.
    case development
}

/// The final outcome of a push. Each push has exactly one.
package enum PushOutcome: Sendable, Hashable {
    /// The gateway accepted the push and assigned this ID. Delivery to the device is not confirmed.
    case delivered(id: String)
    /// The device token is invalid. Do not use it again unless the device registered it after `since`. `nil` means that the token was never
    /// valid for this topic and environment.
    case tokenDead(since: Date?)
    /// The gateway refused the push, and a retry would fail for the same reason: credentials, configuration or a bug. An operator must
    /// solve the problem.
    case refused(reason: String, status: Int)
    /// Sending was given up: the push expired, the attempts ran out, or the sender was cancelled, shut down or unable to sign its token.
    case gaveUp(reason: String)
    /// No attempt was made: the queue was full or shut down.
    case dropped

    /// The outcome's name for logs and metrics.
    var word: String {
        switch self {
        case .delivered: "delivered"
        case .tokenDead: "token dead"
        case .refused: "refused"
        case .gaveUp: "gave up"
        case .dropped: "dropped"
        }
    }
}

package protocol PushSender: Sendable {
    /// Sends one push, and retries after temporary failures. Returns soon after the push expired or the task was cancelled. Safe to call
    /// concurrently from any task. If a response is lost, the push may arrive twice, with the same ID.
    func send(_ notification: PushNotification) async -> PushOutcome
}
