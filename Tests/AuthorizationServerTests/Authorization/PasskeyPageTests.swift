import CountersignSandbox
import Foundation
import IdentityCore
import JOSE
import TestSupport
import Testing
import WebAuthn

@Suite("Passkeys on the hosted pages")
struct PasskeyPageTests {
    private static let app = WireRelyingParty.browserApp
    private static let refusal = "Your passkey was not accepted."

    private static func with(
        _ policy: PasskeyPolicy? = PasskeyPolicy(), _ body: @Sendable (PushServer) async throws -> Void
    ) async throws {
        var organization = PushOrganization()
        organization.passkeys = policy
        try await PushServer.with(organization, body)
    }

    /// Signs in with the password, and creates a passkey. Returns the page after the creation.
    private static func enroll(
        _ passkeys: inout WirePasskeys, _ server: PushServer, app: WireRelyingParty = Self.app, login: String = PushOrganization.jane,
        password: String = PushOrganization.janesPassword
    ) async throws -> WireResponse {
        let browser = WireBrowser(server.wire)
        let choice = try await browser.signIn(try await app.begin(browser), login, password)
        let page = try await browser.submit(choice, "set-up", ["choice": "passkey"])
        return try await browser.submit(page, "new-passkey", ["credential": try passkeys.create(page)])
    }

    private static func methods(_ answer: WireResponse, _ server: PushServer) async throws -> JSONValue? {
        try await IssuedTokens(
            try await app.exchange(try app.code(answer), server.wire), keysFrom: app.base, server.wire
        ).idToken["amr"]
    }

    // MARK: - Second factor

    @Test("A user without a second factor creates a passkey, and the passkey is the second factor of the next sign-in")
    func secondFactor() async throws {
        try await Self.with { server in
            var passkeys = WirePasskeys()
            let created = try await Self.enroll(&passkeys, server)
            #expect(try await Self.methods(created, server) == ["pwd", "pop", "mfa"])
            #expect(try await server.logged("user.mfa.factor.activate") == 1)

            let browser = WireBrowser(server.wire)
            let choice = try await browser.signIn(try await Self.app.begin(browser))
            #expect(choice.body.contains("Use your passkey") && !choice.body.contains("data-options"))
            let page = try await browser.submit(choice, "factor", ["factor": "passkey"])
            #expect(page["Content-Security-Policy"]?.contains("script-src 'self'; connect-src 'self';") == true)
            let options = try WirePasskeys.options(page)
            #expect(options["rpId"] == "id.example.com" && options["userVerification"] == "preferred")
            #expect(options["allowCredentials"]?.arrayValue?.count == 1)
            // The same form again keeps the challenge.
            let again = try await browser.submit(choice, "factor", ["factor": "passkey"])
            #expect(try WirePasskeys.options(again)["challenge"] == options["challenge"])
            let answer = try await browser.submit(page, "passkey", ["credential": try passkeys.sign(page)])
            #expect(try await Self.methods(answer, server) == ["pwd", "pop", "mfa"])
        }
    }

    @Test("After a malformed response or one to an expired challenge, the user requests the passkey again and completes the sign-in")
    func secondFactorAgain() async throws {
        try await Self.with { server in
            var passkeys = WirePasskeys()
            _ = try await Self.enroll(&passkeys, server)
            let browser = WireBrowser(server.wire)
            let choice = try await browser.signIn(try await Self.app.begin(browser))
            var page = try await browser.submit(choice, "factor", ["factor": "passkey"])
            page = try await browser.submit(page, "passkey", ["credential": "{}"])
            #expect(page.body.contains(Self.refusal) && page.body.contains("data-options"))
            let late = try passkeys.sign(page)
            server.clock.advance(by: 300)
            page = try await browser.submit(page, "passkey", ["credential": late])
            #expect(page.body.contains(Self.refusal) && !page.body.contains("data-options"))
            page = try await browser.submit(page, "factor", ["factor": "passkey"])
            _ = try Self.app.code(try await browser.submit(page, "passkey", ["credential": try passkeys.sign(page)]))
        }
    }

