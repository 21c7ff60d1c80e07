import Crypto
import IdentityCore
import JOSE
import TestSupport

/// The organization of the tests with pushes. Jane and John have passwords; the tests enroll the phones.
struct PushOrganization: Sendable {
    static let oob = "urn:okta:params:oauth:grant-type:oob"
    static let secondFactorOOB = "http://auth0.com/oauth/grant-type/mfa-oob"
    static let otp = "urn:okta:params:oauth:grant-type:otp"
    static let secondFactorOTP = "http://auth0.com/oauth/grant-type/mfa-otp"
    static let webAuthn = "urn:okta:params:oauth:grant-type:webauthn"
    static let secondFactorWebAuthn = "urn:okta:params:oauth:grant-type:mfa-webauthn"
    static let deviceCode = "urn:ietf:params:oauth:grant-type:device_code"
    static let tokenExchange = "urn:ietf:params:oauth:grant-type:token-exchange"
    static let ciba = "urn:openid:params:grant-type:ciba"
    static let jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer"
    static let manageScope = "okta.myAccount.appAuthenticator.manage"

    static let jane = OrganizationBuilder.jane
    static let janesPassword = OrganizationBuilder.janesPassword
    static let john = "john.roe@example.com"
    static let johnsPassword = "Battery-Staple-9"
    /// A user who has no password yet.
    static let newcomer = "nora.newman@example.com"

    var kind = PushAuthenticator.Kind.oktaVerify
    var numberChallenge = PushAuthenticator.NumberChallenge.never
    var userVerification = PushAuthenticator.UserVerification.preferred
    var isActive = true
    /// Whether users can enroll phones with the QR code of a sign-in page.
    var enrollsByTicket = false
    /// Whether the app with the loopback redirect URI gets codes by a session, without a page.
    var silentBrowserApp = true
    var passwordPolicy = PasswordPolicy(lockoutAttempts: 5, scryptLogN: 10)
    /// The algorithm of the default server's access tokens.
    var accessTokenAlgorithm = JWSAlgorithm.rs256
    /// The trusted issuers of the default authorization server.
    var trustedIssuers: [TrustedIssuer] = []
    /// The calling codes to which the server sends texts and calls; `nil` for all.
    var callingCodes: [String]?
    /// The settings of passkeys; `nil` if the organization does not offer them.
    var passkeys: PasskeyPolicy?
    /// The settings of recovery codes; `nil` if the organization does not offer them.
    var savedCodes: SavedCodesPolicy?
    /// The service that verifies codes of external tokens; `nil` for none.
    var tokenService: (any TokenService)?
    /// The lifetime of an `mfa_token`, in seconds.
    var mfaTokenLifetime = OrganizationDefinition.defaultMFATokenLifetime
    /// The source of breached passwords; `nil` for none.
    var breachedPasswords: (any BreachedPasswordSource)?
    /// The policy of the classic API; `nil` if the API is off.
    var classic: ClassicPolicy? = ClassicPolicy(signOnPolicy: "one factor")
    /// Whether the server trusts `X-Forwarded-For` from this machine, so that a test can send requests from several addresses.
    var trustsForwardedAddresses = false
    /// The password hasher; `nil` for the server's default.
    var passwordHasher: PasswordHasher?
    var rateLimits = RateLimits(perClient: 100_000, perAddress: 100_000, perAddressSignIns: 100_000, perUser: 100_000)

    func definition(origin: String) -> OrganizationDefinition {
        let servers = [
            OrganizationBuilder.server("default", scopes: ["messages.read"]) {
                $0.accessTokenAlgorithm = accessTokenAlgorithm
                $0.trustedIssuers = trustedIssuers
            },
            OrganizationBuilder.server("closed", rule: AccessRule(name: "passwords only", grantTypes: ["password"])),
        ]
        let applications = (Self.direct + Self.backchannel + Self.browser + Self.exceptional + [browserApp]).map(enabled)
        return OrganizationBuilder.definition(name: "Wire tests", origin: origin, servers: servers, applications: applications) {
            $0.signOnPolicies += [
                OrganizationBuilder.policy("recent", .oneFactor, reauthenticateAfter: 600),
                OrganizationBuilder.policy("deny-all", .deny),
                OrganizationBuilder.policy("often", .oneFactor, reauthenticateAfter: 300),
                OrganizationBuilder.policy("passkeys", .phishingResistant),
            ]
            ($0.passwordPolicy, $0.rateLimits, $0.mfaTokenLifetime) = (passwordPolicy, rateLimits, mfaTokenLifetime)
            ($0.classic, $0.callingCodes, $0.passkeys, $0.savedCodes) = (classic, callingCodes, passkeys, savedCodes)
            $0.authenticators = [
                PushAuthenticator(
                    id: "autphone1", kind: kind, name: "Phone", clientID: "phone-app", isActive: isActive,
                    userVerification: userVerification, numberChallenge: numberChallenge, credentials: Self.credentials)
            ]
            $0.users += [
                UserDefinition(login: Self.john, profile: ["name": "John Roe"], password: Self.johnsPassword),
                OrganizationBuilder.suspended,
                UserDefinition(login: Self.newcomer, profile: ["name": "Nora Newman"], status: .staged),
            ]
        }
    }

    /// Returns the application. With ``enrollsByTicket``, it may use the enrollment ticket grant; so may `other-app`, which has no
    /// authenticator.
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

