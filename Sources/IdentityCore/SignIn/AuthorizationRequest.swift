internal import Foundation
internal import JOSE

/// A validated authorization request (RFC 6749 section 4.1.1, OpenID Connect Core section 3.1.2.1), stored with its sign-in and code.
package struct AuthorizationRequest: Sendable, Equatable, Codable {
    /// The values of the `prompt` parameter.
    package enum Prompt: String, Sendable, Codable {
        /// No page is shown.
        case none
        /// The user must sign in again.
        case login
        /// The user is asked for consent, even if they consented before.
        case consent
    }

    /// The way in which the response reaches the client.
    package enum ResponseMode: String, Sendable, Codable, CaseIterable {
        case query
        case fragment
        /// A form that the browser posts to the redirect URI.
        case formPost = "form_post"
    }

    package var clientID: String
    /// The id of the authorization server; `nil` for the org server.
    package var server: String?
    /// The redirect URI as requested. A loopback address includes the client's port.
    package var redirectURI: String
    package var responseMode: ResponseMode
    /// The scopes that will be granted, which can differ from the requested ones.
    package var scopes: [String]
    package var state: String
    package var nonce: String?
    /// The base64url SHA-256 digest of the code verifier (RFC 7636 section 4.2); `nil` without PKCE. No other method is supported.
    package var codeChallenge: String?
    /// The thumbprint of the key to which the code is bound (`dpop_jkt`, RFC 9449 section 10); `nil` if the code is not bound.
    package var keyThumbprint: String?
    package var prompts: Set<Prompt> = []
    /// The maximum age of each proof in seconds; `nil` if the client sets no limit.
    package var maxAge: Int?
    /// The user name that the page fills in; `nil` for none. The user can change it.
    package var loginHint: String?
    /// The id of the user that `id_token_hint` names; `nil` without a hint. No other user may sign in.
    package var hintedUserID: String?
    /// The id of the session that `id_token_hint` names; `nil` for none.
    package var hintedSessionID: String?
    /// The requested `acr_values`, in order of preference.
    package var contextClasses: [String] = []
    /// The digest of the one-time token that starts a session without a page; `nil` for none.
    package var sessionToken: [UInt8]?
    /// The requested `ui_locales`, in order of preference.
    package var locales: [String] = []

    package init(
        clientID: String, server: String? = nil, redirectURI: String, responseMode: ResponseMode, scopes: [String],
        state: String, nonce: String? = nil, codeChallenge: String? = nil, keyThumbprint: String? = nil, prompts: Set<Prompt> = [],
        maxAge: Int? = nil, loginHint: String? = nil, hintedUserID: String? = nil, hintedSessionID: String? = nil,
        contextClasses: [String] = [], sessionToken: [UInt8]? = nil, locales: [String] = []
    ) {
        (self.clientID, self.server, self.redirectURI, self.responseMode) = (clientID, server, redirectURI, responseMode)
        (self.scopes, self.state, self.nonce, self.codeChallenge, self.keyThumbprint) = (scopes, state, nonce, codeChallenge, keyThumbprint)
        (self.prompts, self.maxAge, self.loginHint, self.hintedUserID) = (prompts, maxAge, loginHint, hintedUserID)
        (self.hintedSessionID, self.contextClasses, self.sessionToken) = (hintedSessionID, contextClasses, sessionToken)
        self.locales = locales
    }
}

/// The parameters of an authorization or logout request, not validated.
package struct AuthorizationParameters: Sendable {
    /// The values of the parameters by name, without empty values. A repeated parameter has its first value.
    package var values: [String: String]
    /// The names of the parameters that were sent more than once.
    package var repeated: Set<String>

    package init(_ values: [String: String], repeated: Set<String> = []) {
        self.values = values
        self.repeated = repeated
    }
}

extension AuthorizationParameters: Redacted {
    /// Contains the client id only, because other parameters can contain tokens and hints.
    package var description: String { "AuthorizationParameters(client: \(values["client_id"] ?? "none"))" }
}

/// The check of redirect URIs.
package enum RedirectURI {
    /// Whether a client registered the URI, compared byte by byte (RFC 9700 section 2.1). A native application may use any port of a
    /// loopback address, because it gets its port at run time (RFC 8252 section 7.3).
    package static func isRegistered(_ uri: String, among registered: [String], of application: Application) -> Bool {
        if registered.contains(where: { $0.utf8.elementsEqual(uri.utf8) }) { return true }
        guard application.kind == .native, let (host, rest) = loopback(uri) else { return false }
        return registered.contains { candidate in
            guard let (otherHost, otherRest) = loopback(candidate) else { return false }
            return host == otherHost && rest.utf8.elementsEqual(otherRest.utf8)
        }
    }

    /// Returns the host of a loopback address and the part after the port; `nil` for other URIs. `localhost` is excluded because it can
    /// resolve to another host.
    private static func loopback(_ uri: String) -> (host: String, rest: Substring)? {
        for host in ["127.0.0.1", "[::1]"] {
            let prefix = "http://" + host
            guard uri.utf8.starts(with: prefix.utf8) else { continue }
            let rest = uri.utf8.dropFirst(prefix.utf8.count)
            guard let first = rest.first else { return (host, "") }
            guard first == UInt8(ascii: ":") else {
                return first == UInt8(ascii: "/") || first == UInt8(ascii: "?") ? (host, Substring(rest)) : nil
            }
            let digits = rest.dropFirst().prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            guard (1...5).contains(digits.count), let port = Int(Substring(digits)), (1...65_535).contains(port) else { return nil }
            let tail = rest.dropFirst(1 + digits.count)
            guard tail.isEmpty || tail.first == UInt8(ascii: "/") || tail.first == UInt8(ascii: "?") else { return nil }
            return (host, Substring(tail))
        }
        return nil
    }
}
