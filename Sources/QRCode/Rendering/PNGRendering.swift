extension QRSymbol {
    /// Returns the symbol as a PNG file: black on white, one bit per pixel, uncompressed.
    /// - Parameters:
    ///   - pixels: The side of a module in pixels, 1 to 64. Values outside this range are clamped.
    ///   - quietZone: The width of the light border in modules, at least 0. Readers expect the standard's 4.
    public func png(pixels: Int = 6, quietZone: Int = 4) -> [UInt8] {
        let zone = max(quietZone, 0)
        let scale = min(max(pixels, 1), 64)
        let side = (size + 2 * zone) * scale
        let rowBytes = (side + 7) / 8
        var image: [UInt8] = []
        image.reserveCapacity((rowBytes + 1) * side)
        for row in -zone..<size + zone {
            // Each row starts with filter type 0 (none). A set bit is white; unused bits of the last byte are set too.
            var line = [UInt8](repeating: 0xFF, count: rowBytes + 1)
            line[0] = 0
            for column in 0..<size where self[column, row] {
                for pixel in (column + zone) * scale..<(column + zone + 1) * scale { line[1 + pixel / 8] &= ~(0x80 >> UInt8(pixel % 8)) }
            }
            for _ in 0..<scale { image += line }
        }
        let header = Self.bigEndian(UInt32(side)) + Self.bigEndian(UInt32(side)) + [1, 0, 0, 0, 0]
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + Self.chunk("IHDR", header) + Self.chunk("IDAT", Self.stored(image))
            + Self.chunk("IEND", [])
    }

    private static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
        let named = Array(type.utf8) + data
        return bigEndian(UInt32(data.count)) + named + bigEndian(checksum(named))
    }

    /// Returns the bytes as a zlib stream of stored blocks (RFC 1950 and RFC 1951 section 3.2.4).
    private static func stored(_ bytes: [UInt8]) -> [UInt8] {
        var stream: [UInt8] = [0x78, 0x01]
        var start = 0
        repeat {
            let end = min(start + 0xFFFF, bytes.count)
            let length = UInt16(end - start)
            stream.append(end == bytes.count ? 1 : 0)
            for number in [length, ~length] { stream += [UInt8(number & 0xFF), UInt8(number >> 8)] }
            stream += bytes[start..<end]
            start = end
        } while start < bytes.count
        var (a, b): (UInt32, UInt32) = (1, 0)
        for byte in bytes {
            a = (a + UInt32(byte)) % 65_521
            b = (b + a) % 65_521
        }
        return stream + bigEndian(b << 16 | a)
    }

    /// Returns the CRC-32 that PNG chunks use.
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var remainder: UInt32 = 0xFFFF_FFFF
        for byte in bytes {
            remainder ^= UInt32(byte)
            for _ in 0..<8 { remainder = remainder & 1 == 1 ? remainder >> 1 ^ 0xEDB8_8320 : remainder >> 1 }
        }
        return ~remainder
    }

    private static func bigEndian(_ number: UInt32) -> [UInt8] {
        [UInt8(number >> 24 & 0xFF), UInt8(number >> 16 & 0xFF), UInt8(number >> 8 & 0xFF), UInt8(number & 0xFF)]
    }
}
