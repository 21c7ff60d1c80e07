internal import Foundation

/// An offer to set something up after the required proofs of a sign-in on the pages. A declined offer is not repeated
/// until the user signs in with a recovery code.
package enum SetupOffer: String, Sendable, Codable, CaseIterable {
    case passkey
    case recoveryCodes
}

extension OrgSnapshot {
    /// The offers that the organization makes.
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
    /// Returns the requirement to decide on an offer; `nil` if there is none. Only a user who proved possession or inherence gets an offer:
    /// after a password alone, an attacker with a stolen password could add a passkey. Proofs of a session do not permit an enrollment.
    func setupRequirement(of subject: Subject) -> Requirement? {
        guard inherited == 0, !factorClasses.isDisjoint(with: [.possession, .inherence]) else { return nil }
        return SetupOffer.allCases.first { offer in
            guard subject.setupOffers.contains(offer), subject.user.declinedOffers?.contains(offer) != true else { return false }
            switch offer {
            case .passkey:
                guard subject.canCreatePasskey, !hasProvedPasskey else { return false }
                // A user who needed a recovery code may have lost the passkeys. A user who just set up a factor is asked at the next sign-in.
                return hasProvedSavedCode || (enrolledCount == 0 && !subject.enrollments.held.contains { $0.passkey != nil })
            case .recoveryCodes:
                return factorClasses.count > 1 && !subject.enrollments.usable.contains { $0.savedCodes?.isNearlyUsed == false }
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
        rules.contains(.offersSetup) && inherited == 0 && factorClasses.contains(.knowledge) && subject.canCreatePasskey
    }

    /// Ends the offer of recovery codes. The new list replaces the one whose code the user may have proved.
    func codesSaved(_ enrollmentID: String, _ subject: Subject, now: Date) -> (SignInTransaction, Outcome, [Effect]) {
        var next = self
        for index in next.proofs.indices where next.proofs[index].factor == .savedCode { next.proofs[index].enrollmentID = enrollmentID }
        return next.settled(.recoveryCodes, subject, isDeclined: false, now: now)
    }

    /// Ends an offer, and takes the next step of the sign-in.
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
