internal import IdentityEngine
internal import Yams

/// How what holds at the classic sign-in API is read.
extension ClassicPolicy {
    init(_ section: OrgFileSection) {
        self.init(
            signOnPolicy: section.required("sign_on_policy", example: "one-factor"),
            showsLockout: section.bool("show_lockout", default: false), remembering: Self.remembering(section),
            trustedCallers: section.sections("trusted_callers") { caller in
                let token = caller.required("token", example: "${PORTAL_TOKEN}")
                if !token.isEmpty, token.utf8.count < 32 {
                    caller.source.add(
                        "An API token has at least 32 characters. Make one with: openssl rand -hex 32",
                        at: caller.value("token") ?? caller.node, key: caller.spelled("token"))
                }
                return TrustedCaller(name: caller.required("name", example: "portal"), token: token)
            })
        section.reportUnknownKeys()
    }

    /// A word, or a time in whole minutes.
    private static func remembering(_ section: OrgFileSection) -> Remembering {
        guard let value = section.value("remember_devices", as: "remembering"), let word = value.scalar?.string else { return .never }
        switch word {
        case "never": return .never
        case "device": return .device
        default: return section.seconds("remember_devices").map { .time(minutes: $0 / 60) } ?? .never
        }
    }
}
