public import JOSE

/// The configuration of an organization as somebody wrote it down: what the org file says, and what the store's records hold.
///
/// A value: applying it to the store is ``IdentityEngine/apply(_:options:context:)``.
public struct OrganizationDefinition: Sendable, Equatable, Codable {
    /// The organization's id (`00o` and 17 characters), the `idp` claim of its local users. Empty: the one that the store
    /// holds, made at the first apply.
    public var id: String
    /// The name that people see.
    public var name: String
    /// The origin that clients reach the server by, without a path: `https://id.example.com`. The org server's issuer.
    public var origin: String
    /// The authorization servers, the org server among them (``AuthorizationServerDefinition/id`` nil).
    public var authorizationServers: [AuthorizationServerDefinition]
    /// The client applications.
    public var applications: [Application]
    /// The groups.
    public var groups: [Group]
    /// The sign-on policies that applications name.
    public var signOnPolicies: [SignOnPolicy]
    /// The password policy.
    public var passwordPolicy: PasswordPolicy
    /// Limits on requests.
    public var rateLimits: RateLimits
    /// How long people stay signed in with a browser.
    public var sessions: SessionPolicy
    /// When signing keys are rotated.
    public var keyRotation: KeyRotation
    /// The authenticators that confirm sign-ins by push.
    public var authenticators: [PushAuthenticator]
    /// What is asked of proofs of possession.
    public var dpop: DPoPPolicy
    /// What holds at the classic sign-in API; nil for an organization that does not offer it.
    public var classic: ClassicPolicy?
    /// The calling codes of the countries that texts and calls go to, of one to three digits; nil for all.
    public var callingCodes: [String]?
    /// Seconds for which an `mfa_token` is valid after the first factor, 300 to 3,600.
    public var mfaTokenLifetime: Int
    /// The people that the file brings; people made elsewhere are left alone.
    public var users: [UserDefinition]

    /// The default of ``mfaTokenLifetime``: a quarter of an hour, so that the user can try another factor after a push that expired.
    public static let defaultMFATokenLifetime = 900

    /// Describes an organization.
    public init(
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
public struct AuthorizationServerDefinition: Sendable, Equatable, Codable {
    /// The path component of a custom server (`default`); nil for the org server.
    public var id: String?
    /// The name that administrators see.
    public var name: String
    /// The `aud` of its access tokens; nil for the org server, whose audience is its issuer.
    public var audience: String?
    /// The scopes beside the reserved OpenID Connect ones.
    public var scopes: [ScopeDefinition]
    /// Claims beside the standard ones.
    public var claims: [ClaimDefinition]
    /// `RS256` or `ES256`.
    public var accessTokenAlgorithm: JWSAlgorithm
    /// Evaluated in order; the first policy and rule that match decide. Empty on the org server, which has none.
    public var accessPolicies: [AccessPolicy]
    /// Whose assertions about people it takes (RFC 7523); none on the org server.
    public var trustedIssuers: [TrustedIssuer] {
        get { trusted ?? [] }
        set { trusted = newValue.isEmpty ? nil : newValue }
    }

    /// Nil for none, and in records of before there was a choice.
    private var trusted: [TrustedIssuer]?

    /// Describes an authorization server.
    public init(
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
public struct ScopeDefinition: Sendable, Equatable, Codable {
    /// The scope's name.
    public var name: String
    /// What it allows, for a consent page.
    public var description: String?
    /// Whether a request without `scope` gets it.
    public var isDefault: Bool
    /// Whether metadata lists it.
    public var isPublic: Bool

    /// Describes a scope.
    public init(name: String, description: String? = nil, isDefault: Bool = false, isPublic: Bool = true) {
        self.name = name
        self.description = description
        self.isDefault = isDefault
        self.isPublic = isPublic
    }
}

/// A claim that an authorization server adds to tokens.
public struct ClaimDefinition: Sendable, Equatable, Codable {
    /// Where a claim goes.
    public enum Destination: String, Sendable, Codable {
        /// Into access tokens.
        case accessToken
        /// Into id tokens.
        case idToken
    }
    /// Where a claim's value comes from.
    public enum Source: Sendable, Equatable, Codable {
        /// The same for everybody.
        case constant(String)
        /// An attribute of the user's profile.
        case profile(String)
        /// The names of the user's groups that start with a prefix; empty for all.
        case groups(prefix: String)
    }

    /// The claim's name.
    public var name: String
    /// Which token carries it.
    public var destination: Destination
    /// Where its value comes from.
    public var source: Source
    /// The scopes of which one must be granted; empty for always.
    public var scopes: [String]

    /// Describes a claim.
    public init(name: String, destination: Destination, source: Source, scopes: [String] = []) {
        self.name = name
        self.destination = destination
        self.source = source
        self.scopes = scopes
    }
}

/// Which grants a custom authorization server gives to which clients, users and scopes.
public struct AccessPolicy: Sendable, Equatable, Codable {
    /// Unique within its server.
    public var name: String
    /// The clients that it is for; nil for all.
    public var clients: [String]?
    /// Evaluated in order.
    public var rules: [AccessRule]

    /// Makes a policy.
    public init(name: String, clients: [String]? = nil, rules: [AccessRule]) {
        self.name = name
        self.clients = clients
        self.rules = rules
    }
}

/// One rule of an ``AccessPolicy``: conditions and lifetimes.
public struct AccessRule: Sendable, Equatable, Codable {
    /// Unique within its policy.
    public var name: String
    /// The `grant_type` values that it is for; nil for any.
    public var grantTypes: [String]?
    /// The groups of which the user must be a member of one; nil for any user assigned to the app.
    public var groups: [String]?
    /// The scopes that may be asked for; nil for any.
    public var scopes: [String]?
    /// Seconds, 300 to 86,400.
    public var accessTokenLifetime: Int
    /// Seconds from the first issue; nil for no limit.
    public var refreshTokenLifetime: Int?
    /// Seconds without use after which a refresh token ends, at least 600.
    public var refreshTokenIdleLifetime: Int

    /// Makes a rule; the lifetimes are the published defaults.
    public init(
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
