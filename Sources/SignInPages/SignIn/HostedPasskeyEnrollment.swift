internal import Foundation
internal import IdentityCore
internal import JOSE
internal import Store
internal import WebAuthn

/// The creation of a passkey during a sign-in: if the policy requires a second factor and the user has none, after a recovery code in place
/// of lost passkeys, and as an offer. The new passkey counts as a proof.
extension HostedState {
    /// Starts the creation with a new challenge.
    func beginPasskey() -> HostedStep {
        guard mayCreatePasskey, let proof = transaction.proofs.last else { return unchanged }
        // The proofs are too old to enroll a factor.
        guard Enrollment.isFresh(proof.time, at: now) else { return restart() }
        return HostedStep {
            // A form that is sent twice keeps the challenge.
            guard openNewPasskey == nil, let setup = passkeySetup else { return Plan(onward) }
            var next = transaction
            next.stopEnrolling()
            next.hosted?.awaited = .newPasskey(try setup.challenge())
            return try moving(to: next, Writes(transaction.closingPhone))
        }
    }

    /// Returns a step that stores the new passkey, and continues the sign-in in the same commit.
    func confirmPasskey(_ text: String, _ reading: Reading<HostedStep.Verdict>) throws -> HostedStep {
        guard mayCreatePasskey, let user, let subject, let challenge = hosted.newPasskey else { return unchanged }
        guard let setup = passkeySetup, let response = RegistrationResponse(ofForm: text), try !isTaken(response, reading.view) else {
            return attempt(reading) { _ in try note(.passkeyNotCreated) }
        }
        return attempt(reading, check: setup.check(response, to: challenge).map { .registration(try await $0()) }) { verdict in
            switch verdict {
            case .registration(.success(let verified)):
                let (enrollment, writes) = try setup.enrollment(of: verified)
                var (next, outcome, effects) = transaction.step(
                    .passkeyEnrolled(enrollment, isUserVerified: verified.isUserVerified, subject), now: now)
                next.stopEnrolling()
                next.record(outcome)
                return try moving(to: next, writes + Writes(effects, of: next, user: nil))
            case .registration(.failure(let failure)):
                // A response that was refused consumes its challenge.
                var next = transaction
                var fresh = try setup.challenge()
                // The time in which the user must create the passkey stays.
                fresh.expiresAt = challenge.expiresAt
                next.hosted?.awaited = .newPasskey(fresh)
                next.hosted?.notice = .passkeyNotCreated
                var writes = Writes()
                writes.log(
                    "user.mfa.factor.activate", .failure, reason: failure.reason, userID: user.value.id,
                    clientID: transaction.applicationID, server: transaction.server)
                return try moving(to: next, writes)
            default: return Plan(onward)
            }
        }
    }

    /// Returns the page on which a passkey is created; `nil` if no challenge is open.
    func newPasskeyPage(_ choices: [HostedEnrollment], isOffer: Bool = false) throws -> HostedAnswer? {
        guard choices.contains(.passkey), let challenge = openNewPasskey, let setup = passkeySetup else { return nil }
        let options = String(decoding: try setup.options(challenge).json.serialized(), as: UTF8.self)
        return page(.createPasskey(options: options, hasOthers: choices.count > 1, isOffer: isOffer))
    }

    private var mayCreatePasskey: Bool { enrollable.contains(.passkey) || offer == .passkey }

    /// Whether an account has the credential already.
    private func isTaken(_ response: RegistrationResponse, _ view: any StoreView) throws -> Bool {
        try !view.records(.enrollment, where: "passkey", is: Base64URL.encode(response.id), limit: 1).isEmpty
    }

    /// The challenge of the passkey that is being created; `nil` for none, and after its expiry.
    private var openNewPasskey: PasskeyChallenge? { hosted.newPasskey.flatMap { now < $0.expiresAt ? $0 : nil } }

    /// The setup; `nil` if the user cannot have a further passkey.
    private var passkeySetup: PasskeySetup? {
        user.flatMap { try? PasskeySetup($0, held, snapshot, engine.environment, isOnPages: true, now: now) }
    }
}
