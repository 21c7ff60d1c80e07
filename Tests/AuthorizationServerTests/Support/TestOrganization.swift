import IdentityCore
import JOSE

/// The organization of the tests of the HTTP endpoints.
enum TestOrganization {
    static func definition(origin: String, rateLimits: RateLimits = RateLimits()) -> OrganizationDefinition {
        OrganizationDefinition(
            name: "Wire tests", origin: origin,
            authorizationServers: [
                AuthorizationServerDefinition(id: nil, name: "org"),
                AuthorizationServerDefinition(
                    id: "default", name: "default", audience: "api://default",
                    scopes: [
                        ScopeDefinition(name: "messages.read"), ScopeDefinition(name: "messages.secret", isPublic: false),
                    ],
                    accessPolicies: [AccessPolicy(name: "all", rules: [AccessRule(name: "all")])]),
                AuthorizationServerDefinition(
                    id: "closed", name: "closed", audience: "api://closed",
                    accessPolicies: [
                        AccessPolicy(name: "service only", rules: [AccessRule(name: "service", grantTypes: ["client_credentials"])])
                    ]),
            ],
            applications: applications, groups: [Group(name: "Staff")],
            signOnPolicies: [
                SignOnPolicy(name: "one factor", rules: [SignOnRule(name: "any", assurance: .oneFactor)]),
                SignOnPolicy(name: "two factors", rules: [SignOnRule(name: "any", assurance: .twoFactors)]),
            ],
            passwordPolicy: PasswordPolicy(lockoutAttempts: 5, scryptLogN: 10), rateLimits: rateLimits, users: users)
    }

    private static let applications = registered + strict

    private static let registered = [
        Application(
            id: "password-app", name: "Password app", kind: .native, grantTypes: ["password", "refresh_token"],
            assignment: .init(everyone: true), signOnPolicy: "one factor"),
        Application(
            id: "two-factor-app", name: "Two-factor app", kind: .native,
            grantTypes: ["password", "http://auth0.com/oauth/grant-type/mfa-otp"],
            assignment: .init(everyone: true), signOnPolicy: "two factors"),
        Application(
            id: "staff-app", name: "Staff app", kind: .native, grantTypes: ["password"], assignment: .init(groups: ["Staff"]),
            signOnPolicy: "one factor"),
        Application(
            id: "bound-app", name: "App with a key", kind: .native, grantTypes: ["password", "refresh_token"],
            assignment: .init(everyone: true), signOnPolicy: "one factor", dpopBoundAccessTokens: true),
        // This application lacks only the password grant for a sign-in with a password.
        Application(
            id: "refresh-app", name: "Refresh app", kind: .native, grantTypes: ["refresh_token"], assignment: .init(everyone: true),
            signOnPolicy: "one factor"),
        Application(
            id: "service-app", name: "Service", kind: .service, authentication: .clientSecret, secret: "service-app-secret+/%",
            grantTypes: ["client_credentials"], signOnPolicy: "one factor"),
        Application(
            id: "post-app", name: "Service by post", kind: .service, authentication: .clientSecretPost, secret: "post-app-secret-0123",
            grantTypes: ["client_credentials"], signOnPolicy: "one factor"),
        Application(
            id: "key-app", name: "Service with a key", kind: .service, authentication: .privateKeyJWT, keys: TestKeys.clientKeySet,
            grantTypes: ["client_credentials"], signOnPolicy: "one factor"),
    ]

    /// Clients with each rule for assertions and for introspection.
    private static let strict = {
        var key = Application(
            id: "strict-key-app", name: "Strict service", kind: .service, authentication: .privateKeyJWT, keys: TestKeys.clientKeySet,
            grantTypes: ["client_credentials"], signOnPolicy: "one factor")
        key.requiresIssuerAudience = true
        key.requiresAssertionID = true
        var api = Application(
            id: "api", name: "API", kind: .service, authentication: .clientSecretPost, secret: "api-secret-0123456789",
            grantTypes: ["client_credentials"], signOnPolicy: "one factor")
        api.introspectionAudiences = ["api://default"]
        var other = api
        other.id = "other-api"
        other.introspectionAudiences = ["api://closed"]
        var none = api
        none.id = "no-api"
        none.introspectionAudiences = []
        return [key, api, other, none]
    }()

    private static let users = [
        UserDefinition(
            login: "jane.doe@example.com",
            profile: [
                "given_name": "Jane", "family_name": "Doe", "name": "Jane Doe", "email": "jane.doe@example.com",
                "email_verified": true, "zoneinfo": "Europe/London",
            ],
            password: "Correct-Horse-7"),
        UserDefinition(login: "suspended@example.com", password: "Correct-Horse-8", status: .suspended),
    ]
}
