package import JOSE

/// The configuration of an organization as somebody wrote it down: what the org file says, and what the store's records hold.
///
/// A value: applying it to the store is ``Engine/apply(_:options:context:)``.
package struct OrganizationDefinition: Sendable, Equatable, Codable {
    /// The organization's id (`00o` and 17 characters), the `idp` claim of its local users. Empty: the one that the store
    /// holds, made at the first apply.
    package var id: String
    /// The name that people see.
    package var name: String
    /// The origin that clients reach the server by, without a path: `https://id.example.com`. The org server's issuer.
    package var origin: String
    /// The authorization servers, the org server among them (``AuthorizationServerDefinition/id`` nil).
    package var authorizationServers: [AuthorizationServerDefinition]
    /// The client applications.
    package var applications: [Application]
    /// The groups.
    package var groups: [Group]
    /// The sign-on policies that applications name.
    package var signOnPolicies: [SignOnPolicy]
    /// The password policy.
    package var passwordPolicy: PasswordPolicy
    /// Limits on requests.
    package var rateLimits: RateLimits
    /// How long people stay signed in with a browser.
    package var sessions: SessionPolicy
    /// When signing keys are rotated.
    package var keyRotation: KeyRotation
    /// The authenticators that confirm sign-ins by push.
    package var authenticators: [PushAuthenticator]
    /// What is asked of proofs of possession.
    package var dpop: DPoPPolicy
    /// What holds at the classic sign-in API; nil for an organization that does not offer it.
    package var classic: ClassicPolicy?
    /// The calling codes of the countries that texts and calls go to, of one to three digits; nil for all.
    package var callingCodes: [String]?
    /// Seconds for which an `mfa_token` is valid after the first factor, 300 to 3,600.
    package var mfaTokenLifetime: Int
    /// The people that the file brings; people made elsewhere are left alone.
    package var users: [UserDefinition]

    /// The default of ``mfaTokenLifetime``: a quarter of an hour, so that the user can try another factor after a push that expired.
    package static let defaultMFATokenLifetime = 900

    /// Describes an organization.
    package init(
        id: String = "", name: String, origin: String, authorizationServers: [AuthorizationServerDefinition],
        applications: [Application] = [], groups: [Group] = [], signOnPolicies: [SignOnPolicy] = [],
        passwordPolicy: PasswordPolicy = PasswordPolicy(), rateLimits: RateLimits = RateLimits(),
        sessions: SessionPolicy = SessionPolicy(), keyRotation: KeyRotation = KeyRotation(), authenticators: [PushAuthenticator] = [],
        dpop: DPoPPolicy = DPoPPolicy(), classic: ClassicPolicy? = nil, callingCodes: [String]? = nil,
        mfaTokenLifetime: Int = defaultMFATokenLifetime, users: [UserDefinition] = []
    ) {
        self.id = id
        self.name = name
        self.origin = origin
        self.authorizationServers = authorizationServers
        self.applications = applications
        self.groups = groups
        self.signOnPolicies = signOnPolicies
        self.passwordPolicy = passwordPolicy
        self.rateLimits = rateLimits
        self.sessions = sessions
        self.keyRotation = keyRotation
        self.authenticators = authenticators
        self.dpop = dpop
        self.classic = classic
        self.callingCodes = callingCodes
        self.mfaTokenLifetime = mfaTokenLifetime
        self.users = users
    }
}

/// An authorization server: its issuer, audience, scopes, claims and access policies.
package struct AuthorizationServerDefinition: Sendable, Equatable, Codable {
    /// The path component of a custom server (`default`); nil for the org server.
    package var id: String?
    /// The name that administrators see.
    package var name: String
    /// The `aud` of its access tokens; nil for the org server, whose audience is its issuer.
    package var audience: String?
    /// The scopes beside the reserved OpenID Connect ones.
    package var scopes: [ScopeDefinition]
    /// Claims beside the standard ones.
    package var claims: [ClaimDefinition]
    /// `RS256` or `ES256`.
    package var accessTokenAlgorithm: JWSAlgorithm
    /// Evaluated in order; the first policy and rule that match decide. Empty on the org server, which has none.
    package var accessPolicies: [AccessPolicy]
    /// Whose assertions about people it takes (RFC 7523); none on the org server.
    package var trustedIssuers: [TrustedIssuer] {
        get { trusted ?? [] }
        set { trusted = newValue.isEmpty ? nil : newValue }
    }

    /// Nil for none, and in records of before there was a choice.
    private var trusted: [TrustedIssuer]?

    /// Describes an authorization server.
    package init(
        id: String?, name: String, audience: String? = nil, scopes: [ScopeDefinition] = [], claims: [ClaimDefinition] = [],
        accessTokenAlgorithm: JWSAlgorithm = .rs256, accessPolicies: [AccessPolicy] = [], trustedIssuers: [TrustedIssuer] = []
    ) {
        self.id = id
        self.name = name
        self.audience = audience
        self.scopes = scopes
        self.claims = claims
        self.accessTokenAlgorithm = accessTokenAlgorithm
        self.accessPolicies = accessPolicies
        self.trustedIssuers = trustedIssuers
    }
}

