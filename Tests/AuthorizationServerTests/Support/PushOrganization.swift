import Crypto
import IdentityCore
import JOSE

/// The organization of the tests with pushes. Jane and John have passwords; the tests enrol the phones.
struct PushOrganization: Sendable {
    static let oob = "urn:okta:params:oauth:grant-type:oob"
    static let secondFactorOOB = "http://auth0.com/oauth/grant-type/mfa-oob"
    static let otp = "urn:okta:params:oauth:grant-type:otp"
    static let secondFactorOTP = "http://auth0.com/oauth/grant-type/mfa-otp"
    static let deviceCode = "urn:ietf:params:oauth:grant-type:device_code"
    static let tokenExchange = "urn:ietf:params:oauth:grant-type:token-exchange"
    static let ciba = "urn:openid:params:grant-type:ciba"
    static let jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer"
    static let manageScope = "okta.myAccount.appAuthenticator.manage"

    static let jane = "jane.doe@example.com"
    static let janesPassword = "Correct-Horse-7"
    static let john = "john.roe@example.com"
    static let johnsPassword = "Battery-Staple-9"
    /// A user who has no password yet.
    static let newcomer = "nora.newman@example.com"

    var kind = PushAuthenticator.Kind.oktaVerify
    var numberChallenge = PushAuthenticator.NumberChallenge.never
    var userVerification = PushAuthenticator.UserVerification.preferred
    var isActive = true
    /// Whether users can enrol phones with the QR code of a sign-in page.
    var enrollsByTicket = false
    /// Whether the app with the loopback redirect URI gets codes with a session alone.
    var silentBrowserApp = true
    var passwordPolicy = PasswordPolicy(lockoutAttempts: 5, scryptLogN: 10)
    /// The algorithm of the default server's access tokens.
    var accessTokenAlgorithm = JWSAlgorithm.rs256
    /// The trusted issuers of the default authorization server.
    var trustedIssuers: [TrustedIssuer] = []
    /// The calling codes to which the server sends texts and calls; nil for all.
    var callingCodes: [String]?
    /// The service that verifies codes of external tokens.
    var tokenService: (any TokenService)?
    /// The lifetime of an `mfa_token`, in seconds.
    var mfaTokenLifetime = OrganizationDefinition.defaultMFATokenLifetime
    /// The lookup of breached passwords.
    var breachedPasswords: (any BreachedPasswordSource)?
    /// The policy of the Authn API.
    var classic: ClassicPolicy? = ClassicPolicy(signOnPolicy: "one factor")
    /// Whether the server trusts `X-Forwarded-For` from this machine, so that a test can send requests from several addresses.
    var trustsForwardedAddresses = false
    /// The password hasher; `nil` for the server's default.
    var passwordHasher: PasswordHasher?
    var rateLimits = RateLimits(perClient: 100_000, perAddress: 100_000, perAddressSignIns: 100_000, perUser: 100_000)

    func definition(origin: String) -> OrganizationDefinition {
        OrganizationDefinition(
            name: "Wire tests", origin: origin,
            authorizationServers: [
                AuthorizationServerDefinition(id: nil, name: "org"),
                AuthorizationServerDefinition(
                    id: "default", name: "default", audience: "api://default",
                    scopes: [ScopeDefinition(name: "messages.read")], accessTokenAlgorithm: accessTokenAlgorithm,
                    accessPolicies: [AccessPolicy(name: "all", rules: [AccessRule(name: "all")])], trustedIssuers: trustedIssuers),
                AuthorizationServerDefinition(
                    id: "closed", name: "closed", audience: "api://closed",
                    accessPolicies: [
                        AccessPolicy(name: "passwords", rules: [AccessRule(name: "passwords only", grantTypes: ["password"])])
                    ]),
            ],
            applications: (Self.direct + Self.backchannel + Self.browser + Self.exceptional + [browserApp]).map(enabled),
            groups: [Group(name: "Staff")],
            signOnPolicies: [
                SignOnPolicy(name: "one factor", rules: [SignOnRule(name: "any", assurance: .oneFactor)]),
                SignOnPolicy(name: "recent", rules: [SignOnRule(name: "any", assurance: .oneFactor, reauthenticateAfter: 600)]),
                SignOnPolicy(name: "two factors", rules: [SignOnRule(name: "any", assurance: .twoFactors)]),
                SignOnPolicy(name: "deny-all", rules: [SignOnRule(name: "any", assurance: .deny)]),
                SignOnPolicy(name: "often", rules: [SignOnRule(name: "any", assurance: .oneFactor, reauthenticateAfter: 300)]),
            ],
            passwordPolicy: passwordPolicy, rateLimits: rateLimits,
            authenticators: [
                PushAuthenticator(
                    id: "autphone1", kind: kind, name: "Phone", clientID: "phone-app", isActive: isActive,
                    userVerification: userVerification, numberChallenge: numberChallenge, credentials: Self.credentials)
            ],
            classic: classic, callingCodes: callingCodes, mfaTokenLifetime: mfaTokenLifetime,
            users: [
                UserDefinition(
                    login: Self.jane, profile: ["name": "Jane Doe", "email": "jane.doe@example.com"], password: Self.janesPassword),
                UserDefinition(login: Self.john, profile: ["name": "John Roe"], password: Self.johnsPassword),
                UserDefinition(login: "suspended@example.com", password: "Correct-Horse-8", status: .suspended),
                UserDefinition(login: Self.newcomer, profile: ["name": "Nora Newman"], status: .staged),
            ])
    }

