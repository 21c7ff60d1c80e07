internal import Foundation
internal import IdentityCore
internal import JOSE
internal import OAuthWire

/// A validated request to sign out (OpenID Connect RP-Initiated Logout 1.0 section 2; Documentation/Protocol/OAuth.md §2.13).
struct LogoutRequest: Sendable, Redacted {
    struct Hint: Sendable {
        var userID: String
        /// The session of the ID token; `nil` for none.
        var sessionID: String?
    }

    /// The application that sent the user; `nil` if unknown.
    var application: Application?
    var hint: Hint?
    /// The registered redirect URI; `nil` for the server's own page.
    var returnURI: String?
    var state: String?
    /// The device secret to revoke together with its grants; `nil` for none.
    var deviceSecret: String?
    var locales: [String]

    /// Validates the parameters. Errors are shown to the user, because no redirect URI is known to be safe. Throws ``Refusal``.
    init(
        _ parameters: AuthorizationParameters, snapshot: OrgSnapshot, server: AuthorizationServerDefinition, now: Date
    ) throws(Refusal) {
        let values = parameters.values
        if let name = parameters.repeated.min() {
            throw Self.invalid("The application sent a parameter more than once.", "repeated: \(name.prefix(40))")
        }
        if let id = values["client_id"] {
            guard let known = snapshot.application(id), known.isActive else {
                throw Refusal(.invalidClient, "The application that sent you here is not known.", reason: "logout: client_id")
            }
            application = known
        }
        if let token = values["id_token_hint"] {
            let (hint, client) = try Self.hint(token, snapshot: snapshot, server: server, now: now)
            guard application == nil || application?.id == client.id else {
                throw Self.invalid("The id_token_hint belongs to another application than the one that sent it.", "client_id and hint")
            }
            self.hint = hint
            application = client
        }
        if let uri = values["post_logout_redirect_uri"] {
            guard let application else {
                throw Self.invalid(
                    "The application must say who it is, by id_token_hint or client_id, to be returned to.", "redirect without client")
            }
            guard RedirectURI.isRegistered(uri, among: application.postLogoutRedirectURIs, of: application) else {
                throw Self.invalid(
                    "The application asked to return to an address that is not registered for it.", "post_logout_redirect_uri")
            }
            returnURI = uri
        }
        if let text = values["state"] {
            guard AuthorizationRequestReader.isVisible(text, atMost: AuthorizationRequestReader.longestState) else {
                throw Self.invalid(
                    "A state has 1 to \(AuthorizationRequestReader.longestState) visible ASCII characters.", "state")
            }
            state = text
        }
        deviceSecret = values["device_secret"]
        locales = Array((values["ui_locales"]?.spaceSeparated ?? []).filter { $0.utf8.count <= 35 }.prefix(10))
    }

    /// Returns the user and the client of an ID token of this server, which may have expired.
    private static func hint(
        _ token: String, snapshot: OrgSnapshot, server: AuthorizationServerDefinition, now: Date
    ) throws(Refusal) -> (Hint, Application) {
        let claims = snapshot.keyRing.verification.claims(ofHint: token, issuer: snapshot.issuer(of: server), now: now)
        guard let claims, claims.jwtID.flatMap(TokenID.init)?.kind == .id, let userID = claims.subject,
            claims.audience.count == 1, let client = claims.audience.first.flatMap({ snapshot.application($0) }), client.isActive
        else { throw invalid("The id_token_hint is no id token that this server issued.", "id_token_hint") }
        return (Hint(userID: userID, sessionID: claims.json["sid"]?.stringValue), client)
    }

    /// The URL of the final redirect, with the client's `state`; `nil` for the server's own page.
    var location: String? {
        returnURI.map { uri in
            guard let state else { return uri }
            let parameter = AuthorizationResponse.Parameter(name: "state", value: state)
            return AuthorizationResponse(redirectURI: uri, mode: .query, parameters: [parameter]).location
        }
    }

    /// The parameters that the confirmation form repeats. They are validated again when the form arrives.
    var repeated: [AuthorizationResponse.Parameter] {
        [
            ("client_id", application?.id), ("post_logout_redirect_uri", returnURI), ("state", state),
            ("ui_locales", locales.isEmpty ? nil : locales.joined(separator: " ")),
        ].compactMap { name, value in value.map { AuthorizationResponse.Parameter(name: name, value: $0) } }
    }

    private static func invalid(_ description: String, _ reason: String) -> Refusal {
        Refusal(.invalidRequest, description, reason: "logout: \(reason)")
    }
}
