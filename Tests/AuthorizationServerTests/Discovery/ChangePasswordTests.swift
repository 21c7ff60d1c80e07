import IdentityCore
import TestSupport
import Testing

@Suite("The address for changing a password")
struct ChangePasswordTests {
    private static let path = "/.well-known/change-password"
    private static let form = "/signin/new-password"

    @Test("The address for changing a password redirects to a form, and a code that was texted from there leads to a new password")
    func byText() async throws {
        try await RecoveryBrowser.with { desk in
            let redirect = try await desk.server.wire.get(Self.path)
            #expect(redirect.status == 303 && redirect["Location"] == Self.form)
            #expect(redirect["Cache-Control"]?.contains("no-store") == true)
            let form = try await desk.browser.follow(try await desk.browser.get(Self.path))
            #expect(form.status == 200 && !form.body.contains("Back to sign-in"), "\(form.body)")
            var page = try await desk.browser.submit(form, "new-password", ["username": PushOrganization.jane, "channel": "sms"])
            let code = try #require(await desk.server.messages.received()?.code)
            page = try await desk.browser.submit(page, "code", ["code": code])
            page = try await desk.set(RecoveryBrowser.new, on: page)
            #expect(page.body.contains("Password changed") && !page.body.contains("class=\"button\""), "\(page.body)")
            #expect(try await desk.code(RecoveryBrowser.new) != nil)
        }
    }

    @Test("Without a sign-in, the form for a new password answers a known and an unknown user name alike", arguments: ["sms", "email"])
    func enumeration(channel: String) async throws {
        try await RecoveryBrowser.with { desk in
            var looks: [[String]] = []
            for login in [PushOrganization.jane, "unknown@example.com"] {
                let browser = WireBrowser(desk.server.wire)
                var seen: [String] = []
                for attempt in 1...2 {
                    let form = try await browser.get(Self.form)
                    // Over the limit, the form itself answers.
                    let (action, fields) = try WireBrowser.form(form, "new-password")
                    let page = try await browser.follow(
                        try await browser.post(action, fields.merging(["username": login, "channel": channel]) { $1 }))
                    #expect(page.body.contains("A message was sent moments ago.") == (attempt == 2), "\(page.body)")
                    seen.append(RecoveryBrowser.look(page, without: login))
                }
                looks.append(seen)
            }
            #expect(looks[0] == looks[1])
        }
    }

    @Test("The form for a new password is rejected if another site submits it")
    func otherSite() async throws {
        try await RecoveryBrowser.with { desk in
            let values = ["username": PushOrganization.jane, "channel": "sms"]
            let first = try await desk.browser.post(Self.form, values)
            _ = try await desk.browser.get(Self.form)
            let second = try await desk.browser.post(Self.form, values.merging(["form_token": "wrong"]) { $1 })
            let third = try await desk.browser.post(Self.form, [:])
            #expect([first, second, third].map(\.status) == [403, 403, 403])
        }
    }

    @Test(
        "An organization without recovery has neither the address for changing a password nor the form", arguments: [nil, [CodeChannel]()])
    func off(channels: [CodeChannel]?) async throws {
        let policy = channels.map { ClassicPolicy(signOnPolicy: "one factor", recovery: Set($0)) }
        try await PushServer.with(PushOrganization(classic: policy)) { server in
            for path in [Self.path, Self.form, Self.form + "/mailed"] {
                let answer = try await server.wire.get(path)
                #expect(answer.status == 404)
            }
        }
    }

    @Test("An unknown well-known address is not found, so that password managers trust the address for changing a password")
    func unknownAddress() async throws {
        try await RecoveryBrowser.with { desk in
            let path = "/.well-known/resource-that-should-not-exist-whose-status-code-should-not-be-200"
            let answer = try await desk.server.wire.get(path)
            #expect(answer.status == 404)
        }
    }
}