    /// Returns the application, with the enrolment ticket grant if the test wants it. `other-app` gets it without an authenticator.
    private func enabled(_ application: Application) -> Application {
        var application = application
        if enrollsByTicket, ["phone-app", "other-app"].contains(application.id) {
            application.grantTypes.append("urn:countersign:params:oauth:grant-type:enrollment-ticket")
        }
        return application
    }

    private static let credentials = PushAuthenticator.Credentials(
        teamID: "TEAM012345", keyID: "KEY0123456", privateKey: P256.Signing.PrivateKey().pemRepresentation, topic: "com.example.phone",
        developmentTopic: "com.example.phone.debug")

    private static let direct = [
        Application(
            id: "phone-app", name: "Phone app", kind: .native, grantTypes: ["password", secondFactorOOB, jwtBearer],
            assignment: .init(everyone: true), signOnPolicy: "one factor", grantedAPIScopes: [manageScope]),
        Application(
            id: "direct-app", name: "Direct app", kind: .native,
            grantTypes: ["password", "refresh_token", oob, secondFactorOOB, otp, secondFactorOTP],
            redirectURIs: ["com.example.direct:/callback"], assignment: .init(everyone: true), signOnPolicy: "two factors"),
        Application(
            id: "other-app", name: "Other app", kind: .native, grantTypes: ["password", oob, secondFactorOOB],
            assignment: .init(everyone: true), signOnPolicy: "two factors"),
        Application(
            id: "easy-app", name: "Easy app", kind: .native,
            grantTypes: ["password", "refresh_token", oob, secondFactorOOB, otp, secondFactorOTP],
            assignment: .init(everyone: true), signOnPolicy: "one factor"),
        Application(
            id: "back-end", name: "Back end", kind: .web, authentication: .clientSecretPost, secret: "back-end-secret-01234",
            grantTypes: ["password", oob, secondFactorOOB], assignment: .init(everyone: true), signOnPolicy: "two factors"),
        Application(
            id: "password-app", name: "Password app", kind: .native, grantTypes: ["password", "refresh_token"],
            assignment: .init(everyone: true), signOnPolicy: "two factors"),
        Application(
            id: "staff-app", name: "Staff app", kind: .native, grantTypes: ["password", oob, secondFactorOOB],
            assignment: .init(groups: ["Staff"]), signOnPolicy: "one factor"),
        Application(
            id: "denying-app", name: "Denying app", kind: .native, grantTypes: ["password", oob], assignment: .init(everyone: true),
            signOnPolicy: "deny-all"),
    ]

    private var browserApp: Application {
        Application(
            id: "browser-app", name: "Browser app", kind: .native,
            grantTypes: ["authorization_code", "refresh_token", Self.deviceCode],
            redirectURIs: ["http://127.0.0.1/callback", "com.example.app:/callback"], assignment: .init(everyone: true),
            signOnPolicy: "two factors", silentSignIn: silentBrowserApp ? .always : .assured)
    }

