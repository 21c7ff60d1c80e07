internal import AuthorizationServer
internal import Foundation
internal import HTTPTypes
internal import IdentityCore
internal import JOSE
internal import ServerHTTP
internal import Store

/// The sandbox's control API under `/sandbox/`, for tests in other languages or processes, with JSON requests and responses. The module's
/// DocC page and ``ControlCall`` document each call.
struct ControlAPI: Sendable {
    let clock: SandboxClock
    let faults: FaultPlan
    let log: RequestLog
    let organization: LiveOrganization
    let phones: PhoneCommands
    let apps: AuthenticatorAppCalls
    let outbox: OutboxCalls
    /// The sandbox; `nil` before it has started and after it was released.
    let sandbox: @Sendable () -> Sandbox?

    /// Whether a request is for the control API or the front page.
    static func isAddressed(by request: ServerRequest) -> Bool {
        if request.path == "/" { return request.head.method == .get || request.head.method == .head }
        return request.path == "/sandbox" || request.path.hasPrefix("/sandbox/")
    }

    /// Responds to a request for which ``isAddressed(by:)`` is true.
    func respond(to request: ServerRequest) async -> ServerResponse {
        if let refusal = ControlAccess(origin: organization.knownOrigin).refusal(of: request) {
            return Self.answer(["error": .string(refusal)], status: .forbidden)
        }
        let method = request.head.method == .head ? HTTPRequest.Method.get : request.head.method
        if request.path == "/" { return frontPage(request) }
        let path = String(request.path.dropFirst("/sandbox/".count))
        do {
            if path.isEmpty, method == .get { return ServerResponse(status: .found, headers: [.location: "/", .cacheControl: "no-store"]) }
            guard !request.isTooLarge else { return Self.answer(["error": "The body is too large."], status: .contentTooLarge) }
            if let answer = FrontPage.resource(method, path, in: sandbox()) { return answer }
            if let answer = try await outbox.answer(request, path: path) { return answer }
            guard let answer = try await answer(method, path, body: { try ControlBody(request.body) }) else {
                return Self.answer(["error": "There is no \(request.head.method) /sandbox/\(path)."], status: .notFound)
            }
            return Self.answer(answer)
        } catch {
            return Self.answer(to: error)
        }
    }

    private func frontPage(_ request: ServerRequest) -> ServerResponse {
        guard let sandbox = sandbox() else {
            return Self.answer(["error": "The sandbox is starting."], status: .serviceUnavailable)
        }
        return FrontPage(sandbox).answer(accepting: request.head.headerFields[.accept] ?? "")
    }

    /// Returns the response to a failed call: 400 for bad input, 409 for a call that the sandbox's state does not allow.
    private static func answer(to error: any Error) -> ServerResponse {
        switch error {
        case let error as ControlBody.Invalid: return refusal(error.message)
        case let error as OrganizationError: return refusal(error.problems.map(\.inWords).joined(separator: " "))
        case let error as OrgFileError:
            return refusal(error.problems.map { ($0.key.isEmpty ? "" : "\($0.key): ") + $0.message }.joined(separator: " "))
        case let error as StoreError where error.code == .invalid: return refusal("A member has characters that can't be stored.")
        case let error as FactorError:
            let isInput = [.unreadableURI, .unreadableDestination, .unusableQuestion].contains(error.code)
            return answer(
                ["error": .string(error.message), "code": .string(error.code.rawValue)], status: isInput ? .badRequest : .conflict)
        case let error as CodeRefusal: return answer(["error": .string("No mail is sent: \(error.reason).")], status: .conflict)
        default:
            if let refusal = PhoneCommands.answer(to: error) { return answer(refusal, status: .conflict) }
            return answer(["error": .string("The sandbox failed: \(error)")], status: .internalServerError)
        }
    }

    private static func refusal(_ reason: String) -> ServerResponse { answer(["error": .string(reason)], status: .badRequest) }

