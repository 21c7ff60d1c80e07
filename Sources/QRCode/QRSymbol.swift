/// A QR code (ISO/IEC 18004): a square of dark and light modules that a camera reads as text.
///
/// The smallest of the 40 versions that holds the text is chosen, and of the eight masks the one that the standard's scoring prefers.
/// The same text gives the same symbol. Making one takes milliseconds, also for the largest, and nothing but computing.
public struct QRSymbol: Sendable, Equatable {
    /// 1 to 40.
    public let version: Int
    /// How much of it may be unreadable.
    public let errorCorrection: ErrorCorrection
    /// The mask that was chosen, 0 to 7.
    public let mask: Int
    /// Modules on a side, without the quiet zone: 21 to 177.
    public var size: Int { grid.size }

    let grid: ModuleGrid

    /// Encodes a text: digits or the alphanumeric set in their compact modes, anything else as UTF-8 bytes.
    ///
    /// - Parameters:
    ///   - text: What is to be read; at most 2,953 bytes at level ``ErrorCorrection/low``, less at others.
    ///   - errorCorrection: How much of the symbol may be unreadable.
    /// - Throws: ``TooLong`` if no version holds it.
    public init(_ text: String, errorCorrection: ErrorCorrection = .medium) throws(TooLong) {
        try self.init(text, errorCorrection: errorCorrection, mask: nil)
    }

    /// With a mask that is given rather than chosen: for the standard's worked example.
    init(_ text: String, errorCorrection: ErrorCorrection, mask: Int?) throws(TooLong) {
        let segment = TextSegment(text)
        guard
            let version = (1...40).first(where: { version in
                segment.bitCount(version: version) <= errorCorrection.dataCodewords(version: version) * 8
            })
        else { throw TooLong(byteCount: text.utf8.count) }
        let codewords = CodewordSequence(
            data: segment.codewords(version: version, count: errorCorrection.dataCodewords(version: version)), version: version,
            errorCorrection: errorCorrection)

        var plain = ModuleGrid(version: version)
        plain.place(codewords.interleaved)
        func masked(_ mask: Int) -> ModuleGrid {
            var grid = plain
            grid.apply(mask: mask)
            grid.drawFormat(errorCorrection: errorCorrection, mask: mask)
            return grid
        }
        var best = (mask: mask ?? 0, grid: masked(mask ?? 0))
        if mask == nil {
            var least = best.grid.penalty
            // Of equal ones the first, so that the choice is the same everywhere.
            for mask in 1..<8 {
                let grid = masked(mask)
                let penalty = grid.penalty
                if penalty < least { (best, least) = ((mask, grid), penalty) }
            }
        }
        (self.version, self.errorCorrection, self.mask, grid) = (version, errorCorrection, best.mask, best.grid)
    }

    /// Whether a module is dark; what lies outside the symbol is light, as its quiet zone is.
    ///
    /// - Parameters:
    ///   - column: From the left, from 0 on.
    ///   - row: From the top, from 0 on.
    public subscript(column: Int, row: Int) -> Bool {
        guard (0..<size).contains(column), (0..<size).contains(row) else { return false }
        return grid[column, row]
    }

    /// A text that no QR code holds at the level asked for.
    public struct TooLong: Error, Sendable, CustomStringConvertible {
        /// How long it is in UTF-8.
        public let byteCount: Int
        /// What to do. The text itself is not shown: it may be a secret.
        public var description: String {
            "A text of \(byteCount) bytes does not fit into a QR code. Shorten it, or ask for less error correction."
        }
    }
}
