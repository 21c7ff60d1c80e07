// For the system's address structures.
internal import Foundation
internal import NIOCore

/// Addresses as bytes; an IPv4 address mapped into IPv6 is an IPv4 address.
enum IPAddress {
    static func bytes(of text: String) -> [UInt8]? {
        switch try? SocketAddress(ipAddress: text, port: 0) {
        case .v4(let address):
            return withUnsafeBytes(of: address.address.sin_addr) { Array($0) }
        case .v6(let address):
            let bytes = withUnsafeBytes(of: address.address.sin6_addr) { Array($0) }
            let isMapped = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
            return isMapped ? Array(bytes[12...]) : bytes
        default: return nil
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
        var written = forwarded.joined(separator: ",").split(separator: ",").map { entry in String(entry.filter { $0 != " " }) }
        while proxies.contains(where: { $0.contains(address) }), let last = written.popLast() {
            guard IPAddress.bytes(of: last) != nil else { break }
            address = last
        }
        return address
    }
}
