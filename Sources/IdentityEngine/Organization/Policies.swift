/// What an application asks of a person before they are signed in.
public struct SignOnPolicy: Sendable, Equatable, Codable {
    /// What applications name it by.
    public var name: String
    /// Evaluated in order; the first that matches decides. No match refuses.
    public var rules: [SignOnRule]
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
}

/// What passwords must be, and what happens when they are guessed at.
public struct PasswordPolicy: Sendable, Equatable, Codable {
    /// Fewest characters, 8 to 72.
    public var minimumLength: Int
    /// Failed attempts after which the account is locked; 0 for never.
    public var lockoutAttempts: Int
    /// Minutes until a locked account opens by itself; nil for never.
    public var lockoutMinutes: Int?
    /// The scrypt cost as a power of two, 14 to 20: 15 takes 32 MiB.
    public var scryptLogN: Int
}

/// Limits on requests, each per minute.
public struct RateLimits: Sendable, Equatable, Codable {
    /// Requests of one client to the protocol's endpoints.
    public var perClient: Int
    /// Requests from one address.
    public var perAddress: Int
    /// Sign-in attempts for one user name.
    public var perUser: Int
}

/// When signing keys are rotated.
public struct KeyRotation: Sendable, Equatable, Codable {
    /// Days that a key signs, at least 1.
    public var signsForDays: Int
    /// Days that the next key is published before it signs, at least 1.
    public var publishedDaysAhead: Int
    /// Days that a key stays published after it stopped signing; at least the longest token's life.
    public var publishedDaysAfter: Int
}

/// A named set of people.
public struct Group: Sendable, Equatable, Codable {
    /// What policies and assignments name it by.
    public var name: String
    /// What it is for.
    public var description: String?
}
