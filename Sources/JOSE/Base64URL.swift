/// Base64url without padding (RFC 4648 §5, RFC 7515 §2).
/// Decoding is strict: each byte string has exactly one accepted encoding. Padding, line breaks, characters of the standard base64 alphabet
/// and nonzero bits after the last byte are rejected.
public enum Base64URL: Sendable {
    /// Encodes bytes without padding.
    public static func encode(_ bytes: some Collection<UInt8>) -> String {
        if let text = bytes.withContiguousStorageIfAvailable({ encode(buffer: $0) }) { return text }
        return Array(bytes).withUnsafeBufferPointer { encode(buffer: $0) }
    }

    /// Decodes base64url text.
    /// - Throws: ``JOSEError/Code/malformed`` if the text is not strict base64url without padding.
    public static func decode(_ text: some StringProtocol) throws(JOSEError) -> [UInt8] {
        let decoded: [UInt8]? =
            text.utf8.withContiguousStorageIfAvailable { decode(buffer: $0) }
            ?? Array(text.utf8).withUnsafeBufferPointer { decode(buffer: $0) }
        guard let decoded else { throw invalid }
        return decoded
    }

    /// Decodes base64url text that is given as ASCII bytes.
    /// - Throws: ``JOSEError/Code/malformed`` if the text is not strict base64url without padding.
    public static func decode(_ bytes: [UInt8]) throws(JOSEError) -> [UInt8] {
        guard let decoded = bytes.withUnsafeBufferPointer({ decode(buffer: $0) }) else { throw invalid }
        return decoded
    }

    static let invalid = JOSEError(.malformed, "Not base64url without padding (RFC 7515, section 2).")

    static func encode(buffer source: UnsafeBufferPointer<UInt8>) -> String {
        let length = encodedCount(of: source.count)
        return String(unsafeUninitializedCapacity: length) { target in
            encode(source, into: target)
            return length
        }
    }

    /// Appends the base64url encoding of `source` to `target`.
    static func encode(_ source: [UInt8], to target: inout [UInt8]) {
        let start = target.count
        target.append(contentsOf: repeatElement(0, count: encodedCount(of: source.count)))
        source.withUnsafeBufferPointer { source in
            target.withUnsafeMutableBufferPointer { encode(source, into: UnsafeMutableBufferPointer(rebasing: $0[start...])) }
        }
    }

    static func encodedCount(of count: Int) -> Int { (count * 4 + 2) / 3 }

    /// Writes the encoding of `source` to `target`: ``encodedCount(of:)`` characters.
    static func encode(_ source: UnsafeBufferPointer<UInt8>, into target: UnsafeMutableBufferPointer<UInt8>) {
        alphabet.withUnsafeBufferPointer { alphabet in
            var read = 0
            var write = 0
            while read + 3 <= source.count {
                let word = UInt32(source[read]) << 16 | UInt32(source[read + 1]) << 8 | UInt32(source[read + 2])
                target[write] = alphabet[Int(word >> 18)]
                target[write + 1] = alphabet[Int(word >> 12 & 63)]
                target[write + 2] = alphabet[Int(word >> 6 & 63)]
                target[write + 3] = alphabet[Int(word & 63)]
                read += 3
                write += 4
            }
            if read < source.count {
                let second = read + 1 < source.count ? UInt32(source[read + 1]) : 0
                let word = UInt32(source[read]) << 16 | second << 8
                target[write] = alphabet[Int(word >> 18)]
                target[write + 1] = alphabet[Int(word >> 12 & 63)]
                if read + 1 < source.count { target[write + 2] = alphabet[Int(word >> 6 & 63)] }
            }
        }
    }

    static func decode(buffer source: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        guard let length = decodedCount(of: source.count) else { return nil }
        var succeeded = false
        let bytes = [UInt8](unsafeUninitializedCapacity: length) { target, count in
            succeeded = decode(source, into: target)
            count = succeeded ? length : 0
        }
        return succeeded ? bytes : nil
    }

    /// Returns the number of bytes that `count` characters encode; `nil` if no valid text has this length.
    static func decodedCount(of count: Int) -> Int? { count % 4 == 1 ? nil : count * 3 / 4 }

    /// Writes ``decodedCount(of:)`` bytes to `target`. Returns false if the text is invalid.
    static func decode(_ source: UnsafeBufferPointer<UInt8>, into target: UnsafeMutableBufferPointer<UInt8>) -> Bool {
        values.withUnsafeBufferPointer { values in
            var read = 0
            var write = 0
            // Characters outside the alphabet have the value 255. If such a character occurs, the union of all values is at least 64.
            var union: UInt8 = 0
            while read + 4 <= source.count {
                let first = values[Int(source[read])]
                let second = values[Int(source[read + 1])]
                let third = values[Int(source[read + 2])]
                let fourth = values[Int(source[read + 3])]
                union |= first | second | third | fourth
                target[write] = first << 2 | second >> 4
                target[write + 1] = second << 4 | third >> 2
                target[write + 2] = third << 6 | fourth
                read += 4
                write += 3
            }
            switch source.count - read {
            case 2:
                let first = values[Int(source[read])]
                let second = values[Int(source[read + 1])]
                target[write] = first << 2 | second >> 4
                return (union | first | second) < 64 && second & 15 == 0
            case 3:
                let first = values[Int(source[read])]
                let second = values[Int(source[read + 1])]
                let third = values[Int(source[read + 2])]
                target[write] = first << 2 | second >> 4
                target[write + 1] = second << 4 | third >> 2
                return (union | first | second | third) < 64 && third & 3 == 0
            default:
                return union < 64
            }
        }
    }

    private static let alphabet: [UInt8] = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }()
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether two buffers contain the same bytes. Compares eight bytes at a time, not in constant time.
    func hasSameBytes(as other: UnsafeBufferPointer<UInt8>) -> Bool {
        guard count == other.count else { return false }
        let left = UnsafeRawBufferPointer(self)
        let right = UnsafeRawBufferPointer(other)
        var offset = 0
        while offset + 8 <= count {
            guard
                left.loadUnaligned(fromByteOffset: offset, as: UInt64.self) == right.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            else { return false }
            offset += 8
        }
        while offset < count {
            guard self[offset] == other[offset] else { return false }
            offset += 1
        }
        return true
    }

    func hasSameBytes(as other: [UInt8]) -> Bool { other.withUnsafeBufferPointer { hasSameBytes(as: $0) } }

    /// The bytes from offset `start` up to, but not including, `end`.
    subscript(from start: Int, to end: Int) -> UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(rebasing: self[start..<end]) }
}

extension Sequence<UInt8> {
    /// The bytes as lower-case hexadecimal digits.
    package var hexadecimal: String { map { String(UInt16($0) | 0x100, radix: 16).dropFirst() }.joined() }

    /// Whether two secrets contain the same bytes, compared in constant time. The time may reveal their lengths.
    package func isSameSecret(as other: some Sequence<UInt8>) -> Bool {
        let left = Array(self)
        let right = Array(other)
        guard left.count == right.count else { return false }
        var difference: UInt8 = 0
        for index in left.indices { difference |= left[index] ^ right[index] }
        return difference == 0
    }
}
