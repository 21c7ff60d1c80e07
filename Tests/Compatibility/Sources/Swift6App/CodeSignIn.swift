import AuthFoundation
import OktaDirectAuth

/// A sign-in form with a password and a code of an authenticator app, which the user may mistype.
@MainActor
final class CodeSignIn {
    let flow: DirectAuthenticationFlow
    private(set) var asksForCode = false
    private(set) var message: String?

    init(flow: DirectAuthenticationFlow) { self.flow = flow }

    func signIn(_ user: String, password: String) async -> Token? {
        await show { try await self.flow.start(user, with: .password(password)) }
    }

    func signIn(_ user: String, code: String) async -> Token? {
        await show { try await self.flow.start(user, with: .otp(code: code)) }
    }

    func enter(code: String) async -> Token? {
        await show { try await self.flow.resume(with: .otp(code: code)) }
    }

    private func show(_ step: () async throws -> DirectAuthenticationFlow.Status) async -> Token? {
        do {
            switch try await step() {
            case .success(let token): return token
            case .mfaRequired(let context): asksForCode = context.supportedChallengeTypes?.contains(.otpMFA) ?? true
            case .continuation: message = "Use another factor."
            }
        } catch let error as APIClientError where error.serverError?.code == .invalidGrant {
            message = asksForCode ? "The code is wrong. Try the next one." : "Wrong user name or password."
        } catch {
            message = error.localizedDescription
        }
        return nil
    }
}