/// A scope that an authorization server offers beside the reserved ones.
package struct ScopeDefinition: Sendable, Equatable, Codable {
    /// The scope's name.
    package var name: String
    /// What it allows, for a consent page.
    package var description: String?
    /// Whether a request without `scope` gets it.
    package var isDefault: Bool
    /// Whether metadata lists it.
    package var isPublic: Bool

    /// Describes a scope.
    package init(name: String, description: String? = nil, isDefault: Bool = false, isPublic: Bool = true) {
        self.name = name
        self.description = description
        self.isDefault = isDefault
        self.isPublic = isPublic
    }
}

/// A claim that an authorization server adds to tokens.
package struct ClaimDefinition: Sendable, Equatable, Codable {
    /// Where a claim goes.
    package enum Destination: String, Sendable, Codable {
        /// Into access tokens.
        case accessToken
        /// Into id tokens.
        case idToken
    }
    /// Where a claim's value comes from.
    package enum Source: Sendable, Equatable, Codable {
        /// The same for everybody.
        case constant(String)
        /// An attribute of the user's profile.
        case profile(String)
        /// The names of the user's groups that start with a prefix; empty for all.
        case groups(prefix: String)
    }

    /// The claim's name.
    package var name: String
    /// Which token carries it.
    package var destination: Destination
    /// Where its value comes from.
    package var source: Source
    /// The scopes of which one must be granted; empty for always.
    package var scopes: [String]

    /// Describes a claim.
    package init(name: String, destination: Destination, source: Source, scopes: [String] = []) {
        self.name = name
        self.destination = destination
        self.source = source
        self.scopes = scopes
    }
}

/// Which grants a custom authorization server gives to which clients, users and scopes.
package struct AccessPolicy: Sendable, Equatable, Codable {
    /// Unique within its server.
    package var name: String
    /// The clients that it is for; nil for all.
    package var clients: [String]?
    /// Evaluated in order.
    package var rules: [AccessRule]

    /// Makes a policy.
    package init(name: String, clients: [String]? = nil, rules: [AccessRule]) {
        self.name = name
        self.clients = clients
        self.rules = rules
    }
}

/// One rule of an ``AccessPolicy``: conditions and lifetimes.
package struct AccessRule: Sendable, Equatable, Codable {
    /// Unique within its policy.
    package var name: String
    /// The `grant_type` values that it is for; nil for any.
    package var grantTypes: [String]?
    /// The groups of which the user must be a member of one; nil for any user assigned to the app.
    package var groups: [String]?
    /// The scopes that may be asked for; nil for any.
    package var scopes: [String]?
    /// Seconds, 300 to 86,400.
    package var accessTokenLifetime: Int
    /// Seconds from the first issue; nil for no limit.
    package var refreshTokenLifetime: Int?
    /// Seconds without use after which a refresh token ends, at least 600.
    package var refreshTokenIdleLifetime: Int

    /// Makes a rule; the lifetimes are the published defaults.
    package init(
        name: String, grantTypes: [String]? = nil, groups: [String]? = nil, scopes: [String]? = nil, accessTokenLifetime: Int = 3600,
        refreshTokenLifetime: Int? = nil, refreshTokenIdleLifetime: Int = 604_800
    ) {
        self.name = name
        self.grantTypes = grantTypes
        self.groups = groups
        self.scopes = scopes
        self.accessTokenLifetime = accessTokenLifetime
        self.refreshTokenLifetime = refreshTokenLifetime
        self.refreshTokenIdleLifetime = refreshTokenIdleLifetime
    }
}