    private static let direct: [Application] = [
        .app("phone-app", name: "Phone app", ["password", secondFactorOOB, jwtBearer]) { $0.grantedAPIScopes = [manageScope] },
        .app(
            "direct-app", name: "Direct app",
            ["password", "refresh_token", oob, secondFactorOOB, otp, secondFactorOTP, webAuthn, secondFactorWebAuthn],
            redirects: ["com.example.direct:/callback"], policy: "two factors"),
        .app("other-app", name: "Other app", ["password", oob, secondFactorOOB], policy: "two factors"),
        .app(
            "easy-app", name: "Easy app",
            ["password", "refresh_token", oob, secondFactorOOB, otp, secondFactorOTP, webAuthn, secondFactorWebAuthn]),
        .web(
            "back-end", name: "Back end", secret: "back-end-secret-01234", by: .clientSecretPost, ["password", oob, secondFactorOOB],
            policy: "two factors"),
        .app("password-app", name: "Password app", ["password", "refresh_token"], policy: "two factors"),
        .app("staff-app", name: "Staff app", ["password", oob, secondFactorOOB], groups: ["Staff"]),
        .app("denying-app", name: "Denying app", ["password", oob], policy: "deny-all"),
        .app("staff-passkey-app", name: "Staff passkey app", [webAuthn], groups: ["Staff"]),
        .app("denying-passkey-app", name: "Denying passkey app", [webAuthn], policy: "deny-all"),
    ]

    private var browserApp: Application {
        .app(
            "browser-app", name: "Browser app", ["authorization_code", "refresh_token", Self.deviceCode],
            redirects: ["http://127.0.0.1/callback", "com.example.app:/callback"], policy: "two factors"
        ) { $0.silentSignIn = silentBrowserApp ? .always : .assured }
    }

    private static let browser: [Application] = [
        .app(
            "sso-app", name: "First app", ["authorization_code", "password", "refresh_token", tokenExchange, secondFactorOOB],
            redirects: ["com.example.sso:/callback"]
        ) { $0.postLogoutRedirectURIs = ["com.example.sso:/bye"] },
        .app("second-sso-app", name: "Second app", ["refresh_token", tokenExchange]),
        .app("strict-sso-app", name: "Strict app", ["refresh_token", tokenExchange], policy: "two factors"),
        .app("staff-sso-app", name: "Staff's app", [tokenExchange], groups: ["Staff"]),
        .app("recent-sso-app", name: "App for the recent", [tokenExchange], policy: "recent"),
        .app("tv-app", name: "TV app", ["refresh_token", deviceCode]),
        .app("assertion-app", name: "App with assertions", ["refresh_token", jwtBearer]),
        .app("strict-assertion-app", name: "Strict app with assertions", [jwtBearer], policy: "two factors"),
        .app("strange-tv-app", name: "Strange TV app", [deviceCode]) { $0.consent = .required },
        .app("other-tv-app", name: "Other TV app", [deviceCode], groups: ["Staff"]),
        .app(
            "reading-app", name: "Reading app", ["authorization_code", "refresh_token"],
            redirects: ["https://reading.example.com/callback?source=id"]
        ) { $0.postLogoutRedirectURIs = ["https://reading.example.com/bye?from=id", "com.example.reading:/bye"] },
        .web(
            "web-app", name: "Web app", secret: "web-app-secret-01234", ["authorization_code", "refresh_token"],
            redirects: ["https://web.example.com/callback", "http://127.0.0.1/web"]
        ) {
            $0.postLogoutRedirectURIs = ["https://web.example.com/bye", "http://127.0.0.1/web-bye"]
            $0.grantedAPIScopes = [manageScope]
            $0.backchannelLogoutURI = "https://web.example.com/backchannel-logout"
        },
        .web(
            "strange-app", name: "Strange <app>", secret: "strange-app-secret-012", ["authorization_code", "refresh_token"],
            redirects: ["https://strange.example.com/callback"]
        ) { $0.consent = .required },
        .app("fresh-app", name: "Fresh app", ["authorization_code"], redirects: ["https://fresh.example.com/callback"], policy: "often"),
        .app(
            "passkey-app", name: "Passkey app", ["authorization_code", "password", secondFactorOTP, webAuthn, secondFactorWebAuthn],
            redirects: ["https://passkey.example.com/callback"], policy: "passkeys"),
        .app("no-code-app", name: "No code app", ["refresh_token"], redirects: ["https://nocode.example.com/callback"]),
        .app("closed-app", name: "Closed app", ["authorization_code"], redirects: ["https://closed.example.com/callback"]) {
            $0.isActive = false
        },
        .web(
            "staff-web-app", name: "Staff web app", secret: "staff-app-secret-0123", ["authorization_code"],
            redirects: ["https://staff.example.com/callback"], groups: ["Staff"]),
    ]

    /// Confidential clients with special rules for their authorization requests.
    private static let exceptional = {
        var legacy = Application.web(
            "legacy-app", name: "Legacy app", secret: "legacy-app-secret-0123", ["authorization_code"],
            redirects: ["https://legacy.example.com/callback"])
        legacy.requiresPKCE = false
        var pushing = legacy
        pushing.id = "pushing-app"
        pushing.requiresPKCE = true
        pushing.requiresPushedAuthorizationRequests = true
        pushing.secret = "pushing-app-secret-012"
        pushing.redirectURIs = ["https://pushing.example.com/callback"]
        return [legacy, pushing]
    }()

    private static let backchannel: [Application] = [
        .web("desk", name: "Help desk", secret: "help-desk-secret-0123", [ciba, "password", "refresh_token"]),
        .web("strict-desk", name: "Strict desk", secret: "strict-desk-secret-01", by: .clientSecretPost, [ciba], policy: "two factors"),
        .web("staff-desk", name: "Staff desk", secret: "staff-desk-secret-012", by: .clientSecretPost, [ciba], groups: ["Staff"]),
        .web("mute-desk", name: "Desk without the grant", secret: "mute-desk-secret-0123", by: .clientSecretPost, ["password"]),
        .app("public-desk", name: "Public desk", [ciba, "password"]),
    ]
}
