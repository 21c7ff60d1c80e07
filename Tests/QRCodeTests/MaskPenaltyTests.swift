import Testing

@testable import QRCode

@Suite("Choice of a QR code's mask")
struct MaskPenaltyTests {
    private func line(_ text: String) -> [Bool] { text.map { $0 == "1" } }

    @Test(
        "The mask penalty of a line in a QR code equals the value of ISO/IEC 18004",
        arguments: [
            ("10101010", 0), ("111101", 0), ("111110", 3), ("1111110", 4), ("0000000", 5),
            // The finder pattern is at the edge. The quiet zone before it is light, and the module after it is dark.
            ("10111011", 40), ("1011101", 80), ("1011101011", 40), ("11011101000011", 40), ("110111010001", 0),
        ])
    func lines(_ text: String, _ points: Int) {
        #expect(ModuleGrid.penalty(ofLine: line(text)) == points)
    }

    @Test(
        "A QR code uses the mask with the lowest penalty",
        arguments: ["01234567", "otpauth://totp/x?secret=AAAA", "\u{0}\u{0}\u{0}", "HELLO WORLD"])
    func fewest(_ text: String) throws {
        let symbols = try (0..<8).map { try QRSymbol(text, errorCorrection: .medium, mask: $0) }
        let penalties = symbols.map(\.grid.penalty)
        #expect(Set(penalties).count > 1)
        let chosen = try QRSymbol(text)
        #expect(penalties[chosen.mask] == penalties.min())
        #expect(chosen == symbols[chosen.mask])
    }
}
