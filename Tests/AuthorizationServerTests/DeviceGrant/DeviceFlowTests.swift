import Foundation
import JOSE
import TestSupport
import Testing

/// A device without a browser that sends raw requests (Documentation/Protocol/OAuth.md §2.8 and §2.4.5).
struct WireDevice: Sendable {
    var id = "tv-app"
    var base = "/oauth2/default/v1"
    let wire: WireClient

    init(_ wire: WireClient, id: String = "tv-app") {
        self.wire = wire
        self.id = id
    }

    func authorize(_ changes: [String: String] = [:]) async throws -> WireResponse {
        let form = ["client_id": id, "scope": "openid offline_access"].merging(changes) { $1 }.filter { !$0.value.isEmpty }
        return try await wire.post("\(base)/device/authorize", Form.encode(form))
    }

    /// Starts a device authorization, and returns the device code and the user code.
    func begin(_ changes: [String: String] = [:]) async throws -> (device: String, user: String) {
        let answer = try await authorize(changes)
        try #require(answer.status == 200, "\(answer.body)")
        let json = try answer.json
        return (try #require(json["device_code"]?.stringValue), try #require(json["user_code"]?.stringValue))
    }

    func poll(_ code: String, as client: String? = nil) async throws -> WireResponse {
        let form = ["client_id": client ?? id, "grant_type": PushOrganization.deviceCode, "device_code": code]
        return try await wire.post("\(base)/token", Form.encode(form))
    }
}

extension WireBrowser {
    /// Enters a user code, and follows redirects to the next page.
    func enter(_ code: String) async throws -> WireResponse {
        let page = try await get("/activate")
        #expect(page.status == 200)
        let form = try Self.form(page, "activate")
        return try await follow(try await post(form.action, form.fields.merging(["user_code": code]) { $1 }))
    }

    /// Enters a user code, signs Jane in and allows the device.
    func connect(_ code: String) async throws -> WireResponse {
        try await submit(try await signIn(try await enter(code)), "device", ["decision": "allow"])
    }
}

@Suite("Device authorization grant")
struct DeviceFlowTests {
    @Test("A device gets its tokens once, after the user enters the user code, signs in and allows the device")
    func happyPath() async throws {
        try await PushServer.with { server in
            let device = WireDevice(server.wire)
            let answer = try await device.authorize()
            let json = try answer.json
            let (code, userCode) = (
                try #require(json["device_code"]?.stringValue), try #require(json["user_code"]?.stringValue)
            )
            #expect(
                json == [
                    "device_code": .string(code), "user_code": .string(userCode), "expires_in": 600, "interval": 5,
                    "verification_uri": "https://id.example.com/activate",
                    "verification_uri_complete": .string("https://id.example.com/activate?user_code=\(userCode)"),
                ])
            #expect(userCode.wholeMatch(of: /[BCDFGHJKLMNPQRSTVWXZ]{8}/) != nil)
            #expect(answer["Cache-Control"] == "no-cache, no-store")
            try expectRefusal(try await device.poll(code), 400, "authorization_pending")

            let browser = WireBrowser(server.wire)
            // Spaces, hyphens and lowercase letters in the typed code are accepted.
            let page = try await browser.enter(" \(userCode.prefix(4).lowercased())-\(userCode.dropFirst(4)) ")
            #expect(page.body.contains("Sign in to continue to TV app."))
            let question = try await browser.signIn(page)
            #expect(question.body.contains("TV app wants to sign you in on a device"))
            #expect(question.body.contains(">\(userCode)</p>"))
            #expect(question.body.contains("You are signed in as \(PushOrganization.jane)."))
            server.clock.advance(by: 5)
            try expectRefusal(try await device.poll(code), 400, "authorization_pending")
            let done = try await browser.submit(question, "device", ["decision": "allow"])
            #expect(done.body.contains("<h1>Device connected</h1>"))
            server.clock.advance(by: 5)
            let tokens = try await IssuedTokens(try await device.poll(code), keysFrom: device.base, server.wire)
            #expect(tokens.idToken["aud"] == "tv-app")
            #expect(tokens.idToken["amr"] == ["pwd"])
            #expect(tokens.idToken["nonce"] == nil)
            #expect(tokens.accessToken["scp"] == ["openid", "offline_access"])
            #expect(tokens.body["refresh_token"]?.stringValue != nil)
            try expectRefusal(try await device.poll(code), 400, "invalid_grant")
            #expect(try await server.logged("device.authorization") == 1)
            // The user code is consumed.
            #expect(try await WireBrowser(server.wire).enter(userCode).body.contains("The code is wrong, expired or already used."))
        }
    }