    @Test("The copy of a passkey whose counter did not increase is refused")
    func clone() async throws {
        try await Self.with { server in
            var passkeys = WirePasskeys()
            _ = try await Self.enroll(&passkeys, server)
            var copy = passkeys
            let browser = WireBrowser(server.wire)
            var page = try await browser.submit(
                try await browser.signIn(try await Self.app.begin(browser)), "factor", ["factor": "passkey"])
            _ = try passkeys.sign(page)
            _ = try Self.app.code(try await browser.submit(page, "passkey", ["credential": try passkeys.sign(page)]))
            let other = WireBrowser(server.wire)
            page = try await other.submit(try await other.signIn(try await Self.app.begin(other)), "factor", ["factor": "passkey"])
            #expect(try await other.submit(page, "passkey", ["credential": try copy.sign(page)]).body.contains(Self.refusal))
        }
    }

    @Test("The response to a registration with another challenge stores no passkey, and the page offers a new challenge")
    func registration() async throws {
        try await Self.with { server in
            var passkeys = WirePasskeys()
            let browser = WireBrowser(server.wire)
            let choice = try await browser.signIn(try await Self.app.begin(browser))
            let first = try await browser.submit(choice, "set-up", ["choice": "passkey"])
            let early = try passkeys.create(first)
            var page = try await browser.submit(first, "new-passkey", ["credential": "not JSON"])
            #expect(page.body.contains("The passkey could not be saved.") && !page.body.contains("not JSON"))
            passkeys.authenticator.changes.clientData = { $0["challenge"] = .string(Base64URL.encode([UInt8](repeating: 7, count: 32))) }
            page = try await browser.submit(page, "new-passkey", ["credential": try passkeys.create(page)])
            #expect(page.body.contains("The passkey could not be saved."))
            #expect(try WirePasskeys.options(page)["challenge"] != WirePasskeys.options(first)["challenge"])
            // The refused response consumed the first challenge.
            page = try await browser.submit(page, "new-passkey", ["credential": early])
            #expect(page.body.contains("The passkey could not be saved."))
            passkeys.authenticator.changes = .init()
            _ = try Self.app.code(try await browser.submit(page, "new-passkey", ["credential": try passkeys.create(page)]))
        }
    }

    @Test("A policy that requires a phishing-resistant factor offers only the creation of a passkey")
    func phishingResistant() async throws {
        try await Self.with { server in
            let app = WireRelyingParty.passkeyApp
            let browser = WireBrowser(server.wire)
            let choice = try await browser.signIn(try await app.begin(browser))
            #expect(choice.body.contains("Passkey app requires a passkey") && !choice.body.contains("uthenticator app"))
            let form = try WireBrowser.form(choice, "set-up")
            let page = try await browser.follow(
                try await browser.post(form.action.replacing("/set-up", with: "/enroll"), form.fields))
            #expect(!page.body.contains("<svg"))
            var passkeys = WirePasskeys()
            let creation = try await browser.submit(page, "set-up", ["choice": "passkey"])
            _ = try app.code(try await browser.submit(creation, "new-passkey", ["credential": try passkeys.create(creation)]))
        }
    }

    // MARK: - First factor

    @Test("A passkey that verifies the user signs in from the first page without a user name and a password")
    func firstFactor() async throws {
        try await Self.with { server in
            var passkeys = WirePasskeys()
            _ = try await Self.enroll(&passkeys, server)
            let browser = WireBrowser(server.wire)
            let page = try await Self.app.begin(browser)
            #expect(page.body.contains(#"autocomplete="username webauthn""#) && page.body.contains("Sign in with a passkey"))
            let options = try WirePasskeys.options(page)
            #expect(options["allowCredentials"] == [] && options["userVerification"] == "required")
            let answer = try await browser.submit(page, "passkey", ["credential": try passkeys.sign(page)])
            #expect(try await Self.methods(answer, server) == ["pop", "mfa"])
        }
    }

