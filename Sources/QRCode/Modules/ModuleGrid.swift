/// The modules of a symbol, with a record of the function modules (ISO/IEC 18004 sections 6.3, 7.7, 7.9 and 7.10).
struct ModuleGrid: Sendable, Equatable {
    let size: Int
    private var isDark: [Bool]
    /// Whether each module belongs to a function pattern, the format or the version. These modules hold no data and are not masked.
    private var isFunction: [Bool]

    /// Creates a grid with all function patterns and reserved format modules. The grid contains no data yet.
    init(version: Int) {
        size = version * 4 + 17
        isDark = [Bool](repeating: false, count: size * size)
        isFunction = isDark
        drawTiming()
        for (column, row) in [(3, 3), (size - 4, 3), (3, size - 4)] { drawFinder(column, row) }
        drawAlignment(version)
        reserveFormat()
        if version >= 7 { drawVersion(version) }
    }

    subscript(column: Int, row: Int) -> Bool { isDark[row * size + column] }

    private mutating func draw(_ column: Int, _ row: Int, _ dark: Bool) {
        isDark[row * size + column] = dark
        isFunction[row * size + column] = true
    }

    private mutating func drawTiming() {
        for place in 0..<size {
            draw(place, 6, place % 2 == 0)
            draw(6, place, place % 2 == 0)
        }
    }

    /// Draws a finder pattern with its separator, clipped at the symbol's edges.
    private mutating func drawFinder(_ column: Int, _ row: Int) {
        for y in max(row - 4, 0)...min(row + 4, size - 1) {
            for x in max(column - 4, 0)...min(column + 4, size - 1) {
                let distance = max(abs(x - column), abs(y - row))
                draw(x, y, distance != 2 && distance != 4)
            }
        }
    }

    private mutating func drawAlignment(_ version: Int) {
        let centres = AlignmentPatterns.centres(version: version)
        guard let first = centres.first, let last = centres.last else { return }
        for row in centres {
            for column in centres where ![(first, first), (last, first), (first, last)].contains(where: { $0 == (column, row) }) {
                for y in row - 2...row + 2 {
                    for x in column - 2...column + 2 { draw(x, y, max(abs(x - column), abs(y - row)) != 1) }
                }
            }
        }
    }

    /// The positions of the 15 format bits, least significant bit first, for each of the two copies.
    private var formatPlaces: [[(Int, Int)]] {
        let around = (0...5).map { (8, $0) } + [(8, 7), (8, 8), (7, 8)] + (0...5).reversed().map { ($0, 8) }
        let apart = (0..<8).map { (size - 1 - $0, 8) } + (8..<15).map { (8, size - 15 + $0) }
        return [around, apart]
    }

    private mutating func reserveFormat() {
        for (column, row) in formatPlaces.joined() { draw(column, row, false) }
        draw(8, size - 8, true)
    }

    /// Returns the 15 format bits: level and mask with a BCH code, combined with the fixed mask pattern.
    static func format(errorCorrection: ErrorCorrection, mask: Int) -> Int {
        let data = errorCorrection.formatBits << 3 | mask
        var remainder = data
        for _ in 0..<10 { remainder = remainder << 1 ^ (remainder >> 9) * 0b101_0011_0111 }
        return (data << 10 | remainder) ^ 0b101_0100_0001_0010
    }

    mutating func drawFormat(errorCorrection: ErrorCorrection, mask: Int) {
        let bits = Self.format(errorCorrection: errorCorrection, mask: mask)
        for places in formatPlaces {
            for (index, (column, row)) in places.enumerated() { draw(column, row, bits >> index & 1 == 1) }
        }
    }

    /// Returns the 18 version bits: the version with a Golay code.
    static func versionInformation(_ version: Int) -> Int {
        var remainder = version
        for _ in 0..<12 { remainder = remainder << 1 ^ (remainder >> 11) * 0b1_1111_0010_0101 }
        return version << 12 | remainder
    }

    private mutating func drawVersion(_ version: Int) {
        let bits = Self.versionInformation(version)
        for index in 0..<18 {
            let (long, short) = (index / 3, size - 11 + index % 3)
            draw(long, short, bits >> index & 1 == 1)
            draw(short, long, bits >> index & 1 == 1)
        }
    }

    /// Places codewords in two-module columns from the lower right, alternately upwards and downwards. Unused modules stay light.
    mutating func place(_ codewords: [UInt8]) {
        var index = 0
        var goesUp = true
        // Skips the column of the vertical timing pattern.
        for right in [Int](stride(from: size - 1, through: 8, by: -2)) + [5, 3, 1] {
            for step in 0..<size {
                let row = goesUp ? size - 1 - step : step
                for column in [right, right - 1] where !isFunction[row * size + column] && index < codewords.count * 8 {
                    isDark[row * size + column] = codewords[index / 8] >> UInt8(7 - index % 8) & 1 == 1
                    index += 1
                }
            }
            goesUp.toggle()
        }
    }

    /// Inverts the data modules that meet the mask's condition (ISO/IEC 18004 table 10).
    mutating func apply(mask: Int) {
        for row in 0..<size {
            for column in 0..<size where !isFunction[row * size + column] && Self.inverts(mask, column, row) {
                isDark[row * size + column].toggle()
            }
        }
    }

    private static func inverts(_ mask: Int, _ column: Int, _ row: Int) -> Bool {
        switch mask {
        case 0: (row + column) % 2 == 0
        case 1: row % 2 == 0
        case 2: column % 3 == 0
        case 3: (row + column) % 3 == 0
        case 4: (row / 2 + column / 3) % 2 == 0
        case 5: row * column % 2 + row * column % 3 == 0
        case 6: (row * column % 2 + row * column % 3) % 2 == 0
        default: ((row + column) % 2 + row * column % 3) % 2 == 0
        }
    }
}

/// The alignment patterns, with which a reader corrects distortion (ISO/IEC 18004 annex E).
enum AlignmentPatterns {
    /// Returns the center coordinates, which are the same for columns and rows. Version 1 has no alignment patterns.
    static func centres(version: Int) -> [Int] {
        guard version > 1 else { return [] }
        let count = version / 7 + 2
        let last = version * 4 + 10
        // The distance between two centers is the same even number. Version 32 is the only exception in the standard's table.
        let step = version == 32 ? 26 : (last - 6 + 2 * (count - 1) - 1) / (2 * (count - 1)) * 2
        return [6] + (0..<count - 1).reversed().map { last - $0 * step }
    }
}
