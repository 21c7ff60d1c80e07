import AuthFoundation
import AuthorizationServer
import CountersignSandbox
import Foundation
import OAuth2Auth
import OktaAuthSdk
import TestSupport
import Testing

/// Tests the classic state machine with the SDK and the server over a port.
@MainActor
@Suite("The classic sign-in, over HTTP", .timeLimit(.minutes(10)))
struct ClassicSignInTests {
    private static let jane = SandboxUser.jane
    private static let password = SandboxUser.jane.password ?? ""

    /// A sandbox whose classic API requires a second factor.
    private static let twoFactors = Sandbox.Configuration(
        organization: OrgFile.sandboxDefault.replacing(
            "authn_api:\n  sign_on_policy: one-factor", with: "authn_api:\n  sign_on_policy: two-factors"))

    private func start(_ sandbox: Sandbox, by reach: Reach = .port) -> OktaAuthStatusUnauthenticated {
        // The test passes the issuer as the domain: the SDK removes `/oauth2` and the rest.
        guard reach == .process else { return OktaAuthStatusUnauthenticated(oktaDomain: sandbox.issuer) }
        return OktaAuthStatusUnauthenticated(api: OktaAPI(oktaDomain: sandbox.issuer, transport: sandbox.transport))
    }

    /// Returns the tokens for a session token, at an app that requires one factor.
    private func tokens(_ sandbox: Sandbox, for sessionToken: String) async throws -> Token {
        try await SessionTokenFlow(
            issuerURL: sandbox.issuer, clientId: "sso-app", scope: "openid profile",
            redirectUri: try #require(URL(string: "http://127.0.0.1/callback"))
        )
        .start(with: sessionToken)
    }

    /// Signs Jane in until she must choose a second factor.
    private func secondFactor(_ sandbox: Sandbox) async throws -> OktaAuthStatusFactorRequired {
        let status = try await start(sandbox).authenticate(username: Self.jane.login, password: Self.password)
        return try #require(status as? OktaAuthStatusFactorRequired, "\(status.statusType)")
    }

    @Test("A classic sign-in with a password returns a session token, which can be exchanged for tokens once", arguments: Reach.allCases)
    func password(by reach: Reach) async throws {
        try await with { sandbox in
            let status = try await start(sandbox, by: reach).authenticate(username: Self.jane.login, password: Self.password)
            let success = try #require(status as? OktaAuthStatusSuccess)
            #expect(success.user?.profile?.login == Self.jane.login)
            let sessionToken = try #require(success.sessionToken)
            let token = try await tokens(sandbox, for: sessionToken)
            #expect(token.idToken?.preferredUsername == Self.jane.login)
            await #expect(throws: (any Error).self) { _ = try await tokens(sandbox, for: sessionToken) }
        }
    }

    @Test("In the classic API, the onError closure gets the same error for a wrong password and for an unknown user")
    func refusal() async throws {
        try await with { sandbox in
            for name in [Self.jane.login, "unknown@example.com"] {
                let refusal: OktaAPIErrorResponse? = await withCheckedContinuation { continuation in
                    OktaAuthSdk.authenticate(
                        with: sandbox.issuer, username: name, password: "wrong",
                        onStatusChange: { _ in continuation.resume(returning: nil) },
                        onError: { error in
                            if case .serverRespondedWithError(let refusal) = error {
                                continuation.resume(returning: refusal)
                            } else {
                                continuation.resume(returning: nil)
                            }
                        })
                }
                #expect(refusal?.errorCode == "E0000004")
                #expect(refusal?.errorSummary == "Authentication failed")
                #expect(refusal?.errorCauses == [])
                #expect(refusal?.statusCode == 401)
            }
        }
    }

