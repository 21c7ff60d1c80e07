internal import Crypto
public import Foundation

// Encodings with the names in Okta's SDK, which apps use.

extension Data {
    /// Base64url without padding (RFC 4648 section 5).
    public var base64URLEncodedString: String { base64URLEncoded }

    /// Returns the SHA-256 digest; never `nil`.
    public func sha256() -> Data? { Data(SHA256.hash(data: self)) }
}

extension [UInt8] {
    /// Base64url without padding (RFC 4648 section 5).
    public var base64URLEncodedString: String { Data(self).base64URLEncoded }

    /// Returns bytes of the system's cryptographically secure generator.
    public static func random(count: Int) -> [UInt8] { Randomness.system.bytes(count) }
}

extension String {
    /// The text of base64url, in the alphabet and with the padding of base64. `Data(base64Encoded:)` reads the result.
    public var base64URLDecoded: String {
        let text = replacing("-", with: "+").replacing("_", with: "/")
        return text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    }

    /// Returns a random text of URL-safe characters, for a nonce or state.
    /// - Parameter length: The number of characters, at least 1.
    public static func nonce(length: UInt = 16) -> String {
        String(Randomness.system.token(byteCount: Int(length)).prefix(Int(length)))
    }
}

extension [String: String] {
    /// The values as a URL query, sorted by name.
    public var percentQueryEncoded: String { FormEncoding.query(adding: map { ($0.key, $0.value) }, to: nil) ?? "" }
}

extension CredentialActor {
    /// Runs a function on the actor.
    /// - Returns: The result of the function.
    /// - Throws: The errors of the function.
    public static func run<T: Sendable>(
        resultType: T.Type = T.self, body: @CredentialActor @Sendable () throws -> T
    ) async rethrows -> T {
        try await body()
    }
}
