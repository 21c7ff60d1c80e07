internal import Foundation

/// An offer to set something up after the required proofs of a sign-in on the pages. A declined offer is not repeated.
package enum SetupOffer: String, Sendable, Codable {
    case passkey
    case recoveryCodes
}

extension OrgSnapshot {
    /// Returns what a user can be offered, regardless of the proofs.
    func setupOffers(for user: User, holding enrollments: UserEnrollments) -> [SetupOffer] {
        var offers: [SetupOffer] = pagePasskeys?.isOffered == true && canCreatePasskey(enrollments) ? [.passkey] : []
        let hasCodes = enrollments.usable.contains { $0.savedCodes?.isNearlyUsed == false }
        if organization.savedCodes?.isOffered == true, !hasCodes { offers.append(.recoveryCodes) }
        return offers.filter { user.declinedOffers?.contains($0) != true }
    }
}

extension OrgSnapshot {
    /// Whether a user with these enrollments can create a further passkey on the pages.
    func canCreatePasskey(_ enrollments: UserEnrollments) -> Bool {
        pagePasskeys != nil && enrollments.held.count { $0.passkey != nil } < PasskeySetup.most
    }
}

extension SignInTransaction {
    /// Returns the requirement to decide on an offer; `nil` if there is none. A stolen password alone must not add a key, and proofs of a
    /// session do not permit an enrollment.
    func setupRequirement(of subject: Subject) -> Requirement? {
        guard inherited == 0 else { return nil }
        let hasSecondFactor = !factorClasses.isDisjoint(with: [.possession, .inherence])
        return subject.setupOffers.first { offer in
            switch offer {
            case .passkey:
                let held = subject.enrollments.held
                guard !hasProvedPasskey else { return false }
                // A user who needed a recovery code may have lost the passkeys.
                if hasProvedSavedCode { return true }
                // A user who just set up a factor is asked at the next sign-in.
                return enrolledCount == 0 && !held.contains { $0.passkey != nil }
                    && (hasSecondFactor || !held.contains(where: \.isStrong))
            // Codes replace a second factor, so a user without one needs none.
            case .recoveryCodes: return hasSecondFactor && factorClasses.count > 1
            }
        }.map(Requirement.setupOffer)
    }

    /// Whether the user can enroll a factor of this kind now.
    func permitsEnrollment(of kind: FactorKind, for subject: Subject) -> Bool {
        let requirement = requirement(for: subject)
        return requirement.isEnrollment || (kind == .passkey && requirement == .setupOffer(.passkey))
    }

    /// Whether a recovery code, and not the session, is among the proofs.
    var hasProvedSavedCode: Bool { proofs.dropFirst(inherited).contains { $0.factor == .savedCode } }

    private var hasProvedPasskey: Bool { proofs.contains { $0.factor == .passkey } }

    /// Whether the user may create a passkey in place of lost ones, after a recovery code: with a password, and not by a session.
    func mayReplacePasskey(of subject: Subject) -> Bool {
        rules.contains(.offersSetup) && inherited == 0 && factorClasses.contains(.knowledge) && subject.canReplacePasskey
    }

    /// Ends an offer, and takes the next step of the sign-in.
    func settled(
        _ offer: SetupOffer, _ subject: Subject, isDeclined: Bool, now: Date
    ) -> (SignInTransaction, Outcome, [Effect]) {
        let type = "user.authentication.offer"
        guard end == nil, now < expiresAt, isAbout(subject.user) else { return refused(.overTransaction, type, []) }
        guard requirement(for: subject) == .setupOffer(offer) else { return refused(.overTransaction, type, []) }
        var next = subject
        next.setupOffers.removeAll { $0 == offer }
        guard isDeclined else { return proved(next, type, []) }
        next.user.declinedOffers = (subject.user.declinedOffers ?? []).union([offer])
        return proved(next, type, [.writeUser(next.user)])
    }
}
