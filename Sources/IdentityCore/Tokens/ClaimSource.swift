internal import Foundation
package import JOSE

/// Maps scopes to claims about the user (OpenID Connect Core section 5.4; Documentation/Protocol/OAuth.md §3.3 and §3.4). Without `openid`,
/// the OpenID Connect scopes add no claims. Attributes that are absent or null are omitted.
package struct ClaimSource: Sendable {
    package let user: User
    package let server: AuthorizationServerDefinition
    package let scopes: [String]

    package init(user: User, server: AuthorizationServerDefinition, scopes: [String]) {
        (self.user, self.server, self.scopes) = (user, server, scopes)
    }

    /// The claims of the scope `profile`.
    static let profile = [
        "name", "family_name", "given_name", "middle_name", "nickname", "preferred_username", "profile", "picture", "website", "gender",
        "birthdate", "zoneinfo", "locale", "updated_at",
    ]
    private static let byScope: [String: [String]] = [
        "profile": profile, "email": ["email", "email_verified"], "phone": ["phone_number", "phone_number_verified"],
        "address": ["address"],
    ]
    /// The maximum number of values in a `groups` claim; more values fail the request.
    static let mostGroups = 100

    private func has(_ scope: String) -> Bool { scopes.contains(ScopeRequest.openID) && scopes.contains(scope) }

    /// Whether the scope `openid` was granted, which userinfo requires.
    package var isOpenID: Bool { scopes.contains(ScopeRequest.openID) }

    /// Returns the user's claims in an id token that is issued with an access token: name, mail address and groups. Userinfo returns the
    /// others.
    func forIDToken() throws(Refusal) -> [String: JSONValue] {
        var claims: [String: JSONValue] = [:]
        if has("profile") {
            claims["name"] = attribute("name")
            claims["preferred_username"] = attribute("preferred_username")
        }
        if has("email") { claims["email"] = attribute("email") }
        if server.id == nil && has(ScopeRequest.groups) { claims["groups"] = try groups(prefix: "") }
        return claims
    }

    /// Returns the claims of the userinfo endpoint except `sub`.
    package func forUserInfo() throws(Refusal) -> [String: JSONValue] {
        var claims: [String: JSONValue] = [:]
        for (scope, names) in Self.byScope where has(scope) {
            for name in names { claims[name] = attribute(name) }
        }
        if server.id == nil && has(ScopeRequest.groups) { claims["groups"] = try groups(prefix: "") }
        return claims
    }

    private func attribute(_ name: String) -> JSONValue? {
        if name == "updated_at" { return .integer(user.updatedAt.numericDate) }
        if let value = user.profile[name], !value.isNull { return value }
        switch name {
        case "preferred_username":
            return .string(user.login)
        case "name":
            let parts = ["given_name", "family_name"].compactMap { user.profile[$0]?.stringValue }
            return parts.isEmpty ? nil : .string(parts.joined(separator: " "))
        default:
            return nil
        }
    }

    private func groups(prefix: String) throws(Refusal) -> JSONValue {
        let matches = user.groups.filter { $0.hasPrefix(prefix) }.sorted()
        guard matches.count <= Self.mostGroups else {
            throw Refusal(
                .invalidRequest, "The groups claim would have more than \(Self.mostGroups) values.", reason: "claims.too_many_groups")
        }
        return JSONValue(matches)
    }

    /// Returns the claims that a custom server adds to one of its tokens; the org server adds none. Claims without a value are omitted. For
    /// a client (`user` is `nil`), only constants have a value. Throws ``Refusal`` with `invalid_request` if a `groups` claim would have
    /// too many values.
    package static func custom(
        of server: AuthorizationServerDefinition, for destination: ClaimDefinition.Destination, scopes: [String], user: User?
    ) throws(Refusal) -> [String: JSONValue] {
        guard server.id != nil else { return [:] }
        var claims: [String: JSONValue] = [:]
        for claim in server.claims where claim.destination == destination {
            guard claim.scopes.isEmpty || claim.scopes.contains(where: scopes.contains) else { continue }
            switch claim.source {
            case .constant(let text):
                claims[claim.name] = .string(text)
            case .profile(let name):
                if let value = user?.profile[name], !value.isNull { claims[claim.name] = value }
            case .groups(let prefix):
                guard let user else { continue }
                claims[claim.name] = try ClaimSource(user: user, server: server, scopes: scopes).groups(prefix: prefix)
            }
        }
        return claims
    }
}
