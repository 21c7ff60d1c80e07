import Foundation

/// The sign-in state of AppAuth, which okta-oidc-ios stores with other class names.
enum AuthStateArchive {
    private static let stateNames: Set<String> = ["OIDAuthState", "OKTAuthState"]
    private static let managerNames: Set<String> = ["OktaOidcStateManager", "OktaTokenManager"]

    /// Reads the state from an archive. The root can be the state itself, or an object of the app that has it as a member.
    static func appAuth(_ data: Data) throws(Migration.SkipReason) -> SessionDraft {
        try KeyedArchive.read(data) { root throws(Migration.SkipReason) in
            if root.isOf(stateNames) { return try draft(root) }
            let states = root.children.filter { $0.isOf(stateNames) }
            guard states.count == 1, let state = states.first else { throw .unreadable }
            return try draft(state)
        }
    }

    /// Reads the state from an archive of okta-oidc-ios or OktaAuth.
    static func oktaOIDC(_ data: Data) throws(Migration.SkipReason) -> SessionDraft {
        try KeyedArchive.read(data) { root throws(Migration.SkipReason) in
            guard root.isOf(managerNames), let state = root.object("authState"), state.isOf(stateNames) else { throw .unreadable }
            var draft = try draft(state)
            // OktaAuth stored its settings beside the state.
            let settings = root.strings("config")
            draft.clientId = draft.clientId ?? settings["clientId"]
            draft.issuer = draft.issuer ?? settings["issuer"].flatMap { URL(string: $0) }
            draft.redirectUri = draft.redirectUri ?? settings["redirectUri"].flatMap { URL(string: $0) }
            draft.logoutRedirectUri = settings["logoutRedirectUri"].flatMap { URL(string: $0) }
            return draft
        }
    }

    private static func draft(_ state: KeyedArchive.Object) throws(Migration.SkipReason) -> SessionDraft {
        guard !state.has("authorizationError") else {
            throw Migration.SkipReason(.ended, "The other SDK stored that the server had ended the session.")
        }
        let authorization = state.object("lastAuthorizationResponse")
        guard let response = state.object("lastTokenResponse") ?? authorization else { throw .incomplete("response of the server") }
        let requests = [authorization?.object("request"), response.object("request")].compactMap { $0 }
        let settings = requests.lazy.compactMap { $0.object("configuration") }.first
        var draft = SessionDraft()
        draft.members = response.json("additionalParameters") ?? [:]
        draft.accessToken = response.string("access_token")
        draft.tokenType = response.string("token_type")
        draft.idToken = response.string("id_token")
        draft.expiresAt = response.date("expires_in")
        // After a refresh whose response had no refresh token, only the state has it.
        draft.refreshToken = state.string("refreshToken") ?? response.string("refresh_token")
        draft.scope = state.string("scope") ?? response.string("scope") ?? requests.lazy.compactMap { $0.string("scope") }.first
        draft.needsRefresh = state.bool("needsTokenRefresh")
        draft.clientId = requests.lazy.compactMap { $0.string("client_id") }.first
        draft.clientSecret = requests.lazy.compactMap { $0.string("client_secret") }.first
        draft.redirectUri = requests.lazy.compactMap { $0.url("redirect_uri") }.first
        draft.issuer = settings?.url("issuer") ?? discoveredIssuer(settings, idToken: draft.idToken)
        return draft
    }

    /// The issuer of a client whose endpoints were set by hand: that of the ID token, else that of the discovery document.
    private static func discoveredIssuer(_ settings: KeyedArchive.Object?, idToken: String?) -> URL? {
        if let issuer = idToken.flatMap({ try? JWT($0) })?.issuer { return URL(string: issuer) }
        guard let document = settings?.object("discoveryDocument") else { return nil }
        return (document.strings("discoveryDictionary")["issuer"] ?? document.ownStrings["issuer"]).flatMap { URL(string: $0) }
    }
}
