import AuthFoundation
import CountersignSandbox
import Foundation
import OktaAuthSdk
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Tests properties of the classic sign-in that are not in its state table: remembered devices, waiting, cancellation and sessions. The SDK
/// uses the server over a port.
@MainActor
@Suite("Classic sign-in over HTTP: remembered devices, pushes, cancellation and sessions", .timeLimit(.minutes(10)))
struct ClassicLifecycleTests {
    private static let jane = SandboxUser.jane
    private static let password = SandboxUser.jane.password ?? ""

    private func signIn(_ sandbox: Sandbox, deviceToken: String? = nil) async throws -> OktaAuthStatus {
        let start = OktaAuthStatusUnauthenticated(oktaDomain: sandbox.origin)
        start.restApi.deviceToken = deviceToken
        return try await start.authenticate(username: Self.jane.login, password: Self.password)
    }

    /// Signs in up to a sent push. Returns the status and the factor.
    private func challenge(_ sandbox: Sandbox) async throws -> (OktaAuthStatusFactorChallenge, OktaFactorPush) {
        let required = try #require(try await signIn(sandbox) as? OktaAuthStatusFactorRequired)
        let push = try required.availableFactors.first(.push, as: OktaFactorPush.self)
        let challenge = try #require(try await push.select() as? OktaAuthStatusFactorChallenge)
        return (challenge, try #require(challenge.factor as? OktaFactorPush))
    }

    @Test("A classic sign-in needs no second factor on a remembered device, and needs the second factor on any other device")
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

    @Test("A session token is valid for one session, and can instead be exchanged for a browser's session cookie")
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

    @Test(
        "For a push with a number challenge, the app gets the number, and the sign-in completes when the user picks the number on the phone"
    )
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

    @Test("In a classic sign-in, an unanswered push times out, the app can send another push, and a denial is reported as REJECTED")
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

    @Test("Cancelling a classic sign-in ends the app's wait for the push and removes the request from the phone")
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

    @Test(
        "A classic app that polls a push too fast gets a 429 error, causes no additional push, and can continue the sign-in later",
        .onOneServer)
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

    @Test("A classic sign-in without a password is rejected")
    func noPassword() async throws {
        try await withClassicSandbox { sandbox in
            let refusal = await classicRefusal {
                _ = try await OktaAuthSdk.authenticate(with: sandbox.origin, username: Self.jane.login, password: nil)
            }
            #expect(refusal?.errorCode == "E0000004" && refusal?.statusCode == 401)
        }
    }
}
