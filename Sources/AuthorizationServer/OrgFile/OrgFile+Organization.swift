internal import IdentityCore
internal import JOSE
internal import SignInPages
internal import Yams

extension OrgFile {
    init(_ root: OrgFileSection, origin: String?) {
        let written = root.value("origin") == nil && origin != nil ? "" : root.required("origin", example: "https://id.example.com")
        let org = root.section("org_server")
        let orgServer = AuthorizationServerDefinition(
            id: nil, name: "Organization", claims: org?.sections("claims", ClaimDefinition.init) ?? [],
            accessTokenAlgorithm: org?.choice("access_token_algorithm", signatureAlgorithms, default: .rs256) ?? .rs256)
        org?.reportUnknownKeys()
        organization = OrganizationDefinition(
            id: root.string("id") ?? "", name: root.required("name", example: "Example"), origin: origin ?? written,
            authorizationServers: [orgServer] + root.sections("authorization_servers", offset: 1, AuthorizationServerDefinition.init),
            applications: root.sections("applications", Application.init(entry:)), groups: root.sections("groups", Group.init),
            signOnPolicies: root.sections("sign_on_policies", SignOnPolicy.init),
            passwordPolicy: root.section("password_policy").map(PasswordPolicy.init) ?? PasswordPolicy(),
            rateLimits: root.section("rate_limits").map(RateLimits.init) ?? RateLimits(),
            sessions: root.section("sessions").map(SessionPolicy.init) ?? SessionPolicy(),
            keyRotation: root.section("key_rotation").map(KeyRotation.init) ?? KeyRotation(),
            systemLog: root.section("system_log").map(SystemLogPolicy.init) ?? SystemLogPolicy(),
            authenticators: root.sections("authenticators", PushAuthenticator.init),
            dpop: root.section("dpop").map(DPoPPolicy.init) ?? DPoPPolicy(),
            classic: root.section("authn_api", as: "classic").map(ClassicPolicy.init),
            callingCodes: root.strings("calling_codes", as: "callingCodes"),
            passkeys: root.section("passkeys").map(PasskeyPolicy.init),
            savedCodes: root.section("recovery_codes", as: "savedCodes").map(SavedCodesPolicy.init),
            mfaTokenLifetime: root.seconds("mfa_token_lifetime") ?? OrganizationDefinition.defaultMFATokenLifetime,
            users: root.sections("users", UserDefinition.init))
        server = root.section("server")?.settings ?? [:]
        branding = root.section("branding").map(Branding.init) ?? Branding()
        messages = root.section("messages").map(MessageSettings.init) ?? MessageSettings()
        breachedPasswords = root.section("breached_passwords").map(BreachedPasswordSettings.init) ?? BreachedPasswordSettings()
        root.reportUnknownKeys()
    }
}

extension OrgFileSection {
    /// The values of the section `server`, by key with dashes.
    var settings: [String: String] {
        members().compactMapKeysAndValues { ($0.replacing("_", with: "-"), $1.plainText) }
    }
}

private let signatureAlgorithms: [String: JWSAlgorithm] = ["RS256": .rs256, "ES256": .es256]

/// Aliases for long grant type values.
private let grantTypeAliases = Dictionary(
    uniqueKeysWithValues: GrantType.all.compactMap { type in type.alias.map { ($0, type.name) } })

extension AuthorizationServerDefinition {
    fileprivate init(_ section: OrgFileSection) {
        let id = section.required("id", example: "default")
        self.init(
            id: id, name: section.string("name") ?? id, audience: section.required("audience", example: "api://default"),
            scopes: section.sections("scopes") { scope in
                ScopeDefinition(
                    name: scope.required("name", example: "messages.read"), description: scope.string("description"),
                    isDefault: scope.bool("default", default: false), isPublic: scope.bool("public", default: true))
            },
            claims: section.sections("claims", ClaimDefinition.init),
            accessTokenAlgorithm: section.choice("access_token_algorithm", signatureAlgorithms, default: .rs256),
            accessPolicies: section.sections("access_policies") { policy in
                AccessPolicy(
                    name: policy.required("name", example: "Everybody"), clients: policy.strings("clients"),
                    rules: policy.sections("rules", AccessRule.init))
            },
            trustedIssuers: section.sections("trusted_issuers") { trusted in
                TrustedIssuer(
                    issuer: trusted.required("issuer", example: "https://idp.example.com"),
                    keys: JSONWebKeySet(reading: trusted) ?? JSONWebKeySet(), clients: trusted.strings("clients"))
            })
    }
}

extension AccessRule {
    fileprivate init(_ section: OrgFileSection) {
        self.init(
            name: section.required("name", example: "Everything"),
            grantTypes: section.strings("grant_types", aliases: grantTypeAliases), groups: section.strings("groups"),
            scopes: section.strings("scopes"), accessTokenLifetime: section.seconds("access_token_lifetime") ?? 3_600,
            refreshTokenLifetime: section.seconds("refresh_token_lifetime"),
            refreshTokenIdleLifetime: section.seconds("refresh_token_idle_lifetime") ?? 604_800)
    }
}