    @Test("If the user approves the push while the app polls, the classic sign-in succeeds")
    func push() async throws {
        try await with(Self.twoFactors) { sandbox in
            let phone = try await sandbox.phone(for: Self.jane.login)
            phone.autoApprove = true
            let required = try await secondFactor(sandbox)
            let factor = try #require(required.availableFactors.first { $0 is OktaFactorPush } as? OktaFactorPush)
            #expect(factor.canSelect())
            let challenge = try #require(try await factor.select() as? OktaAuthStatusFactorChallenge)
            #expect(challenge.canPoll() && challenge.canReturn() && challenge.canCancel() && challenge.canResend())
            try await phone.hasHistory(1)
            let push = try #require(challenge.factor as? OktaFactorPush)
            let end = try await push.pollFactorResult(atMost: 30, clock: ManualClock(sleeps: .skipped))
            let success = try #require(end as? OktaAuthStatusSuccess, "\(end.statusType) \(String(describing: end.factorResult))")
            let token = try await tokens(sandbox, for: try #require(success.sessionToken))
            let methods = try #require(token.idToken).authenticationMethods ?? []
            #expect(methods.contains(.passwordBased) && methods.contains(.multipleFactor))
        }
    }

    @Test("In a classic sign-in, a denied push returns the factor result REJECTED, and the app can send another push")
    func deniedPush() async throws {
        try await with(Self.twoFactors) { sandbox in
            let phone = try await sandbox.phone(for: Self.jane.login)
            let required = try await secondFactor(sandbox)
            let factor = try #require(required.availableFactors.first { $0 is OktaFactorPush })
            let challenge = try #require(try await required.selectFactor(factor) as? OktaAuthStatusFactorChallenge)
            try await phone.denyNext(within: .patience)
            let denied = try await (challenge.factor as? OktaFactorPush)?.pollFactorResult(atMost: 30, clock: ManualClock(sleeps: .skipped))
            #expect(denied?.statusType == .MFAChallenge)
            #expect(denied?.factorResult == .rejected)
            let again = try await ((denied as? OktaAuthStatusFactorChallenge)?.factor as? OktaFactorPush)?.verify()
            #expect(again?.factorResult == .waiting)
        }
    }

    @Test(
        "A classic sign-in accepts an authenticator app's code in one or two steps, keeps the state after a wrong code, and rejects a used code"
    )
    func totp() async throws {
        try await with(Self.twoFactors) { sandbox in
            let app = try await sandbox.authenticatorApp(for: Self.jane.login)
            let required = try await secondFactor(sandbox)
            let factor = try #require(required.availableFactors.first { $0 is OktaFactorTotp } as? OktaFactorTotp)
            let wrong = app.code == "000000" ? "111111" : "000000"
            let error = await refused { _ = try await factor.select(passCode: wrong) }
            #expect(error == "E0000068")
            // The test reads the code once, because the app can show another one at the second call.
            let used = app.code
            #expect(try await factor.select(passCode: used) is OktaAuthStatusSuccess)

            let second = try await secondFactor(sandbox)
            let again = try #require(second.availableFactors.first)
            let challenge = try #require(try await second.selectFactor(again) as? OktaAuthStatusFactorChallenge)
            let replayed = await refused { _ = try await challenge.verifyFactor(passCode: used) }
            #expect(replayed != nil)
            #expect(try await challenge.returnToPreviousStatus() is OktaAuthStatusFactorRequired)
            sandbox.advance(by: 30)
            let third = try #require(try await second.selectFactor(again) as? OktaAuthStatusFactorChallenge)
            #expect(try await third.verifyFactor(passCode: app.code) is OktaAuthStatusSuccess)
        }
    }

    @Test("A classic transaction can be resumed with its state token, but not after a cancellation")
    func fetchAndCancel() async throws {
        try await with(Self.twoFactors) { sandbox in
            _ = try await sandbox.authenticatorApp(for: Self.jane.login)
            let required = try await secondFactor(sandbox)
            let again = try await OktaAuthSdk.fetchStatus(with: required.stateToken, using: sandbox.issuer)
            #expect(again.statusType == .MFARequired)
            try await required.cancelTransaction()
            let error = await refused {
                _ = try await again.restApi.response { $0.getTransactionState(stateToken: required.stateToken, completion: $1) }
            }
            #expect(error == "E0000011")
        }
    }

    /// Returns the error code of the server's error; `nil` if there is none.
    private func refused(_ body: @MainActor () async throws -> Void) async -> String? {
        do {
            try await body()
        } catch OktaError.serverRespondedWithError(let refusal) {
            return refusal.errorCode
        } catch {
            Issue.record(error)
        }
        return nil
    }

    /// Runs a test on the main actor, where statuses are used, with its own sandbox, and stops the sandbox afterwards.
    private func with(_ configuration: Sandbox.Configuration = .init(), _ body: @MainActor (Sandbox) async throws -> Void) async throws {
        let sandbox = try await Sandbox.forTest(configuration)
        do {
            try await body(sandbox)
        } catch {
            await sandbox.stop()
            throw error
        }
        await sandbox.stop()
    }
}
