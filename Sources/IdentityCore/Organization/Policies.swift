package import JOSE

/// What an application asks of a person before they are signed in.
package struct SignOnPolicy: Sendable, Equatable, Codable {
    /// What applications name it by.
    package var name: String
    /// Evaluated in order; the first that matches decides. No match refuses.
    package var rules: [SignOnRule]

    /// Makes a policy.
    package init(name: String, rules: [SignOnRule]) {
        self.name = name
        self.rules = rules
    }
}

/// One rule of a ``SignOnPolicy``.
package struct SignOnRule: Sendable, Equatable, Codable {
    /// What a rule asks for.
    package enum Assurance: String, Sendable, Codable {
        /// One factor.
        case oneFactor
        /// Two factors of different kinds.
        case twoFactors
        /// Access is refused.
        case deny
    }

    /// Unique within its policy.
    package var name: String
    /// The groups of which the user must be a member of one; nil for anybody.
    package var groups: [String]?
    /// What it asks for.
    package var assurance: Assurance
    /// Seconds after which a session must prove itself again; nil for the session's own life.
    package var reauthenticateAfter: Int?

    /// Makes a rule.
    package init(name: String, groups: [String]? = nil, assurance: Assurance, reauthenticateAfter: Int? = nil) {
        self.name = name
        self.groups = groups
        self.assurance = assurance
        self.reauthenticateAfter = reauthenticateAfter
    }
}

/// Limits on requests, each per minute unless it says otherwise.
package struct RateLimits: Sendable, Equatable, Codable {
    /// Requests of one client to the protocol's endpoints.
    package var perClient: Int
    /// Requests from one address.
    package var perAddress: Int
    /// Sign-in attempts from one address, whoever it tries to be: few enough that it neither keeps the password hashing busy nor
    /// tries one password on everybody.
    package var perAddressSignIns: Int
    /// Sign-in attempts for one user name.
    package var perUser: Int
    /// Mails, texts and calls to everybody together: what an attack on many accounts can cost.
    package var messages: Int
    /// The maximum number of wrong codes and answers in the recoveries of all users per hour. Beyond it, recoveries from unknown origins are
    /// refused until the hour ends. Each process counts separately.
    package var recoveryGuesses: Int {
        get { guesses ?? Self.standardRecoveryGuesses }
        set { guesses = newValue == Self.standardRecoveryGuesses ? nil : newValue }
    }

    /// `nil` for the default, and in records of earlier versions.
    private var guesses: Int?
    private static let standardRecoveryGuesses = 100

    /// Sets limits; the defaults suit a server of some ten thousand people.
    package init(
        perClient: Int = 6_000, perAddress: Int = 1_200, perAddressSignIns: Int = 120, perUser: Int = 60, messages: Int = 600,
        recoveryGuesses: Int = 100
    ) {
        self.perClient = perClient
        self.perAddress = perAddress
        self.perAddressSignIns = perAddressSignIns
        self.perUser = perUser
        self.messages = messages
        self.recoveryGuesses = recoveryGuesses
    }

    /// Reads limits; records of before messages were counted have none for them.
    ///
    /// - Throws: `DecodingError` for what are no limits.
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

/// When signing keys are rotated.
package struct KeyRotation: Sendable, Equatable, Codable {
    /// Days that a key signs, at least 1.
    package var signsForDays: Int
    /// Days that the next key is published before it signs, at least 1.
    package var publishedDaysAhead: Int
    /// Days that a key stays published after it stopped signing; at least the longest token's life.
    package var publishedDaysAfter: Int

    /// Sets a schedule.
    package init(signsForDays: Int = 90, publishedDaysAhead: Int = 7, publishedDaysAfter: Int = 7) {
        self.signsForDays = signsForDays
        self.publishedDaysAhead = publishedDaysAhead
        self.publishedDaysAfter = publishedDaysAfter
    }
}

/// A named set of people.
package struct Group: Sendable, Equatable, Codable {
    /// What policies and assignments name it by.
    package var name: String
    /// What it is for.
    package var description: String?

    /// Makes a group.
    package init(name: String, description: String? = nil) {
        self.name = name
        self.description = description
    }
}

/// How long people stay signed in with a browser.
package struct SessionPolicy: Sendable, Equatable, Codable {
    /// Seconds without use after which a session ends.
    package var idleLifetime: Int
    /// Seconds after which it ends, however it is used.
    package var lifetime: Int

    /// Sets lifetimes; two hours without use and a day in all, unless said otherwise.
    package init(idleLifetime: Int = 7_200, lifetime: Int = 86_400) {
        self.idleLifetime = idleLifetime
        self.lifetime = lifetime
    }
}

/// What an organization asks of proofs of possession (RFC 9449).
package struct DPoPPolicy: Sendable, Equatable, Codable {
    /// Whether the token endpoint refuses a proof without a nonce of the server's. A nonce that is old or foreign is refused anyway.
    package var requiresNonce: Bool

    /// Describes the policy; what is left out is the safe default.
    ///
    /// - Parameter requiresNonce: Whether the token endpoint demands nonces.
    package init(requiresNonce: Bool = true) { self.requiresNonce = requiresNonce }
}

/// Somebody else whose word an authorization server takes for who a person is (RFC 7523 section 2.1).
package struct TrustedIssuer: Sendable, Equatable, Codable {
    /// The `iss` of its assertions, compared exactly.
    package var issuer: String
    /// Its public keys.
    package var keys: JSONWebKeySet
    /// The clients that may bring its assertions; nil for any that has the grant.
    package var clients: [String]?

    /// Trusts an issuer.
    package init(issuer: String, keys: JSONWebKeySet, clients: [String]? = nil) {
        self.issuer = issuer
        self.keys = keys
        self.clients = clients
    }
}
