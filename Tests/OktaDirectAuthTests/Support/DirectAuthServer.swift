import AuthFoundation
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A server that answers from a script, and remembers the forms that it got.
final class DirectAuthServer: URLSessionProtocol {
    struct Reply: Sendable {
        var status = 200
        var body: String
        var error: URLError.Code?

        static let tokens = Reply(body: #"{"token_type":"Bearer","access_token":"access-1","refresh_token":"refresh-1","expires_in":3600}"#)
        static let pending = refusal("authorization_pending")
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
    private let sent = Locked<[(path: String, form: [String: String])]>([])
    private let actions = Locked<[String: @Sendable () async -> Void]>([:])
    let clock = SkippingClock()

    /// Answers the next requests to an endpoint; the last reply is repeated.
    func answer(_ endpoint: String, _ sequence: Reply...) {
        replies.withLock { $0[endpoint] = sequence }
    }

    /// Is called at each request to an endpoint, before it is answered.
    func atRequest(_ endpoint: String, _ action: @escaping @Sendable () async -> Void) {
        actions.withLock { $0[endpoint] = action }
    }

    /// The forms that came to an endpoint.
    func forms(_ endpoint: String) -> [[String: String]] {
        sent.withLock { $0.filter { $0.path.hasSuffix("/v1/\(endpoint)") }.map(\.form) }
    }

    var configuration: URLSessionConfiguration { .ephemeral }

    func client() throws -> OAuth2Client {
        guard let issuer = URL(string: "https://id.example.com") else { throw URLError(.badURL) }
        return OAuth2Client(
            OAuth2Client.Configuration(issuerURL: issuer, clientId: "app", scope: "openid profile"), session: self, clock: clock)
    }

    func data(for request: URLRequest) async throws -> (Data, URLResponse) {
        try Task.checkCancellation()
        guard let url = request.url else { throw URLError(.badURL) }
        let path = url.path()
        let form = String(decoding: request.httpBody ?? Data(), as: UTF8.self).split(separator: "&").map { field in
            let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
                $0.replacing("+", with: " ").removingPercentEncoding ?? ""
            }
            return (parts[0], parts.count > 1 ? parts[1] : "")
        }
        sent.withLock { $0.append((path, Dictionary(uniqueKeysWithValues: form))) }
        if let endpoint = path.split(separator: "/").last, let action = actions.withLock({ $0[String(endpoint)] }) { await action() }
        let reply = try self.reply(to: path)
        if let code = reply.error { throw URLError(code) }
        guard let response = HTTPURLResponse(url: url, statusCode: reply.status, httpVersion: "HTTP/1.1", headerFields: [:]) else {
            throw URLError(.badServerResponse)
        }
        return (Data(reply.body.utf8), response)
    }

    private func reply(to path: String) throws -> Reply {
        if path.hasSuffix("/openid-configuration") {
            let base = "https://id.example.com/v1"
            return Reply(
                body: """
                    {"issuer":"https://id.example.com","authorization_endpoint":"\(base)/authorize","token_endpoint":"\(base)/token",
                    "jwks_uri":"\(base)/keys","revocation_endpoint":"\(base)/revoke","response_types_supported":["code"],"subject_types_supported":["public"],
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

/// A clock on which every wait is over at once, and which remembers how long it would have been.
final class SkippingClock: OAuth2Clock {
    private let state = Locked((now: Date(timeIntervalSince1970: 1_800_000_000), waits: [TimeInterval]()))
    private let action = Locked<(@Sendable () -> Void)?>(nil)

    var now: Date { state.withLock { $0.now } }
    var waits: [TimeInterval] { state.withLock { $0.waits } }

    /// Is called at each wait.
    func atWait(_ action: @escaping @Sendable () -> Void) {
        self.action.withLock { $0 = action }
    }

    func sleep(for interval: TimeInterval) async throws {
        action.withLock { $0 }?()
        try Task.checkCancellation()
        state.withLock { state in
            state.now += interval
            state.waits.append(interval)
        }
    }
}
