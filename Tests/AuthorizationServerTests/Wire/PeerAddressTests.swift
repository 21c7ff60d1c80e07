import Testing

@testable import ServerHTTP

@Suite("Client addresses")
struct PeerAddressTests {
    @Test(
        "X-Forwarded-For is read only from trusted proxies, from right to left",
        arguments: [
            // peer, header lines, trusted, expected
            ("10.0.0.1", ["198.51.100.7"], ["10.0.0.0/8"], "198.51.100.7"),
            ("10.0.0.1", ["1.1.1.1, 198.51.100.7"], ["10.0.0.0/8"], "198.51.100.7"),
            ("10.0.0.1", ["1.1.1.1, 198.51.100.7, 10.2.0.9"], ["10.0.0.0/8"], "198.51.100.7"),
            ("10.0.0.1", ["1.1.1.1", "198.51.100.7"], ["10.0.0.0/8"], "198.51.100.7"),
            ("203.0.113.5", ["198.51.100.7"], ["10.0.0.0/8"], "203.0.113.5"),
            ("10.0.0.1", ["198.51.100.7"], [], "10.0.0.1"),
            ("10.0.0.1", ["nonsense"], ["10.0.0.1"], "10.0.0.1"),
            ("10.0.0.1", ["10.0.0.2, 10.0.0.3"], ["10.0.0.0/8"], "10.0.0.2"),
            ("::ffff:10.0.0.1", ["2001:db8::7"], ["10.0.0.1"], "2001:db8::7"),
            ("fd00::1", ["198.51.100.7"], ["fd00::/8"], "198.51.100.7"),
        ])
    func resolve(peer: String, forwarded: [String], trusted: [String], expected: String) throws {
        let proxies = try trusted.map { try #require(TrustedNetwork($0)) }
        #expect(PeerAddress.resolve(peer: peer, forwarded: forwarded, proxies: proxies).address == expected)
    }

    @Test(
        "A back end's X-Forwarded-For is trusted only from its gateways, and only up to the end user's entry",
        arguments: [
            // back end, header lines, gateways, expected
            ("10.0.0.7", ["198.51.100.7"], ["10.0.0.7"], "198.51.100.7"),
            ("10.0.0.7", ["1.1.1.1, 198.51.100.7"], ["10.0.0.0/8"], "198.51.100.7"),
            ("10.0.0.7", ["198.51.100.7, 10.0.0.7"], ["10.0.0.7"], "198.51.100.7"),
            // The attacker sent the back end a header with the owner's address and the back end's address.
            ("10.0.0.7", ["1.1.1.1, 10.0.0.7, 198.51.100.7"], ["10.0.0.7"], "198.51.100.7"),
            ("10.0.0.7", ["1.1.1.1, 10.0.0.7", "198.51.100.7"], ["10.0.0.0/8"], "198.51.100.7"),
            ("203.0.113.5", ["198.51.100.7"], ["10.0.0.0/8"], "203.0.113.5"),
            ("10.0.0.7", ["198.51.100.7"], [], "10.0.0.7"), ("10.0.0.7", [], ["10.0.0.7"], "10.0.0.7"),
            ("10.0.0.7", ["nonsense"], ["10.0.0.7"], "10.0.0.7"), ("10.0.0.7", ["1.1.1.1, nonsense"], ["10.0.0.7"], "10.0.0.7"),
        ])
    func endUser(backEnd: String, forwarded: [String], gateways: [String], expected: String) throws {
        try expectEndUser(backEnd, forwarded, [], gateways, expected)
    }

    @Test(
        "Behind trusted proxies, the end user's address is the last X-Forwarded-For entry that a gateway of the back end added",
        arguments: [
            // header lines, gateways, expected
            (["198.51.100.7, 10.0.0.7, 192.0.2.1"], ["10.0.0.7"], "198.51.100.7"),
            (["1.1.1.1, 10.0.0.7, 198.51.100.7, 10.0.0.7, 192.0.2.1"], ["10.0.0.7"], "198.51.100.7"),
            (["1.1.1.1, 10.0.0.7, 192.0.2.1, 198.51.100.7", "10.0.0.7"], ["10.0.0.7"], "198.51.100.7"),
            (["198.51.100.7, 10.0.0.7, nonsense"], ["10.0.0.7", "192.0.2.2"], "192.0.2.2"),
            (["198.51.100.7, 10.0.0.7, 192.0.2.1"], [], "10.0.0.7"),
        ])
    func endUserBehindProxies(forwarded: [String], gateways: [String], expected: String) throws {
        try expectEndUser("192.0.2.2", forwarded, ["192.0.2.0/24"], gateways, expected)
    }

    private func expectEndUser(
        _ peer: String, _ forwarded: [String], _ proxies: [String], _ gateways: [String], _ expected: String
    ) throws {
        func networks(_ texts: [String]) throws -> [TrustedNetwork] { try texts.map { try #require(TrustedNetwork($0)) } }
        let found = PeerAddress.resolve(peer: peer, forwarded: forwarded, proxies: try networks(proxies))
        let backEnd = try #require(found.address)
        #expect(PeerAddress.endUser(behind: backEnd, unread: found.unread, gateways: try networks(gateways)) == expected)
    }

    @Test(
        "A text that is not a valid IP address or network is rejected as a trusted network",
        arguments: ["", "10.0.0", "10.0.0.0/33", "10.0.0.0/-1", "::/129", "host.example", "10.0.0.0/8/8"])
    func refuses(text: String) {
        #expect(TrustedNetwork(text) == nil)
    }
}
