import Crypto
import Foundation
import TestSupport
import Testing

@testable import BrowserSignin

@Suite("Rules for requests at the loopback address")
struct CallbackRulesTests {
    private let rules = CallbackRules(authority: "127.0.0.1:4711", path: "/callback") { $0.query()?.contains("state=s1") == true }

    private func verdict(_ text: String) -> CallbackRules.Verdict { rules.verdict(on: Array(text.utf8)) }

    @Test("The loopback listener accepts a browser's redirect with the expected path, host and state")
    func redirect() throws {
        let request = """
            GET /callback?code=c%2F1&state=s1 HTTP/1.1\r
            Host: 127.0.0.1:4711\r
            User-Agent: Mozilla/5.0 (X11; Linux x86_64)\r
            Accept: text/html\r
            Sec-Fetch-Mode: navigate\r
            \r

            """
        #expect(verdict(request) == .answer(try url("http://127.0.0.1:4711/callback?code=c%2F1&state=s1")))
    }

    @Test("The loopback listener accepts a redirect with any cookies of other programs, unless a cookie contains control characters")
    func oddCookies() throws {
        let start = Array("GET /callback?code=c&state=s1 HTTP/1.1\r\nHost: 127.0.0.1:4711\r\nCookie: theirs=".utf8)
        let answer = CallbackRules.Verdict.answer(try url("http://127.0.0.1:4711/callback?code=c&state=s1"))
        let many = [UInt8](repeating: 0x78, count: 40_000)
        for cookie in [Array("müsli; 日本".utf8), Array(0x80...0xFF), [0xCC, 0x88], many] {
            #expect(rules.verdict(on: start + cookie + Array("\r\nAccept: */*\r\n\r\n".utf8)) == answer)
        }
        for cookie: [UInt8] in [[0x00], [0x7F], [0x1B]] {
            #expect(rules.verdict(on: start + cookie + Array("\r\n\r\n".utf8)) == .refused(.malformed))
        }
        #expect(verdict("GET /callback?state=s1 HTTP/1.1\r\nHost: 127.0.0.1:4711ä\r\n\r\n") == .refused(.misdirected))
    }

