internal import IdentityCore
internal import JOSE
internal import Yams

/// Writes the sections of the organization, in the order of the template.
extension OrgFileWriter {
    func root(_ organization: OrganizationDefinition, includesUsers: Bool) -> OrgFileMapping {
        var root = OrgFileMapping()
        root.add("id", organization.id.isEmpty ? nil : text(organization.id))
        root.add("name", text(organization.name))
        root.add("origin", text(organization.origin))
        root.add(
            "groups",
            list(organization.groups) { mapping, group in
                mapping.add("name", text(group.name))
                mapping.add("description", text(group.description))
            })
        root.add("sign_on_policies", signOnPolicies(organization.signOnPolicies))
        root.add("password_policy", passwordPolicy(organization.passwordPolicy))
        root.add(
            "sessions",
            mapping {
                $0.add("idle_lifetime", duration(organization.sessions.idleLifetime))
                $0.add("lifetime", duration(organization.sessions.lifetime))
            })
        root.add("mfa_token_lifetime", duration(organization.mfaTokenLifetime))
        root.add("org_server", organization.authorizationServers.first { $0.id == nil }.flatMap(orgServer))
        root.add("authorization_servers", list(organization.authorizationServers.filter { $0.id != nil }, server))
        root.add("applications", list(organization.applications, application))
        root.add("authn_api", organization.classic.map(classic))
        root.add("calling_codes", texts(organization.callingCodes))
        root.add("passkeys", organization.passkeys.map(passkeys))
        root.add("recovery_codes", organization.savedCodes.map(savedCodes))
        root.add("authenticators", list(organization.authenticators, authenticator))
        if includesUsers { root.add("users", list(organization.users, user)) }
        limits(of: organization, in: &root)
        return root
    }

    private func limits(of organization: OrganizationDefinition, in root: inout OrgFileMapping) {
        let limits = organization.rateLimits
        root.add(
            "rate_limits",
            mapping {
                $0.add("per_client", number(limits.perClient))
                $0.add("per_address", number(limits.perAddress))
                $0.add("per_address_sign_ins", number(limits.perAddressSignIns))
                $0.add("per_user", number(limits.perUser))
                $0.add("recovery_guesses", number(limits.recoveryGuesses))
                $0.add("messages", number(limits.messages))
            })
        root.add("dpop", mapping { $0.add("require_nonce", word(organization.dpop.requiresNonce ? "true" : "false")) })
        let rotation = organization.keyRotation
        root.add(
            "key_rotation",
            mapping {
                $0.add("signs_for_days", number(rotation.signsForDays))
                $0.add("published_days_ahead", number(rotation.publishedDaysAhead))
                $0.add("published_days_after", number(rotation.publishedDaysAfter))
            })
        root.add("system_log", mapping { $0.add("retention_days", number(organization.systemLog.retentionDays)) })
    }

    private func passkeys(_ policy: PasskeyPolicy) -> Node {
        mapping {
            $0.add("rp_id", policy.relyingParty.map(text))
            $0.add("origins", texts(policy.origins.isEmpty ? nil : policy.origins))
            $0.add("user_verification", word(policy.userVerification.rawValue))
            $0.add("models", texts(policy.models))
            $0.add("counter", word(policy.counter.rawValue))
            $0.add("offer", word(policy.isOffered ? "once" : "never"))
        }
    }

    private func savedCodes(_ policy: SavedCodesPolicy) -> Node {
        mapping {
            $0.add("count", number(policy.count))
            $0.add("offer", word(policy.isOffered ? "once" : "never"))
        }
    }

    private func signOnPolicies(_ policies: [SignOnPolicy]) -> Node? {
        let words: [SignOnRule.Assurance: String] = [
            .oneFactor: "one_factor", .twoFactors: "two_factors", .phishingResistant: "phishing_resistant", .deny: "deny",
        ]
        return list(policies) { mapping, policy in
            mapping.add("name", text(policy.name))
            mapping.add(
                "rules",
                list(policy.rules) { mapping, rule in
                    mapping.add("name", text(rule.name))
                    mapping.add("groups", texts(rule.groups))
                    mapping.add("require", words[rule.assurance].map(word))
                    mapping.add("reauthenticate_after", rule.reauthenticateAfter.map(duration))
                })
        }
    }

