import Foundation
import IdentityCore
import JOSE
import Store
import TestSupport
import Testing

@Suite("Offers after a sign-in on the pages, and recovery codes")
struct OfferPageTests {
    private static let app = WireRelyingParty.browserApp
    /// An app whose policy requires one factor.
    private static let easyApp = WireRelyingParty.readingApp
    private static let offersPasskey = "Sign in faster next time"
    private static let offersCodes = "Get recovery codes"

    /// Starts a server whose pages offer passkeys and recovery codes, or only one of them.
    private static func with(
        passkeys: PasskeyPolicy? = PasskeyPolicy(), codes: SavedCodesPolicy? = SavedCodesPolicy(count: 4),
        _ body: @Sendable (PushServer) async throws -> Void
    ) async throws {
        try await PushServer.with(PushOrganization(passkeys: passkeys, savedCodes: codes), body)
    }

    /// Jane signs in with the password, and creates a passkey as the second factor. Returns the page after it.
    private static func enroll(
        _ passkeys: inout WirePasskeys, _ browser: WireBrowser, app: WireRelyingParty = Self.app
    ) async throws -> WireResponse {
        let choice = try await browser.signIn(try await app.begin(browser))
        let page = try await browser.submit(choice, "set-up", ["choice": "passkey"])
        return try await browser.submit(page, "new-passkey", ["credential": try passkeys.create(page)])
    }

    /// Jane sets up an authenticator app. Returns its secret.
    private static func enrollApp(_ server: PushServer) async throws -> String {
        let browser = WireBrowser(server.wire)
        let scan = try await browser.submit(try await browser.signIn(try await app.begin(browser)), "enroll")
        let secret = try HostedEnrollmentTests.secret(scan)
        _ = try await browser.submit(scan, "confirm", ["code": try HostedEnrollmentTests.code(secret, server)])
        server.clock.advance(by: 30)
        return secret
    }

    /// Jane signs in with the password and a code of her app. Returns the page after it.
    private static func signIn(_ browser: WireBrowser, _ secret: String, _ server: PushServer) async throws -> WireResponse {
        server.clock.advance(by: 30)
        let page = try await browser.signIn(try await app.begin(browser))
        return try await browser.submit(page, "code", ["code": try HostedEnrollmentTests.code(secret, server)])
    }

    private static func codes(_ page: WireResponse) -> [String] { page.body.matches(of: /<li>([0-9a-z-]+)<\/li>/).map { String($0.1) } }

    /// Jane creates a passkey and saves recovery codes. Returns the codes.
    private static func saveCodes(_ server: PushServer, app: WireRelyingParty = Self.app) async throws -> [String] {
        var passkeys = WirePasskeys()
        let browser = WireBrowser(server.wire)
        let offer = try await enroll(&passkeys, browser, app: app)
        let shown = try await browser.submit(offer, "recovery-codes")
        _ = try app.code(try await browser.submit(shown, "codes-saved"))
        return codes(shown)
    }

    private static func methods(_ answer: WireResponse, _ server: PushServer, app: WireRelyingParty = Self.app) async throws -> JSONValue? {
        try await IssuedTokens(
            try await app.exchange(try app.code(answer), server.wire), keysFrom: app.base, server.wire
        ).idToken["amr"]
    }

    private static func enrollments(_ server: PushServer) async throws -> [Enrollment] {
        let id = try #require(try await server.engine.user(login: PushOrganization.jane)?.id)
        return try await server.engine.store.read { view in try view.enrollments(of: id) }
    }

    // MARK: - Offers

    @Test("A user with another second factor is offered a passkey once, and a declined offer is not repeated")
    func declinedPasskey() async throws {
        try await Self.with { server in
            let secret = try await Self.enrollApp(server)
            let browser = WireBrowser(server.wire)
            let offer = try await Self.signIn(browser, secret, server)
            #expect(offer.body.contains(Self.offersPasskey))
            let codes = try await browser.submit(offer, "decline", ["offer": "passkey"])
            #expect(codes.body.contains(Self.offersCodes))
            let answer = try await browser.submit(codes, "decline", ["offer": "recoveryCodes"])
            #expect(try await Self.methods(answer, server) == ["pwd", "otp", "mfa"])
            _ = try Self.app.code(try await Self.signIn(WireBrowser(server.wire), secret, server))
        }
    }

