/// What an application asks of a person before they are signed in.
public struct SignOnPolicy: Sendable, Equatable, Codable {
    /// What applications name it by.
    public var name: String
    /// Evaluated in order; the first that matches decides. No match refuses.
    public var rules: [SignOnRule]

    /// Makes a policy.
    public init(name: String, rules: [SignOnRule]) {
        self.name = name
        self.rules = rules
    }
}

/// One rule of a ``SignOnPolicy``.
public struct SignOnRule: Sendable, Equatable, Codable {
    /// What a rule asks for.
    public enum Assurance: String, Sendable, Codable {
        /// One factor.
        case oneFactor
        /// Two factors of different kinds.
        case twoFactors
        /// Access is refused.
        case deny
    }

    /// Unique within its policy.
    public var name: String
    /// The groups of which the user must be a member of one; nil for anybody.
    public var groups: [String]?
    /// What it asks for.
    public var assurance: Assurance
    /// Seconds after which a session must prove itself again; nil for the session's own life.
    public var reauthenticateAfter: Int?

    /// Makes a rule.
    public init(name: String, groups: [String]? = nil, assurance: Assurance, reauthenticateAfter: Int? = nil) {
        self.name = name
        self.groups = groups
        self.assurance = assurance
        self.reauthenticateAfter = reauthenticateAfter
    }
}

/// Limits on requests, each per minute unless it says otherwise.
public struct RateLimits: Sendable, Equatable, Codable {
    /// Requests of one client to the protocol's endpoints.
    public var perClient: Int
    /// Requests from one address.
    public var perAddress: Int
    /// Sign-in attempts from one address, whoever it tries to be: few enough that it neither keeps the password hashing busy nor
    /// tries one password on everybody.
    public var perAddressSignIns: Int
    /// Sign-in attempts for one user name.
    public var perUser: Int
    /// Mails, texts and calls to everybody together: what an attack on many accounts can cost.
    public var messages: Int
    /// The maximum number of wrong codes and answers in the recoveries of all users per hour. Beyond it, recoveries from unknown origins are
    /// refused until the hour ends. Each process counts separately.
    public var recoveryGuesses: Int {
        get { guesses ?? Self.standardRecoveryGuesses }
        set { guesses = newValue == Self.standardRecoveryGuesses ? nil : newValue }
    }

    /// `nil` for the default, and in records of earlier versions.
    private var guesses: Int?
    private static let standardRecoveryGuesses = 100

    /// Sets limits; the defaults suit a server of some ten thousand people.
    public init(
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
    public init(from decoder: any Decoder) throws {
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
public struct KeyRotation: Sendable, Equatable, Codable {
    /// Days that a key signs, at least 1.
    public var signsForDays: Int
    /// Days that the next key is published before it signs, at least 1.
    public var publishedDaysAhead: Int
    /// Days that a key stays published after it stopped signing; at least the longest token's life.
    public var publishedDaysAfter: Int

    /// Sets a schedule.
    public init(signsForDays: Int = 90, publishedDaysAhead: Int = 7, publishedDaysAfter: Int = 7) {
        self.signsForDays = signsForDays
        self.publishedDaysAhead = publishedDaysAhead
        self.publishedDaysAfter = publishedDaysAfter
    }
}

/// A named set of people.
public struct Group: Sendable, Equatable, Codable {
    /// What policies and assignments name it by.
    public var name: String
    /// What it is for.
    public var description: String?

    /// Makes a group.
    public init(name: String, description: String? = nil) {
        self.name = name
        self.description = description
    }
}

/// How long people stay signed in with a browser.
public struct SessionPolicy: Sendable, Equatable, Codable {
    /// Seconds without use after which a session ends.
    public var idleLifetime: Int
    /// Seconds after which it ends, however it is used.
    public var lifetime: Int

    /// Sets lifetimes; two hours without use and a day in all, unless said otherwise.
    public init(idleLifetime: Int = 7_200, lifetime: Int = 86_400) {
        self.idleLifetime = idleLifetime
        self.lifetime = lifetime
    }
}
