internal import Foundation
internal import HTTPTypes
internal import IdentityCore
internal import JOSE
internal import ServerHTTP

extension Endpoint {
    /// The endpoints that exchange a session token for a browser session (Documentation/Protocol/Authn.md §4.16). Neither is cross-origin,
    /// because both read and set the session cookie.
    static func sessions(_ engine: Engine, _ transport: BrowserTransport) -> [Endpoint] {
        [
            Endpoint(classic: "/api/v1/sessions", methods: [.post], forEndUser: false, engine: engine) { call in
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
            },
            // A `HEAD` request, such as of a link preview, must not consume the single-use token.
            Endpoint(classic: "/login/sessionCookieRedirect", methods: [.get], forEndUser: false, answersHead: false, engine: engine) {
                call in
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
            },
        ]
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
    fileprivate static let untrustedOrigin = ClassicRefusal(
        code: "E0000006", status: 403,
        summary: "Pages of this origin may not begin sessions. Add the origin to authn_api.trusted_origins of the org file.",
        reason: "sessions: origin is not trusted")
}
