import Foundation
import IdentityCore
import JOSE
import TestSupport
import Testing

@Suite("Authenticator app setup on the hosted pages")
struct HostedEnrollmentTests {
    static func secret(_ page: WireResponse) throws -> String {
        let shown = try #require(page.body.firstMatch(of: /translate="no">([A-Z2-7 ]+)</)?.1, "\(page.body)")
        return String(shown.filter { $0 != " " })
    }

    static func code(_ secret: String, _ server: PushServer) throws -> String {
        let bytes = try #require(Base32.decode(secret))
        return TimeBasedCode.code(secret: bytes, step: TimeBasedCode.step(at: server.clock.now))
    }

    @Test("A user without a second factor sets up an authenticator app and is signed in with two factors")
    func setsUp() async throws {
        try await PushServer.with { server in
            let app = WireRelyingParty.browserApp
            let browser = WireBrowser(server.wire)
            let offer = try await browser.signIn(try await app.begin(browser))
            #expect(offer.body.contains("Set up an authenticator app"))
            #expect(!offer.body.contains("<svg"))
            let scan = try await browser.submit(offer, "enroll")
            #expect(scan.body.contains("<svg") && scan["Cache-Control"] == "no-cache, no-store")
            let secret = try Self.secret(scan)
            // The page shows the same secret after a wrong code.
            let wrong = try await browser.submit(scan, "confirm", ["code": "000000"])
            #expect(wrong.body.contains("The code is wrong"))
            #expect(try Self.secret(wrong) == secret)
            let code = try app.code(try await browser.submit(wrong, "confirm", ["code": try Self.code(secret, server)]))
            let tokens = try await IssuedTokens(try await app.exchange(code, server.wire), keysFrom: app.base, server.wire)
            #expect(tokens.idToken["amr"] == ["pwd", "otp", "mfa"])
            #expect(try await server.logged("user.mfa.factor.activate") == 1)

            // The next sign-in requires the app's code, and the code from the setup is consumed.
            let other = WireBrowser(server.wire)
            let again = try await other.signIn(try await app.begin(other))
            #expect(again.body.contains("asks for a second factor") && !again.body.contains("Set up"))
            #expect(try await other.submit(again, "code", ["code": try Self.code(secret, server)]).body.contains("The code is wrong"))
            server.clock.advance(by: 30)
            _ = try app.code(try await other.submit(again, "code", ["code": try Self.code(secret, server)]))
        }
    }

    @Test("The setup code of an authenticator app is rejected if the setup page showed the secret more than ten minutes ago")
    func late() async throws {
        try await PushServer.with { server in
            let browser = WireBrowser(server.wire)
            let offer = try await browser.signIn(try await WireRelyingParty.browserApp.begin(browser))
            let scan = try await browser.submit(offer, "enroll")
            server.clock.advance(by: 601)
            let late = try await browser.submit(scan, "confirm", ["code": try Self.code(try Self.secret(scan), server)])
            #expect(!late.body.contains("<svg") && late.body.contains("Set it up now"))
            #expect(late.body.contains("The code came too late"))
            #expect(!(try await browser.submit(late, "enroll")).body.contains("The code came too late"))
            #expect(try await server.logged("user.mfa.factor.activate") == 0)
        }
    }

    @Test("A user with an enrolled phone cannot set up an authenticator app after the password alone")
    func notBesidePhone() async throws {
        try await PushServer.with { server in
            _ = try await server.enroll()
            let browser = WireBrowser(server.wire)
            let choice = try await browser.signIn(try await WireRelyingParty.browserApp.begin(browser))
            let (action, fields) = try WireBrowser.form(choice, "factor")
            let answer = try await browser.post(action.replacing("/factor", with: "/enroll"), fields)
            let page = try await browser.follow(answer)
            #expect(page.body.contains("asks for a second factor") && !page.body.contains("<svg"))
            #expect(try await server.logged("user.mfa.factor.begin") == 0)
        }
    }
}
