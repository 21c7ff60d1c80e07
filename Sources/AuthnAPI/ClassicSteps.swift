internal import Foundation
package import IdentityCore
internal import Store

/// The steps that do not depend on a factor (Documentation/Protocol/Authn.md §4.13 and §4.14).
extension Engine {
    /// Returns the current state and extends the expiry.
    /// - Returns: The state; or `E0000011` if the sign-in has ended.
    package func classicTransaction(stateToken: String, context: RequestContext) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        try await classicStep(stateToken, context: context) { try $0.show($0.transaction) }
    }

    /// Returns to the choice of a factor. A pending push and a pending enrollment become invalid.
    /// - Returns: The state; or a refusal: `E0000011`, or `E0000079` if there is no previous step.
    package func classicPrevious(stateToken: String, context: RequestContext) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        try await classicStep(stateToken, context: context) { state in
            try state.require(.factorChallenge, .factorEnrollActivate)
            var next = state.transaction
            var closing: [Change] = []
            if state.status(of: next) == .factorChallenge {
                closing = next.closingChallenge
                next.withdrawChallenge(now: context.now)
                next.classic?.selected = nil
                next.passkeyChallenge = nil
            } else {
                closing = [state.pending?.enrollment.removal].compactMap(\.self) + next.closingPhone
                next.classic?.enrolling = nil
                next.classic?.passkey = nil
                next.phone = nil
            }
            return try state.show(next, writes: Writes(closing))
        }
    }

    /// Skips an optional step.
    /// - Returns: The state; or a refusal: `E0000011`, or `E0000079` if the step is required.
    package func classicSkip(stateToken: String, context: RequestContext) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        try await classicStep(stateToken, context: context) { state in
            switch state.asked {
            case .newPassword(.endsSoon):
                return try state.conclude(state.transaction.step(.passwordKept(state.subject), now: context.now), wrong: .wrongCode)
            case .enrollmentOffer(canSkip: true) where state.status(of: state.transaction) == .factorEnroll:
                var next = state.transaction
                next.skipsOffer = true
                return try state.show(next)
            default: throw ClassicRefusal.notAllowed(in: state.status(of: state.transaction)?.rawValue ?? "none")
            }
        }
    }

    /// Cancels the sign-in: its state token becomes invalid, and a later push approval has no effect.
    /// - Returns: The relay state; or `E0000011` if the sign-in has ended.
    package func classicCancel(stateToken: String, context: RequestContext) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        try await classicStep(stateToken, context: context) { state in
            let (next, _, effects) = state.transaction.step(.cancelled, now: context.now)
            let changes = [try state.stored.writing(next), .closeTickets(of: RecordReference(.transaction, next.id))]
            let answer = ClassicStepAnswer(.shown(.cancelled(relayState: state.classic.relayState)))
            return Plan(.success(answer), try Writes(effects, of: next, user: nil) + changes)
        }
    }
}

extension ClassicState {
    /// Plans to remember the device of the sign-in, if the policy permits it.
    /// - Returns: The writes, and the new token of the device; `nil` if the device keeps its token.
    func remember(_ transaction: SignInTransaction) throws -> (Writes, token: String?) {
        guard policy.remembering != .never, let account = transaction.account else { return (Writes(), nil) }
        var writes = Writes()
        var token: String?
        // An attacker may have planted the token that a browser sends, so the browser gets a new one.
        let brought = transaction.presentedDevice?.typed
        var device =
            try remembered
            ?? RememberedDevice(
                id: environment.random.identifier(prefix: "rdv"), userID: user.value.id, device: brought ?? [], account: account,
                createdAt: context.now, provedAt: context.now)
        if device.device.isEmpty {
            let made = try String((environment.random.identifier(prefix: "") + environment.random.identifier(prefix: "")).prefix(32))
            device.device = TicketDigest(of: made).bytes
            token = made
        }
        device.account = account
        device.provedAt = context.now
        if remembered == nil {
            let crowded = allRemembered.sorted { $0.provedAt > $1.provedAt }.dropFirst(RememberedDevice.most - 1)
            writes += crowded.map { .remove(.rememberedDevice, id: $0.id, version: $0.version) }
            writes.log("user.device.remember", .success, userID: user.value.id)
        }
        return (writes + [.put(try device.record())], token)
    }
}
