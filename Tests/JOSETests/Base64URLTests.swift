import Foundation
import JOSE
import Testing

@Suite("Base64URL")
struct Base64URLTests {
    @Test(
        "Base64url encoding matches Foundation's encoding for up to 199 bytes, and decoding returns the original bytes", arguments: 0..<200)
    func roundTrip(count: Int) throws {
        // Each byte value occurs at each position in a group of three bytes.
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ count) }
        let text = Base64URL.encode(bytes)
        let expected = Data(bytes).base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
        #expect(text == expected)
        #expect(try Base64URL.decode(text) == bytes)
        #expect(try Base64URL.decode(Array(text.utf8)) == bytes)
        #expect(try Base64URL.decode(text[...]) == bytes)
    }

    @Test("Base64url decoding rejects a character outside of the alphabet at every position", arguments: 0..<4)
    func foreignCharacters(place: Int) throws {
        let alphabet = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        for byte in UInt8.min...UInt8.max {
            var text = Array("AAAAAAAA".utf8)
            text[place] = byte
            if alphabet.contains(byte) {
                #expect(try Base64URL.decode(text).count == 6)
            } else {
                #expect(throws: JOSEError(.malformed, "")) { try Base64URL.decode(text) }
            }
        }
    }

    @Test(
        "Base64url decoding accepts only the canonical encoding",
        arguments: [
            "A", "AAAAA", "AA==", "AAA=", "AAAA====", "A A", "AA\n", " AAAA", "AB", "AAB", "__", "____-", "AAé", "A+/A", "AA.A",
        ])
    func otherSpellings(text: String) {
        #expect(throws: JOSEError(.malformed, "")) { try Base64URL.decode(text) }
    }

    @Test("Of all texts of two base64url characters, exactly 256 can be decoded")
    func uniqueness() {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        var accepted = 0
        for first in alphabet {
            for second in alphabet where (try? Base64URL.decode(String([first, second]))) != nil { accepted += 1 }
        }
        #expect(accepted == 256)
    }
}
