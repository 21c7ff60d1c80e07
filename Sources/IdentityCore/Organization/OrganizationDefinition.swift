package import JOSE

/// The configuration of an organization, as written in the org file and stored in records. Apply it with
/// ``Engine/apply(_:options:context:)``.
package struct OrganizationDefinition: Sendable, Equatable, Codable {
    /// The organization's id (`00o` and 17 characters), which is the `idp` claim of its local users. If empty, the store's id is used,
    /// which the first apply creates.
    package var id: String
    /// The name that users see.
    package var name: String
    /// The origin by which clients reach the server, without a path: `https://id.example.com`. It is the org server's issuer.
    package var origin: String
    /// The authorization servers, including the org server, whose ``AuthorizationServerDefinition/id`` is `nil`.
    package var authorizationServers: [AuthorizationServerDefinition]
    package var applications: [Application]
    package var groups: [Group]
    package var signOnPolicies: [SignOnPolicy]
    package var passwordPolicy: PasswordPolicy
    package var rateLimits: RateLimits
    package var sessions: SessionPolicy
    package var keyRotation: KeyRotation
    package var systemLog: SystemLogPolicy
    /// The push authenticators.
    package var authenticators: [PushAuthenticator]
    package var dpop: DPoPPolicy
    /// The settings of the classic sign-in API; `nil` if the organization does not offer it.
    package var classic: ClassicPolicy?
    /// The calling codes of the countries to which texts and calls are sent, of one to three digits; `nil` for all.
    package var callingCodes: [String]?
    /// The settings of passkeys; `nil` if the organization does not offer them.
    package var passkeys: PasskeyPolicy?
    /// The settings of recovery codes; `nil` if the organization does not offer them.
    package var savedCodes: SavedCodesPolicy?
    /// Seconds for which an `mfa_token` is valid after the first factor, 300 to 3,600.
    package var mfaTokenLifetime: Int
    /// The users of the org file. Users that were created in another way stay unchanged.
    package var users: [UserDefinition]

    /// The default of ``mfaTokenLifetime``: 15 minutes, so that the user can try another factor after a push that expired.
    package static let defaultMFATokenLifetime = 900

    package init(
        id: String = "", name: String, origin: String, authorizationServers: [AuthorizationServerDefinition],
        applications: [Application] = [], groups: [Group] = [], signOnPolicies: [SignOnPolicy] = [],
        passwordPolicy: PasswordPolicy = PasswordPolicy(), rateLimits: RateLimits = RateLimits(),
        sessions: SessionPolicy = SessionPolicy(), keyRotation: KeyRotation = KeyRotation(),
        systemLog: SystemLogPolicy = SystemLogPolicy(), authenticators: [PushAuthenticator] = [],
        dpop: DPoPPolicy = DPoPPolicy(), classic: ClassicPolicy? = nil, callingCodes: [String]? = nil,
        passkeys: PasskeyPolicy? = nil, savedCodes: SavedCodesPolicy? = nil, mfaTokenLifetime: Int = defaultMFATokenLifetime,
        users: [UserDefinition] = []
    ) {
        (self.id, self.name, self.origin, self.authorizationServers) = (id, name, origin, authorizationServers)
        (self.applications, self.groups, self.signOnPolicies, self.passwordPolicy) = (applications, groups, signOnPolicies, passwordPolicy)
        (self.rateLimits, self.sessions, self.keyRotation, self.authenticators) = (rateLimits, sessions, keyRotation, authenticators)
        (self.dpop, self.classic, self.callingCodes, self.mfaTokenLifetime) = (dpop, classic, callingCodes, mfaTokenLifetime)
        (self.systemLog, self.passkeys, self.savedCodes, self.users) = (systemLog, passkeys, savedCodes, users)
    }
}