    @Test("A user who accepts the offer creates a passkey, which counts as a proof of the sign-in and is not offered again")
    func acceptedPasskey() async throws {
        try await Self.with(codes: nil) { server in
            let secret = try await Self.enrollApp(server)
            let browser = WireBrowser(server.wire)
            var passkeys = WirePasskeys()
            let page = try await browser.submit(try await Self.signIn(browser, secret, server), "set-up", ["choice": "passkey"])
            #expect(page.body.contains("Not now"))
            let answer = try await browser.submit(page, "new-passkey", ["credential": try passkeys.create(page)])
            #expect(try await Self.methods(answer, server) == ["pwd", "otp", "pop", "mfa"])
            _ = try Self.app.code(try await Self.signIn(WireBrowser(server.wire), secret, server))
        }
    }

    @Test("A user who starts to create the offered passkey can still decline it")
    func declinedCreation() async throws {
        try await Self.with(codes: nil) { server in
            let secret = try await Self.enrollApp(server)
            let browser = WireBrowser(server.wire)
            let page = try await browser.submit(try await Self.signIn(browser, secret, server), "set-up", ["choice": "passkey"])
            _ = try Self.app.code(try await browser.submit(page, "decline", ["offer": "passkey"]))
            #expect(try await Self.enrollments(server).allSatisfy { $0.passkey == nil })
        }
    }

    @Test("A password alone is offered no passkey, because the passkey would raise a stolen password to two factors")
    func passwordAlone() async throws {
        try await Self.with { server in
            let browser = WireBrowser(server.wire)
            _ = try Self.easyApp.code(try await browser.signIn(try await Self.easyApp.begin(browser)))
            let stronger = try await Self.easyApp.begin(browser, ["acr_values": "urn:okta:loa:2fa:any"])
            #expect(try Self.easyApp.error(stronger) == "unmet_authentication_requirements")
        }
    }

    @Test("Proofs of a session get no offer")
    func inherited() async throws {
        try await Self.with { server in
            var passkeys = WirePasskeys()
            let browser = WireBrowser(server.wire)
            let codes = try await Self.enroll(&passkeys, browser)
            #expect(codes.body.contains(Self.offersCodes))
            _ = try Self.app.code(try await browser.submit(codes, "decline", ["offer": "recoveryCodes"]))
            // The session has both proofs, and answers at once.
            _ = try Self.easyApp.code(try await Self.easyApp.begin(browser))
        }
    }

    @Test("A user whose only factor is a list of recovery codes cannot add another factor by the password alone")
    func codesOnly() async throws {
        try await Self.with { server in
            let id = try #require(try await server.engine.user(login: PushOrganization.jane)?.id)
            let context = RequestContext(now: server.clock.now, requestID: "codes")
            let codes = try #require(try await server.engine.grantSavedCodes(toUser: id, context: context))
            let browser = WireBrowser(server.wire)
            var page = try await browser.signIn(try await Self.app.begin(browser))
            #expect(page.body.contains("Use a recovery code") && !page.body.contains("Set up a second factor"))
            page = try await browser.submit(page, "factor", ["factor": "recovery-code"])
            #expect(try await browser.submit(page, "recovery-code", ["code": codes[0]]).body.contains(Self.offersPasskey))
        }
    }

    @Test("With offer: never, the pages offer neither a passkey nor recovery codes")
    func never() async throws {
        try await Self.with(passkeys: PasskeyPolicy(isOffered: false), codes: SavedCodesPolicy(isOffered: false)) { server in
            let browser = WireBrowser(server.wire)
            _ = try Self.easyApp.code(try await browser.signIn(try await Self.easyApp.begin(browser)))
            var passkeys = WirePasskeys()
            let other = WireBrowser(server.wire)
            _ = try Self.app.code(try await Self.enroll(&passkeys, other))
        }
    }

    @Test("A form of an offer that is sent again changes nothing, and does not decline the next offer")
    func sentTwice() async throws {
        try await Self.with { server in
            var passkeys = WirePasskeys()
            let browser = WireBrowser(server.wire)
            let codes = try await Self.enroll(&passkeys, browser)
            let form = try WireBrowser.form(codes, "decline")
            let stale = form.fields.merging(["offer": "passkey"]) { $1 }
            let page = try await browser.follow(try await browser.post(form.action, stale))
            #expect(page.body.contains(Self.offersCodes))
            let unknown = form.fields.merging(["offer": "anything"]) { $1 }
            #expect(try await browser.post(form.action, unknown).status == 404)
        }
    }

