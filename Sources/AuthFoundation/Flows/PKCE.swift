import Crypto
import Foundation
public import JOSE

/// A secret that binds a code to the app that asked for it (RFC 7636).
public struct PKCE: Codable, Equatable, Sendable {
    /// How the challenge is made from the verifier.
    public enum Method: String, Codable, Sendable, APIRequestArgument {
        /// By SHA-256.
        case sha256 = "S256"
        /// It is the same.
        case plain
    }

    /// The secret, which is sent with the code.
    public let codeVerifier: String

    /// What is sent before.
    public let codeChallenge: String

    /// How the challenge is made.
    public let method: Method

    /// A new secret of 256 random bits.
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
    /// The method without the secret.
    public var description: String { "PKCE(\(method.rawValue))" }
}
