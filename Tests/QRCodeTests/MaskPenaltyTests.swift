import Testing

@testable import QRCode

@Suite("Choice of the mask")
struct MaskPenaltyTests {
    private func line(_ text: String) -> [Bool] { text.map { $0 == "1" } }

    @Test(
        "The penalty of a line equals the value of the standard",
        arguments: [
            ("10101010", 0), ("111101", 0), ("111110", 3), ("1111110", 4), ("0000000", 5),
            // A finder pattern at the edge: the quiet zone before it is light, and the module after it is not.
            ("10111011", 40), ("1011101", 80), ("1011101011", 40), ("11011101000011", 40), ("110111010001", 0),
        ])
    func lines(_ text: String, _ points: Int) {
        #expect(ModuleGrid.penalty(ofLine: line(text)) == points)
    }

    @Test(
        "The mask with the lowest penalty is used",
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
