import IdentityCore
import Testing

/// The web pages that may read responses of the classic API (Documentation/Protocol/Authn.md §1.1).
@Suite("CORS in the classic API")
struct ClassicOriginTests {
    private static let portal = "https://portal.example.com"
    private static let organization = PushOrganization(
        classic: ClassicPolicy(signOnPolicy: "one factor", remembering: .device, trustedOrigins: [portal]))

    private static let asked = [
        ("POST", "/api/v1/authn"), ("POST", "/api/v1/authn/recovery/password"), ("POST", "/api/v1/authn/factors/x/verify"),
        ("GET", "/api/v1/users/x/factors/questions"),
    ]

    @Test("Only pages of trusted origins may read responses of the classic API", arguments: [true, false])
    func readers(isTrusted: Bool) async throws {
        try await PushServer.with(Self.organization) { server in
            for origin in isTrusted
                ? [Self.portal, RunningServer.origin]
                : ["https://evil.example.com", "\(Self.portal):8443", "null", "http://portal.example.com"]
            {
                for (method, path) in Self.asked {
                    let headers = [("Origin", origin), ("Access-Control-Request-Method", method)]
                    let preflight = try await server.wire.call("OPTIONS", path, headers: headers)
                    #expect(preflight.status == 204)
                    #expect(preflight["Access-Control-Allow-Origin"] == (isTrusted ? origin : nil))
                    #expect((preflight["Access-Control-Allow-Headers"] != nil) == isTrusted)
                    #expect(preflight["Vary"] == "Origin")
                    let answer = try await server.wire.call(
                        method, path, headers: [("Origin", origin), ("Content-Type", "application/json")],
                        body: method == "POST" ? Array("{}".utf8) : [])
                    #expect(answer["Access-Control-Allow-Origin"] == (isTrusted ? origin : nil))
                    #expect((answer["Access-Control-Expose-Headers"] != nil) == isTrusted)
                    #expect(answer["Vary"] == "Origin")
                    #expect(answer["Access-Control-Allow-Credentials"] == nil)
                }
            }
        }
    }

    @Test("The classic API returns no CORS header if the request has no Origin header, and the token endpoint allows every origin")
    func others() async throws {
        try await PushServer.with(Self.organization) { server in
            let answer = try await ClassicClient(server).signIn()
            #expect(answer.status == 200 && answer["Access-Control-Allow-Origin"] == nil)
            let token = try await server.wire.call(
                "OPTIONS", "/oauth2/default/v1/token", headers: [("Origin", "https://any.example.com")])
            #expect(token["Access-Control-Allow-Origin"] == "https://any.example.com")
        }
    }
}
