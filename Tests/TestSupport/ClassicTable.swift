/// The state transitions of Documentation/Protocol/Authn.md §3.4, which tests cover twice: with raw HTTP, and with the SDK.
public enum ClassicTable: Sendable {
    /// All rows as "from | by | to", without step-up, U2F and WebAuthn. "Continue" is replaced by the state to which it led.
    public static let edges: Set<String> = [
        "(none) | password | SUCCESS", "(none) | password | MFA_REQUIRED", "(none) | password | MFA_ENROLL",
        "(none) | password | PASSWORD_WARN", "(none) | password | PASSWORD_EXPIRED", "(none) | password | LOCKED_OUT",
        "(none) | activation token | PASSWORD_RESET", "(none) | activation token | SUCCESS",
        "(none) | recover by text or call | RECOVERY_CHALLENGE",
        "(none) | recover by mail | RECOVERY_CHALLENGE", "(none) | recover, trusted | RECOVERY", "(none) | recovery token | RECOVERY",
        "(none) | recovery token | PASSWORD_RESET", "PASSWORD_WARN | change password | SUCCESS", "PASSWORD_WARN | skip | SUCCESS",
        "PASSWORD_EXPIRED | change password | SUCCESS", "PASSWORD_EXPIRED | change password | MFA_ENROLL",
        "LOCKED_OUT | unlock | RECOVERY_CHALLENGE", "RECOVERY_CHALLENGE | verify | PASSWORD_RESET",
        "RECOVERY_CHALLENGE | verify | RECOVERY",
        "RECOVERY_CHALLENGE | verify | SUCCESS", "RECOVERY_CHALLENGE | resend | RECOVERY_CHALLENGE", "RECOVERY | answer | PASSWORD_RESET",
        "RECOVERY | answer | SUCCESS", "PASSWORD_RESET | reset password | SUCCESS", "PASSWORD_RESET | reset password | MFA_REQUIRED",
        "MFA_ENROLL | enroll question | MFA_ENROLL", "MFA_ENROLL | enroll question | SUCCESS", "MFA_ENROLL | enroll token | SUCCESS",
        "MFA_ENROLL | enroll totp | MFA_ENROLL_ACTIVATE", "MFA_ENROLL | enroll code | MFA_ENROLL_ACTIVATE",
        "MFA_ENROLL | enroll push | MFA_ENROLL_ACTIVATE", "MFA_ENROLL | skip | SUCCESS", "MFA_ENROLL_ACTIVATE | activate | SUCCESS",
        "MFA_ENROLL_ACTIVATE | activate | MFA_ENROLL", "MFA_ENROLL_ACTIVATE | poll | MFA_ENROLL_ACTIVATE",
        "MFA_ENROLL_ACTIVATE | poll | SUCCESS", "MFA_ENROLL_ACTIVATE | poll | MFA_ENROLL",
        "MFA_ENROLL_ACTIVATE | activate | MFA_ENROLL_ACTIVATE", "MFA_ENROLL_ACTIVATE | send link | MFA_ENROLL_ACTIVATE",
        "MFA_ENROLL_ACTIVATE | resend | MFA_ENROLL_ACTIVATE", "MFA_ENROLL_ACTIVATE | previous | MFA_ENROLL",
        "MFA_REQUIRED | verify without proof | MFA_CHALLENGE", "MFA_REQUIRED | verify with proof | SUCCESS",
        "MFA_REQUIRED | verify with proof | PASSWORD_EXPIRED", "MFA_CHALLENGE | verify with proof | SUCCESS",
        "MFA_CHALLENGE | poll | MFA_CHALLENGE", "MFA_CHALLENGE | poll | SUCCESS", "MFA_CHALLENGE | resend | MFA_CHALLENGE",
        "MFA_CHALLENGE | another factor | MFA_CHALLENGE", "MFA_CHALLENGE | another factor | SUCCESS",
        "MFA_CHALLENGE | previous | MFA_REQUIRED", "any | get state | unchanged", "any | cancel | revoked",
        "any | not listed | E0000079, unchanged", "any | failed proof | refused, unchanged", "any | too many failed proofs | E0000069",
    ]
}
