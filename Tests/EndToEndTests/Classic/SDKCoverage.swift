/// What of the reference's table (authn reference 3.4) the SDK walked at the server, over HTTP.
@MainActor
final class SDKCoverage {
    /// From, by, to: every row of the table, those of step-up, U2F and WebAuthn left out. "Continue" is spelled by where it led.
    static let edges: Set<String> = [
        "(none) | password | SUCCESS", "(none) | password | MFA_REQUIRED", "(none) | password | MFA_ENROLL",
        "(none) | password | PASSWORD_WARN", "(none) | password | PASSWORD_EXPIRED", "(none) | password | LOCKED_OUT",
        "(none) | activation token | PASSWORD_RESET", "(none) | recover by text or call | RECOVERY_CHALLENGE",
        "(none) | recover by mail | RECOVERY_CHALLENGE", "(none) | recover, trusted | RECOVERY", "(none) | recovery token | RECOVERY",
        "(none) | recovery token | PASSWORD_RESET", "PASSWORD_WARN | change password | SUCCESS", "PASSWORD_WARN | skip | SUCCESS",
        "PASSWORD_EXPIRED | change password | SUCCESS", "PASSWORD_EXPIRED | change password | MFA_ENROLL",
        "LOCKED_OUT | unlock | RECOVERY_CHALLENGE", "RECOVERY_CHALLENGE | verify | PASSWORD_RESET",
        "RECOVERY_CHALLENGE | verify | RECOVERY", "RECOVERY_CHALLENGE | verify | SUCCESS",
        "RECOVERY_CHALLENGE | resend | RECOVERY_CHALLENGE",
        "RECOVERY | answer | PASSWORD_RESET", "RECOVERY | answer | SUCCESS", "PASSWORD_RESET | reset password | SUCCESS",
        "PASSWORD_RESET | reset password | MFA_REQUIRED", "MFA_ENROLL | enroll question | MFA_ENROLL",
        "MFA_ENROLL | enroll question | SUCCESS", "MFA_ENROLL | enroll totp | MFA_ENROLL_ACTIVATE",
        "MFA_ENROLL | enroll code | MFA_ENROLL_ACTIVATE", "MFA_ENROLL | enroll push | MFA_ENROLL_ACTIVATE", "MFA_ENROLL | skip | SUCCESS",
        "MFA_ENROLL_ACTIVATE | activate | SUCCESS", "MFA_ENROLL_ACTIVATE | activate | MFA_ENROLL",
        "MFA_ENROLL_ACTIVATE | poll | MFA_ENROLL_ACTIVATE", "MFA_ENROLL_ACTIVATE | resend | MFA_ENROLL_ACTIVATE",
        "MFA_ENROLL_ACTIVATE | previous | MFA_ENROLL", "MFA_REQUIRED | verify without proof | MFA_CHALLENGE",
        "MFA_REQUIRED | verify with proof | SUCCESS", "MFA_REQUIRED | verify with proof | PASSWORD_EXPIRED",
        "MFA_CHALLENGE | verify with proof | SUCCESS", "MFA_CHALLENGE | poll | MFA_CHALLENGE", "MFA_CHALLENGE | poll | SUCCESS",
        "MFA_CHALLENGE | resend | MFA_CHALLENGE", "MFA_CHALLENGE | another factor | MFA_CHALLENGE",
        "MFA_CHALLENGE | another factor | SUCCESS", "MFA_CHALLENGE | previous | MFA_REQUIRED", "any | get state | unchanged",
        "any | cancel | revoked", "any | not listed | E0000079, unchanged", "any | failed proof | refused, unchanged",
        "any | too many failed proofs | E0000069",
    ]

    /// What the server does not offer yet.
    static let missing: [String: String] = [
        "(none) | activation token | PASSWORD_RESET": "the server gives no activation tokens",
        "MFA_ENROLL | enroll push | MFA_ENROLL_ACTIVATE": "the server sets phones up on its pages only",
        "MFA_ENROLL_ACTIVATE | poll | MFA_ENROLL_ACTIVATE": "only a phone that is set up is polled for",
    ]

    /// What each kind of factor went through. Left out is what a kind does not have: codes that are not sent are not sent again, and only
    /// what reaches a person helps them back in.
    static let steps: [String: Set<String>] = [
        "token:software:totp": ["enrolled", "activated", "challenged", "verified"],
        "sms": ["enrolled", "activated", "activation resent", "challenged", "challenge resent", "verified", "recovered with"],
        "call": ["enrolled", "activated", "activation resent", "challenged", "challenge resent", "verified", "recovered with"],
        "email": ["enrolled", "activated", "activation resent", "challenged", "challenge resent", "verified", "recovered with"],
        "question": ["enrolled", "challenged", "verified", "recovered with"],
        "push": ["challenged", "challenge resent", "polled", "verified"],
    ]

    private(set) var edges: Set<String> = []
    private(set) var steps: [String: Set<String>] = [:]
    private(set) var codes: Set<String> = []

    func add(edge: String) { edges.insert(edge) }
    func add(code: String) { codes.insert(code) }

    /// Notes an edge, and what it was for a factor.
    func add(from: String, _ operation: String, to: String, factor: String?) {
        edges.insert("\(from) | \(operation) | \(to)")
        guard let factor, let step = Self.step(from, operation, to) else { return }
        steps[factor, default: []].insert(step)
    }

    private static func step(_ from: String, _ operation: String, _ to: String) -> String? {
        switch (from, operation, to) {
        case ("MFA_ENROLL", _, _): "enrolled"
        case ("MFA_ENROLL_ACTIVATE", "activate", _): "activated"
        case ("MFA_ENROLL_ACTIVATE", "resend", _): "activation resent"
        case ("MFA_ENROLL_ACTIVATE", "poll", _): "activation polled"
        case ("MFA_CHALLENGE", "resend", _): "challenge resent"
        case ("MFA_CHALLENGE", "poll", "MFA_CHALLENGE"): "polled"
        case ("MFA_REQUIRED", _, "MFA_CHALLENGE"), ("MFA_CHALLENGE", "another factor", "MFA_CHALLENGE"): "challenged"
        case ("MFA_REQUIRED", _, _), ("MFA_CHALLENGE", _, _): "verified"
        case ("RECOVERY_CHALLENGE", "verify", _), ("RECOVERY", _, _), ("(none)", "recovery token", _): "recovered with"
        default: nil
        }
    }

    /// For a person to read.
    var text: String {
        func list(_ title: String, _ items: some Collection<String>) -> String {
            title + "\n" + items.sorted().map { "  \($0)\n" }.joined()
        }
        return list("Edges", edges) + list("Edges that nothing walks", Self.missing.map { "\($0): \($1)" })
            + steps.sorted { $0.key < $1.key }.map { list("Factor \($0)", $1) }.joined() + list("Error codes", codes)
    }
}
