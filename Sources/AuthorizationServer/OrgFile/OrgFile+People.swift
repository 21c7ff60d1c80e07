internal import IdentityCore
internal import JOSE
internal import Yams

extension Group {
    init(_ section: OrgFileSection) {
        self.init(name: section.required("name", example: "Staff"), description: section.string("description"))
    }
}

extension SignOnPolicy {
    init(_ section: OrgFileSection) {
        self.init(
            name: section.required("name", example: "one-factor"),
            rules: section.sections("rules") { rule in
                SignOnRule(
                    name: rule.required("name", example: "Everybody"), groups: rule.strings("groups"),
                    assurance: rule.choice(
                        "require",
                        ["one_factor": .oneFactor, "two_factors": .twoFactors, "phishing_resistant": .phishingResistant, "deny": .deny],
                        default: .oneFactor,
                        as: "assurance"),
                    reauthenticateAfter: rule.seconds("reauthenticate_after"))
            })
    }
}

extension PasswordPolicy {
    init(_ section: OrgFileSection) {
        let standard = PasswordPolicy()
        let minutes = section.value("lockout_minutes")?.scalar?.string == "unlimited" ? nil : section.int("lockout_minutes", default: 15)
        self.init(
            minimumLength: section.int("minimum_length", default: standard.minimumLength),
            lockoutAttempts: section.int("lockout_attempts", default: standard.lockoutAttempts), lockoutMinutes: minutes,
            scryptLogN: section.int("scrypt_log_n", default: standard.scryptLogN),
            complexity: section.section("complexity").map(Complexity.init) ?? standard.complexity,
            age: section.section("age").map(Age.init) ?? standard.age)
        // Lower values are for tests, which set them in code. In an org file they would make the passwords of real users cheap to guess.
        if scryptLogN < 14 {
            section.source.add(
                "\(scryptLogN) is out of range: 14 to 20 as the power of two of the scrypt cost.",
                at: section.value("scrypt_log_n") ?? section.node, key: section.spelled("scrypt_log_n"))
        }
        section.reportUnknownKeys()
    }
}

extension PasswordPolicy.Complexity {
    init(_ section: OrgFileSection) {
        let standard = PasswordPolicy.Complexity()
        self.init(
            lowercase: section.int("lowercase", default: standard.lowercase),
            uppercase: section.int("uppercase", default: standard.uppercase), digits: section.int("digits", default: standard.digits),
            symbols: section.int("symbols", default: standard.symbols),
            excludesNames: section.bool("exclude_names", default: standard.excludesNames))
        section.reportUnknownKeys()
    }
}

extension PasswordPolicy.Age {
    init(_ section: OrgFileSection) {
        let standard = PasswordPolicy.Age()
        let isUnlimited = section.value("maximum_days")?.scalar?.string ?? "unlimited" == "unlimited"
        self.init(
            maximumDays: isUnlimited ? nil : section.int("maximum_days", default: 1),
            warningDays: section.int("warning_days", default: standard.warningDays),
            minimumMinutes: section.int("minimum_minutes", default: standard.minimumMinutes),
            history: section.int("history", default: standard.history))
        section.reportUnknownKeys()
    }
}

extension SessionPolicy {
    init(_ section: OrgFileSection) {
        let standard = SessionPolicy()
        self.init(
            idleLifetime: section.seconds("idle_lifetime") ?? standard.idleLifetime,
            lifetime: section.seconds("lifetime") ?? standard.lifetime)
        section.reportUnknownKeys()
    }
}

extension RateLimits {
    init(_ section: OrgFileSection) {
        let standard = RateLimits()
        self.init(
            perClient: section.int("per_client", default: standard.perClient),
            perAddress: section.int("per_address", default: standard.perAddress),
            perAddressSignIns: section.int("per_address_sign_ins", default: standard.perAddressSignIns),
            perUser: section.int("per_user", default: standard.perUser), messages: section.int("messages", default: standard.messages),
            recoveryGuesses: section.int("recovery_guesses", default: standard.recoveryGuesses))
        section.reportUnknownKeys()
    }
}

extension DPoPPolicy {
    init(_ section: OrgFileSection) {
        self.init(requiresNonce: section.bool("require_nonce", default: true))
        section.reportUnknownKeys()
    }
}

extension KeyRotation {
    init(_ section: OrgFileSection) {
        let standard = KeyRotation()
        self.init(
            signsForDays: section.int("signs_for_days", default: standard.signsForDays),
            publishedDaysAhead: section.int("published_days_ahead", default: standard.publishedDaysAhead),
            publishedDaysAfter: section.int("published_days_after", default: standard.publishedDaysAfter))
        section.reportUnknownKeys()
    }
}

extension SystemLogPolicy {
    init(_ section: OrgFileSection) {
        self.init(retentionDays: section.int("retention_days", default: SystemLogPolicy().retentionDays))
        section.reportUnknownKeys()
    }
}

extension UserDefinition {
    init(_ section: OrgFileSection) {
        self.init(
            login: section.required("login", example: "jane.doe@example.com"),
            profile: (section.section("profile")?.members() ?? [:]).asClaims, groups: section.strings("groups") ?? [],
            password: section.string("password"), totpSecret: section.string("totp_secret"),
            hardwareDevice: section.section("hotp", as: "hardwareDevice").map(HardwareDevice.init),
            status: section.choice(
                "status", ["active": .active, "staged": .staged, "suspended": .suspended, "deactivated": .deactivated], default: .active),
            mustChangePassword: section.bool("must_change_password", default: false))
    }
}

extension UserDefinition.HardwareDevice {
    init(_ section: OrgFileSection) {
        self.init(
            secret: section.required("secret", example: "${JANES_SEED}"),
            credentialID: section.required("credential_id", example: "4711-0815"), counter: Int64(section.int("counter", default: 0)))
        section.reportUnknownKeys()
    }
}

extension [String: JSONValue] {
    /// Converts claims that are strings by definition back to strings, even if YAML reads them as numbers (OpenID Connect Core section
    /// 5.1).
    fileprivate var asClaims: [String: JSONValue] {
        reduce(into: [:]) { claims, pair in
            if pair.key == "address", let address = pair.value.objectValue {
                claims[pair.key] = .object(address.mapValues(\.asText))
            } else {
                claims[pair.key] = textClaims.contains(pair.key) ? pair.value.asText : pair.value
            }
        }
    }
}

private let textClaims: Set<String> = [
    "name", "given_name", "family_name", "middle_name", "nickname", "preferred_username", "profile", "picture", "website", "email",
    "gender", "birthdate", "zoneinfo", "locale", "phone_number",
]

extension JSONValue {
    fileprivate var asText: JSONValue {
        switch self {
        case .integer(let number): .string(String(number))
        case .bool(let flag): .string(String(flag))
        default: self
        }
    }
}
