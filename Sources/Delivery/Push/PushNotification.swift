public import Foundation
public import JOSE

/// One push to one device (device-authenticator reference 9.2).
///
/// Its descriptions show neither the device token nor the payload.
public struct PushNotification: Sendable {
    /// What kind of push it is.
    public enum PushType: String, Sendable, Hashable {
        /// Shown to the person.
        case alert
        /// Wakes the app only; goes with ``Priority/whenConvenient``.
        case background
    }

    /// How much the gateway hurries.
    public enum Priority: Int, Sendable, Hashable {
        /// At once.
        case immediate = 10
        /// When it suits the device's battery.
        case whenConvenient = 5
    }

    /// The device, in lower-case hexadecimal.
    public var deviceToken: String
    /// The bundle id of the app.
    public var topic: String
    /// The world that the device token belongs to.
    public var environment: PushEnvironment
    /// A JSON object, at most 4096 bytes.
    public var payload: [UInt8]
    /// Nobody wants the push after that.
    public var expiresAt: Date
    /// The push's own id, a UUID in lower case.
    public var id: String
    /// A later push with the same text replaces this one, 64 bytes at most; nil for none.
    public var collapseID: String?
    /// What kind of push it is.
    public var pushType: PushType
    /// How much the gateway hurries.
    public var priority: Priority
    /// What the provider signs in with.
    public var credentials: APNsCredentials

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
    public init(
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
    public var description: String { "PushNotification(\(id), \(topic), \(environment.rawValue))" }
}
