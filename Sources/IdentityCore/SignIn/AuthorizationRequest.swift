internal import Foundation
internal import JOSE

/// What an application asks of the authorize endpoint, checked (RFC 6749 section 4.1.1, OpenID Connect Core section 3.1.2.1).
///
/// A value that is kept with the sign-in that it began, and with the code that it led to.
package struct AuthorizationRequest: Sendable, Equatable, Codable {
    /// What the client says of how the person may be asked.
    package enum Prompt: String, Sendable, Codable {
        /// Not at all.
        case none
        /// Anew, whatever they proved before.
        case login
        /// Whether the client may have what it asks for, even if they said so before.
        case consent
    }

    /// How the answer reaches the client.
    package enum ResponseMode: String, Sendable, Codable, CaseIterable {
        /// In the query of the redirect URI.
        case query
        /// In its fragment.
        case fragment
        /// In the body of a form that the browser posts there.
        case formPost = "form_post"
    }

    package var clientID: String
    /// The authorization server's id; nil for the org server.
    package var server: String?
    /// As it was asked for; of a loopback address, with the port that the client listens on.
    package var redirectURI: String
    package var responseMode: ResponseMode
    /// What will be granted.
    package var scopes: [String]
    package var state: String
    package var nonce: String?
    /// The SHA-256 of the verifier in base64url (RFC 7636 section 4.2); there is no other method.
    package var codeChallenge: String?
    /// The key that the code is bound to (`dpop_jkt`, RFC 9449 section 10).
    package var keyThumbprint: String?
    package var prompts: Set<Prompt> = []
    /// Seconds since each proof at most; nil for the session's own life.
    package var maxAge: Int?
    /// The name that the page is filled with; nobody is believed for it.
    package var loginHint: String?
    /// The person whom an id token of this client named; nobody else may sign in.
    package var hintedUserID: String?
    /// The session that the id token was given in; nil for none.
    package var hintedSessionID: String?
    /// The classes that were asked for (`acr_values`), in order of preference.
    package var contextClasses: [String] = []
    /// The digest of the one-time token that begins a session without a page.
    package var sessionToken: [UInt8]?
    /// The languages that were asked for, in order of preference.
    package var locales: [String] = []

    package init(
        clientID: String, server: String? = nil, redirectURI: String, responseMode: ResponseMode, scopes: [String],
        state: String, nonce: String? = nil, codeChallenge: String? = nil, keyThumbprint: String? = nil, prompts: Set<Prompt> = [],
        maxAge: Int? = nil, loginHint: String? = nil, hintedUserID: String? = nil, hintedSessionID: String? = nil,
        contextClasses: [String] = [], sessionToken: [UInt8]? = nil, locales: [String] = []
    ) {
        self.clientID = clientID
        self.server = server
        self.redirectURI = redirectURI
        self.responseMode = responseMode
        self.scopes = scopes
        self.state = state
        self.nonce = nonce
        self.codeChallenge = codeChallenge
        self.keyThumbprint = keyThumbprint
        self.prompts = prompts
        self.maxAge = maxAge
        self.loginHint = loginHint
        self.hintedUserID = hintedUserID
        self.hintedSessionID = hintedSessionID
        self.contextClasses = contextClasses
        self.sessionToken = sessionToken
        self.locales = locales
    }
}

/// The parameters of an authorize request as they came, unchecked.
package struct AuthorizationParameters: Sendable {
    /// Each parameter that has a value; of one that was sent several times, the first.
    package var values: [String: String]
    /// The names that were sent more than once.
    package var repeated: Set<String>

    /// Collects parameters.
    package init(_ values: [String: String], repeated: Set<String> = []) {
        self.values = values
        self.repeated = repeated
    }
}

extension AuthorizationParameters: Redacted {
    /// The client that they name; never a token or a hint.
    package var description: String { "AuthorizationParameters(client: \(values["client_id"] ?? "none"))" }
}

/// Where an answer may go.
package enum RedirectURI {
    /// Whether a client registered a URI. URIs are compared byte by byte (RFC 9700 section 2.1). A native application may use any port of
    /// a loopback address, because it learns its port when it begins to listen (RFC 8252 section 7.3).
    package static func isRegistered(_ uri: String, among registered: [String], of application: Application) -> Bool {
        if registered.contains(where: { $0.utf8.elementsEqual(uri.utf8) }) { return true }
        guard application.kind == .native, let (host, rest) = loopback(uri) else { return false }
        return registered.contains { candidate in
            guard let (otherHost, otherRest) = loopback(candidate) else { return false }
            return host == otherHost && rest.utf8.elementsEqual(otherRest.utf8)
        }
    }

    /// The host and what follows the port, of a loopback address. `localhost` is a name, and names can be told to mean anybody.
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