    @Test("On the first page, a passkey that does not verify the user is refused")
    func unverified() async throws {
        try await Self.with { server in
            var passkeys = WirePasskeys()
            passkeys.authenticator.flags.remove(.userVerified)
            #expect(try await Self.methods(try await Self.enroll(&passkeys, server), server) == ["pwd", "pop", "mfa"])
            let browser = WireBrowser(server.wire)
            let page = try await Self.app.begin(browser)
            #expect(try await browser.submit(page, "passkey", ["credential": try passkeys.sign(page)]).body.contains(Self.refusal))
        }
    }

    @Test("On the first page, wrong and repeated responses of a passkey get the same answer, and the answer does not name the user")
    func attacks() async throws {
        try await Self.with { server in
            var passkeys = WirePasskeys()
            _ = try await Self.enroll(&passkeys, server)
            let browser = WireBrowser(server.wire)
            var page = try await Self.app.begin(browser)
            let first = try passkeys.sign(page)
            var stranger = passkeys
            stranger.authenticator.changes.response = {
                $0["response"]?["userHandle"] = .string(Base64URL.encode(Array("usr-nobody".utf8)))
            }
            var nameless = passkeys
            nameless.authenticator.changes.response = { $0["response"]?["userHandle"] = .null }
            var forger = passkeys
            forger.authenticator.changes.signature = { $0[$0.count - 1] ^= 1 }
            var responses: [(WireResponse) throws -> String] = [{ _ in "" }, { _ in "{}" }, { _ in String(repeating: "x", count: 40_000) }]
            responses += [
                { try stranger.sign($0) }, { try nameless.sign($0) }, { try forger.sign($0) },
                { _ in try passkeys.sign([UInt8](repeating: 3, count: 32), rpID: "id.example.com") },
                // The refused responses consumed the challenge of the first page.
                { _ in first },
            ]
            for response in responses {
                page = try await browser.submit(page, "passkey", ["credential": try response(page)])
                #expect(page.status == 200 && page.body.contains(Self.refusal))
                #expect(!page.body.contains(PushOrganization.jane) && page.body.contains("Sign in with a passkey"))
            }
            let accepted = try passkeys.sign(page)
            _ = try Self.app.code(try await browser.submit(page, "passkey", ["credential": accepted]))
            let other = WireBrowser(server.wire)
            let replayed = try await other.submit(try await Self.app.begin(other), "passkey", ["credential": accepted])
            #expect(replayed.body.contains(Self.refusal))
        }
    }

    @Test("A valid passkey of a locked account gets the answer of a wrong passkey")
    func locked() async throws {
        try await Self.with { server in
            var passkeys = WirePasskeys()
            _ = try await Self.enroll(&passkeys, server)
            let browser = WireBrowser(server.wire)
            var page = try await Self.app.begin(browser)
            for _ in 1...5 { page = try await browser.signIn(page, PushOrganization.jane, "Wrong-Password-1") }
            page = try await browser.submit(page, "passkey", ["credential": try passkeys.sign(page)])
            #expect(page.body.contains(Self.refusal))
        }
    }

    @Test("The first page of an organization without passkeys has no script and offers no passkey")
    func off() async throws {
        try await Self.with(nil) { server in
            let browser = WireBrowser(server.wire)
            let page = try await Self.app.begin(browser)
            #expect(!page.body.contains("webauthn") && !page.body.contains("<script") && !page.body.contains("passkey"))
            let form = try WireBrowser.form(page, "password")
            let answer = try await browser.follow(
                try await browser.post(
                    form.action.replacing("/password", with: "/passkey"), form.fields.merging(["credential": "{}"]) { $1 }))
            #expect(answer.status == 200 && answer.body.contains("Sign in"))
        }
    }
}
