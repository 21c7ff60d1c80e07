/// A network whose `X-Forwarded-For` headers are believed: an address, or an address and a prefix length.
public struct TrustedNetwork: Sendable, Equatable, CustomStringConvertible {
    private let bytes: [UInt8]
    private let prefix: Int
    /// As it was written.
    public let description: String

    /// Reads a network; nil if it is none.
    ///
    /// - Parameter text: `10.0.0.7`, `10.0.0.0/8`, `::1` or `fd00::/8`.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let bytes = IPAddress.bytes(of: String(first)) else { return nil }
        var prefix = bytes.count * 8
        if parts.count == 2 {
            guard let length = Int(parts[1]), (0...prefix).contains(length) else { return nil }
            prefix = length
        }
        self.bytes = bytes
        self.prefix = prefix
        description = text
    }

    /// Whether an address lies in the network.
    func contains(_ address: String) -> Bool {
        guard let other = IPAddress.bytes(of: address), other.count == bytes.count else { return false }
        for index in bytes.indices {
            let bits = min(8, max(0, prefix - index * 8))
            let mask = bits == 0 ? 0 : UInt8(truncatingIfNeeded: 0xFF << (8 - bits))
            if bytes[index] & mask != other[index] & mask { return false }
        }
        return true
    }
}
