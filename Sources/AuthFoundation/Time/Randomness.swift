internal import Crypto
public import Foundation
import JOSE

/// A source of random values, injected so that tests can predict them.
package struct Randomness: Sendable {
    package let bytes: @Sendable (_ count: Int) -> [UInt8]

    /// The system's cryptographically secure generator.
    package static let system = Randomness { count in
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    /// A random number from 0 to 1, inclusive.
    package var fraction: Double {
        let bytes = bytes(4)
        return bytes.reduce(0) { $0 * 256 + Double($1) } / 4_294_967_295
    }

    /// A random identifier: 22 URL-safe characters.
    package var identifier: String {
        token(byteCount: 16)
    }

    /// Returns random bytes in base64url.
    package func token(byteCount: Int) -> String {
        Data(bytes(byteCount)).base64URLEncoded
    }
}

extension Data {
    /// Base64url without padding (RFC 4648 §5).
    package var base64URLEncoded: String {
        Base64URL.encode(self)
    }

    /// Decodes strict base64url without padding. Fails for any other character, for padding and for leftover bits.
    package init?(base64URLEncoded text: some StringProtocol) {
        guard let bytes = try? Base64URL.decode(text) else { return nil }
        self.init(bytes)
    }
}

// Names of Okta's SDK that apps use, beside those in CommonSupport.

extension Data {
    /// Returns the SHA-256 digest; never `nil`.
    public func sha256() -> Data? { Data(SHA256.hash(data: self)) }
}

extension [UInt8] {
    /// Returns bytes of the system's cryptographically secure generator.
    public static func random(count: Int) -> [UInt8] { Randomness.system.bytes(count) }
}

extension String {
    /// Returns a random text of URL-safe characters, for a nonce or state.
    /// - Parameter length: The number of characters, at least 1.
    public static func nonce(length: UInt = 16) -> String {
        String(Randomness.system.token(byteCount: Int(length)).prefix(Int(length)))
    }
}
