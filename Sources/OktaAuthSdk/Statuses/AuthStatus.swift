/// The states of a transaction, as the server names them (authn reference, 3).
public enum AuthStatus: RawRepresentable, Codable, Hashable, Sendable {
    /// There is no transaction yet.
    case unauthenticated
    /// The password is right and expires soon: ``OktaAuthStatusPasswordWarning``.
    case passwordWarning
    /// The password is right and has expired: ``OktaAuthStatusPasswordExpired``.
    case passwordExpired
    /// The recovery question waits for its answer: ``OktaAuthStatusRecovery``.
    case recovery
    /// A code of the recovery is waited for: ``OktaAuthStatusRecoveryChallenge``.
    case recoveryChallenge
    /// A new password is to be set: ``OktaAuthStatusPasswordReset``.
    case passwordReset
    /// The account is locked: ``OktaAuthStatusLockedOut``.
    case lockedOut
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// A factor is to be enrolled: ``OktaAuthStatusFactorEnroll``.
    case MFAEnroll
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// A factor waits for its activation: ``OktaAuthStatusFactorEnrollActivate``.
    case MFAEnrollActivate
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// One of the enrolled factors is to be picked: ``OktaAuthStatusFactorRequired``.
    case MFARequired
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// A factor's challenge waits for its answer: ``OktaAuthStatusFactorChallenge``.
    case MFAChallenge
    /// The transaction is complete: ``OktaAuthStatusSuccess``.
    case success
    /// A word that this version does not know, as it came.
    case unknown(String)

    /// The case for a word of the wire; upper and lower case count.
    ///
    /// - Parameter raw: The word.
    public init(raw: String) {
        self =
            switch raw {
            case "UNAUTHENTICATED": .unauthenticated
            case "PASSWORD_WARN": .passwordWarning
            case "PASSWORD_EXPIRED": .passwordExpired
            case "RECOVERY": .recovery
            case "RECOVERY_CHALLENGE": .recoveryChallenge
            case "PASSWORD_RESET": .passwordReset
            case "LOCKED_OUT": .lockedOut
            case "MFA_ENROLL": .MFAEnroll
            case "MFA_ENROLL_ACTIVATE": .MFAEnrollActivate
            case "MFA_REQUIRED": .MFARequired
            case "MFA_CHALLENGE": .MFAChallenge
            case "SUCCESS": .success
            default: .unknown(raw)
            }
    }

    /// The case for a word of the wire; upper and lower case count.
    ///
    /// - Parameter rawValue: The word.
    public init(rawValue: String) {
        self.init(raw: rawValue)
    }

    /// The word of the wire.
    public var rawValue: String {
        switch self {
        case .unauthenticated: "UNAUTHENTICATED"
        case .passwordWarning: "PASSWORD_WARN"
        case .passwordExpired: "PASSWORD_EXPIRED"
        case .recovery: "RECOVERY"
        case .recoveryChallenge: "RECOVERY_CHALLENGE"
        case .passwordReset: "PASSWORD_RESET"
        case .lockedOut: "LOCKED_OUT"
        case .MFAEnroll: "MFA_ENROLL"
        case .MFAEnrollActivate: "MFA_ENROLL_ACTIVATE"
        case .MFARequired: "MFA_REQUIRED"
        case .MFAChallenge: "MFA_CHALLENGE"
        case .success: "SUCCESS"
        case .unknown(let raw): raw
        }
    }
}
