internal import Foundation

/// The code that a device shows and a person types (RFC 8628 section 6.1; oauth reference 2.8).
///
/// Eight of twenty consonants: no word comes out, nothing looks like something else, and there are 2.5 × 10¹⁰ of them. Whoever guesses is
/// slowed down by ``Engine/countUserCode(_:)``: in the ten minutes that a code lives, all addresses together get through 30,000.
package enum UserCode {
    static let alphabet = Array("BCDFGHJKLMNPQRSTVWXZ".utf8)
    static let length = 8
    /// Entries per minute from one address.
    static let mostPerAddress = 30
    /// Entries per minute from all addresses.
    static let mostOfAll = 3_000

    /// Makes one.
    package static func make(_ random: any RandomSource) throws -> String {
        var code: [UInt8] = []
        while code.count < length {
            // 240 is the largest multiple of 20 in a byte: what lies above would favour the first letters.
            for byte in try random.bytes(16) where byte < 240 && code.count < length { code.append(alphabet[Int(byte) % alphabet.count]) }
        }
        return String(decoding: code, as: UTF8.self)
    }

    /// What somebody typed as the server writes it: letters of any case, with spaces and hyphens between; nil if it can be no code.
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
    /// Counts one entry of a user code, from its address and from all of them. What an address is refused does not count against everybody.
    package func countUserCode(_ context: RequestContext) -> RateLimitStatus {
        if let address = context.address {
            let status = rateLimiter.count(.userCodes(from: address), limit: UserCode.mostPerAddress, now: context.now)
            guard status.isAdmitted else { return status }
        }
        return rateLimiter.count(.userCodes(""), limit: UserCode.mostOfAll, now: context.now)
    }
}

extension RateLimiter.Subject {
    /// The user codes from an address, counted as its requests are.
    fileprivate static func userCodes(from address: String) -> Self {
        if case .address(let key) = from(address) { .userCodes(key) } else { .userCodes(address) }
    }
}
