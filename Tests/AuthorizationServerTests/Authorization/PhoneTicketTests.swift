import DeviceAPI
import Foundation
import IdentityCore
import JOSE
import TestSupport
import Testing

@Suite("Phone setup by the QR code of a sign-in page")
struct PhoneTicketTests {
    static let grantType = "urn:countersign:params:oauth:grant-type:enrollment-ticket"
    private static let organization: PushOrganization = {
        var organization = PushOrganization()
        organization.enrollsByTicket = true
        return organization
    }()

    /// A sign-in that shows a QR code.
    private struct Showing {
        let server: PushServer
        let browser: WireBrowser
        var page: WireResponse
        var ticket: String
        /// The address of the sign-in page.
        let address: String

        init(_ server: PushServer, login: String = PushOrganization.jane, password: String = PushOrganization.janesPassword) async throws {
            let browser = WireBrowser(server.wire)
            let choice = try await browser.signIn(try await WireRelyingParty.browserApp.begin(browser), login, password)
            #expect(choice.body.contains("Set up a second factor") && !choice.body.contains("<svg"))
            (self.server, self.browser) = (server, browser)
            page = try await browser.submit(choice, "enroll-phone")
            ticket = try PhoneTicketTests.ticket(page)
            address = try WireBrowser.form(page, "cancel").action.replacing("/cancel", with: "")
        }

        func look() async throws -> WireResponse { try await browser.get(address) }

        /// Returns whether the page still waits, as the server tells the page's script.
        func isWaiting() async throws -> Bool? { try await browser.get(address + "/events").json["waiting"]?.boolValue }

        func exchange(_ changes: [String: String] = [:], server path: String = "/oauth2/v1") async throws -> WireResponse {
            try await PhoneTicketTests.exchange(ticket, server.wire, changes, server: path)
        }

        func accessToken() async throws -> String { try #require(try await exchange().json["access_token"]?.stringValue) }

        /// Enrolls a phone with an access token.
        func enroll(_ accessToken: String) async throws -> WirePhone {
            try await WirePhone.enroll(server.wire, clock: server.clock, accessToken: accessToken, .init())
        }

        /// Expects the server to refuse the enrollment of a phone.
        func expectRefused(_ accessToken: String, _ status: Int) async throws {
            let answer = try await WirePhone.enrolling(server.wire, accessToken: accessToken)
            #expect(answer.status == status, "\(answer.body)")
            #expect(try await server.engine.deviceEnrollments(ofUser: try await server.userID()).isEmpty)
        }
    }

    @Test("The phone setup page offers an authenticator app only if the policy allows one", arguments: [false, true])
    func withoutApp(canAddApp: Bool) async throws {
        var organization = Self.organization
        organization.classic = ClassicPolicy(signOnPolicy: "one factor", factors: [.totp: canAddApp ? .optional : .notAllowed])
        try await PushServer.with(organization) { server in
            let showing = try await Showing(server)
            #expect(showing.page.body.contains("/enroll\"") == canAddApp)
            #expect(showing.page.body.contains("Authenticator app") == canAddApp)
        }
    }

    /// Returns the ticket in the QR code of a page.
    private static func ticket(_ page: WireResponse) throws -> String {
        #expect(page.body.contains("<svg"))
        let uri = try #require(page.body.firstMatch(of: /translate="no">([^<]+)</)?.1, "\(page.body)").replacing("&amp;", with: "&")
        let beginning = RunningServer.origin + "/enroll/autphone1#client_id=phone-app&ticket="
        try #require(uri.hasPrefix(beginning), "\(uri)")
        return String(uri.dropFirst(beginning.count))
    }

    private static func exchange(
        _ ticket: String, _ wire: WireClient, _ changes: [String: String] = [:], server: String = "/oauth2/v1"
    ) async throws -> WireResponse {
        let form = ["grant_type": grantType, "client_id": "phone-app", "ticket": ticket]
        return try await wire.post("\(server)/token", Form.encode(form.merging(changes) { $1 }.filter { !$0.value.isEmpty }))
    }

