/// A text encoded in the mode that needs the fewest bits (ISO/IEC 18004 section 7.4).
struct TextSegment {
    enum Mode: Int {
        case numeric = 0b0001
        case alphanumeric = 0b0010
        case byte = 0b0100

        /// Returns the width of the character count field in bits.
        func countBits(version: Int) -> Int {
            let column = version < 10 ? 0 : version < 27 ? 1 : 2
            return switch self {
            case .numeric: [10, 12, 14][column]
            case .alphanumeric: [9, 11, 13][column]
            case .byte: [8, 16, 16][column]
            }
        }
    }

    private static let alphanumeric = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:".utf8)

    /// The ECI mode indicator 0111 and the assignment 26: the bytes that follow are UTF-8. Without this designator, readers assume ISO
    /// 8859-1.
    private static let utf8Designator = (value: 0b0111_0001_1010, bits: 12)

    let mode: Mode
    /// Whether the UTF-8 designator precedes the segment.
    private let isBeyondASCII: Bool
    /// The values of the characters: digits, indexes into the alphanumeric set, or bytes.
    private let values: [Int]

    init(_ text: String) {
        let bytes = Array(text.utf8)
        isBeyondASCII = bytes.contains { $0 >= 0x80 }
        if !bytes.isEmpty, bytes.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            (mode, values) = (.numeric, bytes.map { Int($0 - UInt8(ascii: "0")) })
            return
        }
        let indexes = bytes.compactMap(Self.alphanumeric.firstIndex(of:))
        (mode, values) = !bytes.isEmpty && indexes.count == bytes.count ? (.alphanumeric, indexes) : (.byte, bytes.map(Int.init))
    }

    /// Returns the number of bits for mode, count and characters; `.max` if the character count does not fit into its field.
    func bitCount(version: Int) -> Int {
        let countBits = mode.countBits(version: version)
        guard values.count < 1 << countBits else { return .max }
        let content =
            switch mode {
            case .numeric: values.count / 3 * 10 + [0, 4, 7][values.count % 3]
            case .alphanumeric: values.count / 2 * 11 + values.count % 2 * 6
            case .byte: values.count * 8
            }
        return (isBeyondASCII ? Self.utf8Designator.bits : 0) + 4 + countBits + content
    }

    /// Returns `count` codewords: the segment and its padding. The segment must fit into them.
    func codewords(version: Int, count: Int) -> [UInt8] {
        var bits = BitSequence()
        if isBeyondASCII { bits.append(Self.utf8Designator.value, bits: Self.utf8Designator.bits) }
        bits.append(mode.rawValue, bits: 4)
        bits.append(values.count, bits: mode.countBits(version: version))
        switch mode {
        case .numeric:
            for start in stride(from: 0, to: values.count, by: 3) {
                let group = values[start..<min(start + 3, values.count)]
                bits.append(group.reduce(0) { $0 * 10 + $1 }, bits: [0, 4, 7, 10][group.count])
            }
        case .alphanumeric:
            for start in stride(from: 0, to: values.count, by: 2) {
                let group = values[start..<min(start + 2, values.count)]
                bits.append(group.reduce(0) { $0 * 45 + $1 }, bits: [0, 6, 11][group.count])
            }
        case .byte:
            for value in values { bits.append(value, bits: 8) }
        }
        // The terminator has four bits, or fewer if less space is left. Zero bits then fill the last codeword.
        bits.append(0, bits: min(4, count * 8 - bits.count))
        bits.append(0, bits: (8 - bits.count % 8) % 8)
        var codewords = bits.bytes
        var pad: UInt8 = 0b1110_1100
        while codewords.count < count {
            codewords.append(pad)
            pad = pad == 0b1110_1100 ? 0b0001_0001 : 0b1110_1100
        }
        return codewords
    }
}

/// A sequence of bits. Each value is appended most significant bit first.
private struct BitSequence {
    private(set) var bytes: [UInt8] = []
    private(set) var count = 0

    mutating func append(_ value: Int, bits: Int) {
        for place in stride(from: bits - 1, through: 0, by: -1) {
            if count % 8 == 0 { bytes.append(0) }
            if value >> place & 1 == 1 { bytes[count / 8] |= 0x80 >> UInt8(count % 8) }
            count += 1
        }
    }
}
