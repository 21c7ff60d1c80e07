internal import Foundation
package import IdentityCore
internal import Store

/// A request to start a recovery (Documentation/Protocol/Authn.md §4.9 and §4.10).
package struct ClassicRecoveryRequest: Sendable {
    /// Whether the request is to unlock an account; otherwise the user forgot the password.
    package var isUnlock: Bool
    /// The user name as typed.
    package var username: String
    /// The channel: `SMS`, `CALL` or `EMAIL`, in upper or lower case; `nil` for a trusted caller that passes the token on to the user.
    package var factorType: String?
    /// The client's value, which every response repeats; `nil` for none.
    package var relayState: String?

    private var kind: Recovery.Kind { isUnlock ? .unlock : .password }

    private var channel: CodeChannel? {
        switch factorType?.lowercased() {
        case "sms": .sms
        case "call": .voice
        case "email": .email
        default: nil
        }
    }

    fileprivate func recovery(isTrusted: Bool) -> RecoveryRequest {
        RecoveryRequest(
            kind, username: username, channel: channel, givesToken: isTrusted && factorType == nil,
            door: ClassicSignIn(relayState: relayState).door, presentable: FactorKind.inClassic, rules: .classic)
    }

    /// Returns the response to a started recovery. Only a trusted caller sees the user.
    fileprivate func answer(_ begun: BegunRecovery, user: User?) -> ClassicStepAnswer {
        var answer = ClassicStepAnswer(shown(begun, user: user))
        if let token = begun.stateToken { answer.outcome = .continues(token: token) }
        return answer
    }

    private func shown(_ begun: BegunRecovery, user: User?) -> ClassicTransaction {
        var shown = ClassicTransaction(begun.recoveryToken == nil ? .recoveryChallenge : .recovery)
        shown.recoveryType = kind.rawValue
        shown.relayState = relayState
        guard let token = begun.recoveryToken else {
            shown.recoveryChannel = .email
            shown.factorResult = .waiting
            return shown
        }
        shown.recoveryToken = token
        shown.expiresAt = begun.expiresAt
        shown.user = user.map(ClassicPerson.init)
        shown.next = .recovery
        shown.canCancel = true
        return shown
    }
}

extension Engine {
    /// Starts the recovery of an account. A valid API token makes the caller a trusted caller.
    /// - Returns: The state; or a refusal: `E0000001` for an invalid channel, or a limit. Only a trusted caller learns that the user is
    ///   unknown (`E0000095`) or that the account cannot be unlocked (`E0000032`) or recovered (`E0000034`).
    package func classicRecover(
        _ request: ClassicRecoveryRequest, caller: ClassicCaller, context: RequestContext
    ) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        let step = try await transact(context, refusing: ClassicRefusal.self) { [self] in
            Lookup(rows(ofLogin: request.username, with: .factors) + [.recoveryBudget(at: context.now)])
        } read: { [self] reading in
            let isTrusted = try admit(caller, snapshot: reading.snapshot).trusted != nil
            return try ClassicRefusal.spelling(context) { try recoveryStart(request.recovery(isTrusted: isTrusted), reading, context) }
        } decide: { [self] found in
            try ClassicRefusal.spelling(context) { try begin(found, context: context) }
                .map { .success(request.answer($0, user: found.user?.value)) }
        }
        return try await finish(step, context: context)
    }
}
