internal import JOSE

/// An authenticator that confirms sign-ins by a push to the user's device: Okta Verify or the organization's own app
/// (Documentation/Protocol/Devices.md §1.1).
package struct PushAuthenticator: Sendable, Equatable, Codable {
    /// The app, which determines the metadata's `key` and the `amr` values.
    package enum Kind: String, Sendable, Codable {
        case customApp = "custom_app"
        case oktaVerify = "okta_verify"
    }

    /// The rule for keys that the user must unlock.
    package enum UserVerification: String, Sendable, Codable {
        /// An enrollment has a key that the user unlocks, if the device supports it.
        case preferred = "PREFERRED"
        /// Enrollments and approvals without a key that the user unlocks are rejected.
        case required = "REQUIRED"
    }

    /// The condition under which the app shows three numbers, of which the user must pick the one that the sign-in shows.
    package enum NumberChallenge: String, Sendable, Codable {
        case never
        /// Only if the user signs in from a new address or device.
        case risky
        case always
    }

    /// The credentials for Apple's push gateway (Documentation/Protocol/Devices.md §9.1).
    package struct Credentials: Sendable, Equatable, Codable {
        /// Apple's id of the team, ten characters.
        package var teamID: String
        /// The id of the signing key, ten characters.
        package var keyID: String
        /// The signing key: a P-256 private key in PEM. Encrypted in the store; never displayed.
        package var privateKey: String?
        /// The bundle id of the released app.
        package var topic: String
        /// The bundle id of the app under development; `nil` if the app has the bundle id of the released app.
        package var developmentTopic: String?

        package init(teamID: String, keyID: String, privateKey: String?, topic: String, developmentTopic: String? = nil) {
            (self.teamID, self.keyID, self.privateKey, self.topic) = (teamID, keyID, privateKey, topic)
            self.developmentTopic = developmentTopic
        }
    }

    /// The authenticator's id: `aut` and a unique suffix.
    package var id: String
    package var kind: Kind
    /// The name that users see.
    package var name: String
    /// The client id of the linked application, whose tokens permit enrolling devices.
    package var clientID: String
    /// Whether push is on. If off, no device is enrolled or challenged, and responses are rejected.
    package var isActive: Bool
    package var userVerification: UserVerification
    package var numberChallenge: NumberChallenge
    /// The credentials for pushes; with `nil` no pushes are sent, and devices fetch pending challenges.
    package var credentials: Credentials?

    package init(
        id: String, kind: Kind = .customApp, name: String, clientID: String, isActive: Bool = true,
        userVerification: UserVerification = .preferred, numberChallenge: NumberChallenge = .risky, credentials: Credentials? = nil
    ) {
        (self.id, self.kind, self.name, self.clientID, self.isActive) = (id, kind, name, clientID, isActive)
        (self.userVerification, self.numberChallenge, self.credentials) = (userVerification, numberChallenge, credentials)
    }

    /// The `amr` values that an approved push adds (Documentation/Protocol/OAuth.md §4.2).
    var methods: [String] {
        switch kind {
        case .customApp: ["swk"]
        case .oktaVerify: ["okta_verify", "swk"]
        }
    }
}

extension PushAuthenticator.Credentials: Redacted {
    /// Contains the ids, not the key.
    package var description: String { "Credentials(\(teamID), \(keyID), \(topic))" }
}
