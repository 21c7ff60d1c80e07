internal import Foundation
internal import HTTPTypes
package import IdentityCore
internal import JOSE
package import ServerHTTP

/// What back ends with an API token ask about a person, below `/api/v1/users/{id}`. The devices are an addition of this server's.
package enum UserRoute: Hashable, Sendable {
    /// `DELETE …/sessions`.
    case sessions(user: String)
    /// `GET` and `DELETE …/remembered-devices`.
    case devices(user: String)
    /// `DELETE …/remembered-devices/{id}`.
    case device(user: String, id: String)
    /// `POST …/lifecycle/activate`.
    case activation(user: String)
    /// `POST …/lifecycle/unlock`.
    case unlocking(user: String)

    /// The names of the routes, for metrics.
    package static let names = [
        "users/{id}/sessions", "users/{id}/remembered-devices", "users/{id}/remembered-devices/{id}", "users/{id}/lifecycle/activate",
        "users/{id}/lifecycle/unlock",
    ]

    /// Finds the route of a path; nil for any other path.
    package init?(_ path: [Substring]) {
        guard path.count > 4, path.starts(with: ["api", "v1", "users"]), path.allSatisfy({ (1...200).contains($0.utf8.count) }),
            let user = String(path[3]).removingPercentEncoding
        else { return nil }
        switch path[4...] {
        case ["sessions"]: self = .sessions(user: user)
        case ["remembered-devices"]: self = .devices(user: user)
        case ["lifecycle", "activate"]: self = .activation(user: user)
        case ["lifecycle", "unlock"]: self = .unlocking(user: user)
        case _ where path.count == 6 && path[4] == "remembered-devices": self = .device(user: user, id: String(path[5]))
        default: return nil
        }
    }
}

extension Endpoint {
    /// The endpoint of such a path. No page may read it: an API token is nothing for a browser.
    package static func user(_ route: UserRoute, _ engine: Engine) -> Endpoint {
        switch route {
        case .sessions(let user):
            Self.user(0, [.delete], engine) { request, courier in
                let query = request.query.flatMap { try? FormParameters(parsing: $0.utf8) }
                let ended = try await engine.classicEndSessions(
                    of: user, revokesGrants: query?["oauthTokens"] == "true", forgetsDevices: query?["forgetDevices"] == "true",
                    apiToken: request.sswsToken, context: request.context
                ).get()
                courier.deliver(ended)
                return ServerResponse(status: .noContent)
            }
        case .devices(let user):
            Self.user(1, [.get, .delete], engine) { request, _ in
                guard request.head.method == .delete else {
                    let devices = try await engine.classicDevices(of: user, apiToken: request.sswsToken).get()
                    return ServerResponse(json: JSONValue.array(devices.map(\.json)).serialized())
                }
                _ = try await engine.classicForget(device: nil, of: user, apiToken: request.sswsToken, context: request.context).get()
                return ServerResponse(status: .noContent)
            }
        case .activation(let user):
            Self.user(3, [.post], engine) { request, courier in
                let query = request.query.flatMap { try? FormParameters(parsing: $0.utf8) }
                let activation = try await engine.classicActivate(
                    user, isMailed: query?["sendEmail"] != "false", apiToken: request.sswsToken, context: request.context
                ).get()
                let origin = try await engine.snapshot().origin
                var answer: JSONValue = [:]
                switch activation {
                case .mail(let mail): courier.deliver([mail], origin: origin)
                case .token(let token):
                    answer = ["activationToken": .string(token), "activationUrl": .string(origin + PagePath.setUp + token)]
                }
                return ServerResponse(json: answer.serialized())
            }
        case .unlocking(let user):
            Self.user(4, [.post], engine) { request, _ in
                try await engine.classicUnlock(user, apiToken: request.sswsToken, context: request.context).get()
                return ServerResponse(json: JSONValue.object([:]).serialized())
            }
        case .device(let user, let id):
            Self.user(2, [.delete], engine) { request, _ in
                _ = try await engine.classicForget(device: id, of: user, apiToken: request.sswsToken, context: request.context).get()
                return ServerResponse(status: .noContent)
            }
        }
    }

    private static func user(
        _ name: Int, _ methods: [HTTPRequest.Method], _ engine: Engine,
        _ respond: @escaping @Sendable (ServerRequest, any Courier) async throws -> ServerResponse
    ) -> Endpoint {
        Endpoint(name: UserRoute.names[name], methods: methods, isCrossOrigin: false) { call in
            let request = call.request.ofEndUser(call.snapshot)
            let limit = engine.countRequest(clientID: nil, snapshot: call.snapshot, context: request.context)
            var response: ServerResponse
            do {
                guard limit.isAdmitted else { throw ClassicRefusal.tooManyRequests(limit, reason: "rate limit") }
                response = try await respond(request, call.courier)
            } catch let refusal as ClassicRefusal {
                try await engine.noteRefused(refusal, operation: UserRoute.names[name], context: request.context)
                response = .refusal(refusal, to: request)
            }
            if response.headers[.rateLimitLimit] == nil { response.headers.set(limit) }
            return response.uncached()
        }
    }
}

extension RememberedDeviceSummary {
    fileprivate var json: JSONValue {
        func date(_ date: Date) -> JSONValue { .string(date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))) }
        return ["id": .string(id), "created": date(createdAt), "lastProved": date(provedAt)]
    }
}
