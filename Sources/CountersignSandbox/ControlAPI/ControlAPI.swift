internal import AuthorizationServer
internal import Foundation
internal import HTTPTypes
internal import JOSE

/// The sandbox's control API under `/sandbox/`: what a test in another language or process moves it with. JSON in and out.
///
/// The documentation of each call is in the module's DocC page.
struct ControlAPI: Sendable {
    /// What the calls act on.
    struct Controls: Sendable {
        var clock: SandboxClock
        var faults: FaultPlan
        var log: RequestLog
        /// Where the sandbox is reached; nil before it listens.
        var origin: @Sendable () -> URL?
        var people: @Sendable () async throws -> [SandboxUser]
        var addPerson: @Sendable (SandboxUser) async throws -> Void
        var phones: PhoneCalls
        var apps: AuthenticatorAppCalls
        /// Ends a person's sessions, and their tokens if asked to; false if there is nobody of that name.
        var signOut: @Sendable (_ login: String, _ revokesTokens: Bool) async throws -> Bool
        var outbox: OutboxCalls
        var reset: @Sendable () async throws -> Void
    }

    private struct BadRequest: Error { let message: String }

    private let controls: Controls

    init(_ controls: Controls) {
        self.controls = controls
    }

    /// The path below `/sandbox/`; nil if the request is not for the control API.
    static func path(of request: ServerRequest) -> String? {
        let prefix = "/sandbox/"
        return request.path.hasPrefix(prefix) ? String(request.path.dropFirst(prefix.count)) : nil
    }

    func respond(to request: ServerRequest, path: String) async -> ServerResponse {
        // A page whose own name was made to lead to this machine (DNS rebinding) is, to the browser, of the same origin.
        guard let authority = request.head.authority, let scheme = scheme(at: authority) else {
            return Self.answer(["error": "The control API answers at its own host and port only."], status: .forbidden)
        }
        // A page of another origin, be it on this machine, must not move the sandbox of a person who happens to visit it.
        if let origin = request.head.headerFields[.origin], origin.lowercased() != "\(scheme)://\(authority)".lowercased() {
            return Self.answer(["error": "Pages of other origins can't use the control API."], status: .forbidden)
        }
        if let answer = await controls.outbox.answer(request, path: path) { return answer }
        do {
            guard let answer = try await answer(request.head.method, path, body: request.body) else {
                return Self.answer(["error": "There is no \(request.head.method) /sandbox/\(path)."], status: .notFound)
            }
            return Self.answer(answer)
        } catch let error as BadRequest {
            return Self.answer(["error": .string(error.message)], status: .badRequest)
        } catch let error as Fault.Unreadable {
            return Self.answer(["error": .string(error.message)], status: .badRequest)
        } catch let error as PhoneCommands.Unreadable {
            return Self.answer(["error": .string(error.message)], status: .badRequest)
        } catch let error as AuthenticatorAppCalls.Unreadable {
            return Self.answer(["error": .string(error.message)], status: .badRequest)
        } catch let error as FactorError {
            return Self.answer(["error": .string(error.message), "code": .string(error.code.rawValue)], status: .conflict)
        } catch {
            if let refusal = PhoneCalls.answer(to: error) { return Self.answer(refusal, status: .conflict) }
            return Self.answer(["error": .string("\(error)")], status: .internalServerError)
        }
    }

