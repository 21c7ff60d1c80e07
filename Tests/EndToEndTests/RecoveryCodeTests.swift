import AuthFoundation
import CountersignSandbox
import OktaAuthSdk
import OktaDirectAuth
import TestSupport
import Testing

/// Sign-ins of the SDKs after the user lost every passkey.
@Suite("Recovery codes with the SDKs")
struct RecoveryCodeTests {
    private static let jane = SandboxUser.jane

    @Test("After a password, a user who lost every passkey signs in with a recovery code in direct authentication, once with each code")
    func directAuthentication() async throws {
        try await withSandbox { sandbox in
            _ = try await sandbox.passkey(for: Self.jane.login)
            let codes = try await sandbox.recoveryCodes(for: Self.jane.login)
            func start() async throws -> (DirectAuthenticationFlow, DirectAuthenticationFlow.Status) {
                let flow = DirectAuthenticationFlow(client: sandbox.client(.directAuth, by: .process))
                return (flow, try await flow.start(Self.jane.login, with: .password(Self.jane.password ?? "")))
            }
            let (flow, asked) = try await start()
            guard case .mfaRequired(let context) = asked else { throw CancellationError() }
            #expect(context.supportedChallengeTypes?.contains(.otpMFA) == true)
            guard case .success(let token) = try await flow.resume(with: .otp(code: codes[0])) else { throw CancellationError() }
            #expect(token.idToken?.authenticationMethods == [.passwordBased, .oneTimePassword, .multipleFactor])
            let (again, _) = try await start()
            #expect(serverCode(of: await thrown { _ = try await again.resume(with: .otp(code: codes[0])) }) == "invalid_grant")
        }
    }

    @Test("After a recovery code, the classic SDK enrolls another factor, which is accepted at the next sign-in")
    @MainActor
    func classicAPI() async throws {
        try await withClassicSandbox(.classic("sign_on_policy: two-factors", more: "passkeys:\n  offer: never\n")) { sandbox in
            _ = try await sandbox.passkey(for: Self.jane.login)
            let codes = try await sandbox.recoveryCodes(for: Self.jane.login)
            @MainActor func signIn() async throws -> OktaAuthStatusFactorRequired {
                let start = OktaAuthStatusUnauthenticated(oktaDomain: sandbox.origin)
                let next = try await start.authenticate(username: Self.jane.login, password: Self.jane.password ?? "")
                return try #require(next as? OktaAuthStatusFactorRequired)
            }
            let code = try await signIn().availableFactors.first(.token, as: OktaFactorToken.self)
            #expect(code.factorProvider == .unknown("CUSTOM") && !code.canEnroll())
            let offered = try #require(try await code.select(passCode: codes[0]) as? OktaAuthStatusFactorEnroll)
            #expect(offered.canSkipEnrollment())
            let activating = try #require(
                try await offered.availableFactors.first(.TOTP, as: OktaFactorTotp.self).enroll() as? OktaAuthStatusFactorEnrollActivate)
            let totp = try #require(activating.factor as? OktaFactorTotp)
            let secret = try #require(totp.activation?.sharedSecret)
            let app = try sandbox.authenticatorApp(
                scanning: "otpauth://totp/Sandbox:\(Self.jane.login)?secret=\(secret)&issuer=Sandbox")
            var next = try await totp.activate(passCode: app.code)
            if let further = next as? OktaAuthStatusFactorEnroll { next = try await further.skipEnrollment() }
            #expect(next is OktaAuthStatusSuccess)

            sandbox.advance(by: 60)
            let factor = try await signIn().availableFactors.first(.TOTP, as: OktaFactorTotp.self)
            #expect(try await factor.select(passCode: app.code) is OktaAuthStatusSuccess)
        }
    }
}
