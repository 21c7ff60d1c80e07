/// What lies below `/api/v1/authn` (authn reference 4.1).
enum AuthnRoute: Hashable, Sendable {
    /// The beginning, or where a sign-in stands.
    case primary
    case previous, skip, cancel
    /// A factor's challenge, proof or poll.
    case verify(factor: String)
    case resend(factor: String)
    /// Nothing: the API has an answer of its own to that.
    case unknown

    /// The names of the routes, for metrics.
    static let names = [
        "authn", "authn/previous", "authn/skip", "authn/cancel", "authn/factors/{id}/verify", "authn/factors/{id}/verify/resend",
        "authn/unknown",
    ]

    /// The name for metrics.
    var name: String {
        switch self {
        case .primary: "authn"
        case .previous: "authn/previous"
        case .skip: "authn/skip"
        case .cancel: "authn/cancel"
        case .verify: "authn/factors/{id}/verify"
        case .resend: "authn/factors/{id}/verify/resend"
        case .unknown: "authn/unknown"
        }
    }

    /// Finds the route of a path; nil for a path that is not below it.
    ///
    /// - Parameter path: Its components, as ``ServerRequest/components`` has them.
    init?(_ path: [Substring]) {
        guard path.starts(with: ["api", "v1", "authn"]) else { return nil }
        let rest = path.dropFirst(3).map(String.init)
        guard rest.allSatisfy({ (1...100).contains($0.utf8.count) }) else {
            self = .unknown
            return
        }
        switch rest.first {
        case nil: self = .primary
        case "previous" where rest.count == 1: self = .previous
        case "skip" where rest.count == 1: self = .skip
        case "cancel" where rest.count == 1: self = .cancel
        case "factors" where rest.count > 2: self.init(factor: rest[1], Array(rest[2...]))
        default: self = .unknown
        }
    }

    private init(factor id: String, _ rest: [String]) {
        switch rest {
        case ["verify"]: self = .verify(factor: id)
        case ["verify", "resend"]: self = .resend(factor: id)
        default: self = .unknown
        }
    }
}
