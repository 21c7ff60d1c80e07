/// The content of a device's signed response, after its signature and bindings were verified (Documentation/Protocol/Devices.md §3.7).
package struct PushAnswer: Sendable, Equatable {
    /// The values of `userConsent`.
    package enum Consent: String, Sendable {
        case approved = "APPROVED_CONSENT_PROMPT"
        case approvedByUserVerification = "APPROVED_USER_VERIFICATION"
        case denied = "DENIED_CONSENT_PROMPT"
        case cancelledUserVerification = "CANCELLED_USER_VERIFICATION"
        case verificationTemporarilyUnavailable = "UV_TEMPORARILY_UNAVAILABLE"
        case verificationPermanentlyUnavailable = "UV_PERMANENTLY_UNAVAILABLE"
        case none = "NONE"
        case abandoned = "USER_ABANDONED"
    }

    /// The id of the challenge target to which the device responds.
    package var targetID: String
    package var consent: Consent
    /// The role of the key that signed the response.
    package var keyRole: PushMethod.KeyRole
    /// The number that the user picked in a number challenge; `nil` for none.
    package var selectedNumber: String?
    /// Whether the user denied the sign-in and reported that they did not start it.
    package var isSuspicious = false
    /// The methods by which the user unlocked the key, as the device reports them: `fpt`, `face`, `pin`.
    package var verificationMethods: [String] = []

    package init(
        targetID: String, consent: Consent, keyRole: PushMethod.KeyRole, selectedNumber: String? = nil, isSuspicious: Bool = false,
        verificationMethods: [String] = []
    ) {
        (self.targetID, self.consent, self.keyRole, self.selectedNumber) = (targetID, consent, keyRole, selectedNumber)
        (self.isSuspicious, self.verificationMethods) = (isSuspicious, verificationMethods)
    }
}

extension PushChallenge {
    /// The result of a device's response.
    package enum Verdict: Sendable, Equatable {
        case approved(userVerified: Bool)
        case denied(isSuspicious: Bool)
        /// The challenge ends without approval: the user did not unlock the key, or picked a wrong number.
        case failed(reason: String)
        /// The response is ignored, and the challenge stays open.
        case invalid(reason: String)
    }

    /// Returns the result of a response to one of the targets (Documentation/Protocol/Devices.md §5.5). Does not check whether the
    /// challenge is open.
    func judge(_ answer: PushAnswer) -> Verdict {
        guard let target = targets.first(where: { $0.id == answer.targetID }) else { return .invalid(reason: "other challenge") }
        let required = target.userVerification == .required
        switch (answer.consent, answer.keyRole) {
        case (.denied, _):
            return .denied(isSuspicious: answer.isSuspicious)
        case (.cancelledUserVerification, _), (.abandoned, _):
            return .failed(reason: "user verification was given up")
        case (.approvedByUserVerification, .userVerification):
            return approved(userVerified: true, answer)
        case (.approvedByUserVerification, .proofOfPossession):
            return .invalid(reason: "user verification is claimed by the other key")
        case (.approved, .proofOfPossession) where !required:
            return approved(userVerified: false, answer)
        case (.none, .proofOfPossession) where target.userVerification == .preferred,
            (.verificationTemporarilyUnavailable, .proofOfPossession) where target.userVerification == .preferred,
            (.verificationPermanentlyUnavailable, .proofOfPossession) where target.userVerification == .preferred:
            return approved(userVerified: false, answer)
        case (.none, .proofOfPossession) where required, (.verificationTemporarilyUnavailable, .proofOfPossession) where required,
            (.verificationPermanentlyUnavailable, .proofOfPossession) where required:
            return .failed(reason: "user verification is required: \(answer.consent.rawValue)")
        case (.approved, .proofOfPossession):
            return .invalid(reason: "user verification is required")
        default:
            return .invalid(reason: "the consent does not go with the key")
        }
    }

    private func approved(userVerified: Bool, _ answer: PushAnswer) -> Verdict {
        guard let numbers else { return .approved(userVerified: userVerified) }
        guard let selected = answer.selectedNumber else { return .invalid(reason: "a number has to be picked") }
        return selected == numbers.right ? .approved(userVerified: userVerified) : .failed(reason: "another number was picked")
    }
}
