internal import Foundation
public import JOSE

/// What an application asks of the authorize endpoint, checked (RFC 6749 section 4.1.1, OpenID Connect Core section 3.1.2.1).
///
/// A value that is kept with the sign-in that it began, and with the code that it led to.
struct AuthorizationRequest: Sendable, Equatable, Codable {
    /// What the client says of how the person may be asked.
    enum Prompt: String, Sendable, Codable {
        /// Not at all.
        case none
        /// Anew, whatever they proved before.
        case login
        /// Whether the client may have what it asks for, even if they said so before.
        case consent
    }

    var clientID: String
    /// The authorization server's id; nil for the org server.
    var server: String?
    /// As it was asked for; of a loopback address, with the port that the client listens on.
    var redirectURI: String
    var responseMode: AuthorizationResponse.Mode
    /// What will be granted.
    var scopes: [String]
    var state: String
    var nonce: String?
    /// The SHA-256 of the verifier in base64url (RFC 7636 section 4.2); there is no other method.
    var codeChallenge: String?
    /// The key that the code is bound to (`dpop_jkt`, RFC 9449 section 10).
    var keyThumbprint: String?
    var prompts: Set<Prompt> = []
    /// Seconds since each proof at most; nil for the session's own life.
    var maxAge: Int?
    /// The name that the page is filled with; nobody is believed for it.
    var loginHint: String?
    /// The person whom an id token of this client named; nobody else may sign in.
    var hintedUserID: String?
    /// The session that the id token was given in; nil for none.
    var hintedSessionID: String?
    /// The classes that were asked for (`acr_values`), in order of preference.
    var contextClasses: [String] = []
    /// The digest of the one-time token that begins a session without a page.
    var sessionToken: [UInt8]?
    /// The languages that were asked for, in order of preference.
    var locales: [String] = []
}

/// The parameters of an authorize request as they came, unchecked.
public struct AuthorizationParameters: Sendable {
    /// Each parameter that has a value; of one that was sent several times, the first.
    public var values: [String: String]
    /// The names that were sent more than once.
    public var repeated: Set<String>

    /// Collects parameters.
    public init(_ values: [String: String], repeated: Set<String> = []) {
        self.values = values
        self.repeated = repeated
    }
}

extension AuthorizationParameters: Redacted {
    /// The client that they name; never a token or a hint.
    public var description: String { "AuthorizationParameters(client: \(values["client_id"] ?? "none"))" }
}