    @Test("A signed-in user need not sign in again but must allow the device, even if the opened address contains the user code")
    func singleSignOn() async throws {
        try await PushServer.with { server in
            let signedIn = try await LogoutTests.SignedIn(server)
            let device = WireDevice(server.wire)
            let (code, userCode) = try await device.begin()
            let page = try await signedIn.browser.get("/activate?user_code=\(userCode)")
            #expect(page.body.contains("value=\"\(userCode)\""))
            let form = try WireBrowser.form(page, "activate")
            let question = try await signedIn.browser.follow(
                try await signedIn.browser.post(form.action, form.fields.merging(["user_code": userCode]) { $1 }))
            #expect(question.body.contains("Continue only if you have the device with you"))
            try expectRefusal(try await device.poll(code), 400, "authorization_pending")
            _ = try await signedIn.browser.submit(question, "device", ["decision": "allow"])
            #expect(try await device.poll(code).status == 200)
        }
    }

    @Test("For five minutes, a second click on Connect issues a new session secret if the browser lost the response with the first secret")
    func lostResponse() async throws {
        try await PushServer.with { server in
            let device = WireDevice(server.wire)
            let (code, userCode) = try await device.begin()
            let browser = WireBrowser(server.wire)
            let question = try await browser.signIn(try await browser.enter(userCode))
            let cookies = browser.cookies
            #expect(cookies["session"] == nil)
            #expect(try await browser.submit(question, "device", ["decision": "allow"]).body.contains("Device connected"))
            let first = try #require(browser.cookies["session"])

            browser.cookies = cookies
            #expect(try await browser.submit(question, "device", ["decision": "allow"]).body.contains("Device connected"))
            let second = try #require(browser.cookies["session"])
            #expect(second != first)
            #expect(try await device.poll(code).status == 200)
            let (_, next) = try await device.begin()
            #expect(try await browser.enter(next).body.contains("Continue only if you have the device with you"))
            browser.cookies["session"] = first
            #expect(try await browser.enter(next).body.contains("name=\"password\""))

            // With the session's cookie, the response has no new secret. Without it, the response has one until five minutes have passed.
            browser.cookies["session"] = second
            _ = try await browser.submit(question, "device", ["decision": "allow"])
            #expect(browser.cookies["session"] == second)
            server.clock.advance(by: 301)
            browser.cookies = cookies
            _ = try await browser.submit(question, "device", ["decision": "allow"])
            #expect(browser.cookies["session"] == nil)
        }
    }