    @Test("A user with a passkey gets no recovery codes after a weaker factor, which an attacker could phish")
    func weakerFactor() async throws {
        try await Self.with { server in
            let secret = try await Self.enrollApp(server)
            let browser = WireBrowser(server.wire)
            let page = try await browser.submit(try await Self.signIn(browser, secret, server), "set-up", ["choice": "passkey"])
            var passkeys = WirePasskeys()
            let offer = try await browser.submit(page, "new-passkey", ["credential": try passkeys.create(page)])
            #expect(offer.body.contains(Self.offersCodes))
            _ = try Self.app.code(try await Self.signIn(WireBrowser(server.wire), secret, server))
        }
    }

    @Test("A sign-in with a proof by a recovery code ends when another sign-in replaces the list")
    func replacedDuringSignIn() async throws {
        try await Self.with { server in
            let id = try #require(try await server.engine.user(login: PushOrganization.jane)?.id)
            let context = RequestContext(now: server.clock.now, requestID: "codes")
            let codes = try #require(try await server.engine.grantSavedCodes(toUser: id, context: context))
            let browser = WireBrowser(server.wire)
            var page = try await browser.submit(
                try await browser.signIn(try await Self.app.begin(browser)), "factor", ["factor": "recovery-code"])
            page = try await browser.submit(page, "recovery-code", ["code": codes[0]])
            #expect(page.body.contains(Self.offersPasskey))
            _ = try await server.engine.grantSavedCodes(toUser: id, context: context)
            let form = try WireBrowser.form(page, "set-up")
            let answer = try await browser.follow(try await browser.post(form.action, form.fields.merging(["choice": "passkey"]) { $1 }))
            #expect(!answer.body.contains("Create a passkey"))
            #expect(try await Self.enrollments(server).allSatisfy { $0.passkey == nil })
        }
    }

    // MARK: - Recovery codes

    @Test("The page shows the same recovery codes until the user has saved them, and the store then has only hashes")
    func saving() async throws {
        try await Self.with { server in
            var passkeys = WirePasskeys()
            let browser = WireBrowser(server.wire)
            let offer = try await Self.enroll(&passkeys, browser)
            #expect(offer.body.contains(Self.offersCodes))
            let shown = try await browser.submit(offer, "recovery-codes")
            let codes = Self.codes(shown)
            #expect(codes.count == 4)
            // The same form again, as after a double click, creates no other codes.
            let again = try await browser.submit(offer, "recovery-codes")
            #expect(Self.codes(again) == codes)
            // A list that is not saved yet is no factor.
            #expect(try await Self.enrollments(server).filter { $0.factor == .savedCode }.map(\.status) == [.pending])
            let answer = try await browser.submit(shown, "codes-saved")
            #expect(try await Self.methods(answer, server) == ["pwd", "pop", "mfa"])
            let stored = try await Self.enrollments(server).filter { $0.factor == .savedCode }
            #expect(stored.map(\.status) == [.active] && stored.first?.savedCodes?.remaining == 4)
            let later = WireBrowser(server.wire)
            let choice = try await later.signIn(try await Self.app.begin(later))
            let page = try await later.submit(choice, "factor", ["factor": "passkey"])
            _ = try Self.app.code(try await later.submit(page, "passkey", ["credential": try passkeys.sign(page)]))
        }
    }

    @Test("Recovery codes that are not saved within ten minutes are never shown again, and the page offers others")
    func expired() async throws {
        try await Self.with { server in
            var passkeys = WirePasskeys()
            let browser = WireBrowser(server.wire)
            let shown = try await browser.submit(try await Self.enroll(&passkeys, browser), "recovery-codes")
            let codes = Self.codes(shown)
            server.clock.advance(by: 600)
            let page = try await browser.submit(shown, "codes-saved")
            #expect(page.body.contains(Self.offersCodes))
            let next = try await browser.submit(page, "recovery-codes")
            #expect(Self.codes(next).count == 4 && Set(Self.codes(next)).isDisjoint(with: codes))
        }
    }

