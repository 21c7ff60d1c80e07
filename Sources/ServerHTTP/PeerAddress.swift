internal import NIOCore

/// Addresses as bytes; an IPv4 address mapped into IPv6 is an IPv4 address.
package enum IPAddress {
    package static func bytes(of text: String) -> [UInt8]? {
        guard let address = try? SocketAddress(ipAddress: text, port: 0) else { return nil }
        switch address {
        // Where the address stands in the system's structures: after family and port, in IPv6 also after the flow.
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

/// Whose request it is, behind proxies.
package struct PeerAddress: Sendable, Equatable {
    /// The address to count and log; `nil` if not even the peer is known.
    package var address: String?
    /// The entries of `X-Forwarded-For` that trusted proxies did not write: anybody could have.
    package var unread: [String] = []

    /// Finds the address of a client.
    ///
    /// Each proxy appends the peer that it saw to `X-Forwarded-For`. From the right, every address that was written by a
    /// trusted proxy is believed; the first that is no trusted proxy itself is the client's. What stands left of it, anybody
    /// could have written.
    ///
    /// - Parameters:
    ///   - peer: The other end of the connection.
    ///   - forwarded: The header's values, in order.
    ///   - proxies: Who is believed.
    /// - Returns: The client's address, and what stands left of it.
    package static func resolve(peer: String?, forwarded: [String], proxies: [TrustedNetwork]) -> PeerAddress {
        guard var address = peer else { return PeerAddress() }
        var written = forwarded.joined(separator: ",").split(separator: ",").map { entry in String(entry.filter { $0 != " " }) }
        while proxies.contains(where: { $0.contains(address) }), let last = written.last, IPAddress.bytes(of: last) != nil {
            address = last
            written.removeLast()
        }
        return PeerAddress(address: address, unread: written)
    }

    /// The address of the user for whom a back end asks.
    ///
    /// What the back end wrote ends where the entries of the server's own proxies begin. No entry tells where that is: an attacker can
    /// write the back end's address, too.
    ///
    /// - Parameters:
    ///   - backEnd: The back end's own address, as ``resolve(peer:forwarded:proxies:)`` found it.
    ///   - unread: The entries of the header that this left.
    ///   - gateways: Who is believed.
    /// - Returns: The end user's address; the back end's if that is none of the gateways, or forwards nothing.
    package static func endUser(behind backEnd: String, unread: [String], gateways: [TrustedNetwork]) -> String {
        resolve(peer: backEnd, forwarded: unread, proxies: gateways).address ?? backEnd
    }
}

/// A network whose `X-Forwarded-For` headers are believed: an address, or an address and a prefix length.
package struct TrustedNetwork: Sendable, Equatable, CustomStringConvertible {
    private let bytes: [UInt8]
    private let prefix: Int
    /// As it was written.
    package let description: String

    /// Reads a network; nil if it is none.
    ///
    /// - Parameter text: `10.0.0.7`, `10.0.0.0/8`, `::1` or `fd00::/8`.
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

    /// Whether an address lies in the network.
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
