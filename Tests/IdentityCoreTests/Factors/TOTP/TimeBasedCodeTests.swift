import Foundation
import Testing

@testable import IdentityCore

@Suite("Codes of authenticator apps")
struct TimeBasedCodeTests {
    private static let secret = Array("12345678901234567890".utf8)

    /// The SHA-1 rows of RFC 6238, appendix B.
    @Test(
        "TOTP codes equal the vectors of RFC 6238",
        arguments: [
            (59, "94287082"), (1_111_111_109, "07081804"), (1_111_111_111, "14050471"), (1_234_567_890, "89005924"),
            (2_000_000_000, "69279037"), (20_000_000_000, "65353130"),
        ])
    func timeVectors(_ seconds: Int, _ code: String) {
        let step = TimeBasedCode.step(at: Date(timeIntervalSince1970: TimeInterval(seconds)))
        #expect(TimeBasedCode.code(secret: Self.secret, step: step, digits: 8) == code)
        #expect(TimeBasedCode.code(secret: Self.secret, step: step) == String(code.suffix(6)))
    }

    /// The values of RFC 4226, appendix D.
    @Test("HOTP codes equal the vectors of RFC 4226")
    func counterVectors() {
        let codes = (0..<10).map { TimeBasedCode.code(secret: Self.secret, step: $0) }
        #expect(
            codes == ["755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489"])
    }

    /// The values of RFC 4648, section 10, without padding.
    @Test(
        "Base32 encoding equals the vectors of RFC 4648, and decoding also accepts lower case",
        arguments: [
            ("", ""), ("f", "MY"), ("fo", "MZXQ"), ("foo", "MZXW6"), ("foob", "MZXW6YQ"), ("fooba", "MZXW6YTB"), ("foobar", "MZXW6YTBOI"),
        ])
    func base32(_ text: String, _ encoded: String) {
        #expect(Base32.encode(Array(text.utf8)) == encoded)
        #expect(Base32.decode(encoded.lowercased()) == Array(text.utf8))
    }

    @Test("A secret that is not Base32 is rejected", arguments: ["0", "M1", "MZXW6===", "MZ=", "M", "MZX", "MZ", "é"])
    func notBase32(_ text: String) { #expect(Base32.decode(text) == nil) }

    @Test(
        "In a sample of six-digit codes, every code except those of the previous, current and next time step is rejected", arguments: 0..<5)
    func allOthers(_ part: Int) {
        let now = Date(timeIntervalSince1970: 3_000)
        let right = Set((99...101).map { TimeBasedCode.code(secret: Self.secret, step: $0) })
        let sample = stride(from: part, to: 1_000_000, by: 500).map { String(format: "%06d", $0) }
        let accepted = (sample + right).filter {
            TimeBasedCode.step(ofTyped: $0, secret: Self.secret, now: now, after: nil) != nil
        }
        #expect(Set(accepted) == right)
    }

    @Test("A TOTP code is valid in its own time step and in the steps directly before and after")
    func window() {
        let now = Date(timeIntervalSince1970: 3_000)
        for (step, isGood) in [(98, false), (99, true), (100, true), (101, true), (102, false)] as [(Int64, Bool)] {
            let code = TimeBasedCode.code(secret: Self.secret, step: step)
            #expect(TimeBasedCode.step(ofTyped: code, secret: Self.secret, now: now, after: nil) == (isGood ? step : nil))
        }
    }

    @Test("A used TOTP code and the codes of earlier time steps are rejected")
    func used() {
        let now = Date(timeIntervalSince1970: 3_000)
        func typed(_ step: Int64, after last: Int64) -> Int64? {
            TimeBasedCode.step(
                ofTyped: TimeBasedCode.code(secret: Self.secret, step: step), secret: Self.secret, now: now, after: last)
        }
        #expect(typed(100, after: 99) == 100)
        #expect(typed(100, after: 100) == nil)
        #expect(typed(99, after: 100) == nil)
        #expect(typed(101, after: 100) == 101)
    }

    @Test("A TOTP code is accepted with spaces, and rejected with any other additional character")
    func spelling() {
        let now = Date(timeIntervalSince1970: 0)
        func step(_ typed: String) -> Int64? { TimeBasedCode.step(ofTyped: typed, secret: Self.secret, now: now, after: nil) }
        #expect(step("755224") == 0 && step("755 224") == 0 && step(" 755224 ") == 0)
        for wrong in ["", "75522", "7552240", "755-224", "٧٥٥٢٢٤", "0x755224", String(repeating: " ", count: 100) + "755224"] {
            #expect(step(wrong) == nil)
        }
    }
}