    private static let browser = [
        Application(
            id: "sso-app", name: "First app", kind: .native,
            grantTypes: ["authorization_code", "password", "refresh_token", tokenExchange, secondFactorOOB],
            redirectURIs: ["com.example.sso:/callback"], postLogoutRedirectURIs: ["com.example.sso:/bye"],
            assignment: .init(everyone: true), signOnPolicy: "one factor"),
        Application(
            id: "second-sso-app", name: "Second app", kind: .native, grantTypes: ["refresh_token", tokenExchange],
            assignment: .init(everyone: true), signOnPolicy: "one factor"),
        Application(
            id: "strict-sso-app", name: "Strict app", kind: .native, grantTypes: ["refresh_token", tokenExchange],
            assignment: .init(everyone: true), signOnPolicy: "two factors"),
        Application(
            id: "staff-sso-app", name: "Staff's app", kind: .native, grantTypes: [tokenExchange], assignment: .init(groups: ["Staff"]),
            signOnPolicy: "one factor"),
        Application(
            id: "recent-sso-app", name: "App for the recent", kind: .native, grantTypes: [tokenExchange],
            assignment: .init(everyone: true), signOnPolicy: "recent"),
        Application(
            id: "tv-app", name: "TV app", kind: .native, grantTypes: ["refresh_token", deviceCode], assignment: .init(everyone: true),
            signOnPolicy: "one factor"),
        Application(
            id: "assertion-app", name: "App with assertions", kind: .native, grantTypes: ["refresh_token", jwtBearer],
            assignment: .init(everyone: true), signOnPolicy: "one factor"),
        Application(
            id: "strict-assertion-app", name: "Strict app with assertions", kind: .native, grantTypes: [jwtBearer],
            assignment: .init(everyone: true), signOnPolicy: "two factors"),
        Application(
            id: "strange-tv-app", name: "Strange TV app", kind: .native, grantTypes: [deviceCode], assignment: .init(everyone: true),
            signOnPolicy: "one factor", consent: .required),
        Application(
            id: "other-tv-app", name: "Other TV app", kind: .native, grantTypes: [deviceCode], assignment: .init(groups: ["Staff"]),
            signOnPolicy: "one factor"),
        Application(
            id: "reading-app", name: "Reading app", kind: .native, grantTypes: ["authorization_code", "refresh_token"],
            redirectURIs: ["https://reading.example.com/callback?source=id"],
            postLogoutRedirectURIs: ["https://reading.example.com/bye?from=id", "com.example.reading:/bye"],
            assignment: .init(everyone: true), signOnPolicy: "one factor"),
        Application(
            id: "web-app", name: "Web app", kind: .web, authentication: .clientSecretBasic, secret: "web-app-secret-01234",
            grantTypes: ["authorization_code", "refresh_token"],
            redirectURIs: ["https://web.example.com/callback", "http://127.0.0.1/web"],
            postLogoutRedirectURIs: ["https://web.example.com/bye", "http://127.0.0.1/web-bye"],
            assignment: .init(everyone: true), signOnPolicy: "one factor", grantedAPIScopes: [manageScope],
            backchannelLogoutURI: "https://web.example.com/backchannel-logout"),
        Application(
            id: "strange-app", name: "Strange <app>", kind: .web, authentication: .clientSecretBasic, secret: "strange-app-secret-012",
            grantTypes: ["authorization_code", "refresh_token"], redirectURIs: ["https://strange.example.com/callback"],
            assignment: .init(everyone: true), signOnPolicy: "one factor", consent: .required),
        Application(
            id: "fresh-app", name: "Fresh app", kind: .native, grantTypes: ["authorization_code"],
            redirectURIs: ["https://fresh.example.com/callback"], assignment: .init(everyone: true), signOnPolicy: "often"),
        Application(
            id: "no-code-app", name: "No code app", kind: .native, grantTypes: ["refresh_token"],
            redirectURIs: ["https://nocode.example.com/callback"], assignment: .init(everyone: true), signOnPolicy: "one factor"),
        Application(
            id: "closed-app", name: "Closed app", kind: .native, isActive: false, grantTypes: ["authorization_code"],
            redirectURIs: ["https://closed.example.com/callback"], assignment: .init(everyone: true), signOnPolicy: "one factor"),
        Application(
            id: "staff-web-app", name: "Staff web app", kind: .web, authentication: .clientSecretBasic, secret: "staff-app-secret-0123",
            grantTypes: ["authorization_code"], redirectURIs: ["https://staff.example.com/callback"],
            assignment: .init(groups: ["Staff"]), signOnPolicy: "one factor"),
    ]

    /// Confidential clients with special rules for their authorization requests.
    private static let exceptional = {
        var legacy = Application(
            id: "legacy-app", name: "Legacy app", kind: .web, authentication: .clientSecretBasic, secret: "legacy-app-secret-0123",
            grantTypes: ["authorization_code"], redirectURIs: ["https://legacy.example.com/callback"],
            assignment: .init(everyone: true), signOnPolicy: "one factor")
        legacy.requiresPKCE = false
        var pushing = legacy
        pushing.id = "pushing-app"
        pushing.requiresPKCE = true
        pushing.requiresPushedAuthorizationRequests = true
        pushing.secret = "pushing-app-secret-012"
        pushing.redirectURIs = ["https://pushing.example.com/callback"]
        return [legacy, pushing]
    }()

    private static let backchannel = [
        Application(
            id: "desk", name: "Help desk", kind: .web, authentication: .clientSecretBasic, secret: "help-desk-secret-0123",
            grantTypes: [ciba, "password", "refresh_token"], assignment: .init(everyone: true), signOnPolicy: "one factor"),
        Application(
            id: "strict-desk", name: "Strict desk", kind: .web, authentication: .clientSecretPost, secret: "strict-desk-secret-01",
            grantTypes: [ciba], assignment: .init(everyone: true), signOnPolicy: "two factors"),
        Application(
            id: "staff-desk", name: "Staff desk", kind: .web, authentication: .clientSecretPost, secret: "staff-desk-secret-012",
            grantTypes: [ciba], assignment: .init(groups: ["Staff"]), signOnPolicy: "one factor"),
        Application(
            id: "mute-desk", name: "Desk without the grant", kind: .web, authentication: .clientSecretPost, secret: "mute-desk-secret-0123",
            grantTypes: ["password"], assignment: .init(everyone: true), signOnPolicy: "one factor"),
        Application(
            id: "public-desk", name: "Public desk", kind: .native, grantTypes: [ciba, "password"], assignment: .init(everyone: true),
            signOnPolicy: "one factor"),
    ]
}
