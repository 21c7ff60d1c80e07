import AuthFoundation
import Foundation
import JOSE
import TestSupport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// An issuer whose pages a scripted browser visits.
final class BrowserIssuer: Sendable {
    /// The changes of the issuer's normal behaviour.
    struct Answers: Sendable {
        /// Replaced parameters of the redirect; `nil` removes a parameter.
        var redirect: [String: String?] = [:]
        /// Replaced claims of the ID token.
        var claims: [String: JSONValue] = [:]
        /// The status and the `Location` of the sign-out response to a client without a browser; `nil` for the normal response.
        var logout: (status: Int, location: String?)?
        /// The statuses of responses, by the end of the request path.
        var statuses: [String: Int] = [:]
        /// A closure that the token endpoint awaits before its response; `nil` for none.
        var tokenPause: (@Sendable () async -> Void)?
        /// Changed members of the discovery document; `null` removes a member.
        var metadata: [String: JSONValue] = [:]
    }

    /// The session of the issuer's clients.
    let server: ScriptedIssuer
    var clock: ManualClock { server.clock }
    private let answers: Answers
    private let nonce = Locked<String?>(nil)
    /// A stream with one element for each revocation request.
    let revocations: AsyncStream<Void>

    init(_ answers: Answers = Answers(), clock: ManualClock = ManualClock()) {
        self.answers = answers
        let metadata: [String: JSONValue] = ["authorization_response_iss_parameter_supported": true]
        server = ScriptedIssuer(metadata.merging(answers.metadata) { $1 }, clock: clock)
        let revoked: AsyncStream<Void>.Continuation
        (revocations, revoked) = AsyncStream.makeStream()
        server.atRequest("/revoke") { revoked.yield() }
        if let pause = answers.tokenPause { server.atRequest("/token", pause) }
        server.on("/token") { [server, nonce] _, _ in
            var claims: [String: JSONValue?] = ["nonce": nonce.withLock { $0 }.map(JSONValue.string)]
            for (name, value) in answers.claims { claims[name] = value }
            return .tokens(["scope": "openid profile", "id_token": try server.idToken(claims)])
        }
        if let logout = answers.logout {
            server.on("/logout") { request, _ in
                .redirect(logout.location?.replacing("STATE", with: query(request.url)["state"] ?? ""), status: logout.status)
            }
        }
        for (path, status) in answers.statuses { server.answer(path, .json("{}", status: status)) }
    }

    func client(
        redirectUri: String = "com.example.app:/callback", logoutRedirectUri: String? = "com.example.app:/"
    ) throws -> OAuth2Client {
        try server.client(redirectUri: redirectUri, logoutRedirectUri: logoutRedirectUri)
    }

    /// Returns the forms of the requests whose path ends with this text.
    func forms(_ path: String) -> [[String: String]] { server.forms(path) }

    /// Returns the URLs of the requests whose path ends with this text.
    func pages(_ path: String) -> [URL] { server.requests(path).compactMap(\.url) }

    /// Returns the redirect of a user's sign-in at this URL.
    func visit(_ page: URL) throws -> URL {
        let asked = query(page)
        nonce.withLock { $0 = asked["nonce"] }
        var parameters: [String: String?] = ["code": "code-1", "state": asked["state"], "iss": ScriptedIssuer.base]
        for (name, value) in answers.redirect { parameters[name] = value }
        return try Self.redirect(to: asked["redirect_uri"] ?? "", parameters)
    }

    /// Returns the redirect of a sign-out at this URL.
    func visitLogout(_ page: URL) throws -> URL {
        let asked = query(page)
        return try Self.redirect(to: asked["post_logout_redirect_uri"] ?? "", ["state": answers.redirect["state"] ?? asked["state"]])
    }

    private static func redirect(to uri: String, _ parameters: [String: String?]) throws -> URL {
        var components = URLComponents(url: try url(uri), resolvingAgainstBaseURL: false)
        components?.queryItems = parameters.compactMap { name, value in value.map { URLQueryItem(name: name, value: $0) } }
        guard let redirect = components?.url else { throw InvalidFixture() }
        return redirect
    }
}

/// Returns the parameters of a URL. For a repeated parameter, the first value counts.
func query(_ url: URL?) -> [String: String] {
    let items = url.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: false) }?.queryItems ?? []
    return Dictionary(items.map { ($0.name, $0.value ?? "") }) { first, _ in first }
}
