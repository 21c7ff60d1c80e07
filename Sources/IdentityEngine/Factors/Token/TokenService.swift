public import JOSE

/// Whose a token is that another system knows.
public enum TokenProvider: String, Sendable, Codable, CaseIterable {
    /// RSA SecurID.
    case rsa = "RSA"
    /// Symantec VIP.
    case symantec = "SYMANTEC"
}

/// A code of such a token, to be judged.
public struct TokenCode: Sendable, Redacted {
    /// Whose the token is.
    public var provider: TokenProvider
    /// What the other system knows it by.
    public var credentialID: String
    /// The name that the person signs in with.
    public var login: String
    /// As it was typed; with RSA, after the PIN.
    public var passCode: String
    /// The code after it, where a token is set up that shows two; nil otherwise.
    public var nextPassCode: String?

    /// The provider; never a code.
    public var description: String { "TokenCode(\(provider.rawValue))" }
}

/// What a code came to.
public enum TokenVerdict: Sendable, Equatable {
    /// It is right, and used up.
    case right
    /// It is wrong, was used, or the token is not the person's.
    case wrong
    /// The person must do something at the other system first, such as choosing a PIN.
    case needsMore
}

/// Judges the codes of tokens that another system knows. Conforming types are safe from any task.
public protocol TokenService: Sendable {
    /// Judges a code.
    ///
    /// - Parameter code: The code.
    /// - Returns: What it came to.
    /// - Throws: What keeps it from telling; the person is told to try again. It must not take longer than a request may.
    func judge(_ code: TokenCode) async throws -> TokenVerdict
}
