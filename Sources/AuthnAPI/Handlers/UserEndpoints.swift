internal import Foundation
internal import HTTPTypes
internal import IdentityCore
internal import JOSE
internal import ServerHTTP

extension Endpoint {
    /// The endpoints below `/api/v1/users/{id}`, for back ends with an API token. Those of remembered devices are an addition of this
    /// server. No endpoint is cross-origin, because a browser must not hold an API token.
    static func users(_ engine: Engine) -> [Endpoint] {
        [
            user("/api/v1/users/{id}/sessions", [.delete], engine) { call, user in
                let query = call.request.query.flatMap { try? FormParameters(parsing: $0.utf8) }
                try await engine.classicEndSessions(
                    of: user, revokesGrants: query?["oauthTokens"] == "true", forgetsDevices: query?["forgetDevices"] == "true",
                    apiToken: call.request.sswsToken, context: call.request.context
                ).get()
                return ServerResponse(status: .noContent)
            },
            user("/api/v1/users/{id}/remembered-devices", [.get, .delete], engine) { call, user in
                guard call.request.head.method == .delete else {
                    let devices = try await engine.classicDevices(of: user, apiToken: call.request.sswsToken).get()
                    return ServerResponse(json: JSONValue.array(devices.map(\.json)).serialized())
                }
                _ = try await engine.classicForget(
                    device: nil, of: user, apiToken: call.request.sswsToken, context: call.request.context
                ).get()
                return ServerResponse(status: .noContent)
            },
            user("/api/v1/users/{id}/remembered-devices/{id}", [.delete], engine) { call, user in
                _ = try await engine.classicForget(
                    device: call.parameter(1), of: user, apiToken: call.request.sswsToken, context: call.request.context
                ).get()
                return ServerResponse(status: .noContent)
            },
            user("/api/v1/users/{id}/lifecycle/activate", [.post], engine) { call, user in
                let query = call.request.query.flatMap { try? FormParameters(parsing: $0.utf8) }
                let token = try await engine.classicActivate(
                    user, isMailed: query?["sendEmail"] != "false", apiToken: call.request.sswsToken, context: call.request.context
                ).get()
                guard let token else { return ServerResponse(json: JSONValue.object([:]).serialized()) }
                let url = try await engine.snapshot().origin + RoutePath.setUp(token)
                let answer: JSONValue = ["activationToken": .string(token), "activationUrl": .string(url)]
                return ServerResponse(json: answer.serialized())
            },
            user("/api/v1/users/{id}/lifecycle/unlock", [.post], engine) { call, user in
                try await engine.classicUnlock(user, apiToken: call.request.sswsToken, context: call.request.context).get()
                return ServerResponse(json: JSONValue.object([:]).serialized())
            },
        ]
    }

    private static func user(
        _ path: RoutePath, _ methods: [HTTPRequest.Method], _ engine: Engine,
        _ respond: @escaping @Sendable (Call, _ user: String) async throws -> ServerResponse
    ) -> Endpoint {
        // A login may be long, and is percent-encoded.
        let admits: Admission = { parameters in
            parameters.allSatisfy { (1...200).contains($0.utf8.count) } && parameters.first.map(String.init)?.removingPercentEncoding != nil
        }
        return Endpoint(classic: path, methods: methods, engine: engine, admits: admits) { call in
            try await respond(call, call.parameter(0).removingPercentEncoding ?? "")
        }
    }
}

extension RememberedDeviceSummary {
    fileprivate var json: JSONValue {
        func date(_ date: Date) -> JSONValue { .string(date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))) }
        return ["id": .string(id), "created": date(createdAt), "lastProved": date(provedAt)]
    }
}
