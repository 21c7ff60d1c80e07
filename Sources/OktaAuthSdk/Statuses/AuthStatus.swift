/// The kind of a transaction's status (Documentation/Protocol/Authn.md §3).
public enum AuthStatus: RawRepresentable, Codable, Hashable, Sendable {
    /// There is no transaction yet.
    case unauthenticated
    /// The password is correct but expires soon: ``OktaAuthStatusPasswordWarning``.
    case passwordWarning
    /// The password is correct but has expired: ``OktaAuthStatusPasswordExpired``.
    case passwordExpired
    /// The user must answer the recovery question: ``OktaAuthStatusRecovery``.
    case recovery
    /// The user must enter the recovery code: ``OktaAuthStatusRecoveryChallenge``.
    case recoveryChallenge
    /// The user must set a new password: ``OktaAuthStatusPasswordReset``.
    case passwordReset
    /// The account is locked: ``OktaAuthStatusLockedOut``.
    case lockedOut
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The user must enroll a factor, or may do so: ``OktaAuthStatusFactorEnroll``.
    case MFAEnroll
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The activation of a factor is pending: ``OktaAuthStatusFactorEnrollActivate``.
    case MFAEnrollActivate
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The user must select an enrolled factor: ``OktaAuthStatusFactorRequired``.
    case MFARequired
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The challenge of a factor is pending: ``OktaAuthStatusFactorChallenge``.
    case MFAChallenge
    /// The transaction is complete: ``OktaAuthStatusSuccess``.
    case success
    /// A value that this version does not know.
    case unknown(String)

    /// Creates the case for a value from the server, which is case-sensitive. Other values become `unknown`.
    public init(raw: String) {
        let known: [Self] = [
            .unauthenticated, .passwordWarning, .passwordExpired, .recovery, .recoveryChallenge, .passwordReset, .lockedOut, .MFAEnroll,
            .MFAEnrollActivate, .MFARequired, .MFAChallenge, .success,
        ]
        self = known.first { $0.rawValue == raw } ?? .unknown(raw)
    }

    /// Creates the case for a value from the server, which is case-sensitive. Other values become `unknown`.
    public init(rawValue: String) {
        self.init(raw: rawValue)
    }

    /// The value in the protocol.
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
    /// The value in the protocol.
    @available(*, deprecated, renamed: "rawValue")
    public var description: String { rawValue }
}
