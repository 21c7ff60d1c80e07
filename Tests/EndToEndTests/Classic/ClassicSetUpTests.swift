import AuthorizationServer
import CountersignSandbox
import Foundation
import OktaAuthSdk
import TestSupport
import Testing

/// Tests factors that users enroll during a classic sign-in, with the SDK and the server.
@MainActor
@Suite("Enrollment and activation during a classic sign-in, over HTTP", .timeLimit(.minutes(10)))
struct ClassicSetUpTests {
    private static let jane = SandboxUser.jane

    private static func configuration(_ factors: String) -> Sandbox.Configuration {
        Sandbox.Configuration(
            organization: OrgFile.sandboxDefault.replacing(
                "authn_api:\n  sign_on_policy: one-factor", with: "authn_api:\n  sign_on_policy: two-factors"
            ).replacing("factors: { totp: optional,", with: "factors: { \(factors), totp: optional,"))
    }

    private func with(_ factors: String, _ body: @MainActor (Sandbox) async throws -> Void) async throws {
        let sandbox = try await Sandbox.forTest(Self.configuration(factors))
        do {
            try await body(sandbox)
        } catch {
            await sandbox.stop()
            throw error
        }
        await sandbox.stop()
    }

    private func signIn(_ sandbox: Sandbox) async throws -> OktaAuthStatus {
        try await OktaAuthStatusUnauthenticated(oktaDomain: sandbox.issuer).authenticate(
            username: Self.jane.login, password: Self.jane.password ?? "")
    }

    @Test("During a classic sign-in, a user can enroll a phone with a mailed link, and the phone gets the push of the next sign-in")
    func phone() async throws {
        try await with("push: optional") { sandbox in
            let enroll = try #require(try await signIn(sandbox) as? OktaAuthStatusFactorEnroll)
            let offered = try #require(enroll.availableFactors.first { $0 is OktaFactorPush } as? OktaFactorPush)
            let begun = try #require(try await offered.enroll() as? OktaAuthStatusFactorEnrollActivate)
            let push = try #require(begun.factor as? OktaFactorPush)
            #expect(begun.factorResult == .waiting && push.qrCodeLink != nil && push.canSendPushCodeViaSms())
            #expect(try await push.checkFactorResult().factorResult == .waiting)
            try await push.sendActivationLinkViaEmail()
            let link = try #require(try await sandbox.outbox.next(to: Self.jane.login).link)
            let phone = try await sandbox.phone(for: Self.jane.login, scanning: link.absoluteString)
            let done = try await push.checkFactorResult()
            let end = try await (done as? OktaAuthStatusFactorEnroll)?.skipEnrollment()
            #expect((end as? OktaAuthStatusSuccess)?.sessionToken != nil, "\(done.statusType)")

            phone.autoApprove = true
            let required = try #require(try await signIn(sandbox) as? OktaAuthStatusFactorRequired)
            let factor = try #require(required.availableFactors.first as? OktaFactorPush)
            let challenge = try #require(try await factor.select() as? OktaAuthStatusFactorChallenge)
            try await phone.hasHistory(1)
            let next = try await (challenge.factor as? OktaFactorPush)?.pollFactorResult(atMost: 30, clock: ManualClock(sleeps: .skipped))
            #expect(next is OktaAuthStatusSuccess)
        }
    }

    @Test("An external token device is enrolled with two consecutive codes, and its next code is accepted at sign-in")
    func tokens() async throws {
        try await with("rsa: optional, symantec: optional") { sandbox in
            let enroll = try #require(try await signIn(sandbox) as? OktaAuthStatusFactorEnroll)
            let offered = enroll.availableFactors.compactMap { $0 as? OktaFactorToken }
            #expect(offered.map(\.provider) == [.rsa, .symantec])
            let token = try sandbox.softwareToken(.symantec, for: Self.jane.login)
            let other = try sandbox.softwareToken(.symantec, for: SandboxUser.john.login)
            let factor = try #require(offered.last)
            await #expect(throws: OktaError.self) {
                _ = try await factor.enroll(credentialId: other.credentialID, passCode: other.code, nextPassCode: other.nextCode)
            }
            await #expect(throws: OktaError.self) {
                _ = try await factor.enroll(credentialId: token.credentialID, passCode: token.code, nextPassCode: token.code)
            }
            let done = try await factor.enroll(credentialId: token.credentialID, passCode: token.code, nextPassCode: token.nextCode)
            #expect(try await (done as? OktaAuthStatusFactorEnroll)?.skipEnrollment() is OktaAuthStatusSuccess)
            let used = token.nextCode
            sandbox.clock.advance(by: 60)
            let required = try #require(try await signIn(sandbox) as? OktaAuthStatusFactorRequired)
            let set = try #require(required.availableFactors.first as? OktaFactorToken)
            await #expect(throws: OktaError.self) { _ = try await set.select(passCode: used) }
            #expect(try await set.select(passCode: token.code) is OktaAuthStatusSuccess)
        }
    }

    @Test("A user without a password can start a classic sign-in with an activation token and set a password")
    func activation() async throws {
        try await with("push: optional") { sandbox in
            try await sandbox.add(SandboxUser(login: "nora@example.com", password: nil))
            let token = try await sandbox.activationToken(for: "nora@example.com")
            let api = OktaAPI(oktaDomain: sandbox.issuer)
            let begun: (String, String)? = await withCheckedContinuation { continuation in
                api.primaryAuthentication(username: nil, password: nil, token: token) { result in
                    guard case .success(let response) = result else { return continuation.resume(returning: nil) }
                    continuation.resume(returning: (response.status?.rawValue ?? "", response.stateToken ?? ""))
                }
            }
            #expect(begun?.0 == "PASSWORD_RESET")
            let status = try await OktaAuthStatusUnauthenticated(oktaDomain: sandbox.issuer).fetchStatus(try #require(begun).1)
            let next = try await (status as? OktaAuthStatusPasswordReset)?.resetPassword(newPassword: "First-Horse-1")
            #expect(next is OktaAuthStatusFactorEnroll, "\(String(describing: next?.statusType))")
            await #expect(throws: FactorError.self) { _ = try await sandbox.activationToken(for: Self.jane.login) }
        }
    }
}
