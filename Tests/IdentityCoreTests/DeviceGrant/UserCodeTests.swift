import Foundation
import Testing

@testable import IdentityCore

@Suite("User codes of the device grant")
struct UserCodeTests {
    @Test("A user code consists of eight letters out of twenty consonants, which occur with equal frequency")
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
        "A user code is accepted in lower case and with hyphens or spaces, and rejected with a wrong length or a wrong character",
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
