import AuthFoundation
import Foundation
import JOSE
import TestSupport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// An org in the process of the test. It responds as Documentation/Protocol/Devices.md says, signs challenges with a real RSA key, and
/// records the requests. A test can replace single responses.
final class TestOrg: URLSessionProtocol {
    struct Reply: Sendable {
        var status = 200
        var body = Data()
        var error: URLError.Code?
        var headers: [String: String] = [:]

        static func json(_ value: JSONValue, status: Int = 200) -> Reply { Reply(status: status, body: Data(value.serialized())) }
        static func text(_ text: String, status: Int = 200) -> Reply { Reply(status: status, body: Data(text.utf8)) }
        static func failure(_ code: String, status: Int, causes: [JSONValue] = []) -> Reply {
            var body: JSONValue = ["errorCode": .string(code), "errorSummary": "Said the server.", "errorId": "oae1"]
            if !causes.isEmpty { body["errorCauses"] = .array(causes) }
            return .json(body, status: status)
        }
        static let offline = Reply(error: .notConnectedToInternet)
        static let empty = Reply(status: 204)
    }

    enum Route: Hashable {
        case organization, metadata, enroll, update, delete, pending, verify, token, discovery, keys
    }

    static let signingKey = key("srv-1")
    static let nextKey = key("srv-2")
    static let foreignKey = key("srv-1")

    private static func key(_ id: String) -> SigningKey {
        guard let key = try? SigningKey.generate(.rs256, keyID: id) else { preconditionFailure("RSA keys can be made") }
        return key
    }

    private struct State {
        var requests: [(route: Route, request: URLRequest)] = []
        var replies: [Route: [Reply]] = [:]
        var actions: [Route: @Sendable () async -> Void] = [:]
        var published: [JSONValue] = []
        var pending: [JSONValue] = []
        var enrollments = 0
        var devices = 0
        var clock: (@Sendable () -> Date)?
    }

    let url: String
    let id: String
    private let state = Locked(State())

    init(_ url: String = "https://id.example.com", id: String = "00o1", publishes keys: [SigningKey] = [TestOrg.signingKey]) {
        self.url = url
        self.id = id
        publish(keys)
    }

    // MARK: - Changes by a test

    /// Sets the next responses of a route. After them, the route returns its normal response again.
    func answer(_ route: Route, _ replies: Reply...) { state.withLock { $0.replies[route, default: []] += replies } }

    /// Gives the org its own clock. Its responses then have a `Date`, and it refuses tokens whose time differs by more than a minute.
    func keepTime(by clock: @escaping @Sendable () -> Date) { state.withLock { $0.clock = clock } }

    /// Sets an action that runs before each response of a route.
    func atRequest(_ route: Route, _ action: @escaping @Sendable () async -> Void) { state.withLock { $0.actions[route] = action } }

    func publish(_ keys: [SigningKey], and others: [JSONValue] = []) {
        // The keys have no `alg`, so only the client's own list can exclude other algorithms for a key.
        let own = keys.compactMap { key -> JSONValue? in
            var json = key.publicKey?.json()
            json?["alg"] = nil
            return json
        }
        state.withLock { $0.published = others + own }
    }

    func wait(with challenges: String...) {
        state.withLock { $0.pending += challenges.map { ["payloadVersion": "IDXv1", "challenge": .string($0)] } }
    }

    // MARK: - Recorded requests

    func requests(_ route: Route) -> [URLRequest] { state.withLock { $0.requests.filter { $0.route == route }.map(\.request) } }
    var routes: [Route] { state.withLock { $0.requests.map(\.route) } }

    func bodies(_ route: Route) throws -> [JSONValue] {
        try requests(route).map { try JSONValue(parsing: $0.httpBody ?? Data()) }
    }

    /// Returns the header and the claims of the received answers, after verifying their signatures with the registered keys.
    func answers() throws -> [(header: JSONValue, claims: ClaimSet)] {
        let keys = try registeredKeys()
        return try bodies(.verify).map { body in
            guard body["method"] == "push", let text = body["challengeResponse"]?.stringValue else { throw InvalidAnswer() }
            return try Self.opened(text, with: keys)
        }
    }

    static func opened(_ token: String, with keys: [JSONWebKey]) throws -> (header: JSONValue, claims: ClaimSet) {
        let token = try JSONWebSignature(parsing: token)
        guard let key = keys.first(where: { $0.keyID == token.keyID }) else { throw InvalidAnswer() }
        try token.verify(with: VerificationKey(key, algorithm: .es256))
        return (token.header, try token.unverifiedClaims())
    }

