import Foundation
import Testing

@testable import IdentityCore

@Suite("The codes that devices show")
struct UserCodeTests {
    @Test("User codes have eight of twenty consonants, with equal frequency")
    func alphabet() throws {
        let random = SeededRandom(seed: 7)
        var counts: [Character: Int] = [:]
        for _ in 0..<2_000 {
            let code = try UserCode.make(random)
            #expect(code.count == UserCode.length)
            for letter in code { counts[letter, default: 0] += 1 }
        }
        #expect(Set(counts.keys) == Set("BCDFGHJKLMNPQRSTVWXZ"))
        // 16,000 letters, 800 of each: six standard deviations are 166.
        #expect(counts.values.allSatisfy { abs($0 - 800) < 170 }, "\(counts)")
    }

    @Test(
        "User codes are accepted in the forms that users type",
        arguments: [
            ("KDWQPLMT", "KDWQPLMT"), ("kdwq-plmt", "KDWQPLMT"), (" KDWQ PLMT ", "KDWQPLMT"), ("k-d-w-q-p-l-m-t", "KDWQPLMT"),
            ("KDWQPLM", nil), ("KDWQPLMTT", nil), ("KDWQPLMA", nil), ("KDWQPLM1", nil), ("", nil), ("ＫDWQPLMT", nil),
            ("KDWQ\u{301}PLMT", nil),
            (String(repeating: "-", count: 33) + "KDWQPLMT", nil),
        ] as [(String, String?)])
    func reading(text: String, code: String?) {
        #expect(UserCode.reading(text) == code)
    }
}
