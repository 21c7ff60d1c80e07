internal import NIOCore

/// Converts IP addresses to bytes. An IPv4 address mapped into IPv6 becomes an IPv4 address.
package enum IPAddress {
    package static func bytes(of text: String) -> [UInt8]? {
        guard let address = try? SocketAddress(ipAddress: text, port: 0) else { return nil }
        switch address {
        // Offsets in `sockaddr_in` and `sockaddr_in6`: after family and port, in IPv6 also after the flow information.
        case .v4: return bytes(of: address, at: 4, count: 4)
        case .v6:
            let bytes = bytes(of: address, at: 8, count: 16)
            let isMapped = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
            return isMapped ? Array(bytes[12...]) : bytes
        default: return nil
        }
    }

    private static func bytes(of address: SocketAddress, at offset: Int, count: Int) -> [UInt8] {
        address.withSockAddr { pointer, size in
            Array(UnsafeRawBufferPointer(start: pointer, count: size)[offset..<offset + count])
        }
    }
}

/// The address of a client, which may be behind proxies.
package struct PeerAddress: Sendable, Equatable {
    /// The address for limits and logs; `nil` if the peer is unknown.
    package var address: String?
    /// The entries of `X-Forwarded-For` that no trusted proxy wrote; an attacker may have written them.
    package var unread: [String] = []

    /// Finds the address of a client behind trusted proxies. Each proxy appends the address of its peer to `X-Forwarded-For`. From right to
    /// left, entries that trusted proxies wrote are valid. The first address that is not a trusted proxy is the client's; an attacker may
    /// have written everything to its left.
    package static func resolve(peer: String?, forwarded: [String], proxies: [TrustedNetwork]) -> PeerAddress {
        guard var address = peer else { return PeerAddress() }
        var written = forwarded.joined(separator: ",").split(separator: ",").map { entry in String(entry.filter { $0 != " " }) }
        while proxies.contains(where: { $0.contains(address) }), let last = written.last, IPAddress.bytes(of: last) != nil {
            address = last
            written.removeLast()
        }
        return PeerAddress(address: address, unread: written)
    }

    /// Finds the address of the user for whom a back end sends a request. Returns the back end's address if it is not a gateway or forwards
    /// nothing. The caller must first remove the entries of the server's own proxies with ``resolve(peer:forwarded:proxies:)``: the header
    /// itself does not show which entries these are.
    package static func endUser(behind backEnd: String, unread: [String], gateways: [TrustedNetwork]) -> String {
        resolve(peer: backEnd, forwarded: unread, proxies: gateways).address ?? backEnd
    }
}

/// A network whose `X-Forwarded-For` headers are trusted: an address, or an address with a prefix length.
package struct TrustedNetwork: Sendable, Equatable, CustomStringConvertible {
    private let bytes: [UInt8]
    private let prefix: Int
    /// The network as it was written.
    package let description: String

    /// Parses `10.0.0.7`, `10.0.0.0/8`, `::1` or `fd00::/8`; returns `nil` for other text.
    package init?(_ text: String) {
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

    package func contains(_ address: String) -> Bool {
        guard let other = IPAddress.bytes(of: address), other.count == bytes.count else { return false }
        for index in bytes.indices {
            let bits = min(8, max(0, prefix - index * 8))
            let mask = bits == 0 ? 0 : UInt8(truncatingIfNeeded: 0xFF << (8 - bits))
            if bytes[index] & mask != other[index] & mask { return false }
        }
        return true
    }
}
