/// A Reed-Solomon code over GF(256) with the polynomial x⁸ + x⁴ + x³ + x² + 1 (ISO/IEC 18004 section 7.5.2).
struct ReedSolomonCode {
    let degree: Int
    /// The coefficients of the generator polynomial, highest power first, without the leading 1.
    private let generator: [UInt8]

    init(degree: Int) {
        self.degree = degree
        var generator = [UInt8](repeating: 0, count: degree)
        generator[degree - 1] = 1
        var root: UInt8 = 1
        for _ in 0..<degree {
            for index in 0..<degree {
                generator[index] = Self.product(generator[index], root)
                if index + 1 < degree { generator[index] ^= generator[index + 1] }
            }
            root = Self.product(root, 2)
        }
        self.generator = generator
    }

    /// Returns the error correction codewords: the remainder of the shifted data divided by the generator.
    func correction(of data: some Sequence<UInt8>) -> [UInt8] {
        var remainder = [UInt8](repeating: 0, count: degree)
        for byte in data {
            let factor = byte ^ remainder.removeFirst()
            remainder.append(0)
            for index in 0..<degree { remainder[index] ^= Self.product(generator[index], factor) }
        }
        return remainder
    }

    static func product(_ left: UInt8, _ right: UInt8) -> UInt8 {
        var product = 0
        for place in stride(from: 7, through: 0, by: -1) {
            product = product << 1 ^ (product >> 7) * 0x11D
            product ^= Int(right >> UInt8(place) & 1) * Int(left)
        }
        return UInt8(product)
    }
}

/// Data blocks and their error correction codewords, interleaved in placement order (ISO/IEC 18004 section 7.6).
struct CodewordSequence {
    let interleaved: [UInt8]

    init(data: [UInt8], version: Int, errorCorrection: ErrorCorrection) {
        let blockCount = errorCorrection.blockCount(version: version)
        let code = ReedSolomonCode(degree: errorCorrection.correctionCodewords(version: version))
        // If the data does not divide evenly, the last blocks are one codeword longer.
        let shortLength = data.count / blockCount
        let shortCount = blockCount - data.count % blockCount
        var blocks: [(data: ArraySlice<UInt8>, correction: [UInt8])] = []
        var start = 0
        for index in 0..<blockCount {
            let end = start + shortLength + (index < shortCount ? 0 : 1)
            blocks.append((data[start..<end], code.correction(of: data[start..<end])))
            start = end
        }
        var sequence: [UInt8] = []
        for offset in 0...shortLength {
            for block in blocks where offset < block.data.count { sequence.append(block.data[block.data.startIndex + offset]) }
        }
        for offset in 0..<code.degree {
            for block in blocks { sequence.append(block.correction[offset]) }
        }
        interleaved = sequence
    }
}
