/// The parsed `scope` parameter of a request (RFC 6749 section 3.3). A server offers the reserved OpenID Connect scopes, its own scopes,
/// and the scopes of the organization's API (`okta.*`) that the client was granted. Any other scope fails the request with `invalid_scope`.
/// Two rules where the protocol leaves a choice:
/// - `offline_access` is dropped without an error if the client has no `refresh_token` grant or there is no user. The `scope` of the
///   response shows this (OpenID Connect Core section 11).
/// - Without `openid`, the other OpenID Connect scopes stay in the response but add no claims (see ``ClaimSource``).
package struct ScopeRequest: Sendable, Equatable {
    package static let openID = "openid"
    package static let offlineAccess = "offline_access"
    static let groups = "groups"
    /// The scope that requests a device secret (Documentation/Protocol/OAuth.md §3.4): on custom servers, for apps that may exchange the
    /// secret.
    package static let deviceSSO = "device_sso"
    /// The scopes that every server offers.
    static let reserved: Set<String> = ["openid", "profile", "email", "address", "phone", "offline_access"]
    /// The reserved scopes that add claims about the user.
    package static let profile: Set<String> = ["profile", "email", "address", "phone"]
    /// Scopes that require a sign-in by the user at the org server. Refreshed tokens do not have them (Documentation/Protocol/Devices.md
    /// §1.2).
    package static let interactive: Set<String> = ["okta.myAccount.appAuthenticator.manage"]
    /// The maximum length of the parameter, in bytes.
    static let longest = 4096

    /// The distinct names in the requested order; empty if no scope was requested.
    package let names: [String]

    /// Parses the parameter. Throws ``Refusal`` with `invalid_scope` if it is too long or malformed.
    package init(_ parameter: String?) throws(Refusal) {
        guard let parameter, !parameter.isEmpty else {
            names = []
            return
        }
        guard parameter.utf8.count <= Self.longest else {
            throw Refusal(.invalidScope, "The scope parameter may have at most \(Self.longest) characters.", reason: "scope.too_long")
        }
        var seen: Set<String> = []
        var names: [String] = []
        for name in parameter.utf8.split(separator: UInt8(ascii: " ")) {
            guard name.allSatisfy(Self.isAllowed) else {
                throw Refusal(.invalidScope, "The scope parameter contains a character that scopes cannot have.", reason: "scope.malformed")
            }
            let name = String(Substring(name))
            if seen.insert(name).inserted { names.append(name) }
        }
        self.names = names
    }

    /// Whether a byte is permitted in a `scope-token` (RFC 6749 section 3.3).
    private static func isAllowed(_ byte: UInt8) -> Bool {
        byte == 0x21 || (0x23...0x5B).contains(byte) || (0x5D...0x7E).contains(byte)
    }

    /// Returns the scopes of a grant for a user. Throws ``Refusal`` with `invalid_scope` if a scope is not offered, or none was requested
    /// and the server has no default scopes.
    package func grantedToUser(of application: Application, by server: AuthorizationServerDefinition) throws(Refusal) -> [String] {
        let wanted = try namesOrDefaults(of: server)
        let offersRefresh = application.grantTypes.contains(GrantType.refreshToken)
        var granted: [String] = []
        for name in wanted {
            if name == Self.offlineAccess && !offersRefresh { continue }
            guard
                Self.reserved.contains(name) || (name == Self.groups && server.id == nil) || Self.isOwn(name, of: server, for: application)
                    || (name == Self.deviceSSO && server.id != nil && application.grantTypes.contains(GrantType.tokenExchange))
            else {
                throw Self.unknown(name, reason: "scope.not_offered")
            }
            granted.append(name)
        }
        guard !granted.contains(Self.deviceSSO) || (granted.contains(Self.openID) && granted.contains(Self.offlineAccess)) else {
            throw Refusal(
                .invalidScope, "The scope device_sso goes with openid and offline_access only.", reason: "scope.device_sso_alone")
        }
        return granted
    }

    /// Returns the scopes of a grant for the client itself: the server's own scopes and the scopes of the organization's API
    /// (Documentation/Protocol/OAuth.md §2.4.3). Throws ``Refusal`` with `invalid_scope` if a scope is not offered, or none was requested
    /// and the server has no default scopes.
    package func grantedToClient(_ application: Application, by server: AuthorizationServerDefinition) throws(Refusal) -> [String] {
        let wanted = try namesOrDefaults(of: server)
        for name in wanted where !Self.isOwn(name, of: server, for: application) || Self.interactive.contains(name) {
            let needsUser = Self.isReserved(name) || Self.interactive.contains(name)
            throw Self.unknown(name, reason: needsUser ? "scope.needs_user" : "scope.not_offered")
        }
        return wanted
    }

    /// Returns the scopes of a refresh: the requested subset, or all original scopes except those that require a sign-in. Throws
    /// ``Refusal`` with `invalid_scope` for any other scope.
    package func narrowing(_ granted: [String]) throws(Refusal) -> [String] {
        let original = granted.filter { !Self.interactive.contains($0) }
        for name in names where !original.contains(name) {
            throw Refusal(.invalidScope, "A refresh cannot ask for more scopes than were granted.", reason: "scope.wider_than_grant")
        }
        return names.isEmpty ? original : names
    }

    private func namesOrDefaults(of server: AuthorizationServerDefinition) throws(Refusal) -> [String] {
        if !names.isEmpty { return names }
        let defaults = server.scopes.filter(\.isDefault).map(\.name)
        guard !defaults.isEmpty else {
            throw Refusal(.invalidScope, "The request names no scope, and the server has no default ones.", reason: "scope.missing")
        }
        return defaults
    }

    private static func isReserved(_ name: String) -> Bool { reserved.contains(name) || name == groups || name == deviceSSO }

    private static func isOwn(_ name: String, of server: AuthorizationServerDefinition, for application: Application) -> Bool {
        if name.hasPrefix("okta.") {
            let isOffered = server.id == nil || (name.hasPrefix("okta.myAccount.") && !interactive.contains(name))
            return isOffered && application.grantedAPIScopes.contains(name)
        }
        return !isReserved(name) && server.scopes.contains { $0.name == name }
    }

    private static func unknown(_ name: String, reason: String) -> Refusal {
        Refusal(.invalidScope, "One or more scopes are not available to this client on this authorization server: \(name).", reason: reason)
    }
}
