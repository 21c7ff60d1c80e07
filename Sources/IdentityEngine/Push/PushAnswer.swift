/// What a device's signed answer says, after its signature and bindings were checked (device-authenticator reference 3.7).
struct PushAnswer: Sendable, Equatable {
    /// The values of `userConsent`.
    enum Consent: String, Sendable {
        case approved = "APPROVED_CONSENT_PROMPT"
        case approvedByUserVerification = "APPROVED_USER_VERIFICATION"
        case denied = "DENIED_CONSENT_PROMPT"
        case cancelledUserVerification = "CANCELLED_USER_VERIFICATION"
        case verificationTemporarilyUnavailable = "UV_TEMPORARILY_UNAVAILABLE"
        case verificationPermanentlyUnavailable = "UV_PERMANENTLY_UNAVAILABLE"
        case none = "NONE"
        case abandoned = "USER_ABANDONED"
    }

    /// The challenge that it answers.
    var targetID: String
    var consent: Consent
    /// The role of the key that signed it.
    var keyRole: PushMethod.KeyRole
    /// The number that was picked, of a challenge with numbers.
    var selectedNumber: String?
    /// Whether the person, denying, said that it was not them.
    var isSuspicious = false
}
