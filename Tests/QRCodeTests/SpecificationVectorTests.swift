import Testing

@testable import QRCode

@Suite("Examples of ISO/IEC 18004")
struct SpecificationVectorTests {
    /// Annex I: the text 01234567 in version 1, level M.
    @Test("The digits of the worked example in ISO/IEC 18004 are encoded as the example's data and error correction codewords")
    func workedExample() {
        let data = TextSegment("01234567").codewords(version: 1, count: ErrorCorrection.medium.dataCodewords(version: 1))
        #expect(
            data == [
                0b0001_0000, 0b0010_0000, 0b0000_1100, 0b0101_0110, 0b0110_0001, 0b1000_0000, 0b1110_1100, 0b0001_0001, 0b1110_1100,
                0b0001_0001, 0b1110_1100, 0b0001_0001, 0b1110_1100, 0b0001_0001, 0b1110_1100, 0b0001_0001,
            ])
        #expect(
            CodewordSequence(data: data, version: 1, errorCorrection: .medium).interleaved.dropFirst(16) == [
                0b1010_0101, 0b0010_0100, 0b1101_0100, 0b1100_0001, 0b1110_1101, 0b0011_0110, 0b1100_0111, 0b1000_0111, 0b0010_1100,
                0b0101_0101,
            ])
    }

    /// Section 7.4.4: AC-42 in version 1.
    @Test("The text of the alphanumeric example in ISO/IEC 18004 is encoded as the example's bits")
    func alphanumericExample() {
        let segment = TextSegment("AC-42")
        #expect(segment.bitCount(version: 1) == 41)
        // 0010 000000101 00111001110 11100111001 000010, then the terminator and the first padding.
        #expect(
            segment.codewords(version: 1, count: 7) == [
                0b0010_0000, 0b0010_1001, 0b1100_1110, 0b1110_0111, 0b0010_0001, 0b0000_0000, 0b1110_1100,
            ])
    }

    /// Section 7.9: level M with mask 101.
    @Test("The format information of a QR code equals the example in ISO/IEC 18004") func formatExample() {
        #expect(ModuleGrid.format(errorCorrection: .medium, mask: 0b101) == 0b100_0000_1100_1110)
    }

    /// Section 7.10: version 7.
    @Test("The version information of a QR code equals the example in ISO/IEC 18004") func versionExample() {
        #expect(ModuleGrid.versionInformation(7) == 0b00_0111_1100_1001_0100)
    }

    /// The rows of table E.1 with all its special cases.
    @Test(
        "The alignment patterns of a QR code are at the positions of the table in ISO/IEC 18004",
        arguments: [
            (1, []), (2, [6, 18]), (7, [6, 22, 38]), (14, [6, 26, 46, 66]), (15, [6, 26, 48, 70]), (16, [6, 26, 50, 74]),
            (22, [6, 26, 50, 74, 98]), (32, [6, 34, 60, 86, 112, 138]), (36, [6, 24, 50, 76, 102, 128, 154]),
            (39, [6, 26, 54, 82, 110, 138, 166]), (40, [6, 30, 58, 86, 114, 142, 170]),
        ])
    func alignment(_ version: Int, _ centres: [Int]) {
        #expect(AlignmentPatterns.centres(version: version) == centres)
    }

    /// The first and the last rows of table 7: the number of characters of a version.
    @Test(
        "The capacity of a QR code version equals the table in ISO/IEC 18004",
        arguments: [
            (ErrorCorrection.low, 1, "1", 41), (.low, 1, "A", 25), (.low, 1, "a", 17), (.medium, 1, "a", 14), (.high, 1, "a", 7),
            (.medium, 7, "a", 122), (.quartile, 10, "A", 221), (.medium, 20, "a", 666), (.high, 27, "1", 1501), (.low, 40, "1", 7089),
            (.low, 40, "A", 4296), (.low, 40, "a", 2953), (.medium, 40, "a", 2331), (.quartile, 40, "a", 1663), (.high, 40, "a", 1273),
        ])
    func capacity(_ level: ErrorCorrection, _ version: Int, _ character: String, _ count: Int) throws {
        #expect(try QRSymbol(String(repeating: character, count: count), errorCorrection: level).version == version)
        let more = String(repeating: character, count: count + 1)
        if version == 40 {
            #expect(throws: QRSymbol.TooLong.self) { try QRSymbol(more, errorCorrection: level) }
        } else {
            #expect(try QRSymbol(more, errorCorrection: level).version == version + 1)
        }
    }

    /// The sums of the columns in table 9: the number of codewords in all blocks of a version.
    @Test(
        "The number of codewords of a QR code version equals the table in ISO/IEC 18004",
        arguments: [(1, 26), (2, 44), (7, 196), (14, 581), (20, 1085), (40, 3706)])
    func codewords(_ version: Int, _ count: Int) {
        #expect(ErrorCorrection.codewords(version: version) == count)
    }
}