    /// Returns all keys that enrollments and changes have registered.
    func registeredKeys() throws -> [JSONWebKey] {
        let enrolled = try bodies(.enroll).flatMap { body -> [JSONValue] in
            let keys = body["methods"]?["push"]?["keys"]
            return [body["device"]?["clientInstanceKey"], keys?["proofOfPossession"], keys?["userVerification"]].compactMap { $0 }
        }
        let changed = try bodies(.update).compactMap { $0["methods"]?["push"]?["keys"]?["userVerification"] }
        return (enrolled + changed).compactMap { try? JSONWebKey($0) }
    }

    // MARK: - Challenges

    /// Returns the claims of a valid challenge for the first enrollment.
    func claims(_ transaction: String = "ft1", at now: Date = ManualClock.start, more: JSONValue = [:], context: JSONValue = [:])
        -> JSONValue
    {
        let issuedAt = Int64(now.timeIntervalSince1970)
        var claims: JSONValue = [
            "iss": .string(url), "aud": "okta.app", "iat": .integer(issuedAt), "exp": .integer(issuedAt + 300), "jti": .string(transaction),
            "nonce": "nonce-1", "transactionId": .string(transaction), "orgId": .string(id), "method": "push",
            "methodEnrollmentId": "opf1", "authenticatorEnrollmentId": "pfd1", "userId": "00u1", "ver": 0,
            "verificationUri": .string("\(url)/idp/myaccount/app-authenticators/challenge/\(transaction)/verify"),
            "userVerification": "NONE", "userMediation": "REQUIRED", "signals": ["osVersion", "screenLockType"],
            "appInstanceName": "Acme Portal",
        ]
        var inner: JSONValue = ["transactionType": "LOGIN", "clientOS": "MAC_OS_X", "clientLocation": "Lyon, France"]
        for (name, value) in context.objectValue ?? [:] { inner[name] = value }
        claims["challengeContext"] = inner
        // `null` removes a claim.
        for (name, value) in more.objectValue ?? [:] { claims[name] = value.isNull ? nil : value }
        return claims
    }

    func challenge(
        _ transaction: String = "ft1", at now: Date = ManualClock.start, more: JSONValue = [:], context: JSONValue = [:],
        key: SigningKey = TestOrg.signingKey, type: JSONValue? = "okta-pushbind+jwt"
    ) throws -> String {
        try key.sign(claims(transaction, at: now, more: more, context: context), header: type.map { ["typ": $0] } ?? [:])
    }

    // MARK: - Requests

    var configuration: URLSessionConfiguration { .ephemeral }

    func data(for request: URLRequest) async throws -> (Data, URLResponse) {
        try Task.checkCancellation()
        guard let requested = request.url, let route = route(of: request) else { throw URLError(.unsupportedURL) }
        let action = state.withLock { state in
            state.requests.append((route, request))
            return state.actions[route]
        }
        await action?()
        try Task.checkCancellation()
        let reply = state.withLock { state -> Reply? in
            guard let next = state.replies[route]?.first else { return nil }
            state.replies[route]?.removeFirst()
            return next
        }
        let clock = state.withLock { $0.clock }
        var answer = try reply ?? refusal(of: request, route, at: clock?()) ?? ownReply(to: route, request)
        if let code = answer.error { throw URLError(code) }
        if let clock, answer.headers["Date"] == nil { answer.headers["Date"] = Self.httpDate(clock()) }
        guard
            let response = HTTPURLResponse(
                url: requested, statusCode: answer.status, httpVersion: "HTTP/1.1", headerFields: answer.headers)
        else { throw URLError(.badServerResponse) }
        return (answer.body, response)
    }

    static func httpDate(_ date: Date) -> String {
        date.formatted(
            Date.VerbatimFormatStyle(
                format:
                    "\(weekday: .abbreviated), \(day: .twoDigits) \(month: .abbreviated) \(year: .padded(4)) \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits):\(second: .twoDigits) GMT",
                locale: Locale(identifier: "en_US_POSIX"), timeZone: .gmt, calendar: Calendar(identifier: .gregorian)))
    }

