import IdentityCore
import JOSE
import TestSupport
import Testing

@Suite("Apple app site association")
struct AppleAppAssociationTests {
    private static let path = "/.well-known/apple-app-site-association"

    @Test("The Apple app site association file lists active apps and the paths of their redirect URIs at this server")
    func document() async throws {
        try await RunningServer.fresh { server in
            try await Self.apply(server) { applications in
                applications[0].appleAppIDs = ["ABCDE12345.com.example.app", "FGHIJ67890.com.example.beta"]
                applications[0].redirectURIs = [
                    "https://id.example.com/app/call%20back?x=1", "https://ID.example.com:443/app/other", "https://id.example.com",
                    "https://other.example.com/elsewhere", "https://id.example.com:8443/port", "com.example.app:/scheme",
                    "http://127.0.0.1/loopback",
                ]
                applications[0].postLogoutRedirectURIs = ["https://id.example.com/app/other", "https://id.example.com/app/bye"]
                // An app without a redirect URI at this server may still fill in passwords.
                applications[1].appleAppIDs = ["ABCDE12345.com.example.app", "ABCDE12345.com.example.second"]
                applications[2].appleAppIDs = ["ABCDE12345.com.example.closed"]
                applications[2].isActive = false
            }
            let answer = try await server.wire.get(Self.path)
            #expect(answer.status == 200)
            #expect(answer["Content-Type"] == "application/json")
            #expect(answer["Cache-Control"] == "public, max-age=3600")
            #expect(
                try answer.json == [
                    "webcredentials": [
                        "apps": ["ABCDE12345.com.example.app", "FGHIJ67890.com.example.beta", "ABCDE12345.com.example.second"]
                    ],
                    "applinks": [
                        "details": [
                            [
                                "appIDs": ["ABCDE12345.com.example.app", "FGHIJ67890.com.example.beta"],
                                "components": [["/": "/app/call%20back"], ["/": "/app/other"], ["/": "/"], ["/": "/app/bye"]],
                            ]
                        ]
                    ],
                ])
            let refused = try await server.wire.post(Self.path, "")
            #expect(refused.status == 405 && refused["Allow"] == "GET, HEAD")
        }
    }

    @Test("The Apple app site association file returns 404 until the organization has an Apple app")
    func none() async throws {
        try await RunningServer.fresh { server in
            let none = try await server.wire.get(Self.path)
            #expect(try none.status == 404 && none.json["errorCode"] == "E0000007")
            try await Self.apply(server) { $0[0].appleAppIDs = ["ABCDE12345.com.example.app"] }
            let answer = try await server.wire.get(Self.path)
            #expect(try answer.json["applinks"] == ["details": []])
        }
    }

    private static func apply(_ server: RunningServer, _ change: (inout [Application]) -> Void) async throws {
        var definition = TestOrganization.definition(
            origin: RunningServer.origin, rateLimits: RateLimits(perClient: 600, perAddress: 500))
        change(&definition.applications)
        _ = try await server.engine.apply(definition, context: RequestContext(now: server.clock.now, requestID: "again"))
        _ = try await server.engine.snapshot()
    }
}
