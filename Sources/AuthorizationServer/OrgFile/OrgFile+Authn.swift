internal import IdentityCore
internal import ServerHTTP
internal import Yams

extension ClassicPolicy {
    init(_ section: OrgFileSection) {
        self.init(
            signOnPolicy: section.required("sign_on_policy", example: "one-factor"),
            showsLockout: section.bool("show_lockout", default: false), remembering: Self.remembering(section),
            factors: Self.factors(section), offersOptional: section.bool("offer_optional_factors", default: false),
            recovery: Self.recovery(section), unlocksBySelfService: section.bool("self_service_unlock", default: false),
            trustedCallers: section.sections("trusted_callers") { caller in
                let token = caller.required("token", example: "${PORTAL_TOKEN}")
                if !token.isEmpty, token.utf8.count < 32 {
                    caller.source.add(
                        "An API token has at least 32 characters. Make one with: openssl rand -hex 32",
                        at: caller.value("token") ?? caller.node, key: caller.spelled("token"))
                }
                return TrustedCaller(
                    name: caller.required("name", example: "portal"), token: token, gateways: Self.gateways(caller),
                    readsLogs: caller.choice("logs", ["none": false, "read": true], default: false))
            }, trustedOrigins: section.strings("trusted_origins") ?? [])
        section.reportUnknownKeys()
    }

    private static func gateways(_ caller: OrgFileSection) -> [String]? {
        let gateways = caller.strings("gateways")
        for gateway in gateways ?? [] where TrustedNetwork(gateway) == nil {
            caller.source.add(
                "“\(gateway)” is neither an address nor a network. Write 10.0.0.7 or 10.0.0.0/8.",
                at: caller.value("gateways") ?? caller.node, key: caller.spelled("gateways"))
        }
        return gateways
    }

    private static func recovery(_ section: OrgFileSection) -> Set<CodeChannel> {
        let words = section.strings("recovery") ?? []
        let channels: [String: CodeChannel] = ["email": .email, "sms": .sms, "call": .voice]
        for word in words where channels[word] == nil {
            section.source.add(
                "“\(word)” is not among: email, sms, call.", at: section.value("recovery") ?? section.node, key: section.spelled("recovery")
            )
        }
        return Set(words.compactMap { channels[$0] })
    }

    private static func factors(_ section: OrgFileSection) -> [Factor: Enrolling] {
        guard let factors = section.section("factors") else { return [:] }
        let words: [String: Enrolling] = ["required": .required, "optional": .optional, "not_allowed": .notAllowed]
        var read: [Factor: Enrolling] = [:]
        for factor in Factor.allCases where factors.value(factor.rawValue) != nil {
            read[factor] = factors.choice(factor.rawValue, words, default: .notAllowed)
        }
        factors.reportUnknownKeys()
        return read
    }

    /// Reads `never`, `device`, or a duration, which is rounded down to whole minutes.
    private static func remembering(_ section: OrgFileSection) -> Remembering {
        guard let value = section.value("remember_devices", as: "remembering"), let word = value.scalar?.string else { return .never }
        switch word {
        case "never": return .never
        case "device": return .device
        default: return section.seconds("remember_devices").map { .time(minutes: $0 / 60) } ?? .never
        }
    }
}
