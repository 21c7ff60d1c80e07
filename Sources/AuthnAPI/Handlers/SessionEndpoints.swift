internal import Foundation
internal import HTTPTypes
package import IdentityCore
internal import JOSE
package import ServerHTTP

/// Where the session token of a finished sign-in becomes a browser's session (authn reference 4.16).
package enum SessionRoute: Hashable, Sendable {
    /// `POST /api/v1/sessions`.
    case create
    /// `GET /login/sessionCookieRedirect`.
    case redirect

    /// The names of the routes, for metrics.
    package static let names = ["sessions", "login/sessionCookieRedirect"]

    /// Finds the route of a path; nil for a path that is none of these.
    package init?(_ path: [Substring]) {
        switch path {
        case ["api", "v1", "sessions"]: self = .create
        case ["login", "sessionCookieRedirect"]: self = .redirect
        default: return nil
        }
    }
}

extension Endpoint {
    /// The endpoint of a route. Pages of other origins call neither: both read and set the session's cookie.
    package static func session(_ route: SessionRoute, _ engine: Engine, _ transport: BrowserTransport) -> Endpoint {
        switch route {
        case .create:
            Endpoint(name: "sessions", methods: [.post], isCrossOrigin: false) { call in
                try await counted(route, call, engine) {
                    // Login CSRF: a page of another site must not start the attacker's session in the user's browser.
                    guard CrossOrigin.isTrustedCaller(call.request, call.snapshot) else { throw ClassicRefusal.untrustedOrigin }
                    guard let token = try AuthnBody(call.request).text("sessionToken", in: "session"), !token.isEmpty else {
                        throw ClassicRefusal.invalid("session", ["sessionToken: The member must be there."])
                    }
                    let session = try await engine.startSession(
                        by: token, browser: call.cookies(transport).read(call.request), context: call.request.context
                    ).get()
                    var response = ServerResponse(json: json(session).serialized())
                    call.cookies(transport).write(session.cookies, of: call.request, to: &response)
                    return response
                }
            }
        case .redirect:
            Endpoint(name: "login/sessionCookieRedirect", methods: [.get], isCrossOrigin: false) { call in
                // Who looks without taking, as a preview does, must not use up what is good once.
                guard call.request.head.method == .get else { return ServerResponse(status: .ok).uncached() }
                return try await counted(route, call, engine) {
                    let query = call.request.query.flatMap { try? FormParameters(parsing: $0.utf8) }
                    guard let address = query?["redirectUrl"], engine.isTrusted(redirect: address, snapshot: call.snapshot) else {
                        throw ClassicRefusal.invalid(
                            "sessionCookieRedirect", ["redirectUrl: The address must be on an origin that the organization trusts."])
                    }
                    let session = try await engine.startSession(
                        by: query?["token"] ?? "", browser: call.cookies(transport).read(call.request), context: call.request.context
                    ).get()
                    var response = ServerResponse(status: .found, headers: [.location: address])
                    call.cookies(transport).write(session.cookies, of: call.request, to: &response)
                    return response
                }
            }
        }
    }

    private static func counted(
        _ route: SessionRoute, _ call: Call, _ engine: Engine, _ respond: () async throws -> ServerResponse
    ) async throws -> ServerResponse {
        let limit = engine.countRequest(clientID: nil, snapshot: call.snapshot, context: call.request.context)
        var response: ServerResponse
        do {
            guard limit.isAdmitted else { throw ClassicRefusal.tooManyRequests(limit, reason: "rate limit") }
            response = try await respond()
        } catch let refusal as ClassicRefusal {
            try await engine.noteRefused(refusal, operation: SessionRoute.names[route == .create ? 0 : 1], context: call.request.context)
            response = .refusal(refusal, to: call.request)
        }
        if response.headers[.rateLimitLimit] == nil { response.headers.set(limit) }
        return response.uncached()
    }

    private static func json(_ session: StartedSession) -> JSONValue {
        func date(_ date: Date) -> JSONValue { .string(date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))) }
        var members: [String: JSONValue] = [
            "id": .string(session.id), "userId": .string(session.userID), "login": .string(session.login), "status": "ACTIVE",
            "createdAt": date(session.createdAt), "expiresAt": date(session.expiresAt), "amr": JSONValue(session.methods),
            "mfaActive": .bool(session.methods.contains("mfa")),
        ]
        members["lastPasswordVerification"] = session.passwordProvedAt.map(date)
        return .object(members)
    }
}

extension ClassicRefusal {
    /// The refusal of a session for a page whose origin the organization does not trust.
    fileprivate static let untrustedOrigin = ClassicRefusal(
        code: "E0000006", status: 403,
        summary: "Pages of this origin may not begin sessions. Add the origin to authn_api.trusted_origins of the org file.",
        reason: "sessions: origin is not trusted")
}
