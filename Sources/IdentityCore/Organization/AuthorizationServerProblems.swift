internal import JOSE

extension DefinitionCheck {
    private static let reservedScopes: Set<String> = [
        "openid", "profile", "email", "address", "phone", "offline_access", "groups", "device_sso",
    ]
    private static let reservedClaims: Set<String> = [
        "ver", "jti", "iss", "aud", "iat", "exp", "cid", "uid", "scp", "sub", "auth_time", "nonce", "at_hash", "c_hash", "ds_hash",
        "sid", "amr", "acr", "idp", "cnf", "nbf", "azp", "act", "scope", "client_id", "active",
    ]
    static let grantTypes = Set(GrantType.all.map(\.name))

    mutating func server(_ server: AuthorizationServerDefinition, at index: Int) {
        let path: [Step] = [.key("authorizationServers"), .index(index)]
        if let id = server.id {
            if id == "v1" || id.utf8.count > 64 || !Self.isPathComponent(id) {
                problem(path + [.key("id")], "“\(id)” can not be part of an issuer. Use letters, digits, - and _, 64 at most, and not v1.")
            }
            if server.audience?.isEmpty ?? true {
                problem(path + [.key("audience")], "The server “\(id)” needs an audience for its access tokens, such as api://\(id).")
            }
            // The audience of an ID token is its client id, so an API could accept an ID token as an access token.
            if let audience = server.audience, clients.contains(audience) {
                problem(
                    path + [.key("audience")],
                    "The audience “\(audience)” is a client id, so ID tokens could pass for access tokens. Choose another, such as api://\(id)."
                )
            }
        }
        if server.accessTokenAlgorithm != .rs256 && server.accessTokenAlgorithm != .es256 {
            problem(path + [.key("accessTokenAlgorithm")], "Access tokens are signed with RS256 or ES256.")
        }
        scopes(of: server, path + [.key("scopes")])
        claims(of: server, path + [.key("claims")])
        trustedIssuers(of: server, path + [.key("trustedIssuers")])
        duplicates(server.accessPolicies.map(\.name), path + [.key("accessPolicies")], "name", "Access policy")
        for (index, policy) in server.accessPolicies.enumerated() {
            self.policy(policy, of: server, path + [.key("accessPolicies"), .index(index)])
        }
    }

    private static func isPathComponent(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                    UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    private mutating func scopes(of server: AuthorizationServerDefinition, _ path: [Step]) {
        duplicates(server.scopes.map(\.name), path, "name", "Scope")
        for (index, scope) in server.scopes.enumerated() {
            let path = path + [.index(index), .key("name")]
            let isToken = scope.name.utf8.allSatisfy { $0 == 0x21 || (0x23...0x5B).contains($0) || (0x5D...0x7E).contains($0) }
            if scope.name.isEmpty || !isToken { problem(path, "A scope is made of printable characters without space, \" and \\.") }
            if Self.reservedScopes.contains(scope.name) || scope.name.hasPrefix("okta.") {
                problem(path, "The scope “\(scope.name)” is reserved. It is there without being defined; remove it.")
            }
        }
    }

    private mutating func trustedIssuers(of server: AuthorizationServerDefinition, _ path: [Step]) {
        if server.id == nil, !server.trustedIssuers.isEmpty {
            problem(path, "The org server trusts no issuers. Name them at a custom server.")
        }
        duplicates(server.trustedIssuers.map(\.issuer), path, "issuer", "Trusted issuer")
        for (index, trusted) in server.trustedIssuers.enumerated() {
            let path = path + [.index(index)]
            if trusted.issuer.isEmpty || trusted.issuer == DeviceToken.maintenanceIssuer {
                problem(path + [.key("issuer")], "An issuer is the exact iss of its assertions, such as https://idp.example.com.")
            }
            if trusted.keys.keys.isEmpty {
                problem(path + [.key("keys")], "A trusted issuer needs its public keys, each a JSON Web Key with a kid.")
            }
            known(trusted.clients, clients, "application", path + [.key("clients")])
        }
    }

    private mutating func claims(of server: AuthorizationServerDefinition, _ path: [Step]) {
        let scopes = Self.reservedScopes.union(server.scopes.map(\.name))
        duplicates(server.claims.map { "\($0.name) of the \($0.destination.rawValue)" }, path, "name", "Claim")
        for (index, claim) in server.claims.enumerated() {
            let path = path + [.index(index)]
            if claim.name.isEmpty || Self.reservedClaims.contains(claim.name) {
                problem(path + [.key("name")], "The claim “\(claim.name)” belongs to the protocol. Choose another name.")
            }
            known(claim.scopes, scopes, "scope", path + [.key("scopes")])
        }
    }

    private mutating func policy(_ policy: AccessPolicy, of server: AuthorizationServerDefinition, _ path: [Step]) {
        let scopes = Self.reservedScopes.union(server.scopes.map(\.name))
        if policy.rules.isEmpty { problem(path, "The access policy “\(policy.name)” has no rule, so it allows nothing. Add one.") }
        known(policy.clients, clients, "application", path + [.key("clients")])
        duplicates(policy.rules.map(\.name), path + [.key("rules")], "name", "Rule")
        for (index, rule) in policy.rules.enumerated() {
            let path = path + [.key("rules"), .index(index)]
            known(rule.grantTypes, Self.grantTypes, "grant type", path + [.key("grantTypes")])
            known(rule.groups, groups, "group", path + [.key("groups")])
            known(rule.scopes?.filter { !$0.hasPrefix("okta.") }, scopes, "scope", path + [.key("scopes")])
            range(rule.accessTokenLifetime, 300...86_400, path + [.key("accessTokenLifetime")], "seconds")
            range(rule.refreshTokenIdleLifetime, 600...157_680_000, path + [.key("refreshTokenIdleLifetime")], "seconds")
            if let lifetime = rule.refreshTokenLifetime {
                range(
                    lifetime, min(max(600, rule.accessTokenLifetime), 157_680_000)...157_680_000, path + [.key("refreshTokenLifetime")],
                    "seconds")
            }
        }
    }
}