    private func passwordPolicy(_ policy: PasswordPolicy) -> Node {
        mapping {
            $0.add("minimum_length", number(policy.minimumLength))
            $0.add("lockout_attempts", number(policy.lockoutAttempts))
            $0.add("lockout_minutes", number(policy.lockoutMinutes))
            $0.add("scrypt_log_n", number(policy.scryptLogN))
            let kinds = policy.complexity
            $0.add(
                "complexity",
                mapping {
                    $0.add("lowercase", number(kinds.lowercase))
                    $0.add("uppercase", number(kinds.uppercase))
                    $0.add("digits", number(kinds.digits))
                    $0.add("symbols", number(kinds.symbols))
                    $0.add("exclude_names", word(kinds.excludesNames ? "true" : "false"))
                })
            let age = policy.age
            $0.add(
                "age",
                mapping {
                    $0.add("maximum_days", number(age.maximumDays))
                    $0.add("warning_days", number(age.warningDays))
                    $0.add("minimum_minutes", number(age.minimumMinutes))
                    $0.add("history", number(age.history))
                })
        }
    }

    // MARK: - Authorization servers

    /// `nil` if the org server has the defaults.
    private func orgServer(_ server: AuthorizationServerDefinition) -> Node? {
        guard !server.claims.isEmpty || server.accessTokenAlgorithm != .rs256 else { return nil }
        return mapping {
            $0.add("access_token_algorithm", word(server.accessTokenAlgorithm.rawValue))
            $0.add("claims", list(server.claims, claim))
        }
    }

    private func server(_ mapping: inout OrgFileMapping, _ server: AuthorizationServerDefinition) {
        mapping.add("id", text(server.id))
        mapping.add("name", text(server.name))
        mapping.add("audience", text(server.audience))
        mapping.add("access_token_algorithm", word(server.accessTokenAlgorithm.rawValue))
        mapping.add(
            "scopes",
            list(server.scopes) { mapping, scope in
                mapping.add("name", text(scope.name))
                mapping.add("description", text(scope.description))
                mapping.add("default", flag(scope.isDefault, default: false))
                mapping.add("public", flag(scope.isPublic, default: true))
            })
        mapping.add("claims", list(server.claims, claim))
        mapping.add(
            "trusted_issuers",
            list(server.trustedIssuers) { mapping, trusted in
                mapping.add("issuer", text(trusted.issuer))
                mapping.add("clients", texts(trusted.clients))
                mapping.add("keys", keys(trusted.keys))
            })
        mapping.add(
            "access_policies",
            list(server.accessPolicies) { mapping, policy in
                mapping.add("name", text(policy.name))
                mapping.add("clients", texts(policy.clients))
                mapping.add("rules", list(policy.rules, rule))
            })
    }

    private func claim(_ mapping: inout OrgFileMapping, _ claim: ClaimDefinition) {
        mapping.add("name", text(claim.name))
        mapping.add("in", word(claim.destination == .accessToken ? "access_token" : "id_token"))
        switch claim.source {
        case .constant(let value): mapping.add("value", text(value))
        case .profile(let attribute): mapping.add("profile", text(attribute))
        case .groups(let prefix): mapping.add("groups_starting_with", text(prefix))
        }
        mapping.add("scopes", texts(ofNonEmpty: claim.scopes))
    }

    private func rule(_ mapping: inout OrgFileMapping, _ rule: AccessRule) {
        mapping.add("name", text(rule.name))
        mapping.add("grant_types", texts(rule.grantTypes.map(Self.shortNames)))
        mapping.add("groups", texts(rule.groups))
        mapping.add("scopes", texts(rule.scopes))
        mapping.add("access_token_lifetime", duration(rule.accessTokenLifetime))
        mapping.add("refresh_token_lifetime", rule.refreshTokenLifetime.map(duration) ?? word("unlimited"))
        mapping.add("refresh_token_idle_lifetime", duration(rule.refreshTokenIdleLifetime))
    }

    /// Returns grant types with the short names of the org file.
    static func shortNames(_ grantTypes: [String]) -> [String] {
        grantTypes.map { name in GrantType.all.first { $0.name == name }?.alias ?? name }
    }
}
