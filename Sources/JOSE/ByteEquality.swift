extension UnsafeBufferPointer<UInt8> {
    /// Whether two buffers hold the same bytes, eight at a time; not in constant time.
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

    /// Whether the buffer holds the bytes of an array.
    func hasSameBytes(as other: [UInt8]) -> Bool { other.withUnsafeBufferPointer { hasSameBytes(as: $0) } }

    /// The bytes in a range of offsets.
    subscript(from start: Int, to end: Int) -> UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(rebasing: self[start..<end]) }
}
