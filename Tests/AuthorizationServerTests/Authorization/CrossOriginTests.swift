import Testing

@Suite("CORS at the authorize endpoint")
struct CrossOriginTests {
    @Test("Pages of other origins cannot read the authorize endpoint or the sign-in pages")
    func closed() async throws {
        try await PushServer.with { server in
            let app = WireRelyingParty.readingApp
            let browser = WireBrowser(server.wire)
            browser.headers = [("Origin", "https://app.example.com")]
            let redirect = try await browser.get(app.authorizeURL())
            let page = try await browser.follow(redirect)
            #expect(redirect.status == 303)
            #expect(page.status == 200)
            let preflight = try await server.wire.call(
                "OPTIONS", app.authorizeURL(), headers: browser.headers + [("Access-Control-Request-Method", "GET")])
            #expect(preflight.status == 405)
            for answer in [redirect, page, preflight] {
                #expect(!answer.headers.contains { $0.0.lowercased().hasPrefix("access-control-") })
            }
        }
    }
}
