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
enum PeerAddress {
    /// The address to count and log.
    ///
    /// Each proxy appends the peer that it saw to `X-Forwarded-For`. From the right, every address that was written by a
    /// trusted proxy is believed; the first that is no trusted proxy itself is the client's. What stands left of it, anybody
    /// could have written.
    ///
    /// - Parameters:
    ///   - peer: The other end of the connection.
    ///   - forwarded: The header's values, in order.
    ///   - proxies: Who is believed.
    /// - Returns: The client's address; nil if not even the peer is known.
    static func resolve(peer: String?, forwarded: [String], proxies: [TrustedNetwork]) -> String? {
        guard var address = peer else { return nil }
        guard !proxies.isEmpty, !forwarded.isEmpty else { return address }
        var written = entries(of: forwarded)
        while proxies.contains(where: { $0.contains(address) }), let last = written.popLast() {
            guard IPAddress.bytes(of: last) != nil else { break }
            address = last
        }
        return address
    }

    /// The address of who a back end asks for.
    ///
    /// - Parameters:
    ///   - backEnd: The back end's own address, as ``resolve(peer:forwarded:proxies:)`` found it.
    ///   - forwarded: The header's values, in order. What proxies of ours appended about the back end stands right of what it wrote.
    ///   - gateways: Who is believed.
    /// - Returns: The end user's address; the back end's if that is none of the gateways, or forwards nothing.
    static func endUser(behind backEnd: String, forwarded: [String], gateways: [TrustedNetwork]) -> String {
        var written = entries(of: forwarded)
        if let own = written.lastIndex(of: backEnd) { written.removeSubrange(own...) }
        return resolve(peer: backEnd, forwarded: written, proxies: gateways) ?? backEnd
    }

    private static func entries(of forwarded: [String]) -> [String] {
        forwarded.joined(separator: ",").split(separator: ",").map { entry in String(entry.filter { $0 != " " }) }
    }
}
