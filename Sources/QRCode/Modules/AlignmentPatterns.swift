/// Where the small squares lie by which a reader straightens a bent symbol (ISO/IEC 18004 annex E).
enum AlignmentPatterns {
    /// The coordinates of their centres, the same for columns and rows; none in version 1.
    static func centres(version: Int) -> [Int] {
        guard version > 1 else { return [] }
        let count = version / 7 + 2
        let last = version * 4 + 10
        // Evenly apart, by an even number; the standard's table has one entry that this does not give.
        let step = version == 32 ? 26 : (last - 6 + 2 * (count - 1) - 1) / (2 * (count - 1)) * 2
        return [6] + (0..<count - 1).reversed().map { last - $0 * step }
    }
}
