/// The edges of ``ClassicTable`` that the SDK has taken over HTTP, and the operations on each factor.
@MainActor
final class SDKCoverage {
    /// The operations of each kind of factor, by type and provider. Factors without messages have no resending and no recovery. Devices
    /// that an administrator assigns have no enrollment.
    static let steps: [String: Set<String>] = [
        "token:software:totp GOOGLE": ["enrolled", "activated", "challenged", "verified"],
        "token:software:totp OKTA": ["enrolled", "activated", "challenged", "verified"],
        "token RSA": ["enrolled", "challenged", "verified"],
        "token SYMANTEC": ["enrolled", "challenged", "verified"],
        "token:hotp CUSTOM": ["challenged", "verified"],
        "sms OKTA": ["enrolled", "activated", "activation resent", "challenged", "challenge resent", "verified", "recovered with"],
        "call OKTA": ["enrolled", "activated", "activation resent", "challenged", "challenge resent", "verified", "recovered with"],
        "email OKTA": ["enrolled", "activated", "activation resent", "challenged", "challenge resent", "verified", "recovered with"],
        "question OKTA": ["enrolled", "challenged", "verified", "recovered with"],
        "push OKTA": [
            "enrolled", "activation polled", "activation restarted", "link sent", "activated", "challenged", "challenge resent", "polled",
            "verified",
        ],
    ]

    private(set) var edges: Set<String> = []
    private(set) var steps: [String: Set<String>] = [:]
    private(set) var codes: Set<String> = []

    func add(edge: String) { edges.insert(edge) }
    func add(code: String) { codes.insert(code) }

    /// Records an edge, and its operation for a factor.
    func add(from: String, _ operation: String, to: String, factor: String?) {
        edges.insert("\(from) | \(operation) | \(to)")
        guard let factor, let step = Self.step(from, operation, to) else { return }
        steps[factor, default: []].insert(step)
    }

    private static func step(_ from: String, _ operation: String, _ to: String) -> String? {
        switch (from, operation, to) {
        case ("MFA_ENROLL", _, _): "enrolled"
        case ("MFA_ENROLL_ACTIVATE", "activate", "MFA_ENROLL_ACTIVATE"): "activation restarted"
        case ("MFA_ENROLL_ACTIVATE", "send link", _): "link sent"
        case ("MFA_ENROLL_ACTIVATE", "resend", _): "activation resent"
        case ("MFA_ENROLL_ACTIVATE", "poll", "MFA_ENROLL_ACTIVATE"): "activation polled"
        case ("MFA_ENROLL_ACTIVATE", "activate", _), ("MFA_ENROLL_ACTIVATE", "poll", _): "activated"
        case ("MFA_CHALLENGE", "resend", _): "challenge resent"
        case ("MFA_CHALLENGE", "poll", "MFA_CHALLENGE"): "polled"
        case ("MFA_REQUIRED", _, "MFA_CHALLENGE"), ("MFA_CHALLENGE", "another factor", "MFA_CHALLENGE"): "challenged"
        case ("MFA_REQUIRED", _, _), ("MFA_CHALLENGE", _, _): "verified"
        case ("RECOVERY_CHALLENGE", "verify", _), ("RECOVERY", _, _), ("(none)", "recovery token", _): "recovered with"
        default: nil
        }
    }

    /// The report for people.
    var text: String {
        func list(_ title: String, _ items: some Collection<String>) -> String {
            title + "\n" + items.sorted().map { "  \($0)\n" }.joined()
        }
        return list("Edges", edges) + steps.sorted { $0.key < $1.key }.map { list("Factor \($0)", $1) }.joined()
            + list("Error codes", codes)
    }
}
