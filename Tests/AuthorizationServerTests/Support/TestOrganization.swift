import IdentityCore
import JOSE
import TestSupport

/// The organization of the tests of the HTTP endpoints.
enum TestOrganization {
    static func definition(origin: String, rateLimits: RateLimits = RateLimits()) -> OrganizationDefinition {
        let servers = [
            OrganizationBuilder.server("default", scopes: ["messages.read"]) {
                $0.scopes.append(ScopeDefinition(name: "messages.secret", isPublic: false))
            },
            OrganizationBuilder.server("closed", rule: AccessRule(name: "service", grantTypes: ["client_credentials"])),
        ]
        return OrganizationBuilder.definition(name: "Wire tests", origin: origin, servers: servers, applications: applications) {
            $0.rateLimits = rateLimits
            let profile: [String: JSONValue] = [
                "given_name": "Jane", "family_name": "Doe", "name": "Jane Doe", "email": "jane.doe@example.com",
                "email_verified": true, "zoneinfo": "Europe/London",
            ]
            $0.users = [OrganizationBuilder.user(profile), OrganizationBuilder.suspended]
        }
    }

    private static let applications = registered + strict

    private static let registered: [Application] = [
        .app("password-app", name: "Password app", ["password", "refresh_token"]),
        .app("two-factor-app", name: "Two-factor app", ["password", "http://auth0.com/oauth/grant-type/mfa-otp"], policy: "two factors"),
        .app("staff-app", name: "Staff app", ["password"], groups: ["Staff"]),
        .app("bound-app", name: "App with a key", ["password", "refresh_token"]) { $0.dpopBoundAccessTokens = true },
        // This application could sign users in with a password, except that the password grant is not enabled.
        .app("refresh-app", name: "Refresh app", ["refresh_token"]),
        .service("service-app", name: "Service", secret: "service-app-secret+/%", by: .clientSecret),
        .service("post-app", name: "Service by post", secret: "post-app-secret-0123", by: .clientSecretPost),
        .service("key-app", name: "Service with a key", by: .privateKeyJWT) { $0.keys = TestKeys.clientKeySet },
    ]

    /// Clients that each have one of the rules for assertions or for introspection.
    private static let strict = {
        var key = Application.service("strict-key-app", name: "Strict service", by: .privateKeyJWT) { $0.keys = TestKeys.clientKeySet }
        key.requiresIssuerAudience = true
        key.requiresAssertionID = true
        var api = Application.service("api", name: "API", secret: "api-secret-0123456789", by: .clientSecretPost)
        api.introspectionAudiences = ["api://default"]
        var other = api
        other.id = "other-api"
        other.introspectionAudiences = ["api://closed"]
        var none = api
        none.id = "no-api"
        none.introspectionAudiences = []
        return [key, api, other, none]
    }()
}
