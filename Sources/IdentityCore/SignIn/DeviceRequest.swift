package import Foundation

/// What a device without a browser asked for and waits for; a part of its ``SignInTransaction``, which ends with the person's decision.
package struct DeviceRequest: Sendable, Equatable, Codable {
    /// Seconds that a person has (oauth reference 3.5).
    package static let lifetime: TimeInterval = 600

    /// The digest of the code that it shows.
    package var userCode: [UInt8]
    /// What the person who connected it had proved.
    package var authentication: AuthenticationContext?
    /// The session that they did it in: as long as the device got nothing, it ends with that.
    package var session: String?

    package init(userCode: [UInt8], authentication: AuthenticationContext? = nil, session: String? = nil) {
        self.userCode = userCode
        self.authentication = authentication
        self.session = session
    }
}

/// The device that a sign-in on the pages is for; a part of its ``HostedSignIn``.
package struct HostedDevice: Sendable, Equatable, Codable {
    /// What the person decided.
    package enum Decision: String, Sendable, Codable {
        case allowed, denied
        /// Too late: the code's time was over, or somebody else had decided.
        case late
    }

    /// The transaction of the device.
    package var transactionID: String
    /// The code that it shows, for the person to compare.
    package var userCode: String
    package var decision: Decision?

    package init(transactionID: String, userCode: String, decision: Decision? = nil) {
        self.transactionID = transactionID
        self.userCode = userCode
        self.decision = decision
    }
}
