internal import Foundation
internal import IdentityCore

/// Tokens that an external system verifies, in a classic sign-in (Documentation/Protocol/Authn.md §4.5, §4.7 and §5.7).
extension Engine {
    /// Returns the token that a request enrolls; throws ``ClassicRefusal``.
    func token(of provider: TokenProvider, _ request: ClassicEnrollmentRequest, _ state: ClassicState) throws -> TokenMethod {
        guard let credentialID = request.credentialID, (1...100).contains(credentialID.utf8.count) else {
            throw ClassicRefusal.invalid("factorEnrollRequest", ["credentialId: The member must be there, with at most 100 bytes."])
        }
        guard provider != .symantec || request.nextPassCode != nil else { throw ClassicRefusal.missing("nextPassCode") }
        try countClassicAttempt(state)
        return TokenMethod(provider: provider, credentialID: credentialID)
    }

    /// Returns the check of a code by the external token service. The service is called once per request, because it would reject the same
    /// code in a second call. Throws ``ClassicRefusal``.
    func check(
        _ passCode: String?, next: String? = nil, of token: TokenMethod, _ state: ClassicState
    ) throws -> Check<Result<FactorVerdict, ClassicRefusal>> {
        guard let passCode else { throw ClassicRefusal.missing("passCode") }
        guard let service = environment.tokenService else { throw ClassicRefusal.noTokenService }
        let code = TokenCode(
            provider: token.provider, credentialID: token.credentialID, login: state.user.value.login, passCode: passCode,
            nextPassCode: next)
        return Check(of: token) {
            do {
                switch try await service.judge(code) {
                case .right: return .success(.proved(passwordHash: nil))
                case .wrong: return .success(.failed)
                case .needsMore: return .failure(.tokenNeedsMore)
                }
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                return .failure(.tokenServiceFailed)
            }
        }
    }

    /// Plans the enrollment of a token, which its codes have confirmed.
    func enroll(
        _ token: TokenMethod, as factor: ClassicPolicy.Factor, _ verdict: FactorVerdict?, _ state: ClassicState
    ) throws -> ClassicPlan {
        let verifier = TokenVerifier(token: token)
        // A wrong code counts like a wrong code of an enrolled factor.
        guard case .proved = verdict else { return try state.answered(verdict ?? .failed, by: verifier) }
        let enrollment = Enrollment(
            id: try environment.random.identifier(prefix: token.provider == .rsa ? "rsa" : "ufv"), userID: state.user.value.id,
            method: .token(token), status: .active, createdAt: state.context.now)
        let writes = try state.user.enrolling(enrollment, reason: "token, \(token.provider.rawValue)")
        return try state.setUp(verifier, as: factor, writes)
    }
}

extension ClassicRefusal {
    static let noTokenService = ClassicRefusal(
        code: "E0000074", status: 400, summary: "The factor cannot be used now. Choose another one.",
        causes: ["The organization has no service that knows this token."], reason: "token: no service")
    static let tokenServiceFailed = ClassicRefusal(
        code: "E0000067", status: 504, summary: "The service that knows this token does not answer. Try it again.",
        reason: "token: the service failed")
    /// The refusal of a token that requires another step in the external system first.
    static let tokenNeedsMore = ClassicRefusal(
        code: "E0000113", status: 409, summary: "The token needs another step first.",
        causes: ["Set the token's PIN where it is managed, then enter a code again."], reason: "token: needs more")
}
