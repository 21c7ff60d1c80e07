import Foundation
import Testing

@testable import SignInPages

@Suite("Page assets")
struct PageAssetsTests {
    @Test("The sign-in page names immutable assets, and its Content-Security-Policy allows no other sources")
    func files() async throws {
        try await PushServer.with { server in
            let page = try await WireRelyingParty.readingApp.begin(WireBrowser(server.wire))
            let policy = try #require(page["Content-Security-Policy"])
            #expect(policy.hasPrefix("default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'"))
            #expect(!policy.contains("script-src") && !policy.contains("unsafe"))
            let style = try #require(page.body.firstMatch(of: /href="(\/signin\/assets\/[0-9a-f]{16}\/pages\.css)"/)?.1)
            let logo = try #require(page.body.firstMatch(of: /src="(\/signin\/assets\/[0-9a-f]{16}\/logo\.svg)"/)?.1)
            for (address, type) in [(style, "text/css; charset=utf-8"), (logo, "image/svg+xml")] {
                let file = try await server.wire.get(String(address))
                #expect(file.status == 200 && file["Content-Type"] == type)
                #expect(file["Cache-Control"] == "public, max-age=31536000, immutable")
                #expect(file["X-Content-Type-Options"] == "nosniff")
                #expect(try #require(file["Content-Security-Policy"]).hasPrefix("default-src 'none'; style-src 'unsafe-inline'"))
                #expect(try #require(file["Content-Security-Policy"]).hasSuffix("sandbox"))
            }
            let other = try await server.wire.get("/signin/assets/0123456789abcdef/pages.css")
            #expect(other.status == 200 && other["Cache-Control"] == "no-cache")
            #expect(try await server.wire.get("/signin/assets/0123456789abcdef/else.css").status == 404)
        }
    }

    @Test("Page assets with different content have different addresses")
    func digest() {
        let plain = PageAssets(branding: Branding())
        let branded = PageAssets(branding: Branding(accent: BrandColor("#123456")))
        let logo = PageAssets(branding: Branding(logo: .init(kind: .png, bytes: [1, 2, 3])))
        #expect(Set([plain, branded, logo].map(\.addresses.style)).count == 3)
        #expect(plain.addresses.style == PageAssets(branding: Branding()).addresses.style)
        #expect(logo.addresses.logo.hasSuffix("/logo.png"))
    }
}
