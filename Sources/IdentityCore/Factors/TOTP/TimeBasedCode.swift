internal import Crypto
package import Foundation
internal import JOSE

/// The codes of an authenticator app (RFC 6238 over RFC 4226): HMAC-SHA-1, six digits, 30 seconds, the defaults of all apps.
package enum TimeBasedCode {
    /// Seconds for which a code is shown.
    package static let period: TimeInterval = 30
    package static let digits = 6
    /// The length of a new secret in bytes: 160 bits, as RFC 4226 section 4 recommends.
    package static let secretLength = 20
    /// The minimum length in bytes of an imported secret (RFC 4226 section 4, R6).
    package static let shortestSecret = 16

    /// Returns the step of a time: the number of whole periods since 1970.
    package static func step(at time: Date) -> Int64 { Int64(clamping: (time.timeIntervalSince1970 / period).rounded(.down)) }

    /// Returns the code of a step, which is the counter of RFC 4226, with 6 to 9 digits (RFC 6238 section 4.2).
    package static func code(secret: [UInt8], step: Int64, digits: Int = digits) -> String {
        OperationMeter.note(.hmac)
        let counter = withUnsafeBytes(of: step.bigEndian) { Array($0) }
        let code = HMAC<Insecure.SHA1>.authenticationCode(for: counter, using: SymmetricKey(data: secret))
        // RFC 4226 section 5.3: four bytes at the offset given by the last four bits, without the sign bit.
        let bytes = Array(code)
        let offset = Int(bytes[19] & 0xF)
        let number = bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } & 0x7FFF_FFFF
        let modulus = (0..<digits).reduce(1) { product, _ in product * 10 }
        let text = String(number % modulus)
        return String(repeating: "0", count: digits - text.count) + text
    }

    /// Whether an entered code was valid in about the last five minutes, and is no longer accepted.
    package static func isPast(_ typed: String, secret: [UInt8], now: Date) -> Bool {
        (2...10).reduce(false) { found, back in
            step(ofTyped: typed, secret: secret, now: now.addingTimeInterval(-period * Double(back + 1)), after: nil) != nil || found
        }
    }

    /// Returns the step whose code was entered; `nil` if no step matches, or the step is `last` or earlier. The previous and the next step
    /// are accepted too (RFC 6238 section 5.2), because users type slowly and phone clocks are inexact. A larger window would help
    /// guessing. All steps are compared, so that the time reveals nothing. Spaces are ignored, because apps show codes with a space in the
    /// middle.
    package static func step(ofTyped typed: String, secret: [UInt8], now: Date, after last: Int64?) -> Int64? {
        let typed = Array(typed.utf8.prefix(64)).filter { $0 != UInt8(ascii: " ") }
        let current = step(at: now)
        var found: Int64?
        for step in current - 1...current + 1 {
            let isRight = typed.isSameSecret(as: code(secret: secret, step: step).utf8)
            if isRight, step > last ?? .min { found = step }
        }
        return found
    }
}

/// Base32 (RFC 4648 section 6) without padding, as authenticator apps write secrets.
package enum Base32 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

    package static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        var (bits, count) = (0, 0)
        for byte in bytes {
            (bits, count) = (bits << 8 | Int(byte), count + 8)
            while count >= 5 {
                count -= 5
                text.append(alphabet[bits >> count & 31])
            }
            bits &= 1 << count - 1
        }
        if count > 0 { text.append(alphabet[bits << (5 - count) & 31]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes text, also in lower case and with spaces, as users type it; `nil` if it is invalid.
    package static func decode(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        var (bits, count) = (0, 0)
        for character in text.uppercased().utf8 where character != UInt8(ascii: " ") {
            guard let value = alphabet.firstIndex(of: character) else { return nil }
            (bits, count) = (bits << 5 | value, count + 5)
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(bits >> count & 0xFF))
                bits &= 1 << count - 1
            }
        }
        // The remaining bits must be padding: fewer than five, all zero.
        return count < 5 && bits == 0 ? bytes : nil
    }
}
