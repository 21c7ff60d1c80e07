internal import Foundation
internal import IdentityCore
internal import Store

/// The enrollment of a phone or mail address during a sign-in, if the policy requires a second factor and the user has none. The confirming
/// code counts as the second factor.
extension HostedState {
    /// Starts the enrollment of a channel. For a phone, the page asks for its number. For mail, the code is sent to the user's address at
    /// once.
    func beginCode(_ channel: CodeChannel, _ reading: Reading<HostedStep.Verdict>) -> HostedStep {
        guard canEnroll(by: channel) else { return unchanged }
        guard channel != .email else { return sendNumber("", channel, reading) }
        return HostedStep {
            var next = transaction
            next.stopEnrolling()
            next.hosted?.awaited = .number(channel)
            return try moving(to: next, Writes(transaction.closingPhone))
        }
    }

    /// Sends a code to a typed phone number. If the number is empty, the code goes to the number that awaits its code, or to the mail
    /// address.
    func sendNumber(_ number: String, _ channel: CodeChannel, _ reading: Reading<HostedStep.Verdict>) -> HostedStep {
        guard canEnroll(by: channel), let user, let proof = transaction.proofs.last else { return unchanged }
        // The proofs are too old to enroll a factor.
        guard Enrollment.isFresh(proof.time, at: now) else { return restart() }
        let waiting = pendingCode?.sentCode?.destination.phoneNumber?.e164
        let request = CodeEnrollmentRequest(
            channel: channel, phoneNumber: number.isEmpty ? waiting : number, owner: transaction.id)
        return attempt(reading) { _ in
            do {
                let prepared = try engine.beginCodeEnrollment(
                    request, for: user.value, holding: held, snapshot: snapshot, context: context)
                var next = transaction
                next.stopEnrolling()
                next.hosted?.awaited = .setupCode(enrollmentID: prepared.enrollment.id, channel)
                // The user is rewritten unchanged, so that concurrent setups in two sign-ins conflict. After the conflict, the second
                // setup counts the code of the first one.
                let changes = [.put(try user.record(holding: user.value))] + transaction.closingPhone
                return try moving(to: next, prepared.writes + changes)
            } catch let refusal as CodeRefusal {
                return try note(HostedSignIn.Notice(refusal), until: refusal.until)
            }
        }
    }

    /// Confirms the factor by the code that was sent, and continues the sign-in in the same commit.
    func confirmCode(_ code: String, _ pending: Enrollment, _ reading: Reading<HostedStep.Verdict>) -> HostedStep {
        guard let channel = pending.sentCode?.channel, canEnroll(by: channel), let user, let subject else { return unchanged }
        return attempt(reading) { _ in
            let confirmation = try engine.confirmCodeEnrollment(
                id: pending.id, code: code, owner: transaction.id, user: user, holding: held, context: context)
            guard confirmation.refusal == nil else {
                var next = transaction
                next.hosted?.notice = confirmation.refusal == .wrongCode ? .wrongSentCode : .tooManyAttempts
                return try moving(to: next, confirmation.writes)
            }
            var (next, outcome, effects) = transaction.step(
                .enrolled(channel.factor, .possession, methods: [channel.method], subject), now: now)
            next.stopEnrolling()
            next.record(outcome)
            return try moving(to: next, confirmation.writes + Writes(effects, of: next, user: nil))
        }
    }

    func chooseEnrollment() throws -> Plan<HostedAnswer> {
        var next = transaction
        next.stopEnrolling()
        return try next == transaction ? Plan(onward) : moving(to: next, Writes(transaction.closingPhone))
    }

    /// Whether a phone or mail address can be enrolled now.
    func canEnroll(by channel: CodeChannel) -> Bool { enrollable.contains(.code(channel)) }

    /// The phone or mail address that awaits its code; `nil` for none, and after the expiry.
    var pendingCode: Enrollment? {
        guard let pending, pending.status == .pending, pending.sentCode != nil, let until = pending.pendingUntil, now < until else {
            return nil
        }
        return pending
    }
}
