internal import NIOCore

/// Addresses as bytes; an IPv4 address mapped into IPv6 is an IPv4 address.
enum IPAddress {
    static func bytes(of text: String) -> [UInt8]? {
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
struct PeerAddress: Sendable, Equatable {
    /// The address to count and log; `nil` if not even the peer is known.
    var address: String?
    /// The entries of `X-Forwarded-For` that trusted proxies did not write: anybody could have.
    var unread: [String] = []

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
    static func resolve(peer: String?, forwarded: [String], proxies: [TrustedNetwork]) -> PeerAddress {
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
    static func endUser(behind backEnd: String, unread: [String], gateways: [TrustedNetwork]) -> String {
        resolve(peer: backEnd, forwarded: unread, proxies: gateways).address ?? backEnd
    }
}
