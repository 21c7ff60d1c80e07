public import Foundation
internal import HTTPTypes
internal import IdentityCore
internal import JOSE
internal import NIOConcurrencyHelpers
internal import ServerHTTP

/// The interceptor of the server's requests. It passes control requests to the control API, applies faults to the other requests, and
/// records them.
struct SandboxInterceptor: Sendable {
    let clock: SandboxClock
    let faults: FaultPlan
    let log: RequestLog
    let control: ControlAPI
    let keys: SandboxKeys

    func intercept(_ request: ServerRequest, next: @Sendable (ServerRequest) async -> ServerResponse) async -> ServerResponse {
        if ControlAPI.isAddressed(by: request) { return await control.respond(to: request) }
        let endpoint = Fault.Endpoint(rawValue: request.path.split(separator: "/").last.map(String.init) ?? "")
        let effect = faults.take(at: endpoint)
        let response = await respond(to: request, effect: effect, next: next)
        log.append(LoggedRequest(request, endpoint: endpoint, response: response, fault: effect, time: clock.now))
        return response
    }

    private func respond(
        to request: ServerRequest, effect: Fault.Effect?, next: @Sendable (ServerRequest) async -> ServerResponse
    ) async -> ServerResponse {
        switch effect {
        case nil: return await next(request)
        case .status(let status): return .faulty(status: status)
        case .rateLimited(let seconds): return .rateLimited(resetAfter: seconds, now: request.context.now)
        case .dropConnectionBeforeCommit: return ServerResponse(status: .ok).delivered(.dropped)
        case .dropConnectionAfterCommit: return await next(request).delivered(.dropped)
        case .truncatedBody:
            let response = await next(request)
            return response.delivered(.truncated(after: response.body.count / 2))
        case .contentType(let type): return await next(request).typed(type)
        case .forgedIDToken(let forgery): return forge(forgery, in: await next(request))
        case .delay(let seconds):
            // A cancelled wait means that the client has disconnected.
            try? await clock.sleep(for: seconds)
            return await next(request)
        }
    }

    private func forge(_ forgery: Forgery, in response: ServerResponse) -> ServerResponse {
        guard var answer = try? JSONValue(parsing: response.body), let token = answer["id_token"]?.stringValue else { return response }
        do {
            answer["id_token"] = .string(try forgery.forge(token, keys: keys, now: clock.now))
        } catch {
            return .faulty(status: 500)
        }
        var forged = response
        forged.body = answer.serialized()
        return forged
    }
}

extension LoggedRequest {
    fileprivate init(
        _ request: ServerRequest, endpoint: Fault.Endpoint, response: ServerResponse, fault: Fault.Effect?, time: Date
    ) {
        let isForm = request.head.headerFields[.contentType]?.lowercased().hasPrefix("application/x-www-form-urlencoded") == true
        let text = isForm ? String(decoding: request.body, as: UTF8.self) : String(request.query ?? "")
        var headers: [String: String] = [:]
        for field in request.head.headerFields where field.name != .authorization && field.name != .cookie {
            headers[field.name.canonicalName] = field.value
        }
        self.init(
            time: time, method: request.head.method.rawValue, path: String(request.path), endpoint: endpoint,
            parameters: Self.parameters(text), headers: headers, status: response.delivery == .dropped ? nil : response.status.code,
            fault: fault)
    }

    /// Parses a form; of parameters with the same name, the first counts.
    private static func parameters(_ text: String) -> [String: String] {
        var parameters: [String: String] = [:]
        for pair in text.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(decoded)
            let value = parts.count > 1 ? parts[1] : ""
            if parameters[parts[0]] == nil { parameters[parts[0]] = isSecret(parts[0]) ? "(secret)" : value }
        }
        return parameters
    }

    private static func decoded(_ text: Substring) -> String {
        let spaced = text.replacing("+", with: " ")
        return spaced.removingPercentEncoding ?? String(spaced)
    }
}

/// A request that the sandbox's server received.
public struct LoggedRequest: Sendable, Equatable {
    /// The time of the response, by the sandbox's clock.
    public let time: Date
    /// The HTTP method, such as `GET`.
    public let method: String
    /// The path, without the query.
    public let path: String
    /// The endpoint: the last part of the path.
    public let endpoint: Fault.Endpoint
    /// The parameters of the form or the query; secret values are replaced by `(secret)`.
    public let parameters: [String: String]
    /// The headers by lower-case name, without `authorization` and `cookie`.
    public let headers: [String: String]
    /// The status of the response; `nil` if a fault closed the connection without a response.
    public let status: Int?
    /// The fault that affected the request; `nil` for none.
    public let fault: Fault.Effect?

    /// The `grant_type` parameter; `nil` if the request has none.
    public var grantType: String? { parameters["grant_type"] }

    /// The parameters whose values are public although their names contain a word of `secretWords`.
    private static let publicParameters: Set<String> = [
        "token_type_hint", "subject_token_type", "actor_token_type", "requested_token_type", "client_assertion_type", "code_challenge",
        "code_challenge_method",
    ]
    private static let secretWords = ["password", "secret", "assertion", "token", "code", "verifier", "otp", "answer"]

    /// Whether the value of a parameter is a secret. An unknown parameter is a secret if its name contains a word of `secretWords`.
    fileprivate static func isSecret(_ name: String) -> Bool {
        let name = name.lowercased()
        return !publicParameters.contains(name) && secretWords.contains { name.contains($0) }
    }
}

/// The requests that the sandbox received, in the order of the responses. At the capacity limit, the oldest requests are removed.
final class RequestLog: Sendable {
    private static let capacity = 10_000
    private let requests = NIOLockedValueBox<[LoggedRequest]>([])

    var all: [LoggedRequest] { requests.withLockedValue { $0 } }

    func clear() {
        requests.withLockedValue { $0 = [] }
    }

    func append(_ request: LoggedRequest) {
        requests.withLockedValue { requests in
            if requests.count >= Self.capacity { requests.removeFirst(Self.capacity / 10) }
            requests.append(request)
        }
    }
}