    @Test("A recovery code is a second factor of the pages, each code once, and a wrong code can be corrected")
    func signIn() async throws {
        try await Self.with { server in
            let codes = try await Self.saveCodes(server)
            let browser = WireBrowser(server.wire)
            let choice = try await browser.signIn(try await Self.app.begin(browser))
            var page = try await browser.submit(choice, "factor", ["factor": "recovery-code"])
            page = try await browser.submit(page, "recovery-code", ["code": "0000-0000-0000-0000"])
            #expect(page.body.contains("The recovery code is wrong or was used before."))
            page = try await browser.submit(page, "recovery-code", ["code": codes[0].uppercased()])
            // The user may have lost the passkey.
            #expect(page.body.contains(Self.offersPasskey))
            let answer = try await browser.submit(page, "decline", ["offer": "passkey"])
            #expect(try await Self.methods(answer, server) == ["pwd", "otp", "mfa"])
            let other = WireBrowser(server.wire)
            page = try await other.submit(
                try await other.signIn(try await Self.app.begin(other)), "factor", ["factor": "recovery-code"])
            #expect(try await other.submit(page, "recovery-code", ["code": codes[0]]).body.contains("was used before"))
        }
    }

    @Test("When two recovery codes are left, the sign-in offers a new list, which replaces the old one")
    func renewed() async throws {
        try await Self.with(passkeys: PasskeyPolicy(isOffered: false)) { server in
            let codes = try await Self.saveCodes(server)
            func use(_ code: String) async throws -> (WireBrowser, WireResponse) {
                let browser = WireBrowser(server.wire)
                let choice = try await browser.signIn(try await Self.app.begin(browser))
                let page = try await browser.submit(choice, "factor", ["factor": "recovery-code"])
                return (browser, try await browser.submit(page, "recovery-code", ["code": code]))
            }
            _ = try Self.app.code(try await use(codes[0]).1)
            let (browser, offer) = try await use(codes[1])
            #expect(offer.body.contains(Self.offersCodes))
            let shown = try await browser.submit(offer, "recovery-codes")
            _ = try Self.app.code(try await browser.submit(shown, "codes-saved"))
            // The session keeps the proof of a code whose list was replaced.
            _ = try Self.app.code(try await Self.app.begin(browser))
            #expect(try await use(codes[3]).1.body.contains("was used before"))
            _ = try Self.app.code(try await use(Self.codes(shown)[0]).1)
        }
    }

    /// The reasons why a proof by a recovery code no longer counts.
    private enum LostProof: CaseIterable { case replaced, turnedOff }

    @Test(
        "A proof by the last recovery code lasts, for apps and devices, until the user gets new codes or the organization turns codes off",
        arguments: LostProof.allCases)
    private func lostProof(_ loss: LostProof) async throws {
        try await Self.with(passkeys: nil, codes: SavedCodesPolicy(count: 4, isOffered: false)) { server in
            let id = try #require(try await server.engine.user(login: PushOrganization.jane)?.id)
            func grant() async throws -> [String] {
                let context = RequestContext(now: server.clock.now, requestID: "codes")
                return try #require(try await server.engine.grantSavedCodes(toUser: id, context: context))
            }
            func use(_ code: String) async throws -> WireBrowser {
                let browser = WireBrowser(server.wire)
                let page = try await browser.submit(
                    try await browser.signIn(try await Self.app.begin(browser)), "factor", ["factor": "recovery-code"])
                _ = try Self.app.code(try await browser.submit(page, "recovery-code", ["code": code]))
                return browser
            }
            /// Returns whether the browser may allow a device without another proof.
            func canAllowDevice(_ browser: WireBrowser) async throws -> Bool {
                let (_, userCode) = try await WireDevice(server.wire, id: Self.app.id).begin()
                return try await browser.enter(userCode).body.contains("Continue only if you have the device with you")
            }
            var browsers: [WireBrowser] = []
            for code in try await grant() { browsers.append(try await use(code)) }
            let last = try #require(browsers.last)
            _ = try Self.app.code(try await Self.app.begin(last))
            #expect(try await canAllowDevice(last))
            switch loss {
            case .replaced: _ = try await grant()
            case .turnedOff:
                var definition = PushOrganization(savedCodes: nil).definition(origin: RunningServer.origin)
                definition.savedCodes = nil
                _ = try await server.engine.apply(definition, context: RequestContext(now: server.clock.now, requestID: "apply"))
            }
            for browser in browsers {
                let page = try await Self.app.begin(browser)
                #expect(page.status == 200 && page["Location"] == nil, "\(page.status)")
                #expect(page.body.contains("Use a recovery code") == (loss == .replaced))
                #expect(try await !canAllowDevice(browser))
            }
        }
    }