/// An authorization server: its issuer, audience, scopes, claims and access policies.
package struct AuthorizationServerDefinition: Sendable, Equatable, Codable {
    /// The path component of a custom server (`default`); `nil` for the org server.
    package var id: String?
    /// The name that administrators see.
    package var name: String
    /// The `aud` of the server's access tokens; `nil` for the org server, whose audience is its issuer.
    package var audience: String?
    /// The scopes in addition to the reserved OpenID Connect ones.
    package var scopes: [ScopeDefinition]
    /// The claims in addition to the standard ones.
    package var claims: [ClaimDefinition]
    /// The signing algorithm of access tokens: `RS256` or `ES256`.
    package var accessTokenAlgorithm: JWSAlgorithm
    /// The access policies, evaluated in order. The first matching rule of a policy for the client decides. Empty on the org server.
    package var accessPolicies: [AccessPolicy]
    /// The issuers whose assertions about users the server accepts (RFC 7523); none on the org server.
    package var trustedIssuers: [TrustedIssuer] {
        get { trusted ?? [] }
        set { trusted = newValue.isEmpty ? nil : newValue }
    }

    /// The storage of ``trustedIssuers``: `nil` for none, and in records of earlier versions.
    private var trusted: [TrustedIssuer]?

    package init(
        id: String?, name: String, audience: String? = nil, scopes: [ScopeDefinition] = [], claims: [ClaimDefinition] = [],
        accessTokenAlgorithm: JWSAlgorithm = .rs256, accessPolicies: [AccessPolicy] = [], trustedIssuers: [TrustedIssuer] = []
    ) {
        (self.id, self.name, self.audience, self.scopes, self.claims) = (id, name, audience, scopes, claims)
        (self.accessTokenAlgorithm, self.accessPolicies, self.trustedIssuers) = (accessTokenAlgorithm, accessPolicies, trustedIssuers)
    }
}

/// A scope that an authorization server offers in addition to the reserved ones.
package struct ScopeDefinition: Sendable, Equatable, Codable {
    package var name: String
    /// The permission in words, for the consent page; `nil` for none.
    package var description: String?
    /// Whether a request without the parameter `scope` gets this scope.
    package var isDefault: Bool
    /// Whether the server's metadata lists the scope.
    package var isPublic: Bool

    package init(name: String, description: String? = nil, isDefault: Bool = false, isPublic: Bool = true) {
        (self.name, self.description, self.isDefault, self.isPublic) = (name, description, isDefault, isPublic)
    }
}

/// A claim that an authorization server adds to tokens.
package struct ClaimDefinition: Sendable, Equatable, Codable {
    package enum Destination: String, Sendable, Codable {
        case accessToken
        case idToken
    }
    /// The source of a claim's value.
    package enum Source: Sendable, Equatable, Codable {
        /// The same value for all users.
        case constant(String)
        /// An attribute of the user's profile.
        case profile(String)
        /// The names of the user's groups that start with a prefix; an empty prefix selects all.
        case groups(prefix: String)
    }

    package var name: String
    package var destination: Destination
    package var source: Source
    /// The scopes of which one must be granted for the claim; empty if the claim needs no scope.
    package var scopes: [String]

    package init(name: String, destination: Destination, source: Source, scopes: [String] = []) {
        (self.name, self.destination, self.source, self.scopes) = (name, destination, source, scopes)
    }
}

/// A policy that decides which grants a custom authorization server permits, by client, user and scope.
package struct AccessPolicy: Sendable, Equatable, Codable {
    /// The policy's name, unique within its server.
    package var name: String
    /// The ids of the clients to which the policy applies; `nil` for all.
    package var clients: [String]?
    /// The rules, evaluated in order.
    package var rules: [AccessRule]

    package init(name: String, clients: [String]? = nil, rules: [AccessRule]) {
        (self.name, self.clients, self.rules) = (name, clients, rules)
    }
}

/// One rule of an ``AccessPolicy``: conditions and lifetimes.
package struct AccessRule: Sendable, Equatable, Codable {
    /// The rule's name, unique within its policy.
    package var name: String
    /// The `grant_type` values to which the rule applies; `nil` for any.
    package var grantTypes: [String]?
    /// The groups to whose members the rule applies; `nil` for all assigned users, and for clients that act for themselves.
    package var groups: [String]?
    /// The scopes that may be requested; `nil` for any.
    package var scopes: [String]?
    /// The lifetime of access tokens in seconds, 300 to 86,400.
    package var accessTokenLifetime: Int
    /// Seconds from the first issue after which refresh tokens expire; `nil` for no limit.
    package var refreshTokenLifetime: Int?
    /// Seconds without use after which a refresh token expires, at least 600.
    package var refreshTokenIdleLifetime: Int

    package init(
        name: String, grantTypes: [String]? = nil, groups: [String]? = nil, scopes: [String]? = nil, accessTokenLifetime: Int = 3600,
        refreshTokenLifetime: Int? = nil, refreshTokenIdleLifetime: Int = 604_800
    ) {
        (self.name, self.grantTypes, self.groups, self.scopes) = (name, grantTypes, groups, scopes)
        (self.accessTokenLifetime, self.refreshTokenLifetime) = (accessTokenLifetime, refreshTokenLifetime)
        self.refreshTokenIdleLifetime = refreshTokenIdleLifetime
    }
}
