/// Reed-Solomon codewords over the field of 256 elements with the polynomial x⁸ + x⁴ + x³ + x² + 1 (ISO/IEC 18004 section 7.5.2).
struct ReedSolomonCode {
    let degree: Int
    /// Coefficients of the generator polynomial, the highest power first, without the leading 1.
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

    /// The remainder of the data, shifted by the degree, divided by the generator.
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
