/// The share of a symbol that can be unreadable without loss of data (ISO/IEC 18004 section 7.5.1).
public enum ErrorCorrection: Sendable, CaseIterable {
    /// About 7 percent.
    case low
    /// About 15 percent.
    case medium
    /// About 25 percent.
    case quartile
    /// About 30 percent.
    case high

    /// The two bits of the level in the format information.
    var formatBits: Int {
        switch self {
        case .low: 0b01
        case .medium: 0b00
        case .quartile: 0b11
        case .high: 0b10
        }
    }

    /// Returns the number of error correction codewords in each block.
    func correctionCodewords(version: Int) -> Int { Int(Self.correctionPerBlock[index][version - 1]) }

    func blockCount(version: Int) -> Int { Int(Self.blocks[index][version - 1]) }

    /// Returns the number of codewords available for data.
    func dataCodewords(version: Int) -> Int {
        Self.codewords(version: version) - correctionCodewords(version: version) * blockCount(version: version)
    }

    /// Returns the number of data and error correction codewords: all modules outside the function patterns, divided by eight.
    static func codewords(version: Int) -> Int {
        let size = version * 4 + 17
        let centres = AlignmentPatterns.centres(version: version).count
        // Three of the grid's crossings hold finder patterns. Each alignment pattern on a timing pattern shares five modules with the
        // timing pattern.
        let alignment = centres == 0 ? 0 : (centres * centres - 3) * 25 - (centres - 2) * 2 * 5
        let function = 3 * 64 + 2 * (size - 16) + 31 + alignment + (version >= 7 ? 36 : 0)
        return (size * size - function) / 8
    }

    private var index: Int {
        switch self {
        case .low: 0
        case .medium: 1
        case .quartile: 2
        case .high: 3
        }
    }

    // ISO/IEC 18004 table 9, by level, then by version.
    private static let correctionPerBlock: [[UInt8]] = [
        [
            7, 10, 15, 20, 26, 18, 20, 24, 30, 18, 20, 24, 26, 30, 22, 24, 28, 30, 28, 28, 28, 28, 30, 30, 26, 28, 30, 30, 30, 30, 30, 30,
            30, 30, 30, 30, 30, 30, 30, 30,
        ],
        [
            10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26, 26, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28,
            28, 28, 28, 28, 28, 28, 28, 28,
        ],
        [
            13, 22, 18, 26, 18, 24, 18, 22, 20, 24, 28, 26, 24, 20, 30, 24, 28, 28, 26, 30, 28, 30, 30, 30, 30, 28, 30, 30, 30, 30, 30, 30,
            30, 30, 30, 30, 30, 30, 30, 30,
        ],
        [
            17, 28, 22, 16, 22, 28, 26, 26, 24, 28, 24, 28, 22, 24, 24, 30, 28, 28, 26, 28, 30, 24, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30,
            30, 30, 30, 30, 30, 30, 30, 30,
        ],
    ]

    private static let blocks: [[UInt8]] = [
        [
            1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 4, 6, 6, 6, 6, 7, 8, 8, 9, 9, 10, 12, 12, 12, 13, 14, 15, 16, 17, 18, 19, 19, 20, 21,
            22, 24, 25,
        ],
        [
            1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16, 17, 17, 18, 20, 21, 23, 25, 26, 28, 29, 31, 33, 35, 37, 38,
            40, 43, 45, 47, 49,
        ],
        [
            1, 1, 2, 2, 4, 4, 6, 6, 8, 8, 8, 10, 12, 16, 12, 17, 16, 18, 21, 20, 23, 23, 25, 27, 29, 34, 34, 35, 38, 40, 43, 45, 48, 51,
            53, 56, 59, 62, 65, 68,
        ],
        [
            1, 1, 2, 4, 4, 4, 5, 6, 8, 8, 11, 11, 16, 16, 18, 16, 19, 21, 25, 25, 25, 34, 30, 32, 35, 37, 40, 42, 45, 48, 51, 54, 57, 60,
            63, 66, 70, 74, 77, 81,
        ],
    ]
}
