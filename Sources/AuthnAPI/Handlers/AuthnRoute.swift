internal import Foundation

/// What lies below `/api/v1/authn` (authn reference 4.1).
package enum AuthnRoute: Hashable, Sendable {
    /// The beginning, or where a sign-in stands.
    case primary
    case previous, skip, cancel
    /// A factor's challenge, proof or poll.
    case verify(factor: String)
    case resend(factor: String)
    /// A factor to be set up, and the code that shows that it works.
    case enroll
    case activate(factor: String)
    case resendActivation(factor: String)
    /// A phone that is being set up: whether it came, and the link that brings it.
    case pollActivation(factor: String)
    case sendActivation(factor: String, byMail: Bool)
    /// Another password in place of one that is due.
    case changePassword
    /// Another password in place of one that was forgotten.
    case resetPassword
    /// The beginning of a recovery.
    case recover(isUnlock: Bool)
    case recoveryToken, recoveryAnswer
    case recoveryVerify, recoveryResend
    /// Nothing: the API has an answer of its own to that.
    case unknown

    /// The names of the routes, for metrics.
    package static let names = [
        "authn", "authn/previous", "authn/skip", "authn/cancel", "authn/factors/{id}/verify", "authn/factors/{id}/verify/resend",
        "authn/factors", "authn/factors/{id}/lifecycle/activate", "authn/factors/{id}/lifecycle/resend",
        "authn/factors/{id}/lifecycle/activate/poll",
        "authn/factors/{id}/lifecycle/activate/email", "authn/factors/{id}/lifecycle/activate/sms",
        "authn/credentials/change_password", "authn/credentials/reset_password",
        "authn/recovery/password", "authn/recovery/unlock", "authn/recovery/token", "authn/recovery/answer",
        "authn/recovery/factors/{type}/verify", "authn/recovery/factors/{type}/resend", "authn/unknown",
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
        case .enroll: "authn/factors"
        case .activate: "authn/factors/{id}/lifecycle/activate"
        case .resendActivation: "authn/factors/{id}/lifecycle/resend"
        case .pollActivation: "authn/factors/{id}/lifecycle/activate/poll"
        case .sendActivation(_, let byMail): "authn/factors/{id}/lifecycle/activate/\(byMail ? "email" : "sms")"
        case .changePassword: "authn/credentials/change_password"
        case .resetPassword: "authn/credentials/reset_password"
        case .recover(let isUnlock): isUnlock ? "authn/recovery/unlock" : "authn/recovery/password"
        case .recoveryToken: "authn/recovery/token"
        case .recoveryAnswer: "authn/recovery/answer"
        case .recoveryVerify: "authn/recovery/factors/{type}/verify"
        case .recoveryResend: "authn/recovery/factors/{type}/resend"
        case .unknown: "authn/unknown"
        }
    }

    /// Finds the route of a path; nil for a path that is not below it.
    ///
    /// - Parameter path: Its components, as ``ServerRequest/components`` has them.
    package init?(_ path: [Substring]) {
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
        case "credentials" where rest == ["credentials", "change_password"]: self = .changePassword
        case "credentials" where rest == ["credentials", "reset_password"]: self = .resetPassword
        case "recovery": self.init(recovery: Array(rest.dropFirst()))
        case "factors" where rest.count == 1: self = .enroll
        case "factors" where rest.count > 2: self.init(factor: rest[1], Array(rest[2...]))
        default: self = .unknown
        }
    }

    private init(recovery rest: [String]) {
        switch rest {
        case ["password"]: self = .recover(isUnlock: false)
        case ["unlock"]: self = .recover(isUnlock: true)
        case ["token"]: self = .recoveryToken
        case ["answer"]: self = .recoveryAnswer
        default:
            guard rest.count == 3, rest[0] == "factors", ["sms", "call"].contains(rest[1].lowercased()) else {
                self = .unknown
                return
            }
            self = rest[2] == "verify" ? .recoveryVerify : rest[2] == "resend" ? .recoveryResend : .unknown
        }
    }

    private init(factor id: String, _ rest: [String]) {
        switch rest {
        case ["verify"]: self = .verify(factor: id)
        case ["verify", "resend"]: self = .resend(factor: id)
        case ["lifecycle", "activate"]: self = .activate(factor: id)
        case ["lifecycle", "resend"]: self = .resendActivation(factor: id)
        case ["lifecycle", "activate", "poll"]: self = .pollActivation(factor: id)
        case ["lifecycle", "activate", "email"]: self = .sendActivation(factor: id, byMail: true)
        case ["lifecycle", "activate", "sms"]: self = .sendActivation(factor: id, byMail: false)
        default: self = .unknown
        }
    }
}
