package import JOSE

/// A client application (RFC 6749 section 2).
package struct Application: Sendable, Equatable, Codable {
    /// What the application runs on.
    package enum Kind: String, Sendable, Codable {
        /// A device that people hold, with nothing on it that is secret.
        case native
        /// A page, with nothing in it that is secret.
        case browser
        /// A server that serves pages and keeps a secret.
        case web
        /// A server that acts for nobody but itself.
        case service
    }

    /// How the client authenticates at the token endpoint (OpenID Connect Core section 9).
    package enum Authentication: String, Sendable, Codable {
        /// Not at all: a public client.
        case none
        /// A secret, either in the `Authorization` header or in the body.
        case clientSecret = "client_secret"
        /// By a secret in the `Authorization` header.
        case clientSecretBasic = "client_secret_basic"
        /// By a secret in the body.
        case clientSecretPost = "client_secret_post"
        /// By an assertion that the secret signs.
        case clientSecretJWT = "client_secret_jwt"
        /// By an assertion that its own key signs.
        case privateKeyJWT = "private_key_jwt"
    }

    /// Whether people are asked what the application may have.
    package enum Consent: String, Sendable, Codable {
        /// No: it is the organization's own.
        case none
        /// Once for what it asks for: it is somebody else's.
        case required
    }

    /// When the application gets a code by a browser's session alone, without a page.
    package enum SilentSignIn: String, Sendable, Codable {
        /// Where the answer can reach nobody who merely says to be the application: it authenticates, returns to an https address, or
        /// brings an id token that it was given before. Else the person is asked first (RFC 8252 section 8.6).
        case assured
        /// Whenever the session is enough: any program on the person's device can then get tokens in the application's name.
        case always
    }

    /// What a refresh does to the refresh token.
    package enum RefreshTokenRotation: Sendable, Equatable, Codable {
        /// The same token is used again.
        case `static`
        /// Each refresh gives a new one; the old one stays good for `leeway` seconds, 0 to 60.
        case rotate(leeway: Int)
    }

    /// Who may use the application.
    package struct Assignment: Sendable, Equatable, Codable {
        /// Everybody in the organization.
        package var everyone: Bool
        /// Names of groups.
        package var groups: [String]
        /// Logins of people.
        package var users: [String]

        /// Assigns an application.
        package init(everyone: Bool = false, groups: [String] = [], users: [String] = []) {
            self.everyone = everyone
            self.groups = groups
            self.users = users
        }

        /// Whether a person is among those who may use the application.
        ///
        /// - Parameter user: The person.
        /// - Returns: True if they, one of their groups, or everybody is assigned.
        package func includes(_ user: User) -> Bool {
            everyone || groups.contains(where: user.groups.contains)
                || users.contains { User.key(forLogin: $0) == User.key(forLogin: user.login) }
        }
    }

    /// The most bytes that an id has.
    static let longestID = 100

    /// The `client_id`.
    package var id: String
    /// The name that people see.
    package var name: String
    /// What it runs on.
    package var kind: Kind
    /// Whether it may be used at all.
    package var isActive: Bool
    /// How it authenticates.
    package var authentication: Authentication
    /// The client secret, for the methods that need one. Encrypted in the store; never shown.
    package var secret: String?
    /// The public keys of a `private_key_jwt` client.
    package var keys: JSONWebKeySet?
    /// The `grant_type` values that are enabled.
    package var grantTypes: [String]
    /// Where sign-in may return to, compared exactly.
    package var redirectURIs: [String]
    /// Where sign-out may return to, compared exactly.
    package var postLogoutRedirectURIs: [String]
    /// Who may use it.
    package var assignment: Assignment
    /// The name of its sign-on policy.
    package var signOnPolicy: String
    /// Scopes of the organization's own API (`okta.*`) that it may be granted.
    package var grantedAPIScopes: [String]
    /// What a refresh does to the refresh token.
    package var refreshTokenRotation: RefreshTokenRotation
    /// `RS256` unless the client registered another.
    package var idTokenAlgorithm: JWSAlgorithm
    /// Whether its tokens must be bound to a key: a token request without a proof is refused (RFC 9449 section 5.2).
    package var dpopBoundAccessTokens: Bool {
        get { bindsTokens ?? false }
        set { bindsTokens = newValue ? true : nil }
    }

    /// Whether people are asked what it may have, when they sign in to it with a browser.
    package var consent: Consent {
        get { asksForConsent == true ? .required : .none }
        set { asksForConsent = newValue == .required ? true : nil }
    }

    /// When it gets a code by a browser's session alone.
    package var silentSignIn: SilentSignIn {
        get { isAlwaysSilent == true ? .always : .assured }
        set { isAlwaysSilent = newValue == .always ? true : nil }
    }

    /// The app on Apple's systems, by its app ids (`ABCDE12345.com.example.app`): it may open this server's links and fill in its passwords.
    package var appleAppIDs: [String] {
        get { appleApps ?? [] }
        set { appleApps = newValue.isEmpty ? nil : newValue }
    }

    /// Whether a code needs a PKCE challenge (RFC 7636). `true` unless a client that authenticates opts out; a public client can't.
    package var requiresPKCE: Bool {
        get { isPKCEOptional != true }
        set { isPKCEOptional = newValue ? nil : true }
    }

    /// Whether an authorization request must be pushed first (RFC 9126 section 6, `require_pushed_authorization_requests`). `false` by
    /// default.
    package var requiresPushedAuthorizationRequests: Bool {
        get { pushesRequests ?? false }
        set { pushesRequests = newValue ? true : nil }
    }

    /// Whether the audience of a client assertion must be the issuer. `false` by default: then the token endpoint and the endpoint that is
    /// called are accepted too, each as the only audience.
    package var requiresIssuerAudience: Bool {
        get { hasStrictAudience ?? false }
        set { hasStrictAudience = newValue ? true : nil }
    }

    /// Whether a client assertion needs a `jti`, which is accepted once. `false` by default: without one, an assertion is valid until its
    /// `exp`.
    package var requiresAssertionID: Bool {
        get { needsAssertionID ?? false }
        set { needsAssertionID = newValue ? true : nil }
    }

    /// The audiences of the access tokens that the client may introspect; `nil` for all. It may always introspect its own tokens.
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
    /// Where it is told that a session of one of its people is over (OpenID Connect Back-Channel Logout 1.0); nil for nowhere.
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
        self.id = id
        self.name = name
        self.kind = kind
        self.isActive = isActive
        self.authentication = authentication
        self.secret = secret
        self.keys = keys
        self.grantTypes = grantTypes
        self.redirectURIs = redirectURIs
        self.postLogoutRedirectURIs = postLogoutRedirectURIs
        self.assignment = assignment
        self.signOnPolicy = signOnPolicy
        self.grantedAPIScopes = grantedAPIScopes
        self.refreshTokenRotation = refreshTokenRotation
        self.idTokenAlgorithm = idTokenAlgorithm
        self.dpopBoundAccessTokens = dpopBoundAccessTokens
        self.consent = consent
        self.silentSignIn = silentSignIn
        self.backchannelLogoutURI = backchannelLogoutURI
        self.appleAppIDs = appleAppIDs
    }

    /// Whether the client can keep a secret (RFC 6749 section 2.1).
    package var isConfidential: Bool { authentication != .none }

    /// Whether the client authenticates by a signed assertion (RFC 7523 section 2.2).
    var usesAssertions: Bool { authentication == .clientSecretJWT || authentication == .privateKeyJWT }
}

extension Application: Redacted {
    /// The client id and how it authenticates; never its secret.
    package var description: String { "Application(\(id), \(authentication.rawValue))" }
}
