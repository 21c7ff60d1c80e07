internal import Foundation

/// Setting up a telephone or a mailbox in the middle of a sign-in: for who has no second factor yet, where the policy asks for two.
///
/// The same ceremony as elsewhere; the code that confirms it counts as the second factor.
extension IdentityEngine {
    /// Begins with a channel: for a telephone, the page asks for the number; to a mailbox, the code is sent at once.
    ///
    /// - Returns: Where the browser goes, and what is to be sent; nil if somebody else was faster.
    func beginCode(
        _ channel: CodeChannel, _ state: HostedState, token: String, context: RequestContext
    ) async throws -> HostedAnswer? {
        guard state.canEnroll(by: channel) else { return HostedAnswer(.goOn(token: token)) }
        guard channel != .email else { return try await sendNumber("", channel, state, token: token, context: context) }
        var next = state.transaction
        next.hosted?.stopEnrolling()
        next.hosted?.number = channel
        let changes = try state.closingPhone + [state.stored.writing(next)]
        return try await store.commit(changes) == .committed ? HostedAnswer(.goOn(token: token)) : nil
    }

    /// Sends a code to what was typed, or once more to what waits for it.
    ///
    /// - Parameters:
    ///   - number: As it was typed; empty for the one that waits, and for a mailbox.
    ///   - channel: The way.
    ///   - state: The sign-in.
    ///   - token: What its address names it by.
    ///   - context: When and from where it came.
    /// - Returns: Where the browser goes, and what is to be sent; nil if somebody else was faster.
    /// - Throws: ``StoreError`` if the store failed.
    func sendNumber(
        _ number: String, _ channel: CodeChannel, _ state: HostedState, token: String, context: RequestContext
    ) async throws -> HostedAnswer? {
        var answer = HostedAnswer(.goOn(token: token))
        guard state.canEnroll(by: channel), let user = state.user, let proof = state.transaction.proofs.last else { return answer }
        // Proved too long ago: from the beginning, as with an app.
        guard context.now < proof.time.addingTimeInterval(EnrollmentPermission.freshness) else {
            return try await restart(state, context: context)
        }
        let attempts = countAttempt(
            login: user.value.login, of: user.value, from: state.subject?.origin ?? .unknown, snapshot: state.snapshot, context: context)
        guard attempts.isAdmitted else {
            return try await note(.tooManyAttempts, until: attempts.reset, state) ? answer : nil
        }
        let waiting = state.pendingCode(at: context.now)?.code
        let request = CodeEnrollmentRequest(
            channel: channel, phoneNumber: number.isEmpty ? waiting?.destination.phoneNumber?.e164 : number, owner: state.transaction.id)
        do {
            let prepared = try beginCodeEnrollment(
                request, for: user.value, holding: state.held, snapshot: state.snapshot, context: context)
            var next = state.transaction
            next.hosted?.stopEnrolling()
            next.hosted?.enrolling = prepared.enrollment.id
            next.hosted?.number = channel
            // The person's record as it was, so that of two that begin at one moment in two sign-ins the second counts what the first sent.
            let changes =
                try state.closingPhone + self.changes(of: prepared.writes, context: context) + [
                    .put(user.record(holding: user.value)), state.stored.writing(next),
                ]
            guard try await store.commit(changes) == .committed else { return nil }
            answer.messages = [prepared.message]
            return answer
        } catch let refusal as CodeRefusal {
            return try await note(HostedSignIn.Notice(refusal), until: refusal.until, state) ? answer : nil
        }
    }

    /// Confirms it by the code that came back; the factor is the person's in the same write as the sign-in goes on.
    ///
    /// - Returns: Whether the page can show what came of it; false if somebody else was faster.
    func confirmCode(_ code: String, _ pending: Enrollment, _ state: HostedState, context: RequestContext) async throws -> Bool {
        guard let channel = pending.code?.channel, state.canEnroll(by: channel), let user = state.user, let subject = state.subject else {
            return true
        }
        let attempts = countAttempt(
            login: user.value.login, of: user.value, from: state.subject?.origin ?? .unknown, snapshot: state.snapshot, context: context)
        guard attempts.isAdmitted else {
            return try await note(.tooManyAttempts, until: attempts.reset, state)
        }
        let confirmation = try confirmCodeEnrollment(
            id: pending.id, code: code, owner: state.transaction.id, user: user, holding: state.held, context: context)
        guard confirmation.refusal == nil else {
            var next = state.transaction
            next.hosted?.notice = confirmation.refusal == .wrongCode ? .wrongSentCode : .tooManyAttempts
            return try await store.commit(changes(of: confirmation.writes, context: context) + [state.stored.writing(next)]) == .committed
        }
        var (next, outcome, effects) = state.transaction.step(
            .enrolled(channel.factor, .possession, methods: [channel.method], subject), now: context.now)
        next.hosted?.stopEnrolling()
        switch outcome {
        case .authenticated(let proved): next.hosted?.authentication = proved
        case .refused(let refusal): next.hosted?.refuse(refusal)
        default: break
        }
        let log = try logEntries(effects, userID: user.value.id, of: next, context: context)
        return try await store.commit(changes(of: confirmation.writes, context: context) + log + [state.stored.writing(next)]) == .committed
    }

    /// Goes back to the choice of what to set up.
    func chooseEnrollment(_ state: HostedState) async throws -> Bool {
        var next = state.transaction
        next.hosted?.stopEnrolling()
        guard next != state.transaction else { return true }
        return try await store.commit(state.closingPhone + [state.stored.writing(next)]) == .committed
    }
}

extension HostedState {
    /// Whether a telephone or a mailbox can be set up now.
    func canEnroll(by channel: CodeChannel) -> Bool {
        guard canEnroll, let user else { return false }
        return snapshot.enrollable(for: user.value).contains(.code(channel))
    }

    /// The telephone or mailbox that waits for its code; nil if there is none, or it is too late.
    func pendingCode(at now: Date) -> Enrollment? {
        guard let pending, pending.status == .pending, pending.code != nil, let until = pending.pendingUntil, now < until else {
            return nil
        }
        return pending
    }
}

extension HostedSignIn {
    /// Drops what is being set up, and what was told of it.
    mutating func stopEnrolling() {
        (enrolling, phone, number, notice) = (nil, nil, nil, nil)
    }
}

/// What can be set up on a page as the second factor.
public enum HostedEnrollment: Sendable, Equatable {
    /// A phone that confirms sign-ins, by the app that is called so.
    case phone(authenticatorID: String, name: String)
    /// An app that shows codes.
    case app
    /// A telephone or a mailbox that codes are sent to.
    case code(CodeChannel)
}

extension OrgSnapshot {
    /// What a person without a second factor can set up, in the order in which it is offered.
    func enrollable(for user: User) -> [HostedEnrollment] {
        let phones = phoneAuthenticators(for: user).map { HostedEnrollment.phone(authenticatorID: $0.id, name: $0.name) }
        let policy = organization.classic
        let apps: [HostedEnrollment] = policy.map { $0.enrolling(.totp) != .notAllowed } ?? true ? [.app] : []
        let codes: [HostedEnrollment] = CodeChannel.allCases.filter { channel in
            guard let policy, let factor = ClassicPolicy.Factor.allCases.first(where: { $0.channel == channel }) else { return false }
            return policy.enrolling(factor) != .notAllowed && (channel != .email || user.mailAddress != nil)
        }.map { .code($0) }
        return phones + apps + codes
    }
}
