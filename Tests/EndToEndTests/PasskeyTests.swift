import AuthFoundation
import CountersignSandbox
import OktaDirectAuth
import TestSupport
import Testing

/// Sign-ins of the SDK with the sandbox's passkeys, which sign with real keys.
@Suite("Signing in with a passkey")
struct PasskeyTests {
    private static let jane = SandboxUser.jane

    private func flow(_ sandbox: Sandbox, by reach: Reach = .process) -> DirectAuthenticationFlow {
        DirectAuthenticationFlow(client: sandbox.client(.directAuth, by: reach))
    }

    /// Returns the passkey's response to the challenge of a status.
    private func signed(
        _ status: DirectAuthenticationFlow.Status, by passkey: VirtualPasskey
    ) throws -> DirectAuthenticationFlow.ContinuationFactor {
        guard case .continuation(.webAuthn(let context)) = status else { throw CancellationError() }
        return .webAuthn(response: try passkey.assertion(for: context.request))
    }

    @Test(
        "A passkey that verifies its user signs in without a password where two factors are required", arguments: Reach.allCases)
    func alone(by reach: Reach) async throws {
        try await withSandbox { sandbox in
            let passkey = try await sandbox.passkey(for: Self.jane.login)
            let flow = flow(sandbox, by: reach)
            let started = try await flow.start(Self.jane.login, with: .webAuthn)
            guard case .success(let token) = try await flow.resume(with: signed(started, by: passkey)) else { throw CancellationError() }
            #expect(token.idToken?.authenticationMethods == [.proofOfPossession, .multipleFactor])
        }
    }

    @Test("After a password, a passkey is offered and accepted as the second factor", arguments: Reach.allCases)
    func secondFactor(by reach: Reach) async throws {
        try await withSandbox { sandbox in
            let passkey = try await sandbox.passkey(for: Self.jane.login, verifiesUser: false)
            let flow = flow(sandbox, by: reach)
            guard case .mfaRequired(let context) = try await flow.start(Self.jane.login, with: .password(Self.jane.password ?? "")) else {
                throw CancellationError()
            }
            #expect(context.supportedChallengeTypes == [.webAuthnMFA])
            let started = try await flow.resume(with: .webAuthn)
            guard case .success(let token) = try await flow.resume(with: signed(started, by: passkey)) else { throw CancellationError() }
            #expect(token.idToken?.authenticationMethods == [.passwordBased, .proofOfPossession, .multipleFactor])
        }
    }

    @Test("A passkey without user verification is rejected as the only factor where two factors are required")
    func unverified() async throws {
        try await withSandbox { sandbox in
            let passkey = try await sandbox.passkey(for: Self.jane.login, verifiesUser: false)
            let flow = flow(sandbox)
            let response = try signed(try await flow.start(Self.jane.login, with: .webAuthn), by: passkey)
            #expect(serverCode(of: await thrown { _ = try await flow.resume(with: response) }) == "invalid_grant")
        }
    }

    @Test("A virtual passkey does not sign a challenge for another passkey, and an unknown user gets no passkey")
    func others() async throws {
        try await withSandbox { sandbox in
            let janes = try await sandbox.passkey(for: Self.jane.login)
            guard case .continuation(.webAuthn(let context)) = try await flow(sandbox).start("unknown@example.com", with: .webAuthn) else {
                throw CancellationError()
            }
            #expect(throws: FactorError.self) { try janes.assertion(for: context.request) }
            await #expect(throws: FactorError.self) { try await sandbox.passkey(for: "unknown@example.com") }
        }
    }
}
