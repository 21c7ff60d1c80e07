import Crypto
public import Foundation

/// A validator of ID token claims.
public protocol IDTokenValidator {
    /// The maximum difference in seconds between the time of issue and the current time.
    var issuedAtGraceInterval: TimeInterval { get set }

    /// Validates the claims of an ID token, but not its signature.
    /// - Parameters:
    ///   - token: The ID token.
    ///   - issuer: The expected issuer.
    ///   - clientId: The expected client.
    ///   - context: The parameters of the sign-in.
    /// - Throws: ``JWTError`` for an invalid token.
    func validate(token: JWT, issuer: URL, clientId: String, context: (any IDTokenValidatorContext)?) throws
}

/// The parameters of a sign-in that the ID token must match.
public protocol IDTokenValidatorContext: Sendable {
    /// The nonce that the ID token must contain; `nil` if the ID token must contain none.
    var nonce: String? { get }

    /// The maximum age of the user's authentication in seconds, or `nil` for no limit.
    var maxAge: TimeInterval? { get }
}

extension IDTokenValidatorContext {
    /// No nonce.
    public var nonce: String? { nil }

    /// No limit.
    public var maxAge: TimeInterval? { nil }
}

/// A context without a nonce and without a maximum age.
public struct NullIDTokenValidatorContext: IDTokenValidatorContext {
    /// Creates a context without a nonce and without a maximum age.
    public init() {}
}

/// A validator of a token against its hash in the ID token.
public protocol TokenHashValidator: Sendable {
    /// Validates a token against its hash. An ID token without the hash is accepted.
    /// - Parameters:
    ///   - string: The token.
    ///   - idToken: The ID token.
    /// - Throws: ``JWTError/signatureInvalid`` if the hash does not match; ``JWTError/cannotGenerateHash`` if the algorithm is unknown.
    func validate(_ string: String, idToken: JWT) throws
}

/// A validator that compares the hash in the ID token with the left half of the token's digest. The ID token's algorithm selects the digest
/// (OpenID Connect Core 1.0 §3.1.3.8).
struct StandardTokenHashValidator: TokenHashValidator {
    let claim: JWTClaim

    func validate(_ string: String, idToken: JWT) throws {
        guard let expected: String = idToken[claim] else { return }
        let bytes = Data(string.utf8)
        let digest: [UInt8]
        switch idToken.header.algorithm {
        case .rs256, .ps256, .es256, .hs256: digest = Array(SHA256.hash(data: bytes))
        case .rs384, .ps384, .es384, .hs384: digest = Array(SHA384.hash(data: bytes))
        case .rs512, .ps512, .es512, .hs512, .edDSA: digest = Array(SHA512.hash(data: bytes))
        default: throw JWTError.cannotGenerateHash
        }
        guard Data(digest.prefix(digest.count / 2)).base64URLEncoded == expected else { throw JWTError.signatureInvalid }
    }
}
