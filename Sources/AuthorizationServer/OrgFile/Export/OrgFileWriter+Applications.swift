internal import IdentityCore
internal import JOSE
internal import Yams

/// Writes applications, the classic API, authenticators and users.
extension OrgFileWriter {
    func application(_ mapping: inout OrgFileMapping, _ application: Application) {
        mapping.add("id", text(application.id))
        mapping.add("name", text(application.name))
        mapping.add("type", word(application.kind.rawValue))
        mapping.add("active", flag(application.isActive, default: true))
        mapping.add("authentication", word(application.authentication.rawValue))
        mapping.add(
            "secret", application.secret.map { _ in reference(.applicationSecret(id: application.id), application.id, "secret") })
        mapping.add("keys", keys(application.keys))
        mapping.add("grant_types", texts(ofNonEmpty: Self.shortNames(application.grantTypes)))
        mapping.add("redirect_uris", texts(ofNonEmpty: application.redirectURIs))
        mapping.add("post_logout_redirect_uris", texts(ofNonEmpty: application.postLogoutRedirectURIs))
        mapping.add("sign_on_policy", application.signOnPolicy.isEmpty ? nil : text(application.signOnPolicy))
        mapping.add("assignment", assignment(application.assignment))
        mapping.add("granted_api_scopes", texts(ofNonEmpty: application.grantedAPIScopes))
        switch application.refreshTokenRotation {
        case .static: mapping.add("refresh_token_rotation", word("static"))
        case .rotate(let leeway): mapping.add("refresh_token_leeway", duration(leeway))
        }
        mapping.add("id_token_algorithm", word(application.idTokenAlgorithm.rawValue))
        mapping.add("dpop_bound_access_tokens", flag(application.dpopBoundAccessTokens, default: false))
        mapping.add("consent", application.consent == .required ? word("required") : nil)
        mapping.add("silent_sign_in", application.silentSignIn == .always ? word("always") : nil)
        mapping.add("require_pkce", flag(application.requiresPKCE, default: true))
        mapping.add("require_pushed_authorization_requests", flag(application.requiresPushedAuthorizationRequests, default: false))
        mapping.add("strict_audience", flag(application.requiresIssuerAudience, default: false))
        mapping.add("require_jti", flag(application.requiresAssertionID, default: false))
        mapping.add("introspection_audiences", texts(application.introspectionAudiences))
        mapping.add("backchannel_logout_uri", text(application.backchannelLogoutURI))
        mapping.add("apple_app_ids", texts(ofNonEmpty: application.appleAppIDs))
    }

    private func assignment(_ assignment: Application.Assignment) -> Node? {
        if assignment == Application.Assignment() { return nil }
        if assignment == Application.Assignment(everyone: true) { return word("everyone") }
        return mapping {
            $0.add("everyone", flag(assignment.everyone, default: false))
            $0.add("groups", texts(ofNonEmpty: assignment.groups))
            $0.add("users", texts(ofNonEmpty: assignment.users))
        }
    }

    func classic(_ classic: ClassicPolicy) -> Node {
        mapping {
            $0.add("sign_on_policy", text(classic.signOnPolicy))
            $0.add("show_lockout", flag(classic.showsLockout, default: false))
            switch classic.remembering {
            case .never: $0.add("remember_devices", word("never"))
            case .device: $0.add("remember_devices", word("device"))
            case .time(let minutes): $0.add("remember_devices", duration(minutes * 60))
            }
            $0.add("factors", factors(classic.factors))
            $0.add("offer_optional_factors", flag(classic.offersOptional, default: false))
            let channels: [(CodeChannel, String)] = [(.email, "email"), (.sms, "sms"), (.voice, "call")]
            $0.add("recovery", texts(channels.filter { classic.recovery.contains($0.0) }.map { $0.1 }))
            $0.add("self_service_unlock", flag(classic.unlocksBySelfService, default: false))
            $0.add("trusted_origins", texts(ofNonEmpty: classic.trustedOrigins))
            $0.add(
                "trusted_callers",
                list(classic.trustedCallers) { mapping, caller in
                    mapping.add("name", text(caller.name))
                    mapping.add("token", reference(.callerToken(name: caller.name), caller.name, "token"))
                    mapping.add("gateways", texts(caller.gateways))
                    mapping.add("logs", caller.readsLogs == true ? word("read") : nil)
                })
        }
    }

    private func factors(_ factors: [ClassicPolicy.Factor: ClassicPolicy.Enrolling]) -> Node? {
        guard !factors.isEmpty else { return nil }
        let words: [ClassicPolicy.Enrolling: String] = [.required: "required", .optional: "optional", .notAllowed: "not_allowed"]
        return mapping { mapping in
            for factor in ClassicPolicy.Factor.allCases { mapping.add(factor.rawValue, factors[factor].flatMap { words[$0] }.map(word)) }
        }
    }

    func authenticator(_ mapping: inout OrgFileMapping, _ authenticator: PushAuthenticator) {
        mapping.add("id", text(authenticator.id))
        mapping.add("type", word(authenticator.kind.rawValue))
        mapping.add("name", text(authenticator.name))
        mapping.add("client", text(authenticator.clientID))
        mapping.add("push", word(authenticator.isActive ? "on" : "off"))
        mapping.add("user_verification", word(authenticator.userVerification == .required ? "required" : "preferred"))
        mapping.add("number_challenge", word(authenticator.numberChallenge.rawValue))
        mapping.add(
            "apns",
            authenticator.credentials.map { credentials in
                self.mapping {
                    $0.add("team_id", text(credentials.teamID))
                    $0.add("key_id", text(credentials.keyID))
                    $0.add("key", reference(.authenticatorKey(id: authenticator.id), authenticator.id, "apns_key"))
                    $0.add("topic", text(credentials.topic))
                    $0.add("development_topic", text(credentials.developmentTopic))
                }
            })
    }

    func user(_ mapping: inout OrgFileMapping, _ user: UserDefinition) {
        mapping.add("login", text(user.login))
        mapping.add("password", user.password.map { _ in reference(.userPassword(login: user.login), user.login, "password") })
        mapping.add("must_change_password", flag(user.mustChangePassword, default: false))
        mapping.add(
            "totp_secret", user.totpSecret.map { _ in reference(.userTOTPSecret(login: user.login), user.login, "totp_secret") })
        mapping.add(
            "hotp",
            user.hardwareDevice.map { device in
                self.mapping {
                    $0.add("secret", reference(.userDeviceSeed(login: user.login), user.login, "hotp_secret"))
                    $0.add("credential_id", text(device.credentialID))
                    $0.add("counter", device.counter == 0 ? nil : number(Int(device.counter)))
                }
            })
        mapping.add("status", user.status == .active ? nil : word(user.status.rawValue))
        mapping.add("groups", texts(ofNonEmpty: user.groups))
        mapping.add("profile", user.profile.isEmpty ? nil : Node(.object(user.profile)))
    }
}
