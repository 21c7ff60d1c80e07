package import Foundation
package import IdentityCore
internal import JOSE
internal import Store

/// The refusal of an authorize request, and its receiver.
package enum AuthorizationRefusal: Error {
    /// A refusal that the user sees on a page. The client or its redirect URI is not valid, so the server does not redirect.
    case page(Refusal)
    /// A refusal that the browser takes to the client's redirect URI.
    case client(Refusal, AuthorizationResponse)
}

/// Checks the parameters of an authorize request, in the order of Documentation/Protocol/OAuth.md §2.3. Errors in the client id or redirect
/// URI go to the user; all others go to the client.
package struct AuthorizationRequestReader {
    package let snapshot: OrgSnapshot
    package let server: AuthorizationServerDefinition
    package let now: Date
    /// Whether the client sent the request itself to `/par` (RFC 9126).
    var isPushed = false

    package init(snapshot: OrgSnapshot, server: AuthorizationServerDefinition, now: Date, isPushed: Bool = false) {
        (self.snapshot, self.server, self.now, self.isPushed) = (snapshot, server, now, isPushed)
    }

    /// The maximum length of `state`, in bytes.
    package static let longestState = 2_048
    /// The maximum length of `nonce`, in bytes.
    static let longestNonce = 512

    package func read(_ parameters: AuthorizationParameters) throws(AuthorizationRefusal) -> AuthorizationRequest {
        let (application, redirectURI) = try recipient(of: parameters)
        let mode = parameters.values["response_mode"].map { AuthorizationRequest.ResponseMode(rawValue: $0) } ?? .query
        let state = parameters.values["state"].flatMap { Self.isVisible($0, atMost: Self.longestState) ? $0 : nil }
        do throws(Refusal) {
            guard let mode else {
                throw Refusal(
                    .unsupportedResponseMode, "The response_mode is not supported. Use query, fragment or form_post.",
                    reason: "authorize: response_mode")
            }
            return try request(parameters, application, redirectURI, mode, state)
        } catch {
            throw .client(
                error,
                AuthorizationResponse(
                    error, to: redirectURI, mode: mode ?? .query, state: parameters.repeated.contains("state") ? nil : state,
                    issuer: snapshot.issuer(of: server)))
        }
    }

    /// Returns the client and its registered redirect URI. Throws ``AuthorizationRefusal/page(_:)``.
    func recipient(of parameters: AuthorizationParameters) throws(AuthorizationRefusal) -> (Application, String) {
        for name in ["client_id", "redirect_uri"] where parameters.repeated.contains(name) {
            throw .page(
                Refusal(.invalidRequest, "The application sent the parameter \(name) more than once.", reason: "authorize: \(name) twice"))
        }
        guard let id = parameters.values["client_id"], let application = snapshot.application(id), application.isActive else {
            throw .page(Refusal(.invalidClient, "The application that sent you here is not known.", reason: "authorize: client_id"))
        }
        guard let uri = parameters.values["redirect_uri"], RedirectURI.isRegistered(uri, among: application.redirectURIs, of: application)
        else {
            throw .page(
                Refusal(
                    .invalidRequest, "The application asked to return to an address that is not registered for it.",
                    reason: "authorize: redirect_uri"))
        }
        return (application, uri)
    }

    private func request(
        _ parameters: AuthorizationParameters, _ application: Application, _ redirectURI: String, _ mode: AuthorizationRequest.ResponseMode,
        _ state: String?
    ) throws(Refusal) -> AuthorizationRequest {
        let values = parameters.values
        if let name = parameters.repeated.min() {
            throw Self.invalid("A parameter was sent more than once.", "repeated: \(name.prefix(40))")
        }
        if values["request"] != nil {
            throw Refusal(
                .requestNotSupported, "Request objects are not supported. Push the request instead.", reason: "authorize: request")
        }
        guard isPushed || !application.requiresPushedAuthorizationRequests else {
            throw Self.invalid("The client must push its request first and send the request_uri.", "not pushed")
        }
        guard let state else {
            throw Self.invalid("The request needs a state of 1 to \(Self.longestState) visible ASCII characters.", "state")
        }
        try responseType(values["response_type"], application)
        var request = AuthorizationRequest(
            clientID: application.id, server: server.id, redirectURI: redirectURI, responseMode: mode,
            scopes: try ScopeRequest(values["scope"]).grantedToUser(of: application, by: server), state: state)
        request.codeChallenge = try codeChallenge(values, application)
        if let nonce = values["nonce"] {
            guard Self.isVisible(nonce, atMost: Self.longestNonce) else {
                throw Self.invalid("A nonce has 1 to \(Self.longestNonce) visible ASCII characters.", "nonce")
            }
            request.nonce = nonce
        }
        if let thumbprint = values["dpop_jkt"] {
            guard thumbprint.utf8.count == 43, (try? Base64URL.decode(thumbprint))?.count == 32 else {
                throw Self.invalid("dpop_jkt is the thumbprint of a key: 43 characters of base64url.", "dpop_jkt")
            }
            request.keyThumbprint = thumbprint
        }
        request.prompts = try prompts(values["prompt"])
        if let text = values["max_age"] {
            guard let seconds = Int(text), seconds >= 0, text.utf8.count <= 10 else {
                throw Self.invalid("max_age is a number of seconds, 0 or more.", "max_age")
            }
            request.maxAge = seconds
        }
        if let token = values["sessionToken"] {
            guard token.utf8.count <= 200 else { throw Self.invalid("The sessionToken is too long.", "sessionToken") }
            request.sessionToken = TicketDigest(of: token).bytes
        }
        request.loginHint = values["login_hint"].map(Engine.possibleName)
        if let hint = try hint(values["id_token_hint"], application) {
            (request.hintedUserID, request.hintedSessionID) = (hint.userID, hint.sessionID)
        }
        // Unsupported values are ignored (OpenID Connect Core section 3.1.2.1), so they are not stored.
        request.contextClasses = Array(
            (values["acr_values"]?.spaceSeparated ?? []).filter { AuthenticationContextClass(rawValue: $0) != nil }.prefix(20))
        request.locales = Array((values["ui_locales"]?.spaceSeparated ?? []).filter { $0.utf8.count <= 35 }.prefix(10))
        return request
    }

    private func responseType(_ type: String?, _ application: Application) throws(Refusal) {
        guard let type else { throw Self.invalid("The request needs a response_type.", "no response_type") }
        guard type == "code" else {
            throw Refusal(
                .unsupportedResponseType, "The response_type is not supported. Use code.", reason: "authorize: response_type")
        }
        guard application.grantTypes.contains(GrantType.authorizationCode) else {
            throw Refusal(
                .unauthorizedClient,
                "The client is not authorized to use the response_type code. Enable authorization_code for the application.",
                reason: "authorize: authorization_code is not enabled")
        }
    }

    /// Returns the PKCE challenge. Only S256 is accepted, because a plain challenge reveals the verifier (RFC 9700 section 2.1.1).
    private func codeChallenge(_ values: [String: String], _ application: Application) throws(Refusal) -> String? {
        guard let challenge = values["code_challenge"] else {
            if values["code_challenge_method"] != nil {
                throw Self.invalid("code_challenge_method needs a code_challenge.", "code_challenge")
            }
            guard !application.requiresPKCE else {
                throw Self.invalid("The client must use PKCE: send code_challenge and code_challenge_method=S256.", "no code_challenge")
            }
            return nil
        }
        guard values["code_challenge_method"] == "S256" else {
            throw Self.invalid("The code_challenge_method must be S256.", "code_challenge_method")
        }
        guard challenge.utf8.count == 43, (try? Base64URL.decode(challenge))?.count == 32 else {
            throw Self.invalid("A code_challenge of the method S256 has 43 characters of base64url.", "code_challenge")
        }
        return challenge
    }

    private func prompts(_ text: String?) throws(Refusal) -> Set<AuthorizationRequest.Prompt> {
        var prompts: Set<AuthorizationRequest.Prompt> = []
        for word in (text ?? "").spaceSeparated {
            guard let prompt = AuthorizationRequest.Prompt(rawValue: word) else {
                throw Self.invalid("The prompt is not supported. Use none, login, consent, or login consent.", "prompt")
            }
            prompts.insert(prompt)
        }
        guard !prompts.contains(.none) || prompts.count == 1 else {
            throw Self.invalid("The prompt none goes with no other one.", "prompt: none and others")
        }
        return prompts
    }

    /// Returns the user and the session of an `id_token_hint` that this server issued to the client; `nil` without a hint. The expiry of
    /// the token is ignored, so that the hint stays usable as long as the session.
    private func hint(_ token: String?, _ application: Application) throws(Refusal) -> (userID: String, sessionID: String?)? {
        guard let token else { return nil }
        let claims = snapshot.keyRing.verification.claims(ofHint: token, issuer: snapshot.issuer(of: server), now: now)
        guard let claims, claims.audience == [application.id], claims.jwtID.flatMap(TokenID.init)?.kind == .id, let id = claims.subject
        else {
            throw Self.invalid("The id_token_hint is no id token that this server issued to the client.", "id_token_hint")
        }
        return (id, claims.json["sid"]?.stringValue)
    }

    /// Returns whether a text consists of 1 to `limit` characters of `VSCHAR` (RFC 6749 appendix A).
    package static func isVisible(_ text: String, atMost limit: Int) -> Bool {
        (1...limit).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }

    private static func invalid(_ description: String, _ reason: String) -> Refusal {
        Refusal(.invalidRequest, description, reason: "authorize: \(reason)")
    }
}
