import Foundation
import Testing

@testable import AuthFoundation

@Suite("HTTP dates, loopback hosts and PKCE")
struct HTTPDateTests {
    @Test(
        "A Date header is parsed only in the IMF-fixdate format",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Fri, 15 Jan 2027 08:00:00 GMT", 1_800_000_000),
            ("06 Nov 1994 08:49:37 GMT", nil),
            ("Sun, 06 Nov 1994 25:49:37 GMT", nil), ("Sun, 06 Foo 1994 08:49:37 GMT", nil), ("", nil),
        ] as [(String, TimeInterval?)])
    func reads(text: String, seconds: TimeInterval?) {
        #expect(HTTPDate.date(from: text)?.timeIntervalSince1970 == seconds)
    }

    @Test(
        "localhost, its subdomains, 127.0.0.0/8 and ::1 are loopback hosts, and other hosts are not",
        arguments: [
            ("localhost", true), ("127.0.0.1", true), ("127.9.9.9", true), ("[::1]", true), ("app.localhost", true),
            ("127.0.0.1.example.com", false),
            ("localhost.example.com", false), ("10.0.0.1", false), ("", false),
        ])
    func loopback(host: String, isLoopback: Bool) {
        #expect(LoopbackRule.isLoopback(host) == isLoopback)
    }

    @Test("PKCE produces the code verifier and the challenge of the example in RFC 7636, appendix B")
    func pkce() throws {
        let octets: [UInt8] = [
            116, 24, 223, 180, 151, 153, 224, 37, 79, 250, 96, 125, 216, 173, 187, 186, 22, 212, 37, 77, 105, 214, 191, 240, 91, 88, 5, 88,
            83, 132,
            141, 121,
        ]
        let pkce = PKCE(randomness: Randomness { _ in octets })
        #expect(pkce.codeVerifier == "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
        #expect(pkce.codeChallenge == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
        #expect(!"\(pkce)".contains(pkce.codeVerifier))
    }
}
