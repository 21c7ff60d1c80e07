/// The endpoints that devices call, by their names for logs and metrics; they belong to the organization, not to one of its
/// authorization servers.
enum DeviceRoute: String, Sendable {
    case organization = ".well-known/okta-organization"
    case configuration = ".well-known/app-authenticator-configuration"
    case enrollments = "app-authenticators"
    case enrollment = "app-authenticators/{id}"
    case pendingChallenges = "app-authenticators/{id}/push/notifications"
    case challengeAnswer = "app-authenticators/challenge/{id}/verify"

    /// Finds the endpoint of a path; nil for any other path.
    ///
    /// - Parameter path: Its components, as ``ServerRequest/components`` has them.
    init?(_ path: [Substring]) {
        switch path.count {
        case 2 where path[0] == ".well-known":
            switch path[1] {
            case "okta-organization": self = .organization
            case "app-authenticator-configuration": self = .configuration
            default: return nil
            }
        case 3... where path[0] == "idp" && path[1] == "myaccount" && path[2] == "app-authenticators":
            self.init(below: Array(path[3...]))
        default: return nil
        }
    }

    private init?(below path: [Substring]) {
        switch path.count {
        case 0: self = .enrollments
        case 1 where !path[0].isEmpty: self = .enrollment
        case 3 where path[0] == "challenge" && !path[1].isEmpty && path[2] == "verify": self = .challengeAnswer
        case 3 where !path[0].isEmpty && path[1] == "push" && path[2] == "notifications": self = .pendingChallenges
        default: return nil
        }
    }
}