    private static func expectInvalid(_ response: WireResponse) throws {
        #expect(response.status == 400)
        #expect(
            try response.json == [
                "error": "invalid_grant",
                "error_description": "The code is not known, too old, or was used before. Let the sign-in page show another.",
            ])
    }

    // MARK: - Enrollment

    @Test("After a phone enrolls by the QR code, the sign-in page stops waiting and accepts a push to the phone as the second factor")
    func setsUp() async throws {
        try await PushServer.with(Self.organization) { server in
            let showing = try await Showing(server)
            #expect(showing.page["Cache-Control"] == "no-cache, no-store")
            #expect(showing.page["Content-Security-Policy"]?.contains("script-src 'self'") == true)
            #expect(try Self.ticket(try await showing.look()) == showing.ticket)
            let answer = try await showing.exchange()
            #expect(answer.status == 200)
            let token = try answer.json
            #expect(token.objectValue?.keys.sorted() == ["access_token", "expires_in", "scope", "token_type"])
            #expect(token["expires_in"] == 300 && token["scope"]?.stringValue == PushOrganization.manageScope)
            let taken = try await showing.look()
            #expect(taken.body.contains("has scanned the code") && !taken.body.contains("<svg"))
            #expect(try await showing.isWaiting() == true)

            let phone = try await showing.enroll(try #require(token["access_token"]?.stringValue))
            #expect(phone.userID == (try await server.userID()))
            #expect(try await showing.isWaiting() == false)
            let choice = try await showing.look()
            #expect(choice.body.contains("asks for a second factor") && !choice.body.contains("Set up"))
            _ = try await showing.browser.submit(choice, "factor", ["factor": "push"])
            try await phone.approve()
            let app = WireRelyingParty.browserApp
            let tokens = try await IssuedTokens(
                try await app.exchange(try app.code(try await showing.look()), server.wire), keysFrom: app.base, server.wire)
            #expect(tokens.idToken["amr"] == ["pwd", "okta_verify", "swk", "mfa"])
        }
    }

    @Test("The address in a phone setup QR code shows a page that names the app, and the address of an unknown authenticator returns 404")
    func plainCamera() async throws {
        try await PushServer.with(Self.organization) { server in
            let page = try await server.wire.get("/enroll/autphone1")
            #expect(page.status == 200 && page.body.contains("This code is for Phone."))
            #expect(try await server.wire.get("/enroll/other").status == 404)
        }
    }

    @Test("The ticket of a phone setup appears neither in the token response nor in the system log")
    func secrecy() async throws {
        try await PushServer.with(Self.organization) { server in
            let showing = try await Showing(server)
            let answer = try await showing.exchange()
            #expect(!answer.body.contains(showing.ticket))
            let events = try await server.engine.systemLog(SystemLogQuery(since: .distantPast, limit: 1_000)).events
            #expect(events.contains { $0.type == "token.grant." + Self.grantType })
            #expect(!events.contains { "\($0)".contains(showing.ticket) })
        }
    }

    // MARK: - Invalid uses

    @Test("The second exchange of a phone setup ticket is rejected, and the access token of the first exchange is revoked")
    func twice() async throws {
        try await PushServer.with(Self.organization) { server in
            let showing = try await Showing(server)
            let token = try await showing.accessToken()
            try Self.expectInvalid(try await showing.exchange())
            try await showing.expectRefused(token, 401)
            // The user lets the page show another code, which works.
            var again = showing
            again.page = try await showing.browser.submit(try await showing.look(), "enroll-phone")
            again.ticket = try Self.ticket(again.page)
            _ = try await again.enroll(try await again.accessToken())
        }
    }

    @Test("Of several concurrent exchanges of one phone setup ticket, exactly one yields an access token")
    func race() async throws {
        try await PushServer.with(Self.organization) { server in
            let showing = try await Showing(server)
            let (ticket, wire) = (showing.ticket, server.wire)
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<8 { group.addTask { try await Self.exchange(ticket, wire).status } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.count { $0 == 200 } == 1)
            #expect(statuses.count { $0 == 400 } == 7)
        }
    }

    @Test("The access token of a phone setup ticket enrolls only one phone")
    func onePhone() async throws {
        try await PushServer.with(Self.organization) { server in
            let showing = try await Showing(server)
            let token = try await showing.accessToken()
            _ = try await showing.enroll(token)
            #expect(try await WirePhone.enrolling(server.wire, accessToken: token).status == 403)
            #expect(try await server.engine.deviceEnrollments(ofUser: try await server.userID()).count == 1)
        }
    }

    @Test(
        "A phone setup ticket is rejected for another client, and the attempt does not consume the ticket",
        arguments: ["other-app", "direct-app", "unknown"])
    func wrongClient(client: String) async throws {
        try await PushServer.with(Self.organization) { server in
            let showing = try await Showing(server)
            let answer = try await showing.exchange(["client_id": client])
            switch client {
            // The client may use the grant, but is not the authenticator's app.
            case "other-app": try Self.expectInvalid(answer)
            case "direct-app": try expectRefusal(answer, 400, "unauthorized_client")
            default: try expectRefusal(answer, 401, "invalid_client")
            }
            #expect(try await showing.exchange().status == 200)
        }
    }

    @Test("A phone setup ticket is valid only at the org authorization server and only for the enrollment scope")
    func elsewhere() async throws {
        try await PushServer.with(Self.organization) { server in
            let showing = try await Showing(server)
            try Self.expectInvalid(try await showing.exchange(server: "/oauth2/default/v1"))
            try expectRefusal(try await showing.exchange(["scope": "openid"]), 400, "invalid_scope")
            try expectRefusal(try await showing.exchange(["ticket": ""]), 400, "invalid_request")
            try Self.expectInvalid(try await showing.exchange(["ticket": String(repeating: "a", count: 43)]))
            try Self.expectInvalid(try await showing.exchange(["ticket": String(repeating: "a", count: 5_000)]))
            #expect(try await showing.exchange(["scope": PushOrganization.manageScope]).status == 200)
        }
    }

    @Test(
        "A phone setup ticket expires after ten minutes, or earlier when the password of its sign-in is no longer fresh",
        arguments: [0.0, 400])
    func late(pause: TimeInterval) async throws {
        try await PushServer.with(Self.organization) { server in
            let browser = WireBrowser(server.wire)
            let choice = try await browser.signIn(try await WireRelyingParty.browserApp.begin(browser))
            server.clock.advance(by: pause)
            let page = try await browser.submit(choice, "enroll-phone")
            server.clock.advance(by: min(600, 900 - pause))
            try Self.expectInvalid(try await Self.exchange(try Self.ticket(page), server.wire))
            let address = try WireBrowser.form(page, "cancel").action.replacing("/cancel", with: "")
            #expect(try await !browser.get(address).body.contains("<svg"))
        }
    }

    enum Ending: String, CaseIterable {
        case cancelled, restarted, replaced, appInstead, newPassword, suspended, off
    }

    @Test(
        "A phone setup ticket and its access token become invalid when the sign-in stops waiting for the phone",
        arguments: Ending.allCases, [false, true])
    func ended(by ending: Ending, isExchanged: Bool) async throws {
        try await PushServer.with(Self.organization) { server in
            let showing = try await Showing(server)
            let token = isExchanged ? try await showing.accessToken() : nil
            let id = try await server.userID()
            let context = RequestContext(now: server.clock.now, requestID: "test")
            switch ending {
            case .cancelled:
                _ = try await showing.browser.post(showing.address + "/cancel", WireBrowser.form(showing.page, "cancel").fields)
            case .restarted: _ = try await showing.browser.submit(showing.page, "restart")
            case .replaced: _ = try await showing.browser.submit(showing.page, "enroll-phone")
            case .appInstead: _ = try await showing.browser.submit(showing.page, "enroll")
            case .newPassword: _ = try await server.engine.setPassword(userID: id, to: "Next-Horse-Staple-8", context: context)
            case .suspended: _ = try await server.engine.setStatus(userID: id, to: .suspended, context: context)
            case .off:
                var organization = Self.organization
                organization.isActive = false
                try await server.apply(organization)
            }
            if let token {
                let answer = try await WirePhone.enrolling(server.wire, accessToken: token)
                #expect([401, 403, 404, 423].contains(answer.status), "\(answer.body)")
                #expect(try await server.engine.deviceEnrollments(ofUser: id).isEmpty)
            } else {
                try Self.expectInvalid(try await showing.exchange())
            }
        }
    }

    @Test("If the user gets an authenticator app while a sign-in shows a QR code, the enrollment of a phone by the QR code is rejected")
    func appWasFaster() async throws {
        try await PushServer.with(Self.organization) { server in
            let first = try await Showing(server)
            let token = try await first.accessToken()
            let context = RequestContext(now: server.clock.now, requestID: "test")
            _ = try await server.engine.grantAuthenticatorApp(userID: server.userID(), context: context)
            try await first.expectRefused(token, 403)
        }
    }

    @Test(
        "If two sign-ins of a user show a QR code, enrolling a phone in one sign-in invalidates the enrollment access token of the other sign-in"
    )
    func twoSignIns() async throws {
        try await PushServer.with(Self.organization) { server in
            let (first, second) = (try await Showing(server), try await Showing(server))
            let token = try await first.accessToken()
            let late = try await second.accessToken()
            _ = try await first.enroll(token)
            #expect(try await WirePhone.enrolling(server.wire, accessToken: late).status == 403)
            let third = try await second.look()
            #expect(third.body.contains("asks for a second factor"))
        }
    }

    @Test("A phone setup ticket enrolls the phone for the user of the sign-in that shows the ticket")
    func whose() async throws {
        try await PushServer.with(Self.organization) { server in
            let johns = try await Showing(server, login: PushOrganization.john, password: PushOrganization.johnsPassword)
            let phone = try await johns.enroll(try await johns.accessToken())
            #expect(phone.userID == (try await server.userID(PushOrganization.john)))
            #expect(try await server.engine.deviceEnrollments(ofUser: server.userID()).isEmpty)
        }
    }

    @Test("A user with an enrolled phone gets no setup QR code after the password alone, even by a forged form")
    func notBesideAFactor() async throws {
        try await PushServer.with(Self.organization) { server in
            _ = try await server.enroll()
            let browser = WireBrowser(server.wire)
            let choice = try await browser.signIn(try await WireRelyingParty.browserApp.begin(browser))
            let (action, fields) = try WireBrowser.form(choice, "factor")
            let page = try await browser.follow(try await browser.post(action.replacing("/factor", with: "/enroll-phone"), fields))
            #expect(page.body.contains("asks for a second factor") && !page.body.contains("<svg"))
            #expect(try await server.logged("user.mfa.factor.begin") == 0)
        }
    }

    @Test("A session is not enough for the QR code of a phone setup: the page asks for the password again")
    func notBySession() async throws {
        try await PushServer.with(Self.organization) { server in
            let browser = WireBrowser(server.wire)
            _ = try WireRelyingParty.readingApp.code(try await browser.signIn(try await WireRelyingParty.readingApp.begin(browser)))
            let page = try await WireRelyingParty.browserApp.begin(browser)
            let (action, fields) = try WireBrowser.form(page, "password")
            let forced = try await browser.follow(
                try await browser.post(action.replacing("/password", with: "/enroll-phone"), fields.filter { $0.key == "form_token" }))
            #expect(!forced.body.contains("<svg") && forced.body.contains(#"name="password""#))
        }
    }
}

extension PushServer {
    /// Returns the ID of a user.
    func userID(_ login: String = PushOrganization.jane) async throws -> String { try #require(try await engine.user(login: login)).id }
}
