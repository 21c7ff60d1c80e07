internal import Foundation

/// What a device without a browser asked for and waits for; a part of its ``SignInTransaction``, which ends with the person's decision.
struct DeviceRequest: Sendable, Equatable, Codable {
    /// Seconds that a person has (oauth reference 3.5).
    static let lifetime: TimeInterval = 600

    /// The digest of the code that it shows.
    var userCode: [UInt8]
    /// What the person who connected it had proved.
    var authentication: AuthenticationContext?
    /// The session that they did it in: as long as the device got nothing, it ends with that.
    var session: String?
}

/// The device that a sign-in on the pages is for; a part of its ``HostedSignIn``.
struct HostedDevice: Sendable, Equatable, Codable {
    /// What the person decided.
    enum Decision: String, Sendable, Codable {
        case allowed, denied
        /// Too late: the code's time was over, or somebody else had decided.
        case late
    }

    /// The transaction of the device.
    var transactionID: String
    /// The code that it shows, for the person to compare.
    var userCode: String
    var decision: Decision?
}
