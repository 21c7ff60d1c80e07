import Foundation
import TestSupport
import Testing

@testable import QRCode

@Suite(
    "Independent reader of QR codes", .enabled(if: OutsidePart.zbar.isEnabled, Comment(rawValue: OutsidePart.zbar.missingNote)))
struct ReadingTests {
    @Test("An independent reader decodes a full QR code of every version", arguments: ErrorCorrection.allCases)
    func everyVersion(_ level: ErrorCorrection) async throws {
        var random = SplitMix(state: 18_004)
        var texts: [String] = []
        for version in 1...40 {
            // The text has the maximum length for this version. Each of its characters takes one byte.
            let count = (level.dataCodewords(version: version) * 8 - 4 - (version < 10 ? 8 : 16)) / 8
            let characters = (1..<count).map { _ in Character(UnicodeScalar(UInt8.random(in: 0x21...0x7E, using: &random))) }
            texts.append("z" + String(characters))
        }
        // Uses each mask in turn, because selecting the best mask of a large symbol takes minutes in an unoptimized build.
        let symbols = try texts.enumerated().map { try QRSymbol($1, errorCorrection: level, mask: $0 % 8) }
        #expect(symbols.map(\.version) == Array(1...40))
        #expect(try await Picture.read(symbols.map(Picture.init)) == texts)
    }

    @Test("An independent reader decodes a QR code of every mode, including text beyond ASCII")
    func contents() async throws {
        var texts = [
            "0", "01", "012", "0123456789012345", "A", "AC-42", "HTTPS://EXAMPLE.COM/ACTIVATE", "a",
            "otpauth://totp/Acme%20Inc:jane.doe%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Acme%20Inc",
            "Grüße aus Zürich, 東京 und Αθήνα 🗝️ – schön, dass es geht",
        ]
        var random = SplitMix(state: 1)
        for length in stride(from: 1, through: 240, by: 8) {
            texts.append(String((0..<length).map { _ in "0123456789".randomElement(using: &random) ?? "0" }))
            texts.append(String((0..<length).map { _ in "ABCXYZ019 $%*+-./:".randomElement(using: &random) ?? "A" }) + "A")
            texts.append(String((0..<length).map { _ in "abcXYZ019 {}&?=%äß€".randomElement(using: &random) ?? "a" }) + "b€")
        }
        let read = try await Picture.read(try texts.map { Picture(try QRSymbol($0)) })
        #expect(read.count == texts.count)
        for (text, found) in zip(texts, read) { #expect(found == text) }
    }

    @Test("An independent reader decodes the SVG of a QR code")
    func svg() async throws {
        let text = "countersign://enroll?org=https://id.example.com&ticket=0123456789abcdef"
        let symbol = try QRSymbol(text)
        let picture = try #require(Picture(svg: symbol.svg(title: "Scan")))
        #expect(picture.rows == Picture(symbol).rows)
        #expect(try await Picture.read([picture]) == [text])
    }

    @Test("An independent reader decodes the PNG of a QR code in a small and in a large size")
    func png() async throws {
        for (text, pixels) in [("x", 3), (String(repeating: "otpauth://totp/", count: 40), 9)] {
            let file = FileManager.default.temporaryDirectory.appending(path: "countersign-\(UUID().uuidString).png")
            try Data(try QRSymbol(text).png(pixels: pixels)).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let result = try await ForeignProgram.run(.zbar, ["--quiet", "--raw", "--nodbus", file.path], input: "")
            #expect(result.output == text + "\n")
        }
    }

    @Test("An independent reader decodes a QR code that is drawn in a terminal, on light and dark backgrounds")
    func terminal() async throws {
        let text = "https://id.example.com/activate?user_code=WDJB-MJHT"
        let symbol = try QRSymbol(text)
        let pictures = [
            Picture(terminal: symbol.terminalText(), inkIsDark: false),
            Picture(terminal: symbol.terminalText(colors: .darkBackground), inkIsDark: false),
            Picture(terminal: symbol.terminalText(colors: .lightBackground), inkIsDark: true),
        ]
        #expect(try await Picture.read(pictures) == [text, text, text])
    }

    @Test("An independent reader decodes a partly covered QR code of the two highest error correction levels")
    func damage() async throws {
        let text = String(repeating: "Keep this code to yourself. ", count: 4)
        // The test covers a square in the middle, with about a tenth of the data.
        func covered(_ level: ErrorCorrection) throws -> Picture {
            let symbol = try QRSymbol(text, errorCorrection: level)
            var picture = Picture(symbol)
            let side = symbol.size / 4
            let start = 4 + (symbol.size - side) / 2
            for row in start..<start + side { for column in start..<start + side { picture.rows[row][column] = true } }
            return picture
        }
        #expect(try await Picture.read([covered(.high), covered(.quartile)]) == [text, text])
    }
}

/// A generator that returns the same numbers in each run.
private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
