internal import Foundation

/// The code that a device shows and the user types (RFC 8628 section 6.1; Documentation/Protocol/OAuth.md §2.8). Its eight letters are from
/// a set of twenty consonants, so codes form no words and contain no similar letters. There are 2.5 × 10¹⁰ codes.
/// ``Engine/countUserCode(_:)`` limits guesses to 30,000 from all addresses together during the ten minutes of a code's lifetime.
package enum UserCode {
    static let alphabet = Array("BCDFGHJKLMNPQRSTVWXZ".utf8)
    static let length = 8
    /// The maximum number of entries per minute from one address.
    static let mostPerAddress = 30
    /// The maximum number of entries per minute from all addresses.
    static let mostOfAll = 3_000

    package static func make(_ random: any RandomSource) throws -> String {
        var code: [UInt8] = []
        while code.count < length {
            // Larger bytes would favour the first letters: 240 is the largest multiple of 20 that fits in a byte.
            for byte in try random.bytes(16) where byte < 240 && code.count < length { code.append(alphabet[Int(byte) % alphabet.count]) }
        }
        return String(decoding: code, as: UTF8.self)
    }

    /// Returns the stored form of a typed code; `nil` if it cannot be a code. Accepts letters of any case, spaces and hyphens.
    package static func reading(_ text: String) -> String? {
        guard text.utf8.count <= 40 else { return nil }
        var code: [UInt8] = []
        for byte in text.utf8 where byte != UInt8(ascii: " ") && byte != UInt8(ascii: "-") {
            let upper = (0x61...0x7A).contains(byte) ? byte - 0x20 : byte
            guard alphabet.contains(upper) else { return nil }
            code.append(upper)
        }
        return code.count == length ? String(decoding: code, as: UTF8.self) : nil
    }
}

extension Engine {
    /// Counts one entry of a user code, for its address and for all. An entry above the limit of its address does not count for all.
    package func countUserCode(_ context: RequestContext) -> RateLimitStatus {
        if let address = context.address {
            let status = rateLimiter.count(.userCodes(from: address), limit: UserCode.mostPerAddress, now: context.now)
            guard status.isAdmitted else { return status }
        }
        return rateLimiter.count(.userCodes(""), limit: UserCode.mostOfAll, now: context.now)
    }
}

extension RateLimiter.Subject {
    /// Returns the subject of the limit on user codes from an address. IPv6 addresses are counted per /64, as for other requests.
    fileprivate static func userCodes(from address: String) -> Self {
        if case .address(let key) = from(address) { .userCodes(key) } else { .userCodes(address) }
    }
}
