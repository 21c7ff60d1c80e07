import Foundation
import JOSE
import Testing

/// A resource server that introspects tokens for other audiences.
@Suite("Attacks: introspection")
struct IntrospectionAttackTests {
    private static let secret = "api-secret-0123456789"

    private static func introspect(_ token: String, as client: String, _ running: RunningServer) async throws -> JSONValue {
        let form = ["client_id": client, "client_secret": secret, "token": token]
        return try await running.wire.post("/oauth2/default/v1/introspect", Form.encode(form)).json
    }

    @Test("A resource server with introspection_audiences sees only tokens for those audiences and its own tokens as active")
    func foreignAudience() async throws {
        try await RunningServer.with { running in
            let tokens = try await running.signIn()
            let access = try #require(tokens["access_token"]?.stringValue)
            #expect(try await Self.introspect(access, as: "api", running)["active"] == true)
            for client in ["other-api", "no-api"] {
                #expect(try await Self.introspect(access, as: client, running) == ["active": false])
                let form = [
                    "grant_type": "client_credentials", "scope": "messages.read", "client_id": client, "client_secret": Self.secret,
                ]
                let own = try await running.wire.post("/oauth2/default/v1/token", Form.encode(form)).json["access_token"]?.stringValue
                #expect(try await Self.introspect(try #require(own), as: client, running)["active"] == true)
            }
            for name in ["id_token", "refresh_token"] {
                let token = try #require(tokens[name]?.stringValue)
                #expect(try await Self.introspect(token, as: "api", running) == ["active": false])
            }
        }
    }
}
