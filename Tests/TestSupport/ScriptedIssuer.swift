public import AuthFoundation
public import Foundation
public import JOSE

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// An issuer with a real key that answers from scripts, without a network, and records its requests.
///
/// It serves its discovery document and its keys, and accepts revocations, unless a script handles these requests. Any other request
/// without a script fails. A request with the user name `unknown` is always refused.
public final class ScriptedIssuer: URLSessionProtocol {
    /// A response, or a failure of the network.
    public struct Reply: Sendable {
        public var status: Int
        public var headers: [String: String]
        public var body: String
        /// The failure; `nil` for a response.
        public var error: URLError.Code?

        public init(status: Int = 200, headers: [String: String] = [:], body: String = "", error: URLError.Code? = nil) {
            (self.status, self.headers, self.body, self.error) = (status, headers, body, error)
        }

        public static let empty = Reply()
        public static func json(_ body: String, status: Int = 200, headers: [String: String] = [:]) -> Reply {
            Reply(status: status, headers: headers.merging(["Content-Type": "application/json"]) { own, _ in own }, body: body)
        }
        public static func refusal(_ code: String, status: Int = 400, more: String = "") -> Reply {
            Reply(status: status, body: #"{"error":"\#(code)","error_description":"Said the server."\#(more)}"#)
        }
        public static func redirect(_ location: String?, status: Int = 302) -> Reply {
            Reply(status: status, headers: location.map { ["Location": $0] } ?? [:])
        }
        public static func failing(_ code: URLError.Code) -> Reply { Reply(error: code) }
        /// Returns tokens, with additional or changed members.
        public static func tokens(_ more: [String: JSONValue] = [:]) -> Reply {
            let members: [String: JSONValue] = [
                "token_type": "Bearer", "access_token": "access-1", "refresh_token": "refresh-1", "expires_in": 3600,
            ]
            return Reply(body: JSONValue.object(members.merging(more) { $1 }).serializedString)
        }
    }

    /// A function that returns the response to a request. `count` is the number of earlier requests to this path.
    public typealias Script = @Sendable (_ request: URLRequest, _ count: Int) async throws -> Reply

    private struct Watcher {
        let path: String
        let count: Int
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        /// The scripts by path; the latest comes first.
        var scripts: [(path: String, script: Script)] = []
        var actions: [(path: String, action: @Sendable () async -> Void)] = []
        var requests: [URLRequest] = []
        var metadata: [String: JSONValue]
        var watchers: [Watcher] = []
    }

    public static let base = "https://id.example.com/oauth2/default"
    private static let key = Result { try SigningKey.generate(.es256, keyID: "key-1") }

    /// The issuer's URL. The paths of the endpoints begin with its path and `/v1`.
    public let base: String
    /// The clock of the issuer and of its clients.
    public let clock: ManualClock
    private let state: Locked<State>

    /// Creates an issuer.
    ///
    /// - Parameters:
    ///   - metadata: Additional or changed members of the discovery document; `null` removes a member.
    ///   - base: The issuer's URL.
    ///   - clock: The clock, whose sleeps end at once by default.
    public init(
        _ metadata: [String: JSONValue] = [:], base: String = ScriptedIssuer.base, clock: ManualClock = ManualClock(sleeps: .skipped)
    ) {
        (self.base, self.clock) = (base, clock)
        state = Locked(State(metadata: metadata))
        answer("/v1/revoke", .empty)
    }

    /// Removes a member of the discovery document.
    public func remove(_ member: String) { state.withLock { $0.metadata[member] = .null } }

    /// Sets the script for requests whose path ends with a text. If several scripts match, the latest one responds.
    public func on(_ path: String, _ script: @escaping Script) {
        state.withLock { state in
            state.scripts.removeAll { $0.path == path }
            state.scripts.insert((path, script), at: 0)
        }
    }

    /// Sets the successive responses to requests whose path ends with a text; the last one is repeated.
    public func answer(_ path: String, _ replies: Reply...) { answer(path, replies) }

    /// Sets the successive responses to requests whose path ends with a text; the last one is repeated.
    public func answer(_ path: String, _ replies: [Reply]) {
        let next = Locked(0)
        on(path) { _, _ in
            replies[
                next.withLock { next in
                    defer { next = min(next + 1, replies.count - 1) }
                    return next
                }]
        }
    }

    /// Sets an action that runs at each request whose path ends with a text, before the response.
    public func atRequest(_ path: String, _ action: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            state.actions.removeAll { $0.path == path }
            state.actions.append((path, action))
        }
    }

    /// Returns the requests so far whose path ends with a text.
    public func requests(_ path: String) -> [URLRequest] {
        state.withLock { $0.requests }.filter { $0.url?.path().hasSuffix(path) == true }
    }

    /// Returns the forms of the requests whose path ends with a text.
    public func forms(_ path: String) -> [[String: String]] { bodies(path).map(Form.values) }

    /// Returns the bodies of the requests whose path ends with a text, unchanged.
    public func bodies(_ path: String) -> [String] { requests(path).map { String(decoding: $0.httpBody ?? Data(), as: UTF8.self) } }

