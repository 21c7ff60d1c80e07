import AuthFoundation
import Foundation
import JOSE
import OAuth2Auth

#if canImport(FoundationNetworking)
import FoundationNetworking
import TestSupport
#endif

/// An issuer with a real key that answers from a script and records its requests. A request that the script does not cover fails.
final class Issuer: URLSessionProtocol {
    struct Reply: Sendable {
        var status = 200
        var headers: [String: String] = [:]
        var body: String

        static func json(_ body: String, status: Int = 200) -> Reply { Reply(status: status, body: body) }
        static func refusal(_ code: String, status: Int = 400, more: String = "") -> Reply {
            Reply(status: status, body: #"{"error":"\#(code)","error_description":"Said the server."\#(more)}"#)
        }
        static func redirect(_ location: String?, status: Int = 302) -> Reply {
            Reply(status: status, headers: location.map { ["Location": $0] } ?? [:], body: "")
        }
        static func tokens(_ more: [String: JSONValue] = [:]) -> Reply {
            let members: [String: JSONValue] = [
                "token_type": "Bearer", "access_token": "access-1", "refresh_token": "refresh-1", "expires_in": 3600,
            ]
            return Reply(body: JSONValue.object(members.merging(more) { $1 }).serializedString)
        }
    }

    typealias Script = @Sendable (_ request: URLRequest, _ count: Int) async throws -> Reply

    static let base = "https://id.example.com/oauth2/default"
    private static let key = Result { try SigningKey.generate(.es256, keyID: "key-1") }

    private struct State {
        var scripts: [String: Script] = [:]
        var requests: [URLRequest] = []
        var metadata: [String: JSONValue] = [:]
        var watchers: [(path: String, count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Locked(State())
    let clock = ManualClock(sleeps: .skipped)

    /// - Parameter metadata: Additional members of the discovery document.
    init(_ metadata: [String: JSONValue] = [:]) {
        state.withLock { $0.metadata = metadata }
        on("/v1/revoke") { _, _ in .json("") }
    }

    /// Sets the response to requests whose path ends with a text.
    func on(_ path: String, _ script: @escaping Script) {
        state.withLock { $0.scripts[path] = script }
    }

    /// Sets the successive responses to requests whose path ends with a text; the last one is repeated.
    func answer(_ path: String, _ replies: Reply...) {
        on(path) { _, count in replies[min(count, replies.count - 1)] }
    }

    /// Returns the requests so far whose path ends with a text.
    func requests(_ path: String) -> [URLRequest] {
        state.withLock { $0.requests }.filter { $0.url?.path().hasSuffix(path) == true }
    }

    /// Returns the forms of the requests whose path ends with a text.
    func forms(_ path: String) -> [[String: String]] {
        requests(path).map { Form.values(String(decoding: $0.httpBody ?? Data(), as: UTF8.self)) }
    }

    /// Waits until this number of requests has arrived, or the test times out.
    func awaits(_ path: String, _ count: Int) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { $0.watchers.append((path, count, continuation)) }
                wakeWatchers(all: Task.isCancelled)
            }
        } onCancel: {
            wakeWatchers(all: true)
        }
    }

    private func wakeWatchers(all: Bool = false) {
        let ready = state.withLock { state in
            let arrived = state.requests.compactMap { $0.url?.path() }
            let isReady: ((path: String, count: Int, continuation: CheckedContinuation<Void, Never>)) -> Bool = { watcher in
                all || arrived.count { $0.hasSuffix(watcher.path) } >= watcher.count
            }
            let ready = state.watchers.filter(isReady)
            state.watchers.removeAll(where: isReady)
            return ready
        }
        for watcher in ready { watcher.continuation.resume() }
    }

    /// Returns an ID token with valid claims and changes; `nil` removes a claim.
    func idToken(_ changes: [String: JSONValue?] = [:]) throws -> JSONValue {
        let now = Int64(clock.now.timeIntervalSince1970)
        var claims: [String: JSONValue] = [
            "iss": .string(Self.base), "aud": "app", "sub": "00u1", "iat": .integer(now), "exp": .integer(now + 3600),
            "auth_time": .integer(now - 5),
        ]
        for (name, value) in changes { claims[name] = value }
        return .string(try Self.key.get().sign(.object(claims)))
    }

    func client(
        scope: String = "openid profile", redirectUri: String? = "com.example.app:/callback", logoutRedirectUri: String? = nil,
        authentication: OAuth2Client.ClientAuthentication = .none, clock: (any OAuth2Clock)? = nil
    ) throws -> OAuth2Client {
        let configuration = OAuth2Client.Configuration(
            issuerURL: try url(Self.base), clientId: "app", scope: scope, redirectUri: try redirectUri.map(url),
            logoutRedirectUri: try logoutRedirectUri.map(url), authentication: authentication)
        return OAuth2Client(configuration, session: self, clock: clock ?? self.clock)
    }

    // MARK: The session

    var configuration: URLSessionConfiguration { .ephemeral }

    func data(for request: URLRequest) async throws -> (Data, URLResponse) {
        try Task.checkCancellation()
        guard let url = request.url else { throw URLError(.badURL) }
        let path = url.path()
        let (script, count): (Script?, Int) = state.withLock { state in
            let count = state.requests.count { $0.url?.path() == path }
            state.requests.append(request)
            return (state.scripts.first { path.hasSuffix($0.key) }?.value, count)
        }
        wakeWatchers()
        var reply = try standingReply(to: path)
        if reply == nil { reply = try await script?(request, count) }
        try Task.checkCancellation()
        guard let reply,
            let response = HTTPURLResponse(url: url, statusCode: reply.status, httpVersion: "HTTP/1.1", headerFields: reply.headers)
        else { throw URLError(.unsupportedURL) }
        return (Data(reply.body.utf8), response)
    }

    private func standingReply(to path: String) throws -> Reply? {
        if path.hasSuffix("/v1/keys") {
            let key = try Self.key.get().publicKey.map { [$0.json()] } ?? []
            return Reply(body: JSONValue.object(["keys": .array(key)]).serializedString)
        }
        guard path.hasSuffix("/.well-known/openid-configuration") else { return nil }
        var members: [String: JSONValue] = [
            "issuer": .string(Self.base), "response_types_supported": ["code"], "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256", "ES256"], "jwks_uri": .string("\(Self.base)/v1/keys"),
        ]
        for (name, path) in [
            ("authorization_endpoint", "authorize"), ("token_endpoint", "token"), ("revocation_endpoint", "revoke"),
            ("userinfo_endpoint", "userinfo"), ("end_session_endpoint", "logout"),
            ("device_authorization_endpoint", "device/authorize"),
        ] {
            members[name] = .string("\(Self.base)/v1/\(path)")
        }
        for (name, value) in state.withLock({ $0.metadata }) { members[name] = value == .null ? nil : value }
        return Reply(body: JSONValue.object(members).serializedString)
    }
}

/// Fields of a form or of a query.
enum Form {
    static func values(_ text: String) -> [String: String] {
        let pairs = text.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
                $0.replacing("+", with: " ").removingPercentEncoding ?? ""
            }
            return (parts[0], parts.count > 1 ? parts[1] : "")
        }
        return Dictionary(uniqueKeysWithValues: pairs)
    }

    static func query(_ url: URL) -> [String: String] {
        values(URLComponents(url: url, resolvingAgainstBaseURL: false)?.percentEncodedQuery ?? "")
    }
}

struct InvalidFixture: Error {}

func url(_ text: String) throws -> URL {
    guard let url = URL(string: text) else { throw InvalidFixture() }
    return url
}