    @Test("A request to the loopback listener counts as incomplete until its last byte arrives")
    func incomplete() {
        let request = "GET /callback?state=s1 HTTP/1.1\r\nHost: 127.0.0.1:4711\r\n\r\n"
        for length in 0..<request.utf8.count { #expect(rules.verdict(on: Array(request.utf8.prefix(length))) == .incomplete) }
        #expect(verdict(request) != .incomplete)
    }

    @Test(
        "The loopback listener rejects every request except a GET of the redirect path with the expected state and host",
        arguments: [
            ("GET /callback?code=c&state=other HTTP/1.1\r\nHost: 127.0.0.1:4711", .unexpected),
            ("GET /callback HTTP/1.1\r\nHost: 127.0.0.1:4711", .unexpected),
            ("GET /favicon.ico HTTP/1.1\r\nHost: 127.0.0.1:4711", .notFound),
            ("GET / HTTP/1.1\r\nHost: 127.0.0.1:4711", .notFound),
            ("GET /callback/?state=s1 HTTP/1.1\r\nHost: 127.0.0.1:4711", .notFound),
            ("GET //callback?state=s1 HTTP/1.1\r\nHost: 127.0.0.1:4711", .notFound),
            ("GET /%63allback?state=s1 HTTP/1.1\r\nHost: 127.0.0.1:4711", .notFound),
            ("POST /callback?state=s1 HTTP/1.1\r\nHost: 127.0.0.1:4711", .notAllowed),
            ("HEAD /callback?state=s1 HTTP/1.1\r\nHost: 127.0.0.1:4711", .notAllowed),
            ("OPTIONS /callback?state=s1 HTTP/1.1\r\nHost: 127.0.0.1:4711", .notAllowed),
            ("GET /callback?state=s1 HTTP/1.1\r\nHost: evil.example.com:4711", .misdirected),
            ("GET /callback?state=s1 HTTP/1.1\r\nHost: localhost:4711", .misdirected),
            ("GET /callback?state=s1 HTTP/1.1\r\nHost: 127.0.0.1", .misdirected),
            ("GET /callback?state=s1 HTTP/1.1\r\nHost: 127.0.0.1:4712", .misdirected),
            ("GET /callback?state=s1 HTTP/1.1\r\nAccept: */*", .misdirected),
            ("GET /callback?state=s1 HTTP/1.1\r\nHost: 127.0.0.1:4711\r\nHost: 127.0.0.1:4711", .misdirected),
            ("GET /callback?state=s1 HTTP/1.1\r\nHost : 127.0.0.1:4711", .misdirected),
            ("GET /callback?state=s1 HTTP/1.1\r\n Host: 127.0.0.1:4711", .misdirected),
            ("GET http://127.0.0.1:4711/callback?state=s1 HTTP/1.1\r\nHost: 127.0.0.1:4711", .malformed),
            ("GET /callback?state=s1#x HTTP/1.1\r\nHost: 127.0.0.1:4711", .malformed),
            ("GET /callback?state=s1 HTTP/1.0\r\nHost: 127.0.0.1:4711", .malformed),
            ("GET /callback?state=s1\r\nHost: 127.0.0.1:4711", .malformed),
            ("GET  /callback?state=s1 HTTP/1.1\r\nHost: 127.0.0.1:4711", .malformed),
            ("GET /callback?state=s1 HTTP/1.1\nHost: 127.0.0.1:4711", .malformed),
            ("GET /callback?state=s1 HTTP/1.1\r\nHost: 127.0.0.1:4711\r\nAccept: */*\nHost: evil.example.com", .malformed),
            ("GET /callback?state=s1 HTTP/1.1\r\nHost: 127.0.0.1:4711\r\nAccept: */*\rHost: evil.example.com", .malformed),
            ("GET /callback?state=s1&x=ä HTTP/1.1\r\nHost: 127.0.0.1:4711", .malformed),
            ("GET /callback?state=s1\0 HTTP/1.1\r\nHost: 127.0.0.1:4711", .malformed),
            ("", .malformed),
            ("\u{16}\u{3}\u{1} not TLS here", .malformed),
        ] as [(String, CallbackPage)])
    func refused(head: String, page: CallbackPage) {
        #expect(verdict(head + "\r\n\r\n") == .refused(page))
    }

    @Test("The loopback listener rejects a request above the size limit, even if the request is still incomplete")
    func tooLarge() {
        let long = String(repeating: "x", count: CallbackRules.maximumSize)
        #expect(verdict("GET /callback?state=s1&\(long)") == .refused(.tooLarge))
        #expect(verdict("GET /callback?state=s1&\(long) HTTP/1.1\r\nHost: 127.0.0.1:4711\r\n\r\n") == .refused(.tooLarge))
        let rest = String(repeating: "x", count: CallbackRules.maximumSize - 66)
        #expect(verdict("GET /callback?state=s1&\(rest) HTTP/1.1\r\nHost: 127.0.0.1:4711\r\n\r\n") != .refused(.tooLarge))
    }

    @Test("No page of the loopback listener loads resources, runs scripts, is cached or sends a referrer", arguments: CallbackPage.allCases)
    func pages(page: CallbackPage) throws {
        let text = String(decoding: page.response, as: UTF8.self)
        let end = try #require(text.range(of: "\r\n\r\n"))
        let head = text[..<end.lowerBound].components(separatedBy: "\r\n")
        let body = text[end.upperBound...]
        #expect(head.contains("Content-Length: \(body.utf8.count)") && head.contains("Connection: close"))
        #expect(head.contains("Cache-Control: no-store") && head.contains("Referrer-Policy: no-referrer"))
        #expect(head.contains("X-Content-Type-Options: nosniff"))
        let hash = Data(SHA256.hash(data: Data(CallbackPage.style.utf8))).base64EncodedString()
        #expect(
            head.contains(
                "Content-Security-Policy: default-src 'none'; style-src 'sha256-\(hash)'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
            ))
        #expect(!body.contains("http") && !body.contains("<script") && !body.contains("src=") && body.contains("lang=\"en\""))
        #expect(head.contains("Allow: GET") == (page == .notAllowed))
        #expect(head[0].hasPrefix("HTTP/1.1 200 ") == (page == .taken))
    }

    @Test(
        "LoopbackRedirect reads the host, the port and the path of a loopback redirect URI",
        arguments: [
            ("http://127.0.0.1/callback", "127.0.0.1", nil, "/callback"), ("http://127.0.0.1:8765/a/b", "127.0.0.1", 8765, "/a/b"),
            ("HTTP://LOCALHOST", "localhost", nil, "/"), ("http://[::1]/callback", "[::1]", nil, "/callback"),
            ("http://127.0.0.1/a%20b", "127.0.0.1", nil, "/a%20b"),
        ] as [(String, String, UInt16?, String)])
    func loopback(text: String, host: String, port: UInt16?, path: String) throws {
        let redirect = try LoopbackRedirect(url(text))
        #expect(redirect.host == host && redirect.port == port && redirect.path == path)
    }

    @Test(
        "LoopbackRedirect rejects a URI that is not http on loopback, has an invalid port, or has a query, fragment or user",
        arguments: [
            "com.example.app:/callback", "com.example.app://127.0.0.1/callback", "https://127.0.0.1/callback",
            "http://example.com/callback",
            "http://127.0.0.2/callback", "http://0.0.0.0/callback", "http://127.0.0.1.example.com/", "http://user@127.0.0.1/callback",
            "http://127.0.0.1/callback?x=y", "http://127.0.0.1/callback#x", "http://127.0.0.1:0/callback",
            "http://127.0.0.1:99999/callback",
        ])
    func elsewhere(text: String) throws {
        let redirectUri = try url(text)
        #expect(throws: BrowserSigninError.invalidRedirectScheme(redirectUri.scheme)) { try LoopbackRedirect(redirectUri) }
        #expect(!LoopbackRedirect.isOne(redirectUri))
    }
}
