import AuthFoundation
import Foundation
import JOSE
import TestSupport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// An issuer with a real key. A test can change its responses and inspect its requests. Unknown requests fail.
final class ScriptedIssuer: URLSessionProtocol {
    /// The behaviour of the issuer.
    struct Answers: Sendable {
        /// Replaced parameters of the redirect; `nil` removes a parameter.
        var redirect: [String: String?] = [:]
        /// Replaced claims of the ID token.
        var claims: [String: JSONValue] = [:]
        /// The response of the sign-out page without a browser: status and `Location`.
        var logout: (status: Int, location: String?)?
        /// Statuses of responses, by the end of the path.
        var statuses: [String: Int] = [:]
        /// Awaited before the token response.
        var tokenPause: (@Sendable () async -> Void)?
        /// Further members of the discovery document.
        var metadata: [String: JSONValue] = [:]
    }

    static let base = "https://id.example.com/oauth2/default"
    private static let key = Result { try SigningKey.generate(.es256, keyID: "key-1") }

    private struct State {
        var answers = Answers()
        var nonce: String?
        var requests: [URLRequest] = []
    }

    private let state = Locked(State())
    /// One element for each revocation.
    let revocations: AsyncStream<Void>
    private let revoked: AsyncStream<Void>.Continuation
    let clock: any OAuth2Clock

    init(_ answers: Answers = Answers(), clock: any OAuth2Clock = ManualClock()) {
        self.clock = clock
        (revocations, revoked) = AsyncStream.makeStream()
        state.withLock { $0.answers = answers }
    }

    func client(
        redirectUri: String = "com.example.app:/callback", logoutRedirectUri: String? = "com.example.app:/"
    ) throws -> OAuth2Client {
        OAuth2Client(
            OAuth2Client.Configuration(
                issuerURL: try url(Self.base), clientId: "app", scope: "openid profile", redirectUri: try url(redirectUri),
                logoutRedirectUri: try logoutRedirectUri.map(url)),
            session: self, clock: clock)
    }

    /// Returns the forms of the requests whose path ends with a text.
    func forms(_ path: String) -> [[String: String]] {
        state.withLock { $0.requests }.filter { $0.url?.path().hasSuffix(path) == true }.map {
            query(URL(string: "x:?" + String(decoding: $0.httpBody ?? Data(), as: UTF8.self)))
        }
    }

    /// Returns the requests whose path ends with a text.
    func requests(_ path: String) -> [URLRequest] {
        state.withLock { $0.requests }.filter { $0.url?.path().hasSuffix(path) == true }
    }

    /// Returns the URLs of the requests whose path ends with a text.
    func pages(_ path: String) -> [URL] { requests(path).compactMap(\.url) }

    /// Returns the redirect after a user has signed in at this URL.
    func visit(_ page: URL) throws -> URL {
        let asked = query(page)
        let answers = state.withLock { state in
            state.nonce = asked["nonce"]
            return state.answers
        }
        var parameters: [String: String?] = ["code": "code-1", "state": asked["state"], "iss": Self.base]
        for (name, value) in answers.redirect { parameters[name] = value }
        return try Self.redirect(to: asked["redirect_uri"] ?? "", parameters)
    }

    /// Returns the redirect after a sign-out at this URL.
    func visitLogout(_ page: URL) throws -> URL {
        let asked = query(page)
        return try Self.redirect(
            to: asked["post_logout_redirect_uri"] ?? "",
            ["state": state.withLock { $0.answers }.redirect["state"] ?? asked["state"]])
    }

    private static func redirect(to uri: String, _ parameters: [String: String?]) throws -> URL {
        var components = URLComponents(url: try url(uri), resolvingAgainstBaseURL: false)
        components?.queryItems = parameters.compactMap { name, value in value.map { URLQueryItem(name: name, value: $0) } }
        guard let redirect = components?.url else { throw InvalidFixture() }
        return redirect
    }

    // MARK: The session

    var configuration: URLSessionConfiguration { .ephemeral }

    func data(for request: URLRequest) async throws -> (Data, URLResponse) {
        try Task.checkCancellation()
        guard let url = request.url else { throw URLError(.badURL) }
        let (answers, nonce) = state.withLock { state in
            state.requests.append(request)
            return (state.answers, state.nonce)
        }
        let path = url.path()
        if path.hasSuffix("/token") { await answers.tokenPause?() }
        var status = answers.statuses.first { path.hasSuffix($0.key) }?.value ?? 200
        var headers: [String: String] = [:]
        var body = "{}"
        switch path.split(separator: "/").last {
        case "openid-configuration": body = Self.metadata(answers)
        case "keys":
            let key = try Self.key.get().publicKey.map { [$0.json()] } ?? []
            body = JSONValue.object(["keys": .array(key)]).serializedString
        case "token":
            let idToken = try Self.key.get().sign(.object(claims(answers, nonce)))
            body =
                JSONValue.object([
                    "token_type": "Bearer", "access_token": "access-1", "refresh_token": "refresh-1", "expires_in": 3600,
                    "scope": "openid profile", "id_token": .string(idToken),
                ]).serializedString
        case "revoke":
            body = ""
            revoked.yield()
        case "logout":
            guard let logout = answers.logout else { throw URLError(.unsupportedURL) }
            status = logout.status
            if let location = logout.location { headers["Location"] = location.replacing("STATE", with: query(url)["state"] ?? "") }
        default: throw URLError(.unsupportedURL)
        }
        guard let response = HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: headers) else {
            throw URLError(.badServerResponse)
        }
        return (Data(body.utf8), response)
    }

    private func claims(_ answers: Answers, _ nonce: String?) -> [String: JSONValue] {
        let now = Int64(clock.now.timeIntervalSince1970)
        var claims: [String: JSONValue] = [
            "iss": .string(Self.base), "aud": "app", "sub": "00u1", "iat": .integer(now), "exp": .integer(now + 3600),
            "auth_time": .integer(now - 5),
        ]
        claims["nonce"] = nonce.map(JSONValue.string)
        return claims.merging(answers.claims) { $1 }
    }

    private static func metadata(_ answers: Answers) -> String {
        var members: [String: JSONValue] = [
            "issuer": .string(base), "response_types_supported": ["code"], "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["ES256"], "jwks_uri": .string("\(base)/v1/keys"),
            "authorization_response_iss_parameter_supported": true,
        ]
        for (name, path) in [
            ("authorization_endpoint", "authorize"), ("token_endpoint", "token"), ("revocation_endpoint", "revoke"),
            ("userinfo_endpoint", "userinfo"), ("end_session_endpoint", "logout"),
        ] {
            members[name] = .string("\(base)/v1/\(path)")
        }
        return JSONValue.object(members.merging(answers.metadata) { $1 }).serializedString
    }
}

struct InvalidFixture: Error {}

func url(_ text: String) throws -> URL {
    guard let url = URL(string: text) else { throw InvalidFixture() }
    return url
}

/// Returns the parameters of a URL. The first of several values counts.
func query(_ url: URL?) -> [String: String] {
    let items = url.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: false) }?.queryItems ?? []
    return Dictionary(items.map { ($0.name, $0.value ?? "") }) { first, _ in first }
}
