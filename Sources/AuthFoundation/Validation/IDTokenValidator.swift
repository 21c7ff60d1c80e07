import Crypto
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

/// The check of a token against its hash in the ID token: the left half of a digest whose size is that of the ID token's algorithm
/// (OpenID Connect Core 1.0, 3.1.3.8).
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
