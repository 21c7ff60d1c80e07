public import Crypto
public import JOSE

/// Where random bytes come from.
public protocol RandomSource: Sendable {
    /// Random bytes fit for secrets.
    /// - Parameter count: How many, at least 1.
    /// - Returns: That many bytes.
    /// - Throws: If the system's source failed; nothing goes on without randomness.
    func bytes(_ count: Int) throws -> [UInt8]
}

/// What the engine is given from outside: it has no clock, no randomness, no network and no key of its own.
public struct EngineEnvironment: Sendable, Redacted {
    /// Where ids and secrets come from.
    public var random: any RandomSource
    /// Encrypts signing keys and client secrets at rest; 32 bytes.
    public var masterKey: SymmetricKey
    /// Hashes passwords on threads of its own.
    public var passwordHasher: PasswordHasher
    /// Judges the codes of tokens that another system knows (RSA SecurID, Symantec VIP); nil where there are none.
    public var tokenService: (any TokenService)?
    /// The lookup of breached passwords, which are refused as new passwords; `nil` uses the built-in list only.
    public var breachedPasswords: (any BreachedPasswordSource)?

    /// Collects what the engine needs.
    public init(
        random: any RandomSource, masterKey: SymmetricKey, passwordHasher: PasswordHasher, tokenService: (any TokenService)? = nil,
        breachedPasswords: (any BreachedPasswordSource)? = nil
    ) {
        self.breachedPasswords = breachedPasswords
        self.tokenService = tokenService
        self.random = random
        self.masterKey = masterKey
        self.passwordHasher = passwordHasher
    }
}
