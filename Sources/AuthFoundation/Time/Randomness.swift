import Foundation

/// A source of random values, injected so that tests can predict them.
package struct Randomness: Sendable {
    /// Returns `count` random bytes.
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
    /// Base64url without padding (RFC 4648, 5).
    package var base64URLEncoded: String {
        base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// Decodes strict base64url without padding. Fails for any other character, for padding and for leftover bits.
    package init?(base64URLEncoded text: some StringProtocol) {
        let standard = text.utf8.allSatisfy { byte in
            (65...90).contains(byte) || (97...122).contains(byte) || (48...57).contains(byte) || byte == 45 || byte == 95
        }
        guard standard, text.utf8.count % 4 != 1 else { return nil }
        var base64 = String(text).replacing("-", with: "+").replacing("_", with: "/")
        base64 += String(repeating: "=", count: (4 - base64.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: base64), data.base64URLEncoded == text else { return nil }
        self = data
    }
}