    private func answer(_ method: HTTPRequest.Method, _ path: String, body: () throws -> ControlBody) async throws -> JSONValue? {
        switch (method, path) {
        case (.get, "clock"): return clock.json
        case (.post, "clock"): return try moveClock(body())
        case (.get, "faults"): return pendingFaults
        case (.post, "faults"):
            faults.add(try Fault(body()))
            return pendingFaults
        case (.delete, "faults"):
            faults.clear()
            return pendingFaults
        case (.get, "users"): return users
        case (.post, "users"):
            try await organization.add(SandboxUser(body()))
            return users
        case (.get, "applications"): return applications
        case (.post, "applications"):
            let application = try OrgFile.application(body().json, in: organization.definition)
            try await organization.add(application)
            return applications
        case (.post, "activation-tokens"): return try await activate(body())
        case (.get, "requests"): return ["requests": .array(log.all.map(\.json))]
        case (.delete, "requests"):
            log.clear()
            return ["requests": []]
        case (.post, "reset"):
            try await sandbox()?.reset()
            return clock.json
        case (.post, "sign-out"): return try await signOut(body())
        default:
            if let answer = try await apps.answer(method, path, body: body) { return answer }
            return try await phones.answer(method, path, body: body)
        }
    }

    private var users: JSONValue { ["users": .array(organization.users.map(\.json))] }

    private func signOut(_ body: ControlBody) async throws -> JSONValue? {
        try body.allow(["login", "tokens"])
        let (login, tokens) = (try body.required("login", example: "jane.doe@example.com"), try body.flag("tokens"))
        guard let sandbox = sandbox() else { return nil }
        guard try await sandbox.signOutEverywhere(login, revokesTokens: tokens ?? true) else {
            throw ControlBody.Invalid(message: "The sandbox has no user \(login).")
        }
        return ["signed_out": .string(login)]
    }

    /// Creates an activation token for a user who cannot sign in yet, or mails it to the outbox.
    private func activate(_ body: ControlBody) async throws -> JSONValue? {
        try body.allow(["login", "mail"])
        let (login, mail) = (try body.required("login", example: "new.user@example.com"), try body.flag("mail") ?? false)
        guard let sandbox = sandbox() else { return nil }
        do {
            guard mail else {
                return ["login": .string(login), "activation_token": .string(try await sandbox.activationToken(for: login))]
            }
            try await sandbox.welcome(login)
            return ["login": .string(login), "mailed": true]
        } catch let error as FactorError {
            throw ControlBody.Invalid(message: error.message)
        }
    }

    private var applications: JSONValue {
        let origin = organization.knownOrigin?.absoluteString ?? ""
        return ["applications": .array(organization.applications.map { $0.json(at: origin) })]
    }

    private func moveClock(_ body: ControlBody) throws -> JSONValue {
        try body.allow(["advance", "set"])
        // The server can represent only dates from 1970 to 9999.
        let span = NumericDate.range.upperBound
        switch (try body.number("advance", in: -span...span), try body.number("set", in: 0...span)) {
        case (let seconds?, nil):
            guard 0...span ~= clock.now.timeIntervalSince1970 + seconds else {
                throw ControlBody.Invalid(message: "advance would leave the years from 1970 to 9999.")
            }
            clock.advance(by: seconds)
        case (nil, let seconds?): clock.set(to: Date(clampingNumericDate: seconds))
        default:
            throw ControlBody.Invalid(message: "Write either advance, a number of seconds, or set, a number of seconds since 1970.")
        }
        return clock.json
    }

    private var pendingFaults: JSONValue { ["faults": .array(faults.pending.map(\.json))] }

    private static func answer(_ json: JSONValue, status: HTTPResponse.Status = .ok) -> ServerResponse {
        ServerResponse(status: status, json: json.serialized(), headers: [.cacheControl: "no-store"])
    }
}

extension OrganizationError.Problem {
    /// The member and its problem, as one text.
    fileprivate var inWords: String {
        let member = path.reversed().lazy.compactMap { if case .key(let key) = $0 { key } else { nil } }.first
        return (member.map { "\($0): " } ?? "") + message
    }
}

extension SandboxClock {
    /// The time of the clock, as the control API returns it.
    var json: JSONValue {
        let now = now
        return ["now": .double(now.timeIntervalSince1970), "date": .string(now.formatted(.iso8601)), "mode": .string(mode.rawValue)]
    }
}

extension Application {
    /// Returns the application in the JSON of the control API, with its secret, which is public in a sandbox.
    func json(at origin: String) -> JSONValue {
        var json: [String: JSONValue] = [
            "client_id": .string(id), "name": .string(name), "type": .string(kind.rawValue),
            "authentication": .string(authentication.rawValue), "grant_types": .array(grantTypes.map(JSONValue.string)),
            "redirect_uris": .array(redirectURIs.map(JSONValue.string)), "sign_on_policy": .string(signOnPolicy),
            "okta_plist": .string("\(origin)/sandbox/applications/\(id.encodedForPath)/Okta.plist"),
        ]
        json["client_secret"] = secret.map(JSONValue.string)
        return .object(json)
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
