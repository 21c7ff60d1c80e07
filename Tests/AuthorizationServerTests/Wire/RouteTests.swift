import HTTPTypes
import Testing

@testable import AuthorizationServer
@testable import IdentityCore
@testable import OAuthEndpoints
@testable import ServerHTTP

@Suite("Routes")
struct RouteTests {
    private func route(_ target: String) -> Route? {
        let head = HTTPRequest(method: .get, scheme: "http", authority: "id.test", path: target)
        return Route(ServerRequest(head: head, body: [], context: RequestContext(now: TestClock().now, requestID: "r")).components)
    }

    @Test(
        "paths lead where the reference says",
        arguments: [
            ("/.well-known/openid-configuration", Route.discovery(.openID, server: nil)),
            ("/.well-known/oauth-authorization-server", .discovery(.oauth, server: nil)),
            ("/.well-known/oauth-authorization-server/oauth2/default", .discovery(.oauth, server: "default")),
            ("/oauth2/default/.well-known/openid-configuration?client_id=x", .discovery(.openID, server: "default")),
            ("/oauth2/default/.well-known/oauth-authorization-server", .discovery(.oauth, server: "default")),
            ("/oauth2/v1/token", .endpoint("token", server: nil)),
            ("/oauth2/default/v1/token", .endpoint("token", server: "default")),
            ("/health/live", .live),
            ("/health/ready", .ready),
        ])
    func leads(target: String, expected: Route) {
        #expect(route(target) == expected)
    }

    @Test(
        "other paths lead nowhere",
        arguments: [
            "/", "//", "", "/oauth2", "/oauth2/v1", "/oauth2/v1/token/", "/oauth2//v1/token", "/oauth2/default/v2/token",
            "//oauth2/v1/token",
            "/.well-known/openid-configuration/", "/.well-known/openid-configuration/oauth2/default", "/.well-known/x", "/health",
            "/oauth2/default/v1/token/x", "/OAUTH2/v1/token",
        ])
    func nowhere(target: String) {
        #expect(route(target) == nil)
    }
}
