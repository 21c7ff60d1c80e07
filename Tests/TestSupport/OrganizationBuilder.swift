package import IdentityCore
package import JOSE

/// Builds the organizations that tests define in code. Test targets add applications and change the definitions.
package enum OrganizationBuilder {
    package static let jane = "jane.doe@example.com"
    package static let janesPassword = "Correct-Horse-7"
    /// An account that cannot sign in.
    package static let suspended = UserDefinition(login: "suspended@example.com", password: "Correct-Horse-8", status: .suspended)

    /// Returns an organization with Jane, one group, the policies `one factor` and `two factors`, and fast password hashes.
    /// - Parameter servers: The authorization servers in addition to the org server.
    package static func definition(
        name: String = "Test", origin: String = "https://id.test", servers: [AuthorizationServerDefinition] = [],
        applications: [Application], _ change: (inout OrganizationDefinition) -> Void = { _ in }
    ) -> OrganizationDefinition {
        var definition = OrganizationDefinition(
            name: name, origin: origin,
            authorizationServers: [AuthorizationServerDefinition(id: nil, name: "Organization")] + servers,
            applications: applications, groups: [Group(name: "Staff")],
            signOnPolicies: [policy("one factor", .oneFactor), policy("two factors", .twoFactors)],
            passwordPolicy: PasswordPolicy(lockoutAttempts: 5, scryptLogN: 10), users: [user()])
        change(&definition)
        return definition
    }

    /// Returns an authorization server whose access policy is one rule.
    package static func server(
        _ id: String, scopes: [String] = [], rule: AccessRule = AccessRule(name: "all"),
        _ change: (inout AuthorizationServerDefinition) -> Void = { _ in }
    ) -> AuthorizationServerDefinition {
        var server = AuthorizationServerDefinition(
            id: id, name: id, audience: "api://\(id)", scopes: scopes.map { ScopeDefinition(name: $0) },
            accessPolicies: [AccessPolicy(name: "everyone", rules: [rule])])
        change(&server)
        return server
    }

    /// Returns a sign-on policy of one rule.
    package static func policy(_ name: String, _ assurance: SignOnRule.Assurance, reauthenticateAfter: Int? = nil) -> SignOnPolicy {
        SignOnPolicy(name: name, rules: [SignOnRule(name: "any", assurance: assurance, reauthenticateAfter: reauthenticateAfter)])
    }

    /// Returns the definition of Jane with a profile.
    package static func user(_ profile: [String: JSONValue] = ["name": "Jane Doe", "email": "jane.doe@example.com"]) -> UserDefinition {
        UserDefinition(login: jane, profile: profile, password: janesPassword)
    }
}

extension Application {
    /// Returns a native app. It is assigned to the groups, or to every user if `groups` is `nil`.
    package static func app(
        _ id: String, name: String? = nil, _ grantTypes: [String], redirects: [String] = [], groups: [String]? = nil,
        policy: String = "one factor", _ change: (inout Application) -> Void = { _ in }
    ) -> Application {
        var application = Application(
            id: id, name: name ?? id, kind: .native, grantTypes: grantTypes, redirectURIs: redirects,
            assignment: groups.map { Assignment(groups: $0) } ?? Assignment(everyone: true), signOnPolicy: policy)
        change(&application)
        return application
    }

    /// Returns a web application with a secret.
    package static func web(
        _ id: String, name: String? = nil, secret: String, by method: Authentication = .clientSecretBasic, _ grantTypes: [String],
        redirects: [String] = [], groups: [String]? = nil, policy: String = "one factor", _ change: (inout Application) -> Void = { _ in }
    ) -> Application {
        app(id, name: name, grantTypes, redirects: redirects, groups: groups, policy: policy) { application in
            (application.kind, application.authentication, application.secret) = (.web, method, secret)
            change(&application)
        }
    }

    /// Returns a service that requests tokens for itself.
    package static func service(
        _ id: String, name: String? = nil, secret: String? = nil, by method: Authentication,
        _ change: (inout Application) -> Void = { _ in }
    ) -> Application {
        app(id, name: name, ["client_credentials"]) { application in
            (application.kind, application.authentication, application.secret) = (.service, method, secret)
            application.assignment = Assignment()
            change(&application)
        }
    }
}
