public import Foundation

/// A check of an ID token's claims.
public protocol IDTokenValidator {
    /// By how many seconds the time of issue may differ from now.
    var issuedAtGraceInterval: TimeInterval { get set }

    /// Checks an ID token's claims, not its signature.
    ///
    /// - Parameters:
    ///   - token: The ID token.
    ///   - issuer: The issuer that it must be from.
    ///   - clientId: The client that it must be for.
    ///   - context: What the sign-in asked for.
    /// - Throws: ``JWTError`` for a token that is not acceptable.
    func validate(token: JWT, issuer: URL, clientId: String, context: (any IDTokenValidatorContext)?) throws
}

/// What a sign-in asked for, as far as it must show in the ID token.
public protocol IDTokenValidatorContext: Sendable {
    /// The value that the ID token must repeat.
    var nonce: String? { get }

    /// How many seconds ago the person may have authenticated.
    var maxAge: TimeInterval? { get }
}

extension IDTokenValidatorContext {
    /// None.
    public var nonce: String? { nil }

    /// As long ago as may be.
    public var maxAge: TimeInterval? { nil }
}

/// A sign-in that asked for nothing in particular.
public struct NullIDTokenValidatorContext: IDTokenValidatorContext {
    /// Asks for nothing.
    public init() {}
}

/// A check of a token against its hash in the ID token.
public protocol TokenHashValidator: Sendable {
    /// Checks a token against its hash; an ID token without the hash passes.
    ///
    /// - Parameters:
    ///   - string: The token.
    ///   - idToken: The ID token.
    /// - Throws: ``JWTError/signatureInvalid`` if the hash is another token's.
    func validate(_ string: String, idToken: JWT) throws
}
