extension Sequence<UInt8> {
    /// Whether two secrets hold the same bytes, in a time that does not tell where they differ; their lengths are no secret.
    ///
    /// - Parameter other: What to compare with.
    /// - Returns: True if they have the same bytes, and as many.
    package func isSameSecret(as other: some Sequence<UInt8>) -> Bool {
        let left = Array(self)
        let right = Array(other)
        guard left.count == right.count else { return false }
        var difference: UInt8 = 0
        for index in left.indices { difference |= left[index] ^ right[index] }
        return difference == 0
    }
}
