internal import Foundation

/// An offer to create a passkey or recovery codes. The pages make the offer after the required proofs of a sign-in. After the user declines
/// an offer, the pages do not repeat it until the user signs in with a recovery code.
package enum SetupOffer: String, Sendable, Codable, CaseIterable {
    case passkey
    case recoveryCodes
}

extension OrgSnapshot {
    /// The offers that the organization's settings turn on.
    var setupOffers: Set<SetupOffer> {
        var offers: Set<SetupOffer> = []
        if pagePasskeys?.isOffered == true { offers.insert(.passkey) }
        if organization.savedCodes?.isOffered == true { offers.insert(.recoveryCodes) }
        return offers
    }

    /// Whether a user with these enrollments can create a further passkey on the pages.
    func canCreatePasskey(_ enrollments: UserEnrollments) -> Bool {
        pagePasskeys != nil && enrollments.held.count { $0.passkey != nil } < PasskeySetup.most
    }
}

extension SignInTransaction {
    /// Returns the requirement that the user accepts or declines an offer; `nil` if there is no offer. Only a user who proved possession or
    /// inherence gets an offer. Otherwise, an attacker with a stolen password could add a passkey. A sign-in with proofs of a session gets
    /// no offer, because such proofs do not permit an enrollment.
    func setupRequirement(of subject: Subject) -> Requirement? {
        guard inherited == 0, !factorClasses.isDisjoint(with: [.possession, .inherence]) else { return nil }
        return SetupOffer.allCases.first { offer in
            guard subject.setupOffers.contains(offer), subject.user.declinedOffers?.contains(offer) != true else { return false }
            switch offer {
            case .passkey:
                guard subject.canCreatePasskey, !hasProvedPasskey else { return false }
                // A user who proved a recovery code may have lost the passkeys. A user who enrolled a factor in this sign-in gets the offer
                // at the next sign-in.
                return hasProvedSavedCode || (enrolledCount == 0 && !subject.enrollments.held.contains { $0.passkey != nil })
            case .recoveryCodes:
                // A code can replace a passkey. A user with a passkey therefore gets codes only after one, or after an earlier code, and not
                // after a factor that an attacker can phish.
                let hasPasskey = subject.enrollments.held.contains { $0.passkey != nil }
                guard hasProvedPasskey || hasProvedSavedCode || !hasPasskey else { return false }
                return factorClasses.count > 1 && !subject.enrollments.usable.contains { $0.savedCodes?.isNearlyUsed == false }
            }
        }.map(Requirement.setupOffer)
    }

    /// Whether the user can enroll a factor of this kind now.
    func permitsEnrollment(of kind: FactorKind, for subject: Subject) -> Bool {
        let requirement = requirement(for: subject)
        return requirement.isEnrollment || (kind == .passkey && requirement == .setupOffer(.passkey))
    }

    /// Whether the user proved a recovery code in this sign-in. Proofs of a session do not count.
    var hasProvedSavedCode: Bool { proofs.dropFirst(inherited).contains { $0.factor == .savedCode } }

    private var hasProvedPasskey: Bool { proofs.contains { $0.factor == .passkey } }

    /// Whether the user may replace lost passkeys after a recovery code. This requires a knowledge factor, such as the password, and a
    /// sign-in without proofs of a session.
    func mayReplacePasskey(of subject: Subject) -> Bool {
        rules.contains(.offersSetup) && inherited == 0 && factorClasses.contains(.knowledge) && subject.canCreatePasskey
    }

    /// Ends the offer of recovery codes after the user saved the list `enrollmentID`. The new list replaces the earlier list. If the user
    /// proved a code of the earlier list, the proof refers to the new list from then on.
    func codesSaved(_ enrollmentID: String, _ subject: Subject, now: Date) -> (SignInTransaction, Outcome, [Effect]) {
        var next = self
        for index in next.proofs.indices where next.proofs[index].factor == .savedCode { next.proofs[index].enrollmentID = enrollmentID }
        return next.settled(.recoveryCodes, subject, isDeclined: false, now: now)
    }

    /// Ends an offer that the user accepted or declined, and takes the next step of the sign-in.
    func settled(
        _ offer: SetupOffer, _ subject: Subject, isDeclined: Bool, now: Date
    ) -> (SignInTransaction, Outcome, [Effect]) {
        let type = "user.authentication.offer"
        guard end == nil, now < expiresAt, isAbout(subject.user) else { return refused(.overTransaction, type, []) }
        guard requirement(for: subject) == .setupOffer(offer) else { return refused(.overTransaction, type, []) }
        var next = subject
        next.setupOffers.remove(offer)
        guard isDeclined else { return proved(next, type, []) }
        next.user.declinedOffers = (subject.user.declinedOffers ?? []).union([offer])
        return proved(next, type, [.writeUser(next.user)])
    }
}
