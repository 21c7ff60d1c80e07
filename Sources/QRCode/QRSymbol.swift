/// A QR code (ISO/IEC 18004): a square of dark and light modules that encodes a text. The symbol has the smallest of the 40 versions that
/// can hold the text, and the mask with the lowest penalty score. The same text always gives the same symbol. Creating a symbol takes
/// milliseconds and performs no I/O.
public struct QRSymbol: Sendable, Equatable {
    /// The version, 1 to 40.
    public let version: Int
    /// The error correction level.
    public let errorCorrection: ErrorCorrection
    /// The mask pattern, 0 to 7.
    public let mask: Int
    /// The number of modules per side, without the quiet zone: 21 to 177.
    public var size: Int { grid.size }

    let grid: ModuleGrid

    /// Encodes a text. Digits and the alphanumeric set use their compact modes; all other text is encoded as UTF-8 bytes.
    /// - Parameters:
    ///   - text: The text. ``ErrorCorrection/low`` holds 7,089 digits, 4,296 alphanumeric characters, or 2,952 bytes of any text; the other
    ///     levels hold fewer.
    ///   - errorCorrection: The error correction level.
    /// - Throws: ``TooLong`` if the text does not fit into the largest version.
    public init(_ text: String, errorCorrection: ErrorCorrection = .medium) throws(TooLong) {
        try self.init(text, errorCorrection: errorCorrection, mask: nil)
    }

    /// Encodes a text with a given mask; `nil` for the best mask. A given mask is needed for the worked example of the standard.
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
            // The first of several masks with the lowest score is used, so that the result is deterministic.
            for mask in 1..<8 {
                let grid = masked(mask)
                let penalty = grid.penalty
                if penalty < least { (best, least) = ((mask, grid), penalty) }
            }
        }
        (self.version, self.errorCorrection, self.mask, grid) = (version, errorCorrection, best.mask, best.grid)
    }

    /// Returns whether a module is dark. Positions outside the symbol are light, like the quiet zone.
    /// - Parameters:
    ///   - column: The column from the left, starting at 0.
    ///   - row: The row from the top, starting at 0.
    public subscript(column: Int, row: Int) -> Bool {
        guard (0..<size).contains(column), (0..<size).contains(row) else { return false }
        return grid[column, row]
    }

    /// The text is too long for a QR code at the requested error correction level.
    public struct TooLong: Error, Sendable, CustomStringConvertible {
        /// The length of the text in UTF-8 bytes.
        public let byteCount: Int
        /// An error message with a remedy. It omits the text, which can be a secret.
        public var description: String {
            "A text of \(byteCount) bytes does not fit into a QR code. Shorten it, or ask for less error correction."
        }
    }
}