    private func answer(_ method: HTTPRequest.Method, _ path: String, body: [UInt8]) async throws -> JSONValue? {
        switch (method, path) {
        case (.get, "clock"): return clock
        case (.post, "clock"): return try moveClock(json(body))
        case (.get, "faults"): return pendingFaults
        case (.post, "faults"):
            controls.faults.add(try Fault(json(body)))
            return pendingFaults
        case (.delete, "faults"):
            controls.faults.clear()
            return pendingFaults
        case (.get, "users"): return try await users()
        case (.post, "users"):
            guard let user = SandboxUser(try json(body)) else {
                throw BadRequest(message: "A user needs a login, and may have a password and a profile.")
            }
            try await controls.addPerson(user)
            return try await users()
        case (.get, "requests"): return ["requests": .array(controls.log.all.map(\.json))]
        case (.delete, "requests"):
            controls.log.clear()
            return ["requests": []]
        case (.post, "reset"):
            try await controls.reset()
            return clock
        case (.post, "sign-out"): return try await signOut(json(body))
        default:
            if let answer = try await controls.apps.answer(method, path, body: { try json(body) }) { return answer }
            return try await controls.phones.answer(method, path, body: { try json(body) })
        }
    }

    private func signOut(_ json: JSONValue) async throws -> JSONValue {
        guard let login = json["login"]?.stringValue, json["tokens"] == nil || json["tokens"]?.boolValue != nil else {
            throw BadRequest(message: "Say whom to sign out everywhere: login; and whether with their tokens: tokens, true or false.")
        }
        guard try await controls.signOut(login, json["tokens"]?.boolValue ?? true) else {
            throw BadRequest(message: "There is nobody with the login \(login).")
        }
        return ["signed_out": .string(login)]
    }

    private var clock: JSONValue {
        let now = controls.clock.now
        return [
            "now": .double(now.timeIntervalSince1970), "date": .string(now.formatted(.iso8601)),
            "mode": .string(controls.clock.mode.rawValue),
        ]
    }

    private func moveClock(_ json: JSONValue) throws -> JSONValue {
        if let seconds = json["advance"]?.doubleValue {
            controls.clock.advance(by: seconds)
        } else if let seconds = json["set"]?.doubleValue {
            controls.clock.set(to: Date(timeIntervalSince1970: seconds))
        } else {
            throw BadRequest(message: "Say by how many seconds to advance, or set to how many seconds since 1970.")
        }
        return clock
    }

    private var pendingFaults: JSONValue { ["faults": .array(controls.faults.pending.map(\.json))] }

    private func users() async throws -> JSONValue {
        ["users": .array(try await controls.people().map(\.json))]
    }

    private func json(_ body: [UInt8]) throws -> JSONValue {
        guard let value = try? JSONValue(parsing: body), value.objectValue != nil else {
            throw BadRequest(message: "The body must be a JSON object.")
        }
        return value
    }

    private static func answer(_ json: JSONValue, status: HTTPResponse.Status = .ok) -> ServerResponse {
        ServerResponse(status: status, json: json.serialized(), headers: [.cacheControl: "no-store"])
    }

    private static let loopbackNames: Set<String> = ["localhost", "127.0.0.1", "::1", "[::1]"]

    /// The scheme that this sandbox is reached by.
    ///
    /// - Parameter authority: The `Host` of a request.
    /// - Returns: nil unless it is this sandbox's: a loopback name, or the one it was given, and the port it listens on.
    private func scheme(at authority: String) -> String? {
        guard let origin = controls.origin(), let scheme = origin.scheme,
            let url = URL(string: "\(scheme)://\(authority)"), url.user == nil, url.path.isEmpty, url.query == nil,
            let host = url.host()?.lowercased(), host == origin.host() || Self.loopbackNames.contains(host)
        else { return nil }
        let standard = scheme == "https" ? 443 : 80
        return (url.port ?? standard) == (origin.port ?? standard) ? scheme : nil
    }
}

extension LoggedRequest {
    fileprivate var json: JSONValue {
        var json: JSONValue = [
            "time": .double(time.timeIntervalSince1970), "method": .string(method), "path": .string(path),
            "endpoint": .string(endpoint.rawValue),
            "parameters": .object(parameters.mapValues(JSONValue.string)), "headers": .object(headers.mapValues(JSONValue.string)),
        ]
        json["status"] = status.map { .integer(Int64($0)) }
        json["fault"] = fault.map { Fault($0, at: endpoint).json }
        return json
    }
}
