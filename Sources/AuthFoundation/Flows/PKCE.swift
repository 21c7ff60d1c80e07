import Crypto
import Foundation
public import JOSE

/// A secret that binds an authorization code to the app that requested it (RFC 7636).
public struct PKCE: Codable, Equatable, Sendable {
    /// The derivation of the challenge from the verifier.
    public enum Method: String, Codable, Sendable, APIRequestArgument {
        /// The SHA-256 hash of the verifier.
        case sha256 = "S256"
        /// The verifier itself.
        case plain
    }

    /// The secret, which is sent with the code.
    public let codeVerifier: String

    /// The challenge, which is sent with the authorization request.
    public let codeChallenge: String

    /// The derivation of the challenge.
    public let method: Method

    /// Creates a secret of 256 random bits. Never returns `nil`.
    public init?() {
        self.init(randomness: .system)
    }

    package init(randomness: Randomness) {
        codeVerifier = randomness.token(byteCount: 32)
        codeChallenge = Data(SHA256.hash(data: Data(codeVerifier.utf8))).base64URLEncoded
        method = .sha256
    }
}

extension PKCE: Redacted {
    /// The method, without the secret.
    public var description: String { "PKCE(\(method.rawValue))" }
}
