import AuthFoundation
import Foundation
import OktaDirectAuth
import TestSupport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A server that answers from a script and records the received forms. It always refuses the user name `unknown`.
final class DirectAuthServer: URLSessionProtocol {
    struct Reply: Sendable {
        var status = 200
        var body: String
        var error: URLError.Code?
        var headers: [String: String] = [:]

        static let tokens = Reply(body: #"{"token_type":"Bearer","access_token":"access-1","refresh_token":"refresh-1","expires_in":3600}"#)
        static let pending = refusal("authorization_pending")
        static func failing(_ code: URLError.Code) -> Reply { Reply(body: "", error: code) }
        static func refusal(_ code: String, status: Int = 400, more: String = "") -> Reply {
            Reply(status: status, body: #"{"error":"\#(code)","error_description":"Said the server."\#(more)}"#)
        }
        static let mfaRequired = refusal(
            "mfa_required", status: 403,
            more:
                #","mfa_token":"mfa-1","supported_challenge_types":"http://auth0.com/oauth/grant-type/mfa-otp http://auth0.com/oauth/grant-type/mfa-oob""#
        )
        static func outOfBand(binding: String, interval: String? = "5", more: String = "") -> Reply {
            let interval = interval.map { ",\"interval\":\($0)" } ?? ""
            return Reply(body: #"{"oob_code":"oob-1","channel":"push","binding_method":"\#(binding)","expires_in":60\#(interval)\#(more)}"#)
        }
    }

    private let replies = Locked<[String: [Reply]]>([:])
    private struct Request {
        let endpoint: String
        let url: URL
        let headers: [String: String]
        let body: String

        var form: [String: String] {
            let fields = body.split(separator: "&").map { field in
                let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
                    $0.replacing("+", with: " ").removingPercentEncoding ?? ""
                }
                return (parts[0], parts.count > 1 ? parts[1] : "")
            }
            return Dictionary(uniqueKeysWithValues: fields)
        }
    }

    private struct Watcher {
        let endpoint: String
        let count: Int
        let continuation: CheckedContinuation<Void, Never>
    }

    private let sent = Locked((requests: [Request](), watchers: [Watcher]()))
    private let actions = Locked<[String: @Sendable () async -> Void]>([:])
    let clock = ManualClock(sleeps: .skipped)
    /// Whether the discovery document names the endpoint.
    let hasRevocation = Locked(true)

    /// Sets the next responses of an endpoint; the last one is repeated.
    func answer(_ endpoint: String, _ sequence: Reply...) { answer(endpoint, sequence) }

    /// Sets the next responses of an endpoint; the last one is repeated.
    func answer(_ endpoint: String, _ sequence: [Reply]) {
        replies.withLock { $0[endpoint] = sequence }
    }

    /// Runs at each request to an endpoint, before its response.
    func atRequest(_ endpoint: String, _ action: @escaping @Sendable () async -> Void) {
        actions.withLock { $0[endpoint] = action }
    }

    /// Returns the forms that an endpoint received.
    func forms(_ endpoint: String) -> [[String: String]] { requests(endpoint).map(\.form) }

    /// Returns the bodies that an endpoint received, unchanged.
    func bodies(_ endpoint: String) -> [String] { requests(endpoint).map(\.body) }

    /// Returns a header of the requests that an endpoint received.
    func headers(_ endpoint: String, _ name: String) -> [String?] { requests(endpoint).map { $0.headers[name] } }

    /// Whether the server received no request at all, not even for discovery.
    var isUntouched: Bool { sent.withLock { $0.requests.isEmpty } }

    private func requests(_ endpoint: String) -> [Request] {
        sent.withLock { $0.requests.filter { $0.url.path().hasSuffix("/v1/\(endpoint)") } }
    }

    /// Waits until an endpoint has received this number of requests, or the test times out.
    func awaits(_ endpoint: String, _ count: Int) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                sent.withLock { $0.watchers.append(Watcher(endpoint: endpoint, count: count, continuation: continuation)) }
                wakeWatchers(all: Task.isCancelled)
            }
        } onCancel: {
            wakeWatchers(all: true)
        }
    }

    private func wakeWatchers(all: Bool = false) {
        let ready = sent.withLock { sent in
            let isReady: (Watcher) -> Bool = { watcher in
                all || sent.requests.count { $0.endpoint == watcher.endpoint } >= watcher.count
            }
            let ready = sent.watchers.filter(isReady)
            sent.watchers.removeAll(where: isReady)
            return ready
        }
        for watcher in ready { watcher.continuation.resume() }
    }

    var configuration: URLSessionConfiguration { .ephemeral }

    func client(
        authentication: OAuth2Client.ClientAuthentication = .none, redirectUri: URL? = nil, clock: (any OAuth2Clock)? = nil
    ) throws -> OAuth2Client {
        guard let issuer = URL(string: "https://id.example.com") else { throw URLError(.badURL) }
        let configuration = OAuth2Client.Configuration(
            issuerURL: issuer, clientId: "app", scope: "openid profile", redirectUri: redirectUri, authentication: authentication)
        return OAuth2Client(configuration, session: self, clock: clock ?? self.clock)
    }

    func data(for request: URLRequest) async throws -> (Data, URLResponse) {
        try Task.checkCancellation()
        guard let url = request.url else { throw URLError(.badURL) }
        let endpoint = url.lastPathComponent
        let arrived = Request(
            endpoint: endpoint, url: url, headers: request.allHTTPHeaderFields ?? [:],
            body: String(decoding: request.httpBody ?? Data(), as: UTF8.self))
        sent.withLock { $0.requests.append(arrived) }
        wakeWatchers()
        let isRefused = arrived.form["login_hint"] == "unknown"
        if !isRefused, let action = actions.withLock({ $0[endpoint] }) { await action() }
        // A session does this when it cancels its requests.
        try Task.checkCancellation()
        let reply = try isRefused ? .refusal("invalid_grant") : self.reply(to: url.path())
        if let code = reply.error { throw URLError(code) }
        guard
            let response = HTTPURLResponse(url: url, statusCode: reply.status, httpVersion: "HTTP/1.1", headerFields: reply.headers)
        else { throw URLError(.badServerResponse) }
        return (Data(reply.body.utf8), response)
    }

    private func reply(to path: String) throws -> Reply {
        if path.hasSuffix("/openid-configuration") {
            let base = "https://id.example.com/v1"
            let revocation = hasRevocation.withLock { $0 } ? "\"revocation_endpoint\":\"\(base)/revoke\"," : ""
            return Reply(
                body: """
                    {"issuer":"https://id.example.com","authorization_endpoint":"\(base)/authorize","token_endpoint":"\(base)/token",
                    "jwks_uri":"\(base)/keys",\(revocation)"response_types_supported":["code"],"subject_types_supported":["public"],
                    "id_token_signing_alg_values_supported":["RS256"]}
                    """)
        }
        if path.hasSuffix("/keys") { return Reply(body: #"{"keys":[]}"#) }
        let endpoint = path.split(separator: "/").last.map(String.init) ?? ""
        let next = replies.withLock { replies -> Reply? in
            guard var list = replies[endpoint], let first = list.first else { return nil }
            if list.count > 1 { list.removeFirst() }
            replies[endpoint] = list
            return first
        }
        guard let next else { throw URLError(.unsupportedURL) }
        return next
    }
}

extension DirectAuthServer {
    /// Returns a flow that needs a second factor.
    func challengedFlow(clock: (any OAuth2Clock)? = nil) async throws -> DirectAuthenticationFlow {
        let flow = try DirectAuthenticationFlow(client: client(clock: clock))
        answer("token", .mfaRequired)
        _ = try await flow.start("jane", with: .password("Correct-Horse-7"))
        return flow
    }

    /// Holds the requests to an endpoint until the gate is opened.
    func hold(_ endpoint: String) -> Gate {
        let gate = Gate()
        atRequest(endpoint) { await gate.wait() }
        return gate
    }
}
