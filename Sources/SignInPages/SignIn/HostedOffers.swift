internal import Foundation
internal import IdentityCore
internal import Store

/// Recovery codes as the second factor, and the offers after the required proofs of a sign-in: a passkey and recovery codes.
extension HostedState {
    // MARK: - Offers

    /// The offer on which the user decides now; `nil` for none.
    var offer: SetupOffer? {
        guard transaction.end == nil, !transaction.proofs.isEmpty, let subject,
            case .setupOffer(let offer) = transaction.requirement(for: subject)
        else { return nil }
        return offer
    }

    /// Returns the page of an offer, or of its next step.
    func offerPage(_ offer: SetupOffer) throws -> HostedAnswer {
        switch offer {
        case .passkey: return try newPasskeyPage([.passkey], isOffer: true) ?? page(.offer(.passkey))
        case .recoveryCodes:
            guard let pending = pendingCodes, let setup = savedCodesSetup else { return page(.offer(.recoveryCodes)) }
            return page(.savedCodes(try setup.codes(of: pending).map(SavedCode.grouped)))
        }
    }

    /// Declines an offer, and continues the sign-in. A form that is sent again must not decline the next offer.
    func decline(_ declined: SetupOffer) -> HostedStep {
        guard let offer, offer == declined, let user, let subject else { return unchanged }
        return HostedStep {
            var (next, outcome, effects) = transaction.step(.offerDeclined(offer, subject), now: now)
            next.stopEnrolling()
            next.record(outcome)
            return try moving(to: next, Writes(effects, of: next, user: user))
        }
    }

    // MARK: - A new list of recovery codes

    /// Creates a list of recovery codes, which the page shows until the user has saved it.
    func beginCodes() -> HostedStep {
        guard offer == .recoveryCodes, let setup = savedCodesSetup, let proof = transaction.proofs.last else { return unchanged }
        guard Enrollment.isFresh(proof.time, at: now) else { return restart() }
        return HostedStep {
            // A form that is sent twice keeps the list.
            guard pendingCodes == nil else { return Plan(onward) }
            let (pending, writes) = try setup.begin()
            var next = transaction
            next.stopEnrolling()
            next.hosted?.awaited = .newSavedCodes(enrollmentID: pending.id)
            return try moving(to: next, writes)
        }
    }

    /// Activates the list that the user has saved, and continues the sign-in in the same commit.
    func confirmCodes(_ reading: Reading<HostedStep.Verdict>) throws -> HostedStep {
        guard offer == .recoveryCodes, let pending = pendingCodes, let setup = savedCodesSetup, let subject else { return unchanged }
        let check = try setup.hashes(of: pending, policy: snapshot.passwordPolicy, from: subject.origin)
        return attempt(reading, check: check.map { .hashes(try await $0()) }) { verdict in
            guard case .hashes(let hashes) = verdict else { return Plan(onward) }
            let (saved, writes) = try setup.confirm(pending, hashes: hashes)
            var (next, outcome, effects) = transaction.step(.codesSaved(enrollmentID: saved.id, subject), now: now)
            next.stopEnrolling()
            next.record(outcome)
            return try moving(to: next, writes + Writes(effects, of: next, user: nil))
        }
    }

    private var savedCodesSetup: SavedCodesSetup? {
        user.flatMap { SavedCodesSetup($0, holding: held, snapshot, engine.environment, now: now) }
    }

    /// The list that the user has not saved yet; `nil` for none, and after its expiry.
    private var pendingCodes: Enrollment? {
        guard let pending, pending.savedCodes != nil, pending.status == .pending, let until = pending.pendingUntil, now < until else {
            return nil
        }
        return pending
    }

    // MARK: - The second factor

    /// Shows the field for a recovery code, and withdraws a pending push.
    func startSavedCode() throws -> Plan<HostedAnswer> {
        guard canPresentSavedCode else { return Plan(onward) }
        var next = transaction
        let closing = next.closingChallenge
        next.withdrawChallenge(now: now)
        next.hosted?.notice = nil
        next.hosted?.awaited = .savedCode
        return try next == transaction ? Plan(onward) : moving(to: next, Writes(closing))
    }

    /// Returns a step that checks a recovery code.
    func savedCode(_ typed: String, _ reading: Reading<HostedStep.Verdict>) throws -> HostedStep {
        guard hosted.awaited == .savedCode, canPresentSavedCode, let subject else { return unchanged }
        let verifier = SavedCodesVerifier(environment: engine.environment, enrollments: enrollments, origin: subject.origin)
        return try factor(.code(typed), by: verifier, wrong: .wrongSavedCode, reading)
    }

    /// Returns the page with the field for a recovery code; `nil` if the user did not choose it.
    func savedCodePage(_ choices: [HostedFactorChoice], notice: HostedSignIn.Notice?) -> HostedAnswer? {
        guard hosted.awaited == .savedCode, canPresentSavedCode else { return nil }
        return page(.savedCode(hasOthers: choices.count > 1), notice: notice)
    }

    private var canPresentSavedCode: Bool {
        guard transaction.end == nil, !transaction.proofs.isEmpty, !transaction.isRejectedForGood, let subject,
            case .factor(let kinds) = transaction.requirement(for: subject)
        else { return false }
        return choices(of: kinds).contains { $0.factor == .savedCode }
    }
}
