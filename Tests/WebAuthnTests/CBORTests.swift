import CountersignSandbox
import JOSE
import Testing
import WebAuthn

@Suite("CBOR")
struct CBORTests {
    private func bytes(_ hexadecimal: String) -> [UInt8] {
        let digits = hexadecimal.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    private func error(_ bytes: [UInt8], limits: CBORDecoder.Limits = .standard) -> CBORError? {
        do throws(CBORError) {
            _ = try CBORValue(decoding: bytes, limits: limits)
            return nil
        } catch {
            return error
        }
    }

    /// Examples of RFC 8949 appendix A, without indefinite lengths and tags.
    private static let examples: [(String, CBORValue)] = [
        ("00", .integer(0)), ("17", .integer(23)), ("1818", .integer(24)), ("1903e8", .integer(1000)), ("1a000f4240", .integer(1_000_000)),
        ("1b000000e8d4a51000", .integer(1_000_000_000_000)), ("20", .integer(-1)), ("3903e7", .integer(-1000)),
        ("40", .bytes([])), ("4401020304", .bytes([1, 2, 3, 4])), ("60", .text("")), ("6449455446", .text("IETF")),
        ("62c3bc", .text("ü")), ("64f0908591", .text("\u{10151}")), ("80", .array([])),
        ("83010203", .array([.integer(1), .integer(2), .integer(3)])),
        ("8301820203820405", .array([.integer(1), .array([.integer(2), .integer(3)]), .array([.integer(4), .integer(5)])])),
        ("a0", .map([:])), ("a201020304", .map([.integer(1): .integer(2), .integer(3): .integer(4)])),
        ("a26161016162820203", .map([.text("a"): .integer(1), .text("b"): .array([.integer(2), .integer(3)])])),
        ("f4", .bool(false)), ("f5", .bool(true)), ("f6", .null), ("f7", .undefined), ("f93c00", .float([0x3C, 0])),
        ("fa47c35000", .float([0x47, 0xC3, 0x50, 0])), ("fb3ff199999999999a", .float([0x3F, 0xF1, 0x99, 0x99, 0x99, 0x99, 0x99, 0x9A])),
    ]

    @Test("The examples of RFC 8949 appendix A are decoded, and the test encoder reproduces them")
    func examples() throws {
        for (text, value) in Self.examples {
            #expect(try CBORValue(decoding: bytes(text)) == value)
            #expect(value.encoded == bytes(text))
        }
    }

    @Test(
        "Input that is not the accepted form of CBOR is rejected with the reason",
        arguments: [
            ("", CBORError.truncated), ("18", .truncated), ("19ff", .truncated), ("1bffffffffffffff", .truncated), ("41", .truncated),
            ("5affffffff", .truncated), ("5bffffffffffffffff", .truncated), ("7b7fffffffffffffff00", .truncated), ("81", .truncated),
            ("9bffffffffffffffff", .truncated), ("a1", .truncated), ("a101", .truncated), ("bb7fffffffffffffff0000", .truncated),
            ("f9", .truncated), ("fb00", .truncated),
            ("1bffffffffffffffff", .integerTooLarge), ("3bffffffffffffffff", .integerTooLarge), ("1b8000000000000000", .integerTooLarge),
            ("1c", .reserved), ("3d", .reserved), ("5e", .reserved), ("fc", .reserved),
            ("1f", .indefiniteLength), ("5f4101ff", .indefiniteLength), ("7f6161ff", .indefiniteLength), ("9f01ff", .indefiniteLength),
            ("bf0101ff", .indefiniteLength), ("ff", .indefiniteLength),
            ("c000", .tagged), ("d9d9f700", .tagged), ("f800", .unknownSimpleValue), ("f8ff", .unknownSimpleValue),
            ("e0", .unknownSimpleValue),
            ("61ff", .invalidText), ("62c080", .invalidText), ("63eda080", .invalidText),
            ("a14100f6", .invalidKey), ("a180f6", .invalidKey), ("a1f4f6", .invalidKey), ("a1f6f6", .invalidKey),
            ("a201000101", .duplicateKey), ("a2616101616102", .duplicateKey), ("a20100180101", .duplicateKey),
            ("a220002000", .duplicateKey),
            ("0000", .trailingBytes(count: 1)), ("a0ffff", .trailingBytes(count: 2)),
        ])
    func rejects(text: String, error: CBORError) {
        #expect(self.error(bytes(text)) == error)
    }

    @Test("The smallest and greatest integers of 64 bits with a sign are decoded")
    func integers() throws {
        #expect(try CBORValue(decoding: bytes("1b7fffffffffffffff")) == .integer(.max))
        #expect(try CBORValue(decoding: bytes("3b7fffffffffffffff")) == .integer(.min))
    }

    @Test("Keys in any order and heads that are longer than necessary are decoded")
    func lenient() throws {
        #expect(try CBORValue(decoding: bytes("a203010102")) == .map([.integer(3): .integer(1), .integer(1): .integer(2)]))
        #expect(try CBORValue(decoding: bytes("590001ff")) == .bytes([255]))
        #expect(try CBORValue(decoding: bytes("1800")) == .integer(0))
    }

    @Test("A text key of more than 128 bytes is rejected")
    func longKeys() {
        for (count, expected) in [(128, nil), (129, .invalidKey)] as [(Int, CBORError?)] {
            let input = [0xA1] + CBORValue.text(String(repeating: "k", count: count)).encoded + [0]
            #expect(error(input) == expected)
        }
    }

    @Test("Input beyond the limits of size, depth and items is rejected")
    func limits() {
        let nested = [UInt8](repeating: 0x81, count: 8) + [0x01]
        #expect(error(nested) == nil)
        #expect(error([0x81] + nested) == .tooDeep)
        #expect(error([UInt8](repeating: 0x81, count: 60_000)) == .tooDeep)
        #expect(error([UInt8](repeating: 0xA1, count: 60_000)) == .tooDeep)
        #expect(error([0x83, 1, 2, 3], limits: .init(maximumItems: 4)) == nil)
        #expect(error([0x83, 1, 2, 3], limits: .init(maximumItems: 3)) == .tooManyItems)
        #expect(error([0xA1, 1, 2], limits: .init(maximumItems: 2)) == .tooManyItems)
        #expect(error([0x42, 1, 2], limits: .init(maximumSize: 3)) == nil)
        #expect(error([0x42, 1, 2], limits: .init(maximumSize: 2)) == .tooLarge)
    }

    @Test("Decoding a prefix returns the length of the first data item")
    func prefix() throws {
        let (value, count) = try CBORValue.decodePrefix(of: [9, 0x82, 1, 2, 3, 4][1...])
        #expect(value == .array([.integer(1), .integer(2)]))
        #expect(count == 3)
    }

    @Test("Every first byte with many second bytes, and pseudorandom inputs, are decoded or rejected without a crash")
    func arbitrary() {
        for first in UInt8.min...UInt8.max {
            _ = error([first])
            for second in stride(from: UInt8.min, to: .max, by: 15) { _ = error([first, second]) }
        }
        var generator = SeededGenerator(3)
        for _ in 0..<5000 { _ = error(generator.bytes(Int(generator.next() % 40))) }
    }

    @Test("A decoded value that is encoded canonically decodes to the same value")
    func roundTrips() throws {
        var generator = SeededGenerator(4)
        var decoded = 0
        for _ in 0..<20_000 {
            let input = generator.bytes(Int(generator.next() % 12))
            guard let value = try? CBORValue(decoding: input) else { continue }
            decoded += 1
            #expect(try CBORValue(decoding: value.encoded) == value)
        }
        #expect(decoded > 100)
    }
}