    /// Returns a header of the requests whose path ends with a text.
    public func headers(_ path: String, _ name: String) -> [String?] { requests(path).map { $0.value(forHTTPHeaderField: name) } }

    /// Waits until this number of requests has arrived, or until the task is cancelled, for example by the test's time limit.
    public func awaits(_ path: String, _ count: Int) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { $0.watchers.append(Watcher(path: path, count: count, continuation: continuation)) }
                wakeWatchers(all: Task.isCancelled)
            }
        } onCancel: {
            wakeWatchers(all: true)
        }
    }

    private func wakeWatchers(all: Bool = false) {
        let ready = state.withLock { state in
            let arrived = state.requests.compactMap { $0.url?.path() }
            let isReady: (Watcher) -> Bool = { watcher in all || arrived.count { $0.hasSuffix(watcher.path) } >= watcher.count }
            let ready = state.watchers.filter(isReady)
            state.watchers.removeAll(where: isReady)
            return ready
        }
        for watcher in ready { watcher.continuation.resume() }
    }

    /// Returns an ID token with valid claims, and with changes to them; `nil` removes a claim.
    public func idToken(_ changes: [String: JSONValue?] = [:]) throws -> JSONValue {
        let now = Int64(clock.now.timeIntervalSince1970)
        var claims: [String: JSONValue] = [
            "iss": .string(base), "aud": "app", "sub": "00u1", "iat": .integer(now), "exp": .integer(now + 3600),
            "auth_time": .integer(now - 5),
        ]
        for (name, value) in changes { claims[name] = value }
        return .string(try Self.key.get().sign(.object(claims)))
    }

    /// Returns a client of the issuer. If `clock` is `nil`, the client uses the issuer's clock.
    public func client(
        scope: String = "openid profile", redirectUri: String? = "com.example.app:/callback", logoutRedirectUri: String? = nil,
        authentication: OAuth2Client.ClientAuthentication = .none, clock: (any OAuth2Clock)? = nil
    ) throws -> OAuth2Client {
        let configuration = OAuth2Client.Configuration(
            issuerURL: try url(base), clientId: "app", scope: scope, redirectUri: try redirectUri.map(url),
            logoutRedirectUri: try logoutRedirectUri.map(url), authentication: authentication)
        return OAuth2Client(configuration, session: self, clock: clock ?? self.clock)
    }

    // MARK: The session

    public var configuration: URLSessionConfiguration { .ephemeral }

    public func data(for request: URLRequest) async throws -> (Data, URLResponse) {
        try Task.checkCancellation()
        guard let url = request.url else { throw URLError(.badURL) }
        let path = url.path()
        let (script, action, count): (Script?, (@Sendable () async -> Void)?, Int) = state.withLock { state in
            let count = state.requests.count { $0.url?.path() == path }
            state.requests.append(request)
            return (
                state.scripts.first { path.hasSuffix($0.path) }?.script, state.actions.first { path.hasSuffix($0.path) }?.action, count
            )
        }
        wakeWatchers()
        let isRefused = String(decoding: request.httpBody ?? Data(), as: UTF8.self).contains("login_hint=unknown")
        if !isRefused { await action?() }
        // A session also throws this error for a cancelled request.
        try Task.checkCancellation()
        let reply: Reply? =
            if isRefused { .refusal("invalid_grant") } else if let script { try await script(request, count) } else {
                try standingReply(to: path)
            }
        try Task.checkCancellation()
        if let code = reply?.error { throw URLError(code) }
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
            "issuer": .string(base), "response_types_supported": ["code"], "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256", "ES256"], "jwks_uri": .string("\(base)/v1/keys"),
        ]
        for (name, path) in [
            ("authorization_endpoint", "authorize"), ("token_endpoint", "token"), ("revocation_endpoint", "revoke"),
            ("userinfo_endpoint", "userinfo"), ("end_session_endpoint", "logout"), ("introspection_endpoint", "introspect"),
            ("device_authorization_endpoint", "device/authorize"),
        ] {
            members[name] = .string("\(base)/v1/\(path)")
        }
        for (name, value) in state.withLock({ $0.metadata }) { members[name] = value == .null ? nil : value }
        return Reply(body: JSONValue.object(members).serializedString)
    }
}

/// Reads the fields of a form or of a query.
public enum Form: Sendable {
    public static func values(_ text: String) -> [String: String] {
        let pairs = text.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
                $0.replacing("+", with: " ").removingPercentEncoding ?? ""
            }
            return (parts[0], parts.count > 1 ? parts[1] : "")
        }
        return Dictionary(uniqueKeysWithValues: pairs)
    }

    public static func query(_ url: URL) -> [String: String] {
        values(URLComponents(url: url, resolvingAgainstBaseURL: false)?.percentEncodedQuery ?? "")
    }
}

public struct InvalidFixture: Error {
    public init() {}
}

public func url(_ text: String) throws -> URL {
    guard let url = URL(string: text) else { throw InvalidFixture() }
    return url
}
