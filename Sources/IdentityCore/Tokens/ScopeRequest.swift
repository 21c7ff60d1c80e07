/// The `scope` parameter of a request, read and judged (RFC 6749 section 3.3).
///
/// A pure value. What a server offers is: the reserved OpenID Connect scopes, its own scopes, and the scopes of the
/// organization's API (`okta.*`) that the client was granted. Anything else refuses the request with `invalid_scope`.
/// Two rules that the protocol leaves open:
/// - `offline_access` is dropped, not refused, when the client has no `refresh_token` grant or there is no user; the answer's
///   `scope` tells so (OpenID Connect Core section 11).
/// - Without `openid` the other OpenID Connect scopes stay in the answer but open no claims (see ``ClaimSource``).
package struct ScopeRequest: Sendable, Equatable {
    package static let openID = "openid"
    package static let offlineAccess = "offline_access"
    static let groups = "groups"
    /// A secret that the apps of a device share (oauth reference 3.4): on custom servers, for apps that may exchange it.
    package static let deviceSSO = "device_sso"
    /// The scopes that every server knows.
    static let reserved: Set<String> = ["openid", "profile", "email", "address", "phone", "offline_access"]
    /// Those of them that open claims about a person.
    package static let profile: Set<String> = ["profile", "email", "address", "phone"]
    /// Scopes that only a sign-in by the person gives: at the org server, in an access token, never by a refresh
    /// (device-authenticator reference 1.2).
    package static let interactive: Set<String> = ["okta.myAccount.appAuthenticator.manage"]
    /// The longest parameter, in characters.
    static let longest = 4096

    /// The distinct names in the order asked for; empty when none were asked for.
    package let names: [String]

    /// Reads the parameter.
    /// - Throws: ``Refusal`` with `invalid_scope` if it is too long or is no space list of scope names.
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

    /// `scope-token` of RFC 6749 section 3.3.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        byte == 0x21 || (0x23...0x5B).contains(byte) || (0x5D...0x7E).contains(byte)
    }

    // MARK: - Judging

    /// The scopes that a grant for a person gets.
    /// - Throws: ``Refusal`` with `invalid_scope` if nothing was asked for and there are no defaults, or a scope is not on offer.
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

    /// The scopes that a client gets for itself: the server's own and those of the organization's API (2.4.3 of the reference).
    /// - Throws: ``Refusal`` with `invalid_scope` if nothing was asked for and there are no defaults, or a scope is not on offer.
    package func grantedToClient(_ application: Application, by server: AuthorizationServerDefinition) throws(Refusal) -> [String] {
        let wanted = try namesOrDefaults(of: server)
        for name in wanted where !Self.isOwn(name, of: server, for: application) || Self.interactive.contains(name) {
            let needsUser = Self.isReserved(name) || Self.interactive.contains(name)
            throw Self.unknown(name, reason: needsUser ? "scope.needs_user" : "scope.not_offered")
        }
        return wanted
    }

    /// The scopes that a refresh gets: the original ones without those that take a sign-in, or the part of them that was asked for.
    /// - Throws: ``Refusal`` with `invalid_scope` if a scope was not granted originally, or takes a sign-in.
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
