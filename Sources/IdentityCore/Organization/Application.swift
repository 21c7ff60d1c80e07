package import JOSE

/// A client application (RFC 6749 section 2).
package struct Application: Sendable, Equatable, Codable {
    /// The platform of the application.
    package enum Kind: String, Sendable, Codable {
        /// An app on the user's device, which cannot keep a secret.
        case native
        /// An app that runs in the browser, which cannot keep a secret.
        case browser
        /// A web server, which can keep a secret.
        case web
        /// A server that acts for itself, without a user.
        case service
    }

    /// The method by which the client authenticates at the token endpoint (OpenID Connect Core section 9); `none` for a public client.
    package enum Authentication: String, Sendable, Codable {
        case none
        /// A secret, either in the `Authorization` header or in the body.
        case clientSecret = "client_secret"
        /// A secret in the `Authorization` header.
        case clientSecretBasic = "client_secret_basic"
        /// A secret in the body.
        case clientSecretPost = "client_secret_post"
        /// An assertion signed with the secret.
        case clientSecretJWT = "client_secret_jwt"
        /// An assertion signed with the client's own key.
        case privateKeyJWT = "private_key_jwt"
    }

    /// The rule for asking users for consent.
    package enum Consent: String, Sendable, Codable {
        case none
        /// Users are asked once for each set of scopes, because the application belongs to a third party.
        case required
    }

    /// The condition under which the application gets a code from a browser session alone, without a page.
    package enum SilentSignIn: String, Sendable, Codable {
        /// Only if no other program can receive the response: the client authenticates, uses an https redirect URI, or sends an ID token
        /// that was issued to it. Otherwise the user is asked first (RFC 8252 section 8.6).
        case assured
        /// Whenever the session is sufficient. Any program on the user's device can then get tokens in the application's name.
        case always
    }

    /// The effect of a refresh on the refresh token.
    package enum RefreshTokenRotation: Sendable, Equatable, Codable {
        /// The token stays valid.
        case `static`
        /// Each refresh issues a new token; the old one stays valid for `leeway` seconds, 0 to 60.
        case rotate(leeway: Int)
    }

    /// The users who may use the application.
    package struct Assignment: Sendable, Equatable, Codable {
        package var everyone: Bool
        package var groups: [String]
        package var users: [String]

        package init(everyone: Bool = false, groups: [String] = [], users: [String] = []) {
            (self.everyone, self.groups, self.users) = (everyone, groups, users)
        }

        /// Whether the user, one of their groups, or everyone is assigned.
        package func includes(_ user: User) -> Bool {
            everyone || groups.contains(where: user.groups.contains)
                || users.contains { User.key(forLogin: $0) == User.key(forLogin: user.login) }
        }
    }

    /// The maximum length of a client id in bytes.
    static let longestID = 100

    /// The `client_id`.
    package var id: String
    /// The name that users see.
    package var name: String
    package var kind: Kind
    package var isActive: Bool
    package var authentication: Authentication
    /// The client secret; `nil` for a method without one. Encrypted in the store; never displayed.
    package var secret: String?
    /// The public keys of a `private_key_jwt` client; `nil` for other clients.
    package var keys: JSONWebKeySet?
    /// The `grant_type` values that are enabled.
    package var grantTypes: [String]
    /// The permitted redirect URIs, compared exactly.
    package var redirectURIs: [String]
    /// The permitted redirect URIs after sign-out, compared exactly.
    package var postLogoutRedirectURIs: [String]
    package var assignment: Assignment
    /// The name of the application's sign-on policy; empty for a service without one.
    package var signOnPolicy: String
    /// The scopes of the organization's own API (`okta.*`) that the application may be granted.
    package var grantedAPIScopes: [String]
    package var refreshTokenRotation: RefreshTokenRotation
    /// The signing algorithm of ID tokens: `RS256` or `ES256`.
    package var idTokenAlgorithm: JWSAlgorithm
    /// Whether a token request without a DPoP proof is rejected (RFC 9449 section 5.2).
    package var dpopBoundAccessTokens: Bool {
        get { bindsTokens ?? false }
        set { bindsTokens = newValue ? true : nil }
    }

    /// Whether users are asked for consent when they sign in with a browser.
    package var consent: Consent {
        get { asksForConsent == true ? .required : .none }
        set { asksForConsent = newValue == .required ? true : nil }
    }

    package var silentSignIn: SilentSignIn {
        get { isAlwaysSilent == true ? .always : .assured }
        set { isAlwaysSilent = newValue == .always ? true : nil }
    }

    /// The app ids on Apple's systems (`ABCDE12345.com.example.app`). These apps may open this server's links and fill in its passwords.
    package var appleAppIDs: [String] {
        get { appleApps ?? [] }
        set { appleApps = newValue.isEmpty ? nil : newValue }
    }

    /// Whether a code requires a PKCE challenge (RFC 7636). Only a confidential client can opt out.
    package var requiresPKCE: Bool {
        get { isPKCEOptional != true }
        set { isPKCEOptional = newValue ? nil : true }
    }

    /// Whether an authorization request must be pushed first (RFC 9126 section 6, `require_pushed_authorization_requests`). Off by default.
    package var requiresPushedAuthorizationRequests: Bool {
        get { pushesRequests ?? false }
        set { pushesRequests = newValue ? true : nil }
    }

    /// Whether the audience of a client assertion must be the issuer. If `false`, the default, the token endpoint and the called endpoint
    /// are accepted too, each as the only audience.
    package var requiresIssuerAudience: Bool {
        get { hasStrictAudience ?? false }
        set { hasStrictAudience = newValue ? true : nil }
    }

    /// Whether a client assertion needs a `jti`, which is accepted once. If `false`, the default, an assertion without a `jti` can be
    /// reused until its `exp`.
    package var requiresAssertionID: Bool {
        get { needsAssertionID ?? false }
        set { needsAssertionID = newValue ? true : nil }
    }

    /// The audiences of the access tokens that the client may introspect; `nil` for all. A client may always introspect its own tokens.
    package var introspectionAudiences: [String]?

    // Storage of the computed properties: `nil` for the default, and in records of earlier versions.
    private var bindsTokens: Bool?
    private var isPKCEOptional: Bool?
    private var pushesRequests: Bool?
    private var hasStrictAudience: Bool?
    private var needsAssertionID: Bool?
    private var asksForConsent: Bool?
    private var isAlwaysSilent: Bool?
    private var appleApps: [String]?
    /// The endpoint that is notified when a session ends (OpenID Connect Back-Channel Logout 1.0); `nil` for none.
    package var backchannelLogoutURI: String?

    /// Creates an application. Omitted parameters, and properties without a parameter, have safe defaults.
    package init(
        id: String, name: String, kind: Kind, isActive: Bool = true, authentication: Authentication = .none, secret: String? = nil,
        keys: JSONWebKeySet? = nil, grantTypes: [String] = [], redirectURIs: [String] = [], postLogoutRedirectURIs: [String] = [],
        assignment: Assignment = Assignment(), signOnPolicy: String, grantedAPIScopes: [String] = [],
        refreshTokenRotation: RefreshTokenRotation = .rotate(leeway: 30), idTokenAlgorithm: JWSAlgorithm = .rs256,
        dpopBoundAccessTokens: Bool = false, consent: Consent = .none, silentSignIn: SilentSignIn = .assured,
        backchannelLogoutURI: String? = nil, appleAppIDs: [String] = []
    ) {
        (self.id, self.name, self.kind, self.isActive, self.authentication) = (id, name, kind, isActive, authentication)
        (self.secret, self.keys, self.grantTypes, self.redirectURIs) = (secret, keys, grantTypes, redirectURIs)
        (self.postLogoutRedirectURIs, self.assignment, self.signOnPolicy) = (postLogoutRedirectURIs, assignment, signOnPolicy)
        (self.grantedAPIScopes, self.refreshTokenRotation) = (grantedAPIScopes, refreshTokenRotation)
        (self.idTokenAlgorithm, self.dpopBoundAccessTokens, self.consent) = (idTokenAlgorithm, dpopBoundAccessTokens, consent)
        (self.silentSignIn, self.backchannelLogoutURI, self.appleAppIDs) = (silentSignIn, backchannelLogoutURI, appleAppIDs)
    }

    /// Whether the client authenticates (a confidential client, RFC 6749 section 2.1).
    package var isConfidential: Bool { authentication != .none }

    /// Whether the client authenticates by a signed assertion (RFC 7523 section 2.2).
    var usesAssertions: Bool { authentication == .clientSecretJWT || authentication == .privateKeyJWT }
}

extension Application: Redacted {
    /// Contains the client id and the authentication method, not the secret.
    package var description: String { "Application(\(id), \(authentication.rawValue))" }
}
