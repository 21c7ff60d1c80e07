import Foundation

@testable import AuthFoundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A network session that answers from a script and records its requests.
///
/// It serves the discovery document of `https://id.example.com/oauth2/default` without a script. A request that the script does not cover fails the
/// test.
final class ScriptedSession: URLSessionProtocol {
    struct Reply: Sendable {
        var status = 200
        var headers: [String: String] = [:]
        var body = Data()

        static func json(_ text: String, status: Int = 200, headers: [String: String] = [:]) -> Reply {
            Reply(status: status, headers: headers.merging(["Content-Type": "application/json"]) { own, _ in own }, body: Data(text.utf8))
        }

        static func tokens(_ access: String, refresh: String? = nil, expiresIn: Int = 3600) -> Reply {
            let refreshMember = refresh.map { #","refresh_token":"\#($0)""# } ?? ""
            return .json(#"{"token_type":"Bearer","access_token":"\#(access)","expires_in":\#(expiresIn)\#(refreshMember)}"#)
        }

        static let invalidGrant = Reply.json(#"{"error":"invalid_grant","error_description":"The refresh token is invalid."}"#, status: 400)
        static let empty = Reply()
    }

    /// - Parameters: the request, and the number of earlier requests to this path.
    typealias Script = @Sendable (_ request: URLRequest, _ count: Int) async throws -> Reply

    static let issuer = "https://id.example.com/oauth2/default"

    private struct State {
        var scripts: [String: Script] = [:]
        var requests: [URLRequest] = []
    }

    private let state = Locked(State())

    init() {
        on("/.well-known/openid-configuration") { _, _ in
            let issuer = Self.issuer
            return .json(
                """
                {"issuer":"\(issuer)","authorization_endpoint":"\(issuer)/v1/authorize","token_endpoint":"\(issuer)/v1/token",
                "jwks_uri":"\(issuer)/v1/keys","userinfo_endpoint":"\(issuer)/v1/userinfo","introspection_endpoint":"\(issuer)/v1/introspect",
                "revocation_endpoint":"\(issuer)/v1/revoke","response_types_supported":["code"],"subject_types_supported":["public"],
                "id_token_signing_alg_values_supported":["RS256"]}
                """)
        }
    }

    /// Sets the response to requests whose path ends with a text.
    func on(_ path: String, _ script: @escaping Script) {
        state.withLock { $0.scripts[path] = script }
    }

    /// Returns the requests so far whose path ends with a text.
    func requests(to path: String) -> [URLRequest] {
        state.withLock { $0.requests }.filter { $0.url?.path().hasSuffix(path) == true }
    }

    /// Returns the form parameters of the requests whose path ends with a text.
    func forms(to path: String) -> [[String: String]] {
        requests(to: path).map { request in
            let pairs = String(decoding: request.httpBody ?? Data(), as: UTF8.self).split(separator: "&").map { pair in
                let parts = pair.split(separator: "=", maxSplits: 1).map { String($0).removingPercentEncoding ?? "" }
                return (parts[0], parts.count > 1 ? parts[1] : "")
            }
            return Dictionary(pairs) { _, last in last }
        }
    }

    var configuration: URLSessionConfiguration { .ephemeral }

    func data(for request: URLRequest) async throws -> (Data, URLResponse) {
        let path = request.url?.path() ?? ""
        let (script, count): (Script?, Int) = state.withLock { state in
            let count = state.requests.filter { $0.url?.path() == path }.count
            state.requests.append(request)
            return (state.scripts.first { path.hasSuffix($0.key) }?.value, count)
        }
        guard let script, let url = request.url else { throw URLError(.unsupportedURL) }
        let reply = try await script(request, count)
        guard let response = HTTPURLResponse(url: url, statusCode: reply.status, httpVersion: "HTTP/1.1", headerFields: reply.headers)
        else {
            throw URLError(.badServerResponse)
        }
        return (reply.body, response)
    }
}
