internal import Foundation
internal import JOSE

extension DefinitionCheck {
    /// The maximum length in bytes of an Apple app id: a prefix, a dot and a bundle id.
    private static let longestAppleAppID = 10 + 1 + 155

    mutating func application(_ application: Application, at index: Int) {
        let path: [Step] = [.key("applications"), .index(index)]
        let id = application.id
        if id.isEmpty || id.utf8.count > Application.longestID
            || !id.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ":") })
        {
            problem(path + [.key("id")], "A client id has 1 to 100 printable ASCII characters, without space and colon.")
        }
        if logins.contains(User.key(forLogin: id)) {
            problem(
                path + [.key("id")],
                "The client ID “\(id)” is also a user's login, so their tokens could be confused. Choose another.")
        }
        credentials(of: application, path)
        known(application.grantTypes, Self.grantTypes, "grant type", path + [.key("grantTypes")])
        if application.kind != .native, application.grantTypes.contains(GrantType.deviceCode) {
            problem(path + [.key("grantTypes")], "device_code is for native applications. Set type: native, or remove it.")
        }
        for (index, uri) in application.redirectURIs.enumerated() { redirect(uri, path + [.key("redirectURIs"), .index(index)]) }
        for (index, uri) in application.postLogoutRedirectURIs.enumerated() {
            redirect(uri, path + [.key("postLogoutRedirectURIs"), .index(index)])
        }
        if let uri = application.backchannelLogoutURI { backchannel(uri, path + [.key("backchannelLogoutURI")]) }
        for (index, appID) in application.appleAppIDs.enumerated() { appleApp(appID, path + [.key("appleAppIDs"), .index(index)]) }
        if application.kind == .service, !application.appleAppIDs.isEmpty {
            problem(path + [.key("appleAppIDs")], "A service is no app on anybody's phone. Remove the line, or set type: native.")
        }
        if application.grantTypes.contains("authorization_code") && application.redirectURIs.isEmpty {
            problem(
                path + [.key("redirectURIs")], "authorization_code returns to a redirect URI. Register one, as com.example.app:/callback.")
        }
        known(application.assignment.groups, groups, "group", path + [.key("assignment"), .key("groups")])
        if application.kind != .service || !application.signOnPolicy.isEmpty {
            let names = Set(definition.signOnPolicies.map(\.name))
            if !names.contains(application.signOnPolicy) {
                let hint = Suggestion.nearest(to: application.signOnPolicy, among: names).map { " Did you mean “\($0)”?" } ?? ""
                problem(path + [.key("signOnPolicy")], "There is no sign-on policy “\(application.signOnPolicy)”.\(hint)")
            }
        }
        protections(of: application, path)
        if case .rotate(let leeway) = application.refreshTokenRotation {
            range(leeway, 0...60, path + [.key("refreshTokenRotation")], "seconds of grace")
        }
        if application.idTokenAlgorithm != .rs256 && application.idTokenAlgorithm != .es256 {
            problem(path + [.key("idTokenAlgorithm")], "ID tokens are signed with RS256 or ES256.")
        }
    }

    private mutating func protections(of application: Application, _ path: [Step]) {
        if !application.requiresPKCE, !application.isConfidential {
            problem(path + [.key("requirePkce")], "A public client must use PKCE. Remove the line, or let the client authenticate.")
        }
        for (isSet, key) in [(application.requiresIssuerAudience, "strictAudience"), (application.requiresAssertionID, "requireJti")]
        where isSet && !application.usesAssertions {
            problem(
                path + [.key(key)],
                "This is a rule for client assertions. Remove the line, or set authentication: private_key_jwt or client_secret_jwt.")
        }
        guard let audiences = application.introspectionAudiences else { return }
        let list = path + [.key("introspectionAudiences")]
        if !application.isConfidential {
            problem(list, "A public client can introspect its own tokens only. Remove the line, or let the client authenticate.")
        }
        known(
            audiences, Set(definition.authorizationServers.compactMap { $0.id == nil ? definition.origin : $0.audience }), "audience", list)
    }

    private mutating func credentials(of application: Application, _ path: [Step]) {
        let secret = path + [.key("secret")]
        switch application.authentication {
        case .none:
            if application.secret != nil { problem(secret, "The application does not authenticate, so it has no secret. Remove it.") }
        case .clientSecret, .clientSecretBasic, .clientSecretPost:
            if (application.secret?.utf8.count ?? 0) < 16 {
                problem(
                    secret,
                    "\(application.authentication.rawValue) needs a secret of at least 16 characters; ${NAME} takes it from the environment."
                )
            }
        case .clientSecretJWT:
            // RFC 7518 section 3.2 requires a key at least as long as the hash.
            if (application.secret?.utf8.count ?? 0) < 32 {
                problem(secret, "client_secret_jwt needs a secret of at least 32 characters; ${NAME} takes it from the environment.")
            }
        case .privateKeyJWT:
            if application.keys?.keys.isEmpty ?? true {
                problem(path + [.key("keys")], "private_key_jwt needs the client's public keys, each a JSON Web Key with a kid.")
            }
        }
    }

    /// Requires Apple's team prefix and a bundle id. Wildcards are rejected, because they would include apps of other developers.
    private mutating func appleApp(_ id: String, _ path: [Step]) {
        guard id.wholeMatch(of: /[A-Z0-9]{10}(\.[A-Za-z0-9-]+)+/) == nil || id.utf8.count > Self.longestAppleAppID else { return }
        problem(path, "“\(id)” is no app id. Write the team's ten characters and the bundle id: ABCDE12345.com.example.app.")
    }

    /// Validates a URI that the server calls: https, or plain http on loopback only.
    private mutating func backchannel(_ uri: String, _ path: [Step]) {
        guard let url = URLComponents(string: uri), let scheme = url.scheme?.lowercased(), let host = url.host, !host.isEmpty,
            scheme == "https" || scheme == "http"
        else { return problem(path, "“\(uri)” can not be called. Write an absolute URI: https://app.example.com/backchannel-logout.") }
        if url.fragment != nil { problem(path, "The URI has no fragment; remove # and what follows it.") }
        if url.user != nil || url.password != nil { problem(path, "The URI has no user name and no password; remove them.") }
        if scheme == "http" && !Self.isLoopback(host) { problem(path, "Plain http is for loopback only; use https.") }
    }

    /// Requires exact URIs (RFC 9700 section 2.1), and permits plain http on loopback only.
    private mutating func redirect(_ uri: String, _ path: [Step]) {
        if uri.contains("*") {
            return problem(path, "Redirect URIs are compared exactly; “\(uri)” has a wildcard. List each URI.")
        }
        guard let url = URLComponents(string: uri), let scheme = url.scheme?.lowercased() else {
            return problem(
                path, "“\(uri)” is no absolute URI. Write it whole: https://app.example.com/callback or com.example.app:/callback.")
        }
        if !uri.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) {
            problem(path, "A redirect URI has visible ASCII characters only; write others as %XX.")
        }
        if url.fragment != nil { problem(path, "A redirect URI has no fragment; remove # and what follows it.") }
        if ["javascript", "data", "file", "vbscript", "about", "blob"].contains(scheme) {
            problem(path, "The scheme \(scheme) can not be returned to.")
        }
        if scheme == "https" || scheme == "http" {
            let host = url.host ?? ""
            if host.isEmpty { problem(path, "“\(uri)” names no host.") }
            if scheme == "http" && !host.isEmpty && !Self.isLoopback(host) {
                problem(path, "Plain http is for loopback only; use https.")
            }
        }
    }
}
