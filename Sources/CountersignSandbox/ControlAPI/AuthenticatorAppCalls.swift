internal import Foundation
internal import HTTPTypes
internal import JOSE

/// The control API calls below `/sandbox/authenticator-apps`.
struct AuthenticatorAppCalls: Sendable {
    let apps: AuthenticatorApps
    let clock: SandboxClock
    /// The sandbox; `nil` before it has started and after it was released.
    let sandbox: @Sendable () -> Sandbox?

    /// Responds to a call; `nil` if the call or the app is unknown. The path is relative to `/sandbox/` and percent-encoded. `body` is
    /// called only for calls with a body.
    func answer(_ method: HTTPRequest.Method, _ path: String, body: () throws -> ControlBody) async throws -> JSONValue? {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).map { $0.removingPercentEncoding ?? String($0) }
        guard parts.first == "authenticator-apps" else { return nil }
        switch (method, parts.count) {
        case (.get, 1): return ["authenticator_apps": .array(apps.all.map { json($0.app, of: $0.login) })]
        case (.post, 1): return try await add(try body())
        case (.get, 2): return apps.app(of: parts[1]).map { json($0, of: parts[1]) }
        default: return nil
        }
    }

    /// Enrolls an app for a user, or sets an app up from a QR code.
    private func add(_ body: ControlBody) async throws -> JSONValue? {
        try body.allow(["login", "uri"])
        let login = try body.required("login", example: "jane.doe@example.com")
        let uri = try body.text("uri")
        guard let sandbox = sandbox() else { return nil }
        let app: AuthenticatorApp
        if let uri {
            app = try sandbox.authenticatorApp(scanning: uri)
            apps.keep(app, of: login)
        } else {
            app = try await sandbox.authenticatorApp(for: login)
        }
        var json = json(app, of: login)
        json["uri"] = .string(app.uri)
        return json
    }

    private func json(_ app: AuthenticatorApp, of login: String) -> JSONValue {
        [
            "login": .string(login), "code": .string(app.code), "next_code": .string(app.code(after: 1)),
            "seconds_left": .integer(30 - clock.now.numericDate % 30),
        ]
    }
}
