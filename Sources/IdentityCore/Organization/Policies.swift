package import JOSE

/// A policy that decides which authentication an application requires.
package struct SignOnPolicy: Sendable, Equatable, Codable {
    /// The name by which applications refer to the policy.
    package var name: String
    /// The rules, evaluated in order. The first matching rule decides; if none matches, access is denied.
    package var rules: [SignOnRule]

    package init(name: String, rules: [SignOnRule]) {
        self.name = name
        self.rules = rules
    }
}

/// One rule of a ``SignOnPolicy``.
package struct SignOnRule: Sendable, Equatable, Codable {
    package enum Assurance: String, Sendable, Codable {
        case oneFactor
        /// Two factors of different classes; see ``FactorClass``.
        case twoFactors
        /// Two factors of different classes, of which one is a passkey. A passkey that verified the user is sufficient.
        case phishingResistant
        /// Access is denied.
        case deny

        /// Whether two factors of different classes are required.
        package var needsTwoFactors: Bool { self == .twoFactors || self == .phishingResistant }
    }

    /// The rule's name, unique within its policy.
    package var name: String
    /// The groups to whose members the rule applies; `nil` for all users.
    package var groups: [String]?
    package var assurance: Assurance
    /// Seconds after which the user of a session must authenticate again; `nil` for the session's lifetime.
    package var reauthenticateAfter: Int?

    package init(name: String, groups: [String]? = nil, assurance: Assurance, reauthenticateAfter: Int? = nil) {
        (self.name, self.groups, self.assurance, self.reauthenticateAfter) = (name, groups, assurance, reauthenticateAfter)
    }
}

/// The maximum numbers of requests, per minute unless stated otherwise.
package struct RateLimits: Sendable, Equatable, Codable {
    /// The maximum number of requests of one client to the protocol's endpoints.
    package var perClient: Int
    package var perAddress: Int
    /// The maximum number of sign-in attempts from one address for all user names. The default is low enough to protect the password
    /// hashing and to prevent password spraying.
    package var perAddressSignIns: Int
    /// The maximum number of sign-in attempts for one user name.
    package var perUser: Int
    /// The maximum number of mails, texts and calls to all users together. It limits the cost of an attack on many accounts.
    package var messages: Int
    /// The maximum number of wrong codes and answers in the recoveries of all users per hour. Beyond this number, recoveries from unknown
    /// origins are rejected until the hour ends.
    package var recoveryGuesses: Int {
        get { guesses ?? Self.standardRecoveryGuesses }
        set { guesses = newValue == Self.standardRecoveryGuesses ? nil : newValue }
    }

    /// The storage of ``recoveryGuesses``: `nil` for the default, and in records of earlier versions.
    private var guesses: Int?
    private static let standardRecoveryGuesses = 100

    /// Creates limits. The defaults suit a server with about 10,000 users.
    package init(
        perClient: Int = 6_000, perAddress: Int = 1_200, perAddressSignIns: Int = 120, perUser: Int = 60, messages: Int = 600,
        recoveryGuesses: Int = 100
    ) {
        (self.perClient, self.perAddress, self.perAddressSignIns, self.perUser) = (perClient, perAddress, perAddressSignIns, perUser)
        (self.messages, self.recoveryGuesses) = (messages, recoveryGuesses)
    }

    /// Decodes limits. Older records lack the limits for messages and for wrong answers in recoveries.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            perClient: try container.decode(Int.self, forKey: .perClient), perAddress: try container.decode(Int.self, forKey: .perAddress),
            perAddressSignIns: try container.decode(Int.self, forKey: .perAddressSignIns),
            perUser: try container.decode(Int.self, forKey: .perUser),
            messages: try container.decodeIfPresent(Int.self, forKey: .messages) ?? RateLimits().messages,
            recoveryGuesses: try container.decodeIfPresent(Int.self, forKey: .guesses) ?? Self.standardRecoveryGuesses)
    }
}

/// The schedule of signing keys.
package struct KeyRotation: Sendable, Equatable, Codable {
    /// Days for which a key signs, at least 1.
    package var signsForDays: Int
    /// Days for which the next key is published before it signs, at least 1.
    package var publishedDaysAhead: Int
    /// Days for which a key stays published after it stopped signing; at least the longest token lifetime.
    package var publishedDaysAfter: Int

    package init(signsForDays: Int = 90, publishedDaysAhead: Int = 7, publishedDaysAfter: Int = 7) {
        (self.signsForDays, self.publishedDaysAhead, self.publishedDaysAfter) = (signsForDays, publishedDaysAhead, publishedDaysAfter)
    }
}

/// How long the system log is kept.
package struct SystemLogPolicy: Sendable, Equatable, Codable {
    /// Days for which a line is kept, 1 to 3,650.
    package var retentionDays: Int

    package init(retentionDays: Int = 90) { self.retentionDays = retentionDays }

    /// Seconds for which a line is kept.
    var retention: Double { Double(retentionDays) * 86_400 }
}

/// A named set of users.
package struct Group: Sendable, Equatable, Codable {
    /// The name by which policies and assignments refer to the group.
    package var name: String
    package var description: String?

    package init(name: String, description: String? = nil) {
        self.name = name
        self.description = description
    }
}

/// The lifetime of browser sessions.
package struct SessionPolicy: Sendable, Equatable, Codable {
    /// Seconds without use after which a session expires.
    package var idleLifetime: Int
    /// Seconds after which a session expires regardless of use.
    package var lifetime: Int

    package init(idleLifetime: Int = 7_200, lifetime: Int = 86_400) {
        self.idleLifetime = idleLifetime
        self.lifetime = lifetime
    }
}

/// The requirements for proofs of possession (RFC 9449).
package struct DPoPPolicy: Sendable, Equatable, Codable {
    /// Whether the token endpoint rejects a proof without a nonce of the server. An expired or foreign nonce is always rejected.
    package var requiresNonce: Bool

    package init(requiresNonce: Bool = true) { self.requiresNonce = requiresNonce }
}

/// An external issuer. An authorization server accepts its assertions about users (RFC 7523 section 2.1).
package struct TrustedIssuer: Sendable, Equatable, Codable {
    /// The `iss` of the issuer's assertions, compared exactly.
    package var issuer: String
    package var keys: JSONWebKeySet
    /// The clients that may present the issuer's assertions; `nil` for every client with the grant type `jwt-bearer`.
    package var clients: [String]?

    package init(issuer: String, keys: JSONWebKeySet, clients: [String]? = nil) {
        (self.issuer, self.keys, self.clients) = (issuer, keys, clients)
    }
}
