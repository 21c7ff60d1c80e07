package import Foundation
package import JOSE

/// A user as defined in the org file.
package struct UserDefinition: Sendable, Equatable, Codable {
    package var login: String
    /// Profile attributes by their OpenID Connect claim names (`given_name`, `email`, …) or custom names.
    package var profile: [String: JSONValue]
    package var groups: [String]
    /// The initial password; `nil` for none.
    package var password: String?
    /// The initial secret of the authenticator app, in Base32; `nil` for none. Encrypted in the store.
    package var totpSecret: String?
    /// The HOTP device of the user; `nil` for none.
    package var hardwareDevice: HardwareDevice?
    package var status: User.Status
    /// Whether the user must change the password at the next sign-in with it, because others may know it.
    package var mustChangePassword: Bool {
        get { isPasswordDue ?? false }
        set { isPasswordDue = newValue ? true : nil }
    }

    /// The storage of ``mustChangePassword``: `nil` for `false`, and in records of earlier versions.
    private var isPasswordDue: Bool?

    /// The definition as it is stored, without secrets. A new field that holds a secret must be set to `nil` here.
    var withoutSecrets: UserDefinition {
        var definition = self
        (definition.password, definition.totpSecret, definition.hardwareDevice) = (nil, nil, nil)
        return definition
    }

    package struct HardwareDevice: Sendable, Equatable, Codable, Redacted {
        /// The seed in Base32, at least 16 bytes; encrypted in the store.
        package var secret: String
        /// The identifier of the device, such as its serial number.
        package var credentialID: String
        /// The counter of the device's next code, at least 0.
        package var counter: Int64

        package init(secret: String, credentialID: String, counter: Int64 = 0) {
            (self.secret, self.credentialID, self.counter) = (secret, credentialID, counter)
        }
    }

    package init(
        login: String, profile: [String: JSONValue] = [:], groups: [String] = [], password: String? = nil, totpSecret: String? = nil,
        hardwareDevice: HardwareDevice? = nil, status: User.Status = .active, mustChangePassword: Bool = false
    ) {
        (self.login, self.profile, self.groups, self.password, self.totpSecret) = (login, profile, groups, password, totpSecret)
        (self.hardwareDevice, self.status, self.mustChangePassword) = (hardwareDevice, status, mustChangePassword)
    }
}

/// A user in the store.
package struct User: Sendable, Equatable, Codable {
    package enum Status: String, Sendable, Codable {
        case active
        /// Cannot sign in until the account is activated with a token.
        case staged
        /// Cannot sign in until an administrator permits it.
        case suspended
        /// Cannot sign in; all earlier grants are closed permanently. The record is kept.
        case deactivated
    }

    /// The user's id: `00u` and 17 characters. It is the `sub` of ID tokens and the `uid` of access tokens.
    package var id: String
    /// The user name, compared without regard to case.
    package var login: String
    package var status: Status
    /// Profile attributes by claim name.
    package var profile: [String: JSONValue]
    package var groups: [String]
    /// The password's hash with its parameters; `nil` without a password.
    package var passwordHash: String?
    /// The time when the password was last set; `nil` if never. A change closes earlier grants.
    package var passwordChangedAt: Date?
    /// Whether the password must be changed at the next sign-in with it.
    package internal(set) var mustChangePassword: Bool {
        get { isPasswordDue ?? false }
        set { isPasswordDue = newValue ? true : nil }
    }
    /// The hashes of earlier passwords that the policy remembers, the latest first; `nil` for none.
    var earlierPasswords: [String]?
    /// The number of consecutive wrong passwords from unknown origins, from which the user has never signed in.
    package var failedAttempts: Int
    /// The numbers of consecutive wrong answers to other first factors from unknown origins, by factor; `nil` for none.
    var failedCodes: [String: Int]?
    /// The numbers of consecutive wrong answers to second factors from unknown origins, by factor; `nil` for none.
    var failedFurther: [String: Int]?
    /// The wrong answers to the user's question at any endpoint since the last correct answer; `nil` for none.
    var guessedAnswers: RecoveryGuesses?
    /// Wrong recovery codes since the last correct one; `nil` for none.
    package var guessedCodes: RecoveryGuesses?
    /// The time when wrong answers from unknown origins locked the account for these origins; `nil` if it is not locked for them.
    package var lockedAt: Date?
    /// The time when the account was last deactivated; `nil` if never. Earlier grants stay closed after a reactivation.
    package var deactivatedAt: Date?
    /// The time when all sessions and pending sign-ins were last ended at once; `nil` if never.
    package var sessionsEndedAt: Date?
    /// The time when all grants were last closed at once; `nil` if never.
    var grantsEndedAt: Date?
    /// The id of the account's latest pending activation; `nil` for none.
    package var activationID: String?
    /// The digests of the origins of sign-ins that the user approved by push, the latest last; `nil` for none.
    var knownOrigins: [String]?
    /// The times of pushes in the last day that unknown origins requested without a proof and that were not approved; `nil` for none.
    var strangersPushes: [Date]?
    /// The networks and devices from which the user completed a sign-in, the most recent last; `nil` for none.
    var usedOrigins: [KnownOrigin]?
    /// The offers that the user declined and that are not repeated; `nil` for none.
    var declinedOffers: Set<SetupOffer>?
    package var createdAt: Date
    /// The time when the profile last changed.
    package var updatedAt: Date

    /// The storage of ``mustChangePassword``: `nil` for `false`, and in records of earlier versions.
    private var isPasswordDue: Bool?

    /// Creates a user who has never signed in.
    package init(
        id: String, login: String, status: Status = .active, profile: [String: JSONValue] = [:], groups: [String] = [],
        passwordHash: String? = nil, createdAt: Date
    ) {
        (self.id, self.login, self.status, self.profile, self.groups) = (id, login, status, profile, groups)
        self.passwordHash = passwordHash
        self.passwordChangedAt = passwordHash == nil ? nil : createdAt
        self.failedAttempts = 0
        self.lockedAt = nil
        self.createdAt = createdAt
        self.updatedAt = createdAt
    }
}

extension UserDefinition {
    /// Whether a login has 1 to 200 bytes, no white space and no control characters.
    static func isValid(login: String) -> Bool {
        (1...200).contains(login.utf8.count) && !login.contains(where: \.isWhitespace)
            && !login.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }

    /// The names that the policy may exclude from passwords.
    var names: [String] { User.names(in: profile) }
}

extension User {
    var names: [String] { Self.names(in: profile) }

    fileprivate static func names(in profile: [String: JSONValue]) -> [String] {
        ["given_name", "family_name"].compactMap { profile[$0]?.stringValue }
    }
}

extension UserDefinition: Redacted {
    /// Contains the login and the status, no secret or profile attribute.
    package var description: String { "UserDefinition(\(login), \(status.rawValue))" }
}

extension User: Redacted {
    /// Contains the id and the status, no password hash or profile attribute.
    package var description: String { "User(\(id), \(status.rawValue))" }
}
