internal import JOSE

/// An authenticator that confirms sign-ins by a push to a person's device: Okta Verify, or an app of the organization's own, which
/// are two kinds of one thing (device-authenticator reference 1.1).
package struct PushAuthenticator: Sendable, Equatable, Codable {
    /// Which app it is; decides the metadata's `key` and the `amr` values.
    package enum Kind: String, Sendable, Codable {
        /// An app of the organization's own.
        case customApp = "custom_app"
        /// Okta Verify.
        case oktaVerify = "okta_verify"
    }

    /// Whether an enrolment must have a key that the person unlocks.
    package enum UserVerification: String, Sendable, Codable {
        /// It has one if the device can.
        case preferred = "PREFERRED"
        /// Without one nothing is enrolled or approved.
        case required = "REQUIRED"
    }

    /// When the person has to pick the number that the app shows.
    package enum NumberChallenge: String, Sendable, Codable {
        /// No numbers.
        case never
        /// When a person signs in from an address or a device that they did not sign in from before.
        case risky
        /// At every sign-in.
        case always
    }

    /// What pushes are sent with (device-authenticator reference 9.1).
    package struct Credentials: Sendable, Equatable, Codable {
        /// Apple's id of the team, ten characters.
        package var teamID: String
        /// The id of the signing key, ten characters.
        package var keyID: String
        /// The signing key: a P-256 private key in PEM. Encrypted in the store; never shown.
        package var privateKey: String?
        /// The bundle id of the released app.
        package var topic: String
        /// The bundle id of the app under development; nil for the same.
        package var developmentTopic: String?

        /// Describes credentials.
        package init(teamID: String, keyID: String, privateKey: String?, topic: String, developmentTopic: String? = nil) {
            self.teamID = teamID
            self.keyID = keyID
            self.privateKey = privateKey
            self.topic = topic
            self.developmentTopic = developmentTopic
        }
    }

    /// `aut` and what tells it from others; unique.
    package var id: String
    /// Which app it is.
    package var kind: Kind
    /// The name that people see.
    package var name: String
    /// The client id of the application that is linked to it: whose tokens enrol devices.
    package var clientID: String
    /// Whether push is on. Off: nothing is enrolled, sent or answered.
    package var isActive: Bool
    /// Whether enrolments must have a user verification key.
    package var userVerification: UserVerification
    /// When the person has to pick a number.
    package var numberChallenge: NumberChallenge
    /// What pushes are sent with; nil sends none, and devices fetch what waits for them.
    package var credentials: Credentials?

    /// Describes an authenticator.
    package init(
        id: String, kind: Kind = .customApp, name: String, clientID: String, isActive: Bool = true,
        userVerification: UserVerification = .preferred, numberChallenge: NumberChallenge = .risky, credentials: Credentials? = nil
    ) {
        self.id = id
        self.kind = kind
        self.name = name
        self.clientID = clientID
        self.isActive = isActive
        self.userVerification = userVerification
        self.numberChallenge = numberChallenge
        self.credentials = credentials
    }

    /// What an approved push adds to `amr` (oauth reference 4.2).
    var methods: [String] {
        switch kind {
        case .customApp: ["swk"]
        case .oktaVerify: ["okta_verify", "swk"]
        }
    }
}

extension PushAuthenticator.Credentials: Redacted {
    /// The key's id; never the key.
    package var description: String { "Credentials(\(teamID), \(keyID), \(topic))" }
}
