import AuthFoundation
import CountersignSandbox
import Foundation
import OktaAuthSdk
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Tests properties of the classic state machine beyond its edges, with the SDK and the server over a port.
@MainActor
@Suite("The classic sign-in remembers, waits, gives up and begins sessions, over HTTP", .timeLimit(.minutes(10)))
struct ClassicLifecycleTests {
    private static let jane = SandboxUser.jane
    private static let password = SandboxUser.jane.password ?? ""

    private func signIn(_ sandbox: Sandbox, deviceToken: String? = nil) async throws -> OktaAuthStatus {
        let start = OktaAuthStatusUnauthenticated(oktaDomain: sandbox.origin)
        start.restApi.deviceToken = deviceToken
        return try await start.authenticate(username: Self.jane.login, password: Self.password)
    }

    /// Returns a sent push.
    private func challenge(_ sandbox: Sandbox) async throws -> (OktaAuthStatusFactorChallenge, OktaFactorPush) {
        let required = try #require(try await signIn(sandbox) as? OktaAuthStatusFactorRequired)
        let push = try required.availableFactors.first(.push, as: OktaFactorPush.self)
        let challenge = try #require(try await push.select() as? OktaAuthStatusFactorChallenge)
        return (challenge, try #require(challenge.factor as? OktaFactorPush))
    }

    @Test("A remembered device is not asked for the second factor again, and another one is")
    func rememberedDevice() async throws {
        try await withClassicSandbox(.classic("sign_on_policy: two-factors\nremember_devices: device")) { sandbox in
            let app = try await sandbox.authenticatorApp(for: Self.jane.login)
            let device = OktaAPI.makeDeviceToken()
            let required = try #require(try await signIn(sandbox, deviceToken: device) as? OktaAuthStatusFactorRequired)
            #expect(required.canRememberDevice)
            required.rememberDevice = true
            let factor = try #require(required.availableFactors.first as? OktaFactorTotp)
            #expect(try await factor.select(passCode: app.code) is OktaAuthStatusSuccess)
            #expect(try await signIn(sandbox, deviceToken: device) is OktaAuthStatusSuccess)
            #expect(try await signIn(sandbox, deviceToken: OktaAPI.makeDeviceToken()) is OktaAuthStatusFactorRequired)
            #expect(try await signIn(sandbox) is OktaAuthStatusFactorRequired)
        }
    }

    @Test("A session token can be exchanged once, for a session or for a browser's cookie")
    func sessions() async throws {
        let trusting = "sign_on_policy: one-factor\ntrusted_origins: [\"https://portal.example.com\"]"
        try await withClassicSandbox(.classic(trusting)) { sandbox in
            let success = try #require(try await signIn(sandbox) as? OktaAuthStatusSuccess)
            let session = try await success.createSession()
            #expect(session.login == Self.jane.login && session.status == "ACTIVE" && session.amr == ["pwd"])
            #expect(await classicRefusal { _ = try await success.createSession() }?.errorCode == "E0000011")

            let second = try #require(try await signIn(sandbox) as? OktaAuthStatusSuccess)
            let target = try #require(URL(string: "https://portal.example.com/home?a=1&b=2"))
            let page = try #require(second.sessionCookieRedirect(to: target))
            let (_, answer) = try await PlainHTTP.data(for: URLRequest(url: page))
            #expect(answer.statusCode == 302 || answer.statusCode == 303)
            #expect(answer.value(forHTTPHeaderField: "Location") == target.absoluteString)
            #expect(answer.value(forHTTPHeaderField: "Set-Cookie")?.contains("HttpOnly") == true)
        }
    }

    @Test("A push with a number shows it to the app, and the phone that picks it completes the sign-in")
    func number() async throws {
        var configuration = try Sandbox.Configuration.classic("sign_on_policy: two-factors")
        configuration.organization = configuration.organization?
            .replacing("number_challenge: never", with: "number_challenge: always")
        try await withClassicSandbox(configuration) { sandbox in
            let phone = try await sandbox.phone(for: Self.jane.login)
            let (_, push) = try await challenge(sandbox)
            let number = try #require(push.correctAnswer)
            #expect(push.challenge?.correctAnswer == number)
            try await phone.approveNext(number: String(number), within: .patience)
            #expect(try await push.checkFactorResult() is OktaAuthStatusSuccess)
        }
    }

    @Test("An unanswered push times out, a denied one is rejected, and both can be sent again")
    func unanswered() async throws {
        try await withClassicSandbox(.classic("sign_on_policy: two-factors")) { sandbox in
            let phone = try await sandbox.phone(for: Self.jane.login)
            let (challenge, push) = try await challenge(sandbox)
            for _ in 0..<4 {
                sandbox.advance(by: 76)
                _ = try await OktaAuthSdk.fetchStatus(with: challenge.stateToken, using: sandbox.origin)
            }
            let late = try #require(try await push.checkFactorResult() as? OktaAuthStatusFactorChallenge)
            #expect(late.factorResult == .timeout && late.canVerify() && late.canResend())
            let again = try #require(try await (late.factor as? OktaFactorPush)?.verify() as? OktaAuthStatusFactorChallenge)
            #expect(again.factorResult == .waiting)
            _ = try await phone.pending()
            try await phone.denyNext(within: .patience)
            #expect(try await push.checkFactorResult().factorResult == .rejected)
        }
    }

    @Test("An approval after a cancellation does not sign in, and the wait ends")
    func cancelledWait() async throws {
        try await withClassicSandbox(.classic("sign_on_policy: two-factors")) { sandbox in
            let phone = try await sandbox.phone(for: Self.jane.login)
            let (challenge, push) = try await challenge(sandbox)
            #expect(try await phone.pending().count == 1)
            let clock = ManualClock()
            let wait = Task { @MainActor in try await push.pollFactorResult(clock: clock).statusType }
            await clock.sleepers(1)
            try await challenge.cancelTransaction()
            clock.advance(by: 4)
            await #expect(throws: (any Error).self) { try await wait.value }
            #expect(try await phone.pending().isEmpty)
            #expect(sandbox.requests.count { $0.path.hasSuffix("/verify") && $0.status == 200 } == 2)
        }
    }

    @Test("An app that polls too fast gets an error, can continue the sign-in, and cannot bypass the limit")
    func fastPolling() async throws {
        var configuration = try Sandbox.Configuration.classic("sign_on_policy: two-factors")
        configuration.organization = configuration.organization?.replacing("per_address: 1000000", with: "per_address: 60")
        try await withClassicSandbox(configuration) { sandbox in
            let phone = try await sandbox.phone(for: Self.jane.login)
            let (_, push) = try await challenge(sandbox)
            #expect(try await phone.pending().count == 1)
            var refusal: OktaAPIErrorResponse?
            for _ in 0..<80 where refusal == nil {
                refusal = await classicRefusal {
                    let status = try await push.checkFactorResult()
                    #expect(status.factorResult == .waiting)
                }
            }
            #expect(refusal?.errorCode == "E0000047" && refusal?.statusCode == 429)
            let reset = try #require(refusal?.rateLimitReset)
            #expect(reset > sandbox.clock.now && reset <= sandbox.clock.now.addingTimeInterval(60))
            // The server sent one challenge, regardless of the number of polls.
            #expect(phone.waiting.count == 1)
            sandbox.advance(by: 60)
            try await phone.approveNext(within: .patience)
            #expect(try await push.checkFactorResult() is OktaAuthStatusSuccess)
        }
    }

    @Test("A sign-in without a password is refused")
    func noPassword() async throws {
        try await withClassicSandbox { sandbox in
            let refusal = await classicRefusal {
                _ = try await OktaAuthSdk.authenticate(with: sandbox.origin, username: Self.jane.login, password: nil)
            }
            #expect(refusal?.errorCode == "E0000004" && refusal?.statusCode == 401)
        }
    }
}
