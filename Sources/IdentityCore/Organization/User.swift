package import Foundation
package import JOSE

/// A person as the org file brings them.
package struct UserDefinition: Sendable, Equatable, Codable {
    /// The name that they sign in with.
    package var login: String
    /// Profile attributes by their OpenID Connect claim names (`given_name`, `email`, …) or names of the organization's own.
    package var profile: [String: JSONValue]
    /// The names of their groups.
    package var groups: [String]
    /// The password that they get when they are first created.
    package var password: String?
    /// The secret of the authenticator app that they get when they are first created, in Base32; sealed in the store.
    package var totpSecret: String?
    /// The device whose codes follow a counter that they are given; nil for none.
    package var hardwareDevice: HardwareDevice?
    /// What may be done with the account.
    package var status: User.Status
    /// Whether they must change the password when they next sign in with it, as one that others know.
    package var mustChangePassword: Bool {
        get { isPasswordDue ?? false }
        set { isPasswordDue = newValue ? true : nil }
    }

    /// Nil for no, and in records of before there was a choice.
    private var isPasswordDue: Bool?

    /// A device whose codes follow a counter (RFC 4226).
    package struct HardwareDevice: Sendable, Equatable, Codable, Redacted {
        /// Its seed in Base32, at least 16 bytes; sealed in the store.
        package var secret: String
        /// What it is known by, such as the number on its back.
        package var credentialID: String
        /// The counter of its next code, from 0 on.
        package var counter: Int64

        /// Describes a device.
        package init(secret: String, credentialID: String, counter: Int64 = 0) {
            self.secret = secret
            self.credentialID = credentialID
            self.counter = counter
        }
    }

    /// Describes a person.
    package init(
        login: String, profile: [String: JSONValue] = [:], groups: [String] = [], password: String? = nil, totpSecret: String? = nil,
        hardwareDevice: HardwareDevice? = nil, status: User.Status = .active, mustChangePassword: Bool = false
    ) {
        self.login = login
        self.profile = profile
        self.groups = groups
        self.password = password
        self.totpSecret = totpSecret
        self.hardwareDevice = hardwareDevice
        self.status = status
        self.mustChangePassword = mustChangePassword
    }
}

/// A person in the store.
package struct User: Sendable, Equatable, Codable {
    /// What may be done with an account.
    package enum Status: String, Sendable, Codable {
        /// Signs in.
        case active
        /// Is to be activated by a token first.
        case staged
        /// Does not sign in until an administrator allows it.
        case suspended
        /// Is gone, but for the record.
        case deactivated
    }

    /// `00u` and 17 characters; the `sub` of id tokens, the `uid` of access tokens.
    package var id: String
    /// The name that they sign in with, compared without regard to case.
    package var login: String
    /// What may be done with the account.
    package var status: Status
    /// Profile attributes by claim name.
    package var profile: [String: JSONValue]
    /// The names of their groups.
    package var groups: [String]
    /// The password's hash with its parameters; nil without a password.
    package var passwordHash: String?
    /// When the password was last set. A grant is good as long as this stays what it was at the sign-in.
    package var passwordChangedAt: Date?
    /// Whether the password must be changed when they next sign in with it.
    package internal(set) var mustChangePassword: Bool {
        get { isPasswordDue ?? false }
        set { isPasswordDue = newValue ? true : nil }
    }
    /// The hashes of the passwords before this one, the last one first, as far as the policy remembers them; nil for none.
    var earlierPasswords: [String]?
    /// Consecutive wrong passwords from origins that the user has never signed in from.
    package var failedAttempts: Int
    /// Consecutive wrong answers to other first factors from such origins, by factor; `nil` for none.
    var failedCodes: [String: Int]?
    /// Consecutive wrong answers to second factors from such origins, by factor; `nil` for none.
    var failedFurther: [String: Int]?
    /// Wrong answers to the user's question at any endpoint since the last correct one; `nil` for none.
    var guessedAnswers: RecoveryGuesses?
    /// Wrong recovery codes since the last correct one; `nil` for none.
    package var guessedCodes: RecoveryGuesses?
    /// The time when wrong answers from unknown origins locked the account for these origins; `nil` if it is not locked.
    package var lockedAt: Date?
    /// When the account was last deactivated. Grants made before stay closed when it is active again.
    package var deactivatedAt: Date?
    /// When all its sessions were last ended at once, and with them every sign-in under way; nil if they never were.
    package var sessionsEndedAt: Date?
    /// When all its grants were last ended at once; nil if they never were.
    var grantsEndedAt: Date?
    /// The activation that the account can be set up by, the last one that was begun; nil for none.
    package var activationID: String?
    /// Where they signed in from before, as digests, the last one last; nil before the first sign-in by two factors.
    var knownOrigins: [String]?
    /// The times of unproved pushes from unknown origins in the last day; `nil` for none.
    var strangersPushes: [Date]?
    /// The networks and devices from which the user completed a sign-in, the most recent last; `nil` for none.
    var usedOrigins: [KnownOrigin]?
    /// When the account was made.
    package var createdAt: Date
    /// When the profile last changed.
    package var updatedAt: Date

    /// Nil for no, and in records of before it was kept.
    private var isPasswordDue: Bool?

    /// Makes a person who never signed in.
    package init(
        id: String, login: String, status: Status = .active, profile: [String: JSONValue] = [:], groups: [String] = [],
        passwordHash: String? = nil, createdAt: Date
    ) {
        self.id = id
        self.login = login
        self.status = status
        self.profile = profile
        self.groups = groups
        self.passwordHash = passwordHash
        self.passwordChangedAt = passwordHash == nil ? nil : createdAt
        self.failedAttempts = 0
        self.lockedAt = nil
        self.createdAt = createdAt
        self.updatedAt = createdAt
    }
}

extension UserDefinition {
    /// The names that the policy may keep out of passwords.
    var names: [String] { User.names(in: profile) }
}

extension User {
    /// The names that the policy may keep out of passwords.
    var names: [String] { Self.names(in: profile) }

    fileprivate static func names(in profile: [String: JSONValue]) -> [String] {
        ["given_name", "family_name"].compactMap { profile[$0]?.stringValue }
    }
}

extension UserDefinition: Redacted {
    /// The login and the status; never the password or another secret, and nothing of the profile.
    package var description: String { "UserDefinition(\(login), \(status.rawValue))" }
}

extension User: Redacted {
    /// The id and the status; never the password's hash, and nothing of the profile.
    package var description: String { "User(\(id), \(status.rawValue))" }
}
