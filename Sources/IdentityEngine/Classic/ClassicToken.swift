internal import Foundation

/// Tokens that another system knows, in a classic sign-in (authn reference 4.5, 4.7 and 5.7).
extension IdentityEngine {
    /// Sets a token up by its codes, which needs no further confirmation.
    func enroll(
        _ provider: TokenProvider, as factor: ClassicPolicy.Factor, _ request: ClassicEnrollmentRequest, _ state: ClassicState,
        _ judged: inout TokenVerdict?, context: RequestContext
    ) async throws -> ClassicAnswer? {
        guard let credentialID = request.credentialID, (1...100).contains(credentialID.utf8.count) else {
            throw ClassicRefusal.invalid("factorEnrollRequest", ["credentialId: The member must be there, with at most 100 bytes."])
        }
        guard provider != .symantec || request.nextPassCode != nil else { throw ClassicRefusal.missing("nextPassCode") }
        if judged == nil { try countClassicAttempt(state, context: context) }
        let token = TokenMethod(provider: provider, credentialID: credentialID)
        let verdict = try await judge(request.passCode, next: request.nextPassCode, of: token, state, &judged)
        let verifier = TokenVerifier(token: token)
        guard case .proved = verdict else {
            // Counts as a wrong code of a factor does.
            return try await commit(verdict, verifier, state, wrong: .wrongCode, context: context)
        }
        var enrollment = Enrollment(
            id: try environment.random.identifier(prefix: provider == .rsa ? "rsa" : "ufv"), userID: state.user.value.id, factor: .token,
            status: .active, createdAt: context.now)
        enrollment.token = token
        let writes = try state.user.enrolling(enrollment, reason: "token, \(provider.rawValue)")
        return try await setUp(verifier, as: factor, state, writes: writes, context: context)
    }

    /// Has the other system judge a code, once.
    func judge(
        _ passCode: String?, next: String? = nil, of token: TokenMethod, _ state: ClassicState, _ judged: inout TokenVerdict?
    ) async throws -> FactorVerdict {
        guard let passCode else { throw ClassicRefusal.missing("passCode") }
        guard let service = environment.tokenService else { throw ClassicRefusal.noTokenService }
        let verdict: TokenVerdict
        if let known = judged {
            verdict = known
        } else {
            do {
                verdict = try await service.judge(
                    TokenCode(
                        provider: token.provider, credentialID: token.credentialID, login: state.user.value.login, passCode: passCode,
                        nextPassCode: next))
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                throw ClassicRefusal.tokenServiceFailed
            }
            judged = verdict
        }
        switch verdict {
        case .right: return .proved(passwordHash: nil)
        case .wrong: return .failed
        case .needsMore: throw ClassicRefusal.tokenNeedsMore
        }
    }
}

extension ClassicPolicy.Factor {
    /// Whose token it is; nil for every other factor.
    var tokenProvider: TokenProvider? {
        switch self {
        case .rsa: .rsa
        case .symantec: .symantec
        default: nil
        }
    }
}

extension ClassicRefusal {
    /// Nobody here judges such tokens.
    static let noTokenService = ClassicRefusal(
        code: "E0000074", status: 400, summary: "The factor cannot be used now. Choose another one.",
        causes: ["The organization has no service that knows this token."], reason: "token: no service")
    /// Who judges them does not answer.
    static let tokenServiceFailed = ClassicRefusal(
        code: "E0000067", status: 504, summary: "The service that knows this token does not answer. Try it again.",
        reason: "token: the service failed")
    /// The other system wants more than a code.
    static let tokenNeedsMore = ClassicRefusal(
        code: "E0000113", status: 409, summary: "The token needs another step first.",
        causes: ["Set the token's PIN where it is managed, then enter a code again."], reason: "token: needs more")
}
