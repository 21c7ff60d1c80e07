import Crypto
import HTTPTypes
import IdentityCore
import Store
import TestSupport
import Testing

@testable import AuthorizationServer
@testable import ServerHTTP
@testable import SignInPages

@Suite("Routes")
struct RouteTests {
    private static let table: RouteTable = {
        let engine = Engine(
            store: InMemoryStore(),
            environment: EngineEnvironment(
                random: SystemRandomSource(), masterKey: SymmetricKey(size: .bits256), passwordHasher: PasswordHasher(width: 1)))
        let pages = PageWriter(transport: BrowserTransport(isConfigured: false), branding: Branding(), clock: SystemWallClock())
        return FrontDoor.table(engine, pages, nil)
    }()

    private func find(_ target: String) -> RouteTable.Match? {
        let head = HTTPRequest(method: .get, scheme: "http", authority: "id.test", path: target)
        return Self.table.find(
            ServerRequest(head: head, body: [], context: RequestContext(now: ManualClock(sleeps: .untilCancelled).now, requestID: "r")).path
        )
    }

    @Test(
        "A path is routed to its endpoint, with its authorization server and its parameters",
        arguments: [
            ("/.well-known/openid-configuration", "openid-configuration", nil, []),
            ("/.well-known/oauth-authorization-server", "oauth-authorization-server", nil, []),
            ("/.well-known/oauth-authorization-server/oauth2/default", "oauth-authorization-server", "default", []),
            ("/oauth2/default/.well-known/openid-configuration?client_id=x", "openid-configuration", "default", []),
            ("/oauth2/default/.well-known/oauth-authorization-server", "oauth-authorization-server", "default", []),
            ("/oauth2/v1/token", "token", nil, []), ("/oauth2/default/v1/token", "token", "default", []),
            ("/oauth2/v1/bc/authorize", "bc/authorize", nil, []), ("/oauth2/bc/v1/device/authorize", "device/authorize", "bc", []),
            // A custom server's ID may be equal to a path segment.
            ("/oauth2/v1/v1/token", "token", "v1", []), ("/oauth2/v1/.well-known/openid-configuration", "openid-configuration", "v1", []),
            ("/signin/a-token", "signin/{token}", nil, ["a-token"]), ("/signin/recover", "signin/{token}", nil, ["recover"]),
            ("/signin/assets/code", "signin/{token}/{step}", nil, ["assets", "code"]),
            ("/signin/a-token/events", "signin/{token}/events", nil, ["a-token"]),
            ("/signin/mail/events", "signin/mail/{token}", nil, ["events"]),
            ("/signin/unlock/unlock", "signin/unlock/{token}", nil, ["unlock"]),
            ("/signin/recover/a-token/code", "signin/recover/{token}/{step}", nil, ["a-token", "code"]),
            ("/signin/%2e%2e/code", "signin/{token}/{step}", nil, ["%2e%2e", "code"]),
            ("/enroll/", "enroll/{id}", nil, [""]),
            ("/api/v1/authn/recovery/factors/SMS/verify", "authn/recovery/factors/{type}/verify", nil, ["SMS"]),
            ("/api/v1/authn/recovery/factors/x/verify", "authn/{rest...}", nil, []), ("/api/v1/authn/", "authn/{rest...}", nil, []),
            ("/api/v1/users/jane%2Fdoe/sessions", "users/{id}/sessions", nil, ["jane%2Fdoe"]),
            ("/idp/myaccount/app-authenticators/challenge", "app-authenticators/{id}", nil, ["challenge"]),
            (
                "/idp/myaccount/app-authenticators/challenge/push/notifications", "app-authenticators/{id}/push/notifications", nil,
                ["challenge"]
            ),
        ] as [(String, String, String?, [Substring])])
    func leads(target: String, name: String, server: String?, parameters: [Substring]) throws {
        let match = try #require(find(target))
        #expect(match.endpoint.path.name == name && match.server == server && match.parameters == parameters)
    }

    @Test(
        "An unknown path is routed to no endpoint",
        arguments: [
            "/", "//", "", "*", "/oauth2", "/oauth2/v1", "/oauth2/v1/token/", "/oauth2//v1/token", "/oauth2/default/v2/token",
            "//oauth2/v1/token", "x/oauth2/v1/token", "/.well-known/openid-configuration/",
            "/.well-known/openid-configuration/oauth2/default", "/.well-known/x", "/health", "/oauth2/default/v1/token/x",
            "/OAUTH2/v1/token", "/oauth2%2Fv1/token", "/signin/", "/signin/a/", "/signin/link/a/other",
            "/api/v1/users/%ZZ/sessions", "/api/v1/users//sessions", "/idp/myaccount/app-authenticators/",
            "/signin/" + String(repeating: "x", count: 101), "/oauth2/" + String(repeating: "x", count: 101) + "/v1/token",
        ])
    func nowhere(target: String) {
        #expect(find(target) == nil)
    }

    @Test("The metric labels of routes are unique, not empty and without a leading slash")
    func labels() {
        let names = Self.table.endpoints.filter { !$0.methods.isEmpty }.map(\.path.name)
        #expect(Set(names).count == names.count && names.allSatisfy { !$0.isEmpty && !$0.hasPrefix("/") })
    }

    @Test("A link that is built from a route path contains the parameter values in order")
    func links() {
        let path: RoutePath = "/api/v1/users/{id}/factors/{id}/qr/{token}"
        #expect(path("u", "{f}", "t") == "/api/v1/users/u/factors/{f}/qr/t")
        #expect(RoutePath.setUp("t") == "/signin/set-up/t" && RoutePath.activate() == "/activate")
        #expect(RoutePath("/oauth2/v1/token").at(server: "default") == "/oauth2/default/v1/token")
    }
}