    /// Returns the org's response to a token from a device with a wrong clock; `nil` if the org accepts the token.
    private func refusal(of request: URLRequest, _ route: Route, at now: Date?) throws -> Reply? {
        guard let now, route == .token || route == .verify else { return nil }
        let body = String(decoding: request.httpBody ?? Data(), as: UTF8.self)
        let token =
            route == .token
            ? body.split(separator: "assertion=").last.map(String.init)
            : try JSONValue(parsing: request.httpBody ?? Data())["challengeResponse"]?.stringValue
        guard let issuedAt = try JSONWebSignature(parsing: token ?? "").unverifiedClaims().issuedAt else { throw InvalidAnswer() }
        guard abs(issuedAt - now.timeIntervalSince1970) > 60 else { return nil }
        return route == .token
            ? .json(["error": "invalid_grant", "error_description": "The assertion is not valid."], status: 400)
            : .failure("E0000001", status: 400, causes: [["errorSummary": "The token is not valid yet, or it has expired."]])
    }

    private func route(of request: URLRequest) -> Route? {
        guard let requested = request.url, requested.absoluteString.hasPrefix(url) else { return nil }
        let path = requested.path()
        switch (request.httpMethod ?? "GET", path) {
        case ("GET", "/.well-known/okta-organization"): return .organization
        case ("GET", "/.well-known/app-authenticator-configuration"): return .metadata
        case ("POST", "/idp/myaccount/app-authenticators"): return .enroll
        case ("POST", "/oauth2/v1/token"): return .token
        case ("GET", "/oauth2/v1/keys"): return .keys
        case ("GET", _) where path.hasSuffix("/.well-known/openid-configuration"): return .discovery
        case ("GET", _) where path.hasSuffix("/push/notifications"): return .pending
        case ("POST", _) where path.hasSuffix("/verify"): return .verify
        case ("PATCH", _) where path.hasPrefix("/idp/myaccount/app-authenticators/"): return .update
        case ("DELETE", _) where path.hasPrefix("/idp/myaccount/app-authenticators/"): return .delete
        default: return nil
        }
    }

    private func ownReply(to route: Route, _ request: URLRequest) throws -> Reply {
        switch route {
        case .organization: return .json(["id": .string(id), "_links": ["organization": ["href": .string(url)]]])
        case .metadata: return .json([metadata])
        case .enroll:
            let body = try JSONValue(parsing: request.httpBody ?? Data())
            let (count, device) = state.withLock { state in
                state.enrollments += 1
                if body["device"]?["id"] == nil { state.devices += 1 }
                return (state.enrollments, body["device"]?["id"]?.stringValue ?? "guo\(state.devices)")
            }
            return .json(enrollment(count, device: device))
        case .update:
            let number = request.url?.lastPathComponent.dropFirst(3) ?? ""
            return .json(enrollment(Int(number) ?? 1, device: "guo1"))
        case .delete: return .empty
        case .pending: return .json(.array(state.withLock { $0.pending }))
        case .verify: return .json(["status": "ACCEPT"])
        case .token:
            return .json([
                "token_type": "Bearer", "expires_in": 3600, "access_token": "maintenance-secret",
                "scope": "okta.myAccount.appAuthenticator.maintenance.manage",
            ])
        case .discovery: return .json(["issuer": .string(url), "jwks_uri": .string("\(url)/oauth2/v1/keys")])
        case .keys: return .json(["keys": .array(state.withLock { $0.published })])
        }
    }

    var metadata: JSONValue {
        [
            "authenticatorId": "aut1", "orgId": .string(id), "key": "custom_app", "name": "Acme Push",
            "settings": ["userVerification": "PREFERRED"],
            "supportedMethods": [
                [
                    "type": "push", "status": "ACTIVE",
                    "settings": ["algorithms": ["ES256", "RS256"], "keyProtection": "ANY", "transactionTypes": ["LOGIN", "CIBA"]],
                ]
            ],
            "appAuthenticatorEnrollEndpoint": .string("\(url)/idp/myaccount/app-authenticators"),
        ]
    }

    func enrollment(_ number: Int = 1, device: String = "guo1", user: String? = nil) -> JSONValue {
        [
            "id": .string("pfd\(number)"), "authenticatorId": "aut1", "createdDate": "2027-01-15T08:00:00.000Z",
            "user": ["id": .string(user ?? "00u\(number)"), "username": .string("ada\(number)@example.com")],
            "device": ["id": .string(device), "status": "ACTIVE", "clientInstanceId": .string("cli-\(device)")],
            "methods": [
                "push": [
                    "id": .string("opf\(number)"),
                    "links": ["pending": ["href": .string("\(url)/idp/myaccount/app-authenticators/pfd\(number)/push/notifications")]],
                ]
            ],
        ]
    }
}

struct InvalidAnswer: Error {}