extension ClaimDefinition {
    fileprivate init(_ section: OrgFileSection) {
        let sources: [Source] = [
            section.string("value", as: "source").map(Source.constant), section.string("profile", as: "source").map(Source.profile),
            section.string("groups_starting_with", as: "source").map { Source.groups(prefix: $0) },
        ].compactMap { $0 }
        if sources.count != 1 {
            section.source.add(
                "A claim has one of: value (a text), profile (an attribute), groups_starting_with (a prefix, \"\" for all groups).",
                at: section.node, key: section.key)
        }
        self.init(
            name: section.required("name", example: "department"),
            destination: section.choice(
                "in", ["access_token": .accessToken, "id_token": .idToken], default: .accessToken, as: "destination"),
            source: sources.first ?? .constant(""), scopes: section.strings("scopes") ?? [])
    }
}

extension Application {
    init(entry section: OrgFileSection) {
        let id = section.required("id", example: "my-app")
        let kind = section.choice(
            "type", ["native": Kind.native, "browser": .browser, "web": .web, "service": .service], default: .native, as: "kind")
        let methods = [
            Authentication.none, .clientSecret, .clientSecretBasic, .clientSecretPost, .clientSecretJWT, .privateKeyJWT,
        ]
        let leeway = section.seconds("refresh_token_leeway") ?? 30
        self.init(
            id: id, name: section.string("name") ?? id, kind: kind, isActive: section.bool("active", default: true),
            authentication: section.choice(
                "authentication", Dictionary(uniqueKeysWithValues: methods.map { ($0.rawValue, $0) }), default: Authentication.none),
            secret: section.string("secret"), keys: JSONWebKeySet(reading: section),
            grantTypes: section.strings("grant_types", aliases: grantTypeAliases) ?? [],
            redirectURIs: section.strings("redirect_uris") ?? [],
            postLogoutRedirectURIs: section.strings("post_logout_redirect_uris") ?? [], assignment: Self.assignment(section),
            signOnPolicy: kind == .service
                ? section.string("sign_on_policy") ?? "" : section.required("sign_on_policy", example: "one-factor"),
            grantedAPIScopes: section.strings("granted_api_scopes") ?? [],
            refreshTokenRotation: section.choice(
                "refresh_token_rotation", ["rotate": .rotate(leeway: leeway), "static": .static], default: .rotate(leeway: leeway)),
            idTokenAlgorithm: section.choice("id_token_algorithm", signatureAlgorithms, default: .rs256),
            dpopBoundAccessTokens: section.bool("dpop_bound_access_tokens", default: false),
            consent: section.choice("consent", ["none": Consent.none, "required": .required], default: Consent.none),
            silentSignIn: section.choice("silent_sign_in", ["assured": SilentSignIn.assured, "always": .always], default: .assured),
            backchannelLogoutURI: section.string("backchannel_logout_uri"), appleAppIDs: section.strings("apple_app_ids") ?? [])
        requiresPKCE = section.bool("require_pkce", default: true)
        requiresPushedAuthorizationRequests = section.bool("require_pushed_authorization_requests", default: false)
        requiresIssuerAudience = section.bool("strict_audience", default: false)
        requiresAssertionID = section.bool("require_jti", default: false)
        introspectionAudiences = section.strings("introspection_audiences")
        if section.bool("backchannel_logout_session_required", default: false), backchannelLogoutURI == nil {
            section.source.add(
                "backchannel_logout_session_required goes with a backchannel_logout_uri. Add one, or remove it.",
                at: section.value("backchannel_logout_session_required") ?? section.node,
                key: section.spelled("backchannel_logout_session_required"))
        }
        // The token endpoint rejects this client later; report the reason here.
        if grantTypes.contains("client_credentials") && !isConfidential {
            section.source.add(
                "client_credentials is for clients that authenticate. Add authentication: client_secret and a secret.",
                at: section.value("grant_types") ?? section.node, key: section.spelled("grant_types"))
        }
    }

    private static func assignment(_ section: OrgFileSection) -> Assignment {
        guard let value = section.value("assignment") else { return Assignment() }
        if let word = value.scalar?.string {
            if word == "everyone" { return Assignment(everyone: true) }
            section.source.add(
                "Write everyone, or a section with groups and users.", at: value, key: section.spelled("assignment"))
            return Assignment()
        }
        guard let people = section.section("assignment") else { return Assignment() }
        let assignment = Assignment(
            everyone: people.bool("everyone", default: false), groups: people.strings("groups") ?? [], users: people.strings("users") ?? [])
        people.reportUnknownKeys()
        return assignment
    }
}

extension JSONWebKeySet {
    /// Reads the list `keys`; `nil` if it is missing.
    fileprivate init?(reading section: OrgFileSection) {
        guard let value = section.value("keys") else { return nil }
        var keys: [JSONWebKey] = []
        for element in value.json.arrayValue ?? [] {
            do {
                keys.append(try JSONWebKey(element))
            } catch {
                section.source.add("A key can not be read. \(error.message)", at: value, key: section.spelled("keys"))
            }
        }
        self.init(keys)
    }
}

extension Dictionary where Key == String {
    fileprivate func compactMapKeysAndValues<NewValue>(_ transform: (String, Value) -> (String, NewValue?)) -> [String: NewValue] {
        reduce(into: [:]) { result, pair in
            let (key, value) = transform(pair.key, pair.value)
            result[key] = value
        }
    }
}

extension JSONValue {
    /// A scalar as text, or a list joined with commas; `nil` for objects.
    fileprivate var plainText: String? {
        switch self {
        case .string(let text): text
        case .integer(let number): String(number)
        case .double(let number): String(number)
        case .bool(let flag): String(flag)
        case .array(let elements): elements.compactMap(\.plainText).joined(separator: ",")
        case .null, .object: nil
        }
    }
}
