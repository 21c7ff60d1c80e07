internal import Foundation

/// What follows a step of a classic sign-in: it goes on, is finished, or is over.
extension IdentityEngine {
    /// Commits a step with all that it changes.
    ///
    /// - Parameters:
    ///   - next: The transaction after it.
    ///   - outcome: Where it stands.
    ///   - effects: What changes beside it.
    ///   - state: The sign-in as it was read.
    ///   - writesUser: Whether the person is written though nothing of them changed: somebody else's change at that moment is a conflict.
    ///   - changes: What else is written.
    ///   - remembers: Whether the device is to stand in for what was proved.
    ///   - nextSecret: The secret of the browser that the step bound the sign-in to; nil if it goes on by the one from before.
    ///   - wrong: What is answered if the step says that the person may try again.
    ///   - context: The request.
    /// - Returns: The answer; nil if somebody else was faster.
    /// - Throws: ``ClassicRefusal`` for what is answered so, committed too; ``StoreError`` if the store failed.
    func conclude(
        _ next: SignInTransaction, _ outcome: SignInTransaction.Outcome, _ effects: [SignInTransaction.Effect], _ state: ClassicState,
        writesUser: Bool = false, changes: [Change] = [], remembers: Bool = false, nextSecret: String? = nil, wrong: ClassicRefusal,
        context: RequestContext
    ) async throws -> ClassicAnswer? {
        var next = next
        var person = state.user.value
        var changes = try logEntries(effects, userID: next.userID, of: next, context: context) + changes
        for effect in effects {
            switch effect {
            case .writeUser(let changed): person = changed
            case .writeEnrollment(let used): changes += try used.changes()
            case .log: break
            }
        }
        if writesUser || person != state.user.value { changes.append(.put(try state.user.record(holding: person))) }
        var deviceToken: String?
        if remembers, next.proofs.count > state.transaction.proofs.count {
            let remembered = try remember(next, state, context: context)
            changes += remembered.0
            deviceToken = remembered.token
        }
        var answer: ClassicAnswer
        switch outcome {
        case .authenticated:
            let (success, own) = try classicSuccess(next, version: state.stored.version, user: person, context: context)
            guard try await store.commit(changes + own) == .committed else { return nil }
            answer = success
        case .unlocked:
            changes += [try state.stored.writing(next), .closeTickets(of: RecordReference(.transaction, next.id))]
            guard try await store.commit(changes) == .committed else { return nil }
            var shown = ClassicTransaction(.success)
            shown.recoveryType = ClassicRecovery.Kind.unlock.rawValue
            shown.relayState = next.classic?.relayState
            shown.user = ClassicPerson(person)
            answer = ClassicAnswer(shown)
        case .tryAgain:
            // A locked account lets nobody on, and its sign-ins are over; but for who is about to unlock it.
            let isLocked =
                next.classic?.recovery == nil
                && person.isLocked(for: state.subject.origin, policy: state.snapshot.passwordPolicy, now: context.now)
            if isLocked {
                next.end = .refused
                changes.append(.closeTickets(of: RecordReference(.transaction, next.id)))
            }
            next = next.extended(now: context.now) ?? next
            guard try await store.commit(changes + [state.stored.writing(next)]) == .committed else { return nil }
            throw isLocked ? ClassicRefusal.locked : wrong
        case .refused(let refusal):
            changes += [try state.stored.writing(next), .closeTickets(of: RecordReference(.transaction, next.id))]
            guard try await store.commit(changes) == .committed else { return nil }
            throw next.wrongAnswers >= SignInTransaction.mostWrongAnswers ? .locked : ClassicRefusal.invalidToken(refusal.reason)
        default:
            next.classic?.selected = nil
            next = next.extended(now: context.now) ?? next
            guard try await store.commit(changes + [state.stored.writing(next)]) == .committed else { return nil }
            // What is asked for after it, is read like every later step.
            let after = try await classicState(state.token, browser: nextSecret ?? state.browser, context: context)
            guard let shown = try await show(after.transaction, of: after, context: context) else { return nil }
            answer = shown
        }
        answer.deviceToken = deviceToken
        return answer
    }

    /// Writes a transaction if it changed, or its end is worth to be put off, and shows it; one that asks for nothing more is finished.
    ///
    /// - Returns: Nil if somebody else was faster.
    func show(
        _ next: SignInTransaction, of state: ClassicState, closing: [Change] = [], context: RequestContext
    ) async throws -> ClassicAnswer? {
        let (proved, outcome, effects) = next.proved(state.subject, "user.authentication", [])
        switch outcome {
        case .authenticated where next.classic?.recovery == nil, .refused where next.classic?.recovery == nil:
            // The policy asks for less than it did, or what was asked for is there; or it lets the person in no more.
            return try await conclude(proved, outcome, effects, state, changes: closing, wrong: .wrongCode, context: context)
        default: break
        }
        let written = next.extended(now: context.now) ?? next
        if written != state.transaction || !closing.isEmpty {
            guard try await store.commit(closing + [state.stored.writing(written)]) == .committed else { return nil }
        }
        return ClassicAnswer(try state.representation(of: written, now: context.now))
    }
}