    // MARK: - Lost passkeys

    @Test("A user who lost every passkey signs in with a recovery code and a new passkey where a passkey is required")
    func lostPasskeys() async throws {
        try await Self.with { server in
            let app = WireRelyingParty.passkeyApp
            let codes = try await Self.saveCodes(server, app: app)
            let browser = WireBrowser(server.wire)
            let choice = try await browser.signIn(try await app.begin(browser))
            #expect(choice.body.contains("Use your passkey") && choice.body.contains("Use a recovery code"))
            var page = try await browser.submit(choice, "factor", ["factor": "recovery-code"])
            page = try await browser.submit(page, "recovery-code", ["code": codes[0]])
            #expect(page.body.contains("Create a passkey") && !page.body.contains("Not now"))
            var passkeys = WirePasskeys()
            let creation = try await browser.submit(page, "set-up", ["choice": "passkey"])
            let answer = try await browser.submit(creation, "new-passkey", ["credential": try passkeys.create(creation)])
            #expect(try await Self.methods(answer, server, app: app) == ["pwd", "otp", "pop", "mfa"])
            // The new passkey alone signs in afterwards.
            let later = WireBrowser(server.wire)
            let first = try await app.begin(later)
            _ = try app.code(try await later.submit(first, "passkey", ["credential": try passkeys.sign(first)]))
        }
    }

    @Test("A user who lost every passkey can create another one after the last recovery code too")
    func lastCode() async throws {
        try await Self.with { server in
            let app = WireRelyingParty.passkeyApp
            var page = WireResponse?.none
            var browser = WireBrowser(server.wire)
            for code in try await Self.saveCodes(server, app: app) {
                browser = WireBrowser(server.wire)
                let choice = try await browser.submit(
                    try await browser.signIn(try await app.begin(browser)), "factor", ["factor": "recovery-code"])
                page = try await browser.submit(choice, "recovery-code", ["code": code])
            }
            var passkeys = WirePasskeys()
            let creation = try await browser.submit(try #require(page), "set-up", ["choice": "passkey"])
            let offer = try await browser.submit(creation, "new-passkey", ["credential": try passkeys.create(creation)])
            // The list is used up, so another one is offered.
            #expect(offer.body.contains(Self.offersCodes))
            _ = try app.code(try await browser.submit(offer, "decline", ["offer": "recoveryCodes"]))
        }
    }

    @Test("Where a passkey is required, a recovery code alone does not complete the sign-in")
    func codeAlone() async throws {
        try await Self.with { server in
            let app = WireRelyingParty.passkeyApp
            let codes = try await Self.saveCodes(server, app: app)
            let browser = WireBrowser(server.wire)
            var page = try await browser.signIn(try await app.begin(browser))
            page = try await browser.submit(page, "factor", ["factor": "recovery-code"])
            page = try await browser.submit(page, "recovery-code", ["code": codes[0]])
            let form = try WireBrowser.form(page, "set-up")
            for (step, fields) in [("decline", ["offer": "passkey"]), ("codes-saved", [:]), ("enroll", [:]), ("recovery-codes", [:])] {
                let answer = try await browser.follow(
                    try await browser.post(form.action.replacing("/set-up", with: "/" + step), form.fields.merging(fields) { $1 }))
                #expect(answer.status == 200 && answer.body.contains("Create a passkey"))
            }
        }
    }

    @Test("A factor that a session proved does not permit the replacement of a passkey by a recovery code")
    func session() async throws {
        try await Self.with { server in
            let codes = try await Self.saveCodes(server)
            let browser = WireBrowser(server.wire)
            var page = try await browser.signIn(try await Self.app.begin(browser))
            page = try await browser.submit(page, "factor", ["factor": "recovery-code"])
            page = try await browser.submit(page, "recovery-code", ["code": codes[0]])
            _ = try Self.app.code(try await browser.submit(page, "decline", ["offer": "passkey"]))
            // Another user of this browser must type the password: the proofs of the session do not lead to the creation of a passkey.
            page = try await WireRelyingParty.passkeyApp.begin(browser)
            #expect(page.body.contains(#"name="password""#) && !page.body.contains("Create a passkey"))
        }
    }
}