    @Test("If the client's policy requires two factors, the device gets tokens only after the second factor")
    func twoFactors() async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            let device = WireDevice(server.wire, id: "browser-app")
            let (code, userCode) = try await device.begin()
            let browser = WireBrowser(server.wire)
            let choice = try await browser.signIn(try await browser.enter(userCode))
            #expect(choice.body.contains("Browser app asks for a second factor."))
            let waiting = try await browser.submit(choice, "factor", ["factor": "push"])
            let address = try WireBrowser.form(waiting, "cancel").action.replacing("/cancel", with: "")
            try expectRefusal(try await device.poll(code), 400, "authorization_pending")
            try await phone.approve()
            let question = try await browser.get(address)
            #expect(question.body.contains("Browser app wants to sign you in on a device"))
            _ = try await browser.submit(question, "device", ["decision": "allow"])
            let tokens = try await IssuedTokens(try await device.poll(code), keysFrom: device.base, server.wire)
            #expect(tokens.idToken["amr"] == ["pwd", "okta_verify", "swk", "mfa"])
        }
    }

    @Test("If the user denies a device, the device gets access_denied once, and a later approval has no effect")
    func denied() async throws {
        try await PushServer.with { server in
            let device = WireDevice(server.wire)
            let (code, userCode) = try await device.begin()
            let browser = WireBrowser(server.wire)
            let question = try await browser.signIn(try await browser.enter(userCode))
            let done = try await browser.submit(question, "device", ["decision": "deny"])
            #expect(done.body.contains("<h1>Device not connected</h1>"))
            // Going back and allowing the device has no effect.
            #expect(try await browser.submit(question, "device", ["decision": "allow"]).body.contains("not connected"))
            try expectRefusal(try await device.poll(code), 400, "access_denied")
            try expectRefusal(try await device.poll(code), 400, "invalid_grant")
            // No session was created.
            #expect(browser.cookies["session"] == nil)
        }
    }

    @Test("A device that polls too fast gets slow_down, and its polling interval grows by five seconds each time", .onOneServer)
    func pace() async throws {
        try await PushServer.with { server in
            let device = WireDevice(server.wire)
            let (code, _) = try await device.begin()
            try expectRefusal(try await device.poll(code), 400, "authorization_pending")
            // Each wait is one second shorter than the interval, which is then five seconds longer.
            for wait in [4.0, 9, 14] {
                server.clock.advance(by: wait)
                try expectRefusal(try await device.poll(code), 400, "slow_down")
            }
            for _ in 0..<2 {
                server.clock.advance(by: 20)
                try expectRefusal(try await device.poll(code), 400, "authorization_pending")
            }
        }
    }

    @Test("The device code and the user code expire after ten minutes")
    func expiry() async throws {
        try await PushServer.with { server in
            let device = WireDevice(server.wire)
            let (code, userCode) = try await device.begin()
            let browser = WireBrowser(server.wire)
            let question = try await browser.signIn(try await browser.enter(userCode))
            server.clock.advance(by: 599)
            try expectRefusal(try await device.poll(code), 400, "authorization_pending")
            server.clock.advance(by: 1)
            try expectRefusal(try await device.poll(code), 400, "expired_token")
            // The user can no longer allow the device.
            let form = try WireBrowser.form(question, "device")
            let late = try await browser.follow(try await browser.post(form.action, form.fields.merging(["decision": "allow"]) { $1 }))
            #expect(late.status == 400)
            try expectRefusal(try await device.poll(code), 400, "expired_token")
            #expect(try await WireBrowser(server.wire).enter(userCode).body.contains("The code is wrong, expired or already used."))
        }
    }

    @Test("If two users enter the same user code, only the first decision has an effect")
    func twoPeople() async throws {
        try await PushServer.with { server in
            let device = WireDevice(server.wire)
            let (code, userCode) = try await device.begin()
            let (jane, john) = (WireBrowser(server.wire), WireBrowser(server.wire))
            let janes = try await jane.signIn(try await jane.enter(userCode))
            let johns = try await john.signIn(try await john.enter(userCode), PushOrganization.john, PushOrganization.johnsPassword)
            _ = try await john.submit(johns, "device", ["decision": "allow"])
            #expect(try await jane.submit(janes, "device", ["decision": "allow"]).status == 400)
            let tokens = try await IssuedTokens(try await device.poll(code), keysFrom: device.base, server.wire)
            #expect(tokens.accessToken["sub"] == .string(PushOrganization.john))
        }
    }

    @Test("Of eight concurrent polls with one device code, exactly one gets the tokens")
    func pollingRace() async throws {
        try await PushServer.with { server in
            let device = WireDevice(server.wire)
            let (code, userCode) = try await device.begin()
            _ = try await WireBrowser(server.wire).connect(userCode)
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<8 { group.addTask { try await device.poll(code).status } }
                return try await group.reduce(into: [Int]()) { $0.append($1) }
            }
            #expect(statuses.sorted() == [200] + Array(repeating: 400, count: 7))
        }
    }

    @Test("If the user signs out before the device polls, the device gets no tokens")
    func signedOutBefore() async throws {
        try await PushServer.with { server in
            let signedIn = try await LogoutTests.SignedIn(server)
            let device = WireDevice(server.wire)
            let (code, userCode) = try await device.begin()
            let question = try await signedIn.browser.enter(userCode)
            _ = try await signedIn.browser.submit(question, "device", ["decision": "allow"])
            _ = try await signedIn.browser.get(LogoutTests.url(["id_token_hint": signedIn.idToken]))
            try expectRefusal(try await device.poll(code), 400, "invalid_grant")
        }
    }

    @Test("A device poll by another client, at another server or with a wrong code is rejected and does not consume the device code")
    func swapped() async throws {
        try await PushServer.with { server in
            let device = WireDevice(server.wire)
            let (code, userCode) = try await device.begin()
            _ = try await WireBrowser(server.wire).connect(userCode)
            try expectRefusal(try await device.poll(code, as: "other-tv-app"), 400, "invalid_grant")
            try expectRefusal(try await device.poll(code, as: "reading-app"), 400, "unauthorized_client")
            try expectRefusal(try await device.poll(userCode), 400, "invalid_grant")
            try expectRefusal(try await device.poll(code + "x"), 400, "invalid_grant")
            var org = device
            org.base = "/oauth2/v1"
            try expectRefusal(try await org.poll(code), 400, "invalid_grant")
            let missing = try await server.wire.post(
                "/oauth2/default/v1/token", Form.encode(["client_id": "tv-app", "grant_type": PushOrganization.deviceCode]))
            try expectRefusal(missing, 400, "invalid_request")
            #expect(try await device.poll(code).status == 200)
        }
    }

    @Test("A user cannot connect a device if the client is not assigned to the user, or if a policy denies it")
    func policies() async throws {
        try await PushServer.with { server in
            let device = WireDevice(server.wire, id: "other-tv-app")
            let (code, userCode) = try await device.begin(["scope": "openid"])
            let browser = WireBrowser(server.wire)
            let page = try await browser.enter(userCode)
            let form = try WireBrowser.form(page, "password")
            let refused = try await browser.follow(
                try await browser.post(
                    form.action,
                    form.fields.merging(["username": PushOrganization.jane, "password": PushOrganization.janesPassword]) { $1 }
                ))
            let location = try #require(refused["Location"])
            #expect(location.hasPrefix("https://id.example.com/activate?error=access_denied&"))
            let end = try await browser.get(String(location.dropFirst("https://id.example.com".count)))
            #expect(end.body.contains("The sign-in was cancelled or not allowed."))
            try expectRefusal(try await device.poll(code), 400, "authorization_pending")

            var closed = WireDevice(server.wire)
            closed.base = "/oauth2/closed/v1"
            let (second, theirs) = try await closed.begin()
            let other = WireBrowser(server.wire)
            let question = try await other.signIn(try await other.enter(theirs))
            #expect(try await other.submit(question, "device", ["decision": "allow"]).body.contains("not connected"))
            try expectRefusal(try await closed.poll(second), 400, "access_denied")
        }
    }

    @Test("A user who restarts the sign-in can still connect the device, even if another browser cancels a sign-in for the same user code")
    func restart() async throws {
        try await PushServer.with { server in
            let device = WireDevice(server.wire)
            let (code, userCode) = try await device.begin()
            let browser = WireBrowser(server.wire)
            // The first page has no restart button, so a wrong password comes first.
            let wrong = try await browser.signIn(try await browser.enter(userCode), PushOrganization.jane, "Wrong-Horse-7")
            let again = try await browser.submit(wrong, "restart")
            let question = try await browser.signIn(again)
            #expect(question.body.contains(">\(userCode)</p>"))
            let elsewhere = WireBrowser(server.wire)
            let cancelled = try await elsewhere.submit(try await elsewhere.enter(userCode), "cancel")
            #expect(cancelled["Location"]?.hasPrefix("https://id.example.com/activate?error=access_denied&") == true)
            _ = try await browser.submit(question, "device", ["decision": "allow"])
            #expect(try await device.poll(code).status == 200)
        }
    }

    @Test("A client that requires consent gets no tokens before the user consents and then allows the device")
    func consent() async throws {
        try await PushServer.with { server in
            let device = WireDevice(server.wire, id: "strange-tv-app")
            let (code, userCode) = try await device.begin(["scope": "openid"])
            let browser = WireBrowser(server.wire)
            let asked = try await browser.signIn(try await browser.enter(userCode))
            let form = try WireBrowser.form(asked, "consent")
            // The device form cannot skip the consent page.
            let skipped = form.fields.merging(["decision": "allow"]) { $1 }
            _ = try await browser.post(form.action.replacing("/consent", with: "/device"), skipped)
            try expectRefusal(try await device.poll(code), 400, "authorization_pending")
            let question = try await browser.submit(asked, "consent", ["answer": "allow"])
            #expect(question.body.contains("Strange TV app wants to sign you in on a device"))
            server.clock.advance(by: 5)
            try expectRefusal(try await device.poll(code), 400, "authorization_pending")
            _ = try await browser.submit(question, "device", ["decision": "allow"])
            #expect(try await device.poll(code).status == 200)
        }
    }

    @Test("Forms without a valid form token of the same browser can neither enter a user code nor allow a device")
    func forgedForms() async throws {
        try await PushServer.with { server in
            let device = WireDevice(server.wire)
            let (code, userCode) = try await device.begin()
            let browser = WireBrowser(server.wire)
            #expect(try await browser.post("/activate", ["user_code": userCode]).status == 403)
            let page = try await browser.get("/activate")
            let token = try #require(try WireBrowser.form(page, "activate").fields["form_token"])
            let other = WireBrowser(server.wire)
            #expect(try await other.post("/activate", ["user_code": userCode, "form_token": token]).status == 403)
            let question = try await browser.signIn(try await browser.enter(userCode))
            let form = try WireBrowser.form(question, "device")
            #expect(try await other.post(form.action, form.fields.merging(["decision": "allow"]) { $1 }).status == 403)
            #expect(try await browser.post(form.action, ["decision": "allow"]).status == 403)
            #expect(try await browser.post(form.action, form.fields.merging(["decision": "perhaps"]) { $1 }).status == 404)
            try expectRefusal(try await device.poll(code), 400, "authorization_pending")
        }
    }

    @Test("After thirty wrong user codes in a minute, even the correct user code is rejected until the minute has passed", .onOneServer)
    func guessing() async throws {
        try await PushServer.with { server in
            let device = WireDevice(server.wire)
            let (_, userCode) = try await device.begin()
            let browser = WireBrowser(server.wire)
            let form = try WireBrowser.form(try await browser.get("/activate"), "activate")
            // Malformed codes are no guesses and do not count towards the limit.
            for typed in Array(repeating: "BCDFGHJ1", count: 35) + Array(repeating: "BCDFGHJK", count: 30) {
                let guess = try await browser.post(form.action, form.fields.merging(["user_code": typed]) { $1 })
                #expect(guess.status == 200)
                #expect(guess.body.contains("The code is wrong, expired or already used."))
            }
            let right = form.fields.merging(["user_code": userCode]) { $1 }
            #expect(try await browser.post(form.action, right).status == 429)
            server.clock.advance(by: 60)
            #expect(try await browser.post(form.action, right).status == 303)
        }
    }

    @Test("The device activation page escapes the user code in its address")
    func escaping() async throws {
        try await PushServer.with { server in
            let page = try await server.wire.get("/activate?user_code=%22%3E%3Cscript%3Ealert(1)")
            #expect(!page.body.contains("<script"))
            #expect(page.body.contains("value=\"&quot;&gt;&lt;script&gt;alert(1)\""))
            let policy = try #require(page["Content-Security-Policy"])
            #expect(policy.hasPrefix("default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'"))
        }
    }
}
