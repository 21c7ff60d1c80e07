import IdentityCore
import JOSE
import TestSupport
import Testing

/// An attacker who knows a user's password and sends many pushes, so that the user approves one by mistake.
@Suite("Attacks: push fatigue")
struct PushFatigueAttacks {
    @Test("Five denied pushes exhaust the user's push limit for five minutes, in one sign-in or in several", arguments: [true, false])
    func denials(isOneSignIn: Bool) async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            let client = DirectClient(server)
            var token = try await client.mfaToken()
            for _ in 0..<5 {
                if !isOneSignIn { token = try await client.mfaToken() }
                #expect(try await client.challenge(token).status == 200)
                try await phone.deny()
            }
            try expectText(try await client.challenge(token))
            try expectText(try await client.challenge(client.mfaToken()))
            #expect(try await phone.waiting().isEmpty)
            server.clock.advance(by: 300)
            #expect(try await client.challenge(token).status == 200)
        }
    }

    @Test("In a long sign-in, only the pushes of the last five minutes count towards the push limit")
    func window() async throws {
        try await PushServer.with { server in
            _ = try await server.enroll()
            let client = DirectClient(server)
            let token = try await client.mfaToken()
            for _ in 0..<5 {
                #expect(try await client.challenge(token).status == 200)
                server.clock.advance(by: 70)
            }
            // The first push is now older than five minutes, and the second push is not.
            #expect(try await client.challenge(token).status == 200)
            let refused = try await client.challenge(token)
            try expectText(refused)
            #expect(refused["x-rate-limit-reset"] == "1800000370")
        }
    }

    @Test("When the user reports a push as suspicious, the server rejects every further factor in that sign-in")
    func reported() async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            let app = try await ClassicClient(server).app()
            let client = DirectClient(server)
            let pending = try await client.begin()
            #expect(try await phone.answer(try await phone.challenge(), .report).status == 204)
            try expectRefusal(try await client.challenge(pending.mfaToken), 400, "access_denied")
            let code = ["grant_type": PushOrganization.secondFactorOTP, "mfa_token": pending.mfaToken, "otp": app.code()]
            try expectRefusal(try await client.post("token", code), 400, "access_denied")
            try expectRefusal(try await client.poll(pending), 400, "invalid_grant")
            #expect(try await phone.waiting().isEmpty)
        }
    }

    /// An action of the attacker that replaces a push before the user answers it.
    enum Withdrawal: CaseIterable {
        case anotherPush, anotherFactor, approvedPush
    }

    @Test(
        "Reporting a push as suspicious ends the sign-in and is logged, even if a newer push or another factor has replaced the push",
        arguments: Withdrawal.allCases)
    func reportedLate(_ withdrawal: Withdrawal) async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            let app = try await ClassicClient(server).app()
            try await server.give(.sms, "+15551234821")
            let client = DirectClient(server)
            var pending = try await client.begin()
            let reported = try await phone.challenge()
            let next = try await client.challenge(pending.mfaToken, withdrawal == .anotherFactor ? ["channel_hint": "sms"] : [:])
            #expect(next.status == 200, "\(next.body)")
            if withdrawal != .anotherFactor { pending.oobCode = try #require(try next.json["oob_code"]?.stringValue) }
            if withdrawal == .approvedPush { try await phone.approve() }
            #expect(try await phone.answer(reported, .report).status == 204)
            #expect(try await server.logged("user.account.report_suspicious_activity") == 1)
            try expectRefusal(try await client.poll(pending), 400, "invalid_grant")
            let code = ["grant_type": PushOrganization.secondFactorOTP, "mfa_token": pending.mfaToken, "otp": app.code()]
            try expectRefusal(try await client.post("token", code), 400, "invalid_grant")
            try expectRefusal(try await client.challenge(pending.mfaToken), 400, "access_denied")
            #expect(try await phone.waiting().isEmpty)
            // A second report has no effect, because the sign-in has ended.
            #expect(try await phone.answer(reported, .report).status == 400)
            #expect(try await server.logged("user.account.report_suspicious_activity") == 1)
        }
    }

    @Test("A replaced push can be neither approved nor denied, and the sign-in waits for the newer push")
    func replaced() async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            let client = DirectClient(server)
            var pending = try await client.begin()
            let old = try await phone.challenge()
            let next = try await client.challenge(pending.mfaToken)
            pending.oobCode = try #require(try next.json["oob_code"]?.stringValue)
            for answer in [WirePhone.Answer.approve, .deny] {
                let refused = try await phone.answer(old, answer)
                #expect(refused.status == 400 && refused.body.contains("The challenge was replaced by a newer one."))
            }
            try await phone.approve()
            #expect(try await client.poll(pending).status == 200)
        }
    }

    @Test("On the hosted pages, five denied pushes exhaust the push limit, and the user can complete the sign-in with another factor")
    func denialsOnPages() async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            let app = try await ClassicClient(server).app()
            let browser = WireBrowser(server.wire)
            var page = try await browser.signIn(try await WireRelyingParty.browserApp.begin(browser))
            let address = try WireBrowser.form(page, "cancel").action.replacing("/cancel", with: "")
            for _ in 0..<5 {
                #expect(try await browser.submit(page, "factor", ["factor": "push"]).body.contains("/events\""))
                try await phone.deny()
                page = try await browser.get(address)
                #expect(page.body.contains("The request was not approved on your device."))
                // Reloading the page shows the same content and changes nothing.
                #expect(try await browser.get(address).body == page.body)
            }
            page = try await browser.submit(page, "factor", ["factor": "push"])
            #expect(page.body.contains("Too many requests were sent to your devices."))
            #expect(try await phone.waiting().isEmpty)
            page = try await browser.submit(page, "code", ["code": app.wrongCode])
            #expect(page.body.contains("The code is wrong") && !page.body.contains("was not approved"))
            let code = try WireRelyingParty.browserApp.code(try await browser.submit(page, "code", ["code": app.code()]))
            #expect(try await WireRelyingParty.browserApp.exchange(code, server.wire).status == 200)
            #expect(try await server.logged("user.mfa.push.answer") == 5)
        }
    }

    @Test("Denied and pending pushes after a correct password do not count against the limit of sign-ins that begin with a push")
    func provedPushes() async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            let client = DirectClient(server)
            let token = try await client.mfaToken()
            for _ in 0..<2 {
                #expect(try await client.challenge(token).status == 200)
                try await phone.deny()
            }
            #expect(try await client.challenge(token).status == 200)
            _ = try await DirectClient(server, id: "easy-app").primaryCode()
        }
    }

    @Test("A request for a second SMS code within 30 seconds is rejected with Retry-After and an error that clients show to the user")
    func resend() async throws {
        try await PushServer.with { server in
            try await server.give(.sms, "+15551234821")
            let client = DirectClient(server)
            let token = try await client.mfaToken()
            #expect(try await client.challenge(token, ["channel_hint": "sms"]).status == 200)
            server.clock.advance(by: 10)
            let refused = try await client.challenge(token, ["channel_hint": "sms"])
            try expectText(refused)
            #expect(refused["Retry-After"] == "20")
            server.clock.advance(by: 20)
            #expect(try await client.challenge(token, ["channel_hint": "sms"]).status == 200)
        }
    }

    private func expectText(_ response: WireResponse, sourceLocation: SourceLocation = #_sourceLocation) throws {
        try expectRefusal(response, 429, "invalid_grant", isForUser: true, sourceLocation: sourceLocation)
        #expect(try response.json["error_description"]?.stringValue?.contains("Wait") == true, sourceLocation: sourceLocation)
    }
}
