import Foundation
import Hummingbird
import JOSE
import TestSupport
import Testing

@testable import ResourceServer

@Suite("Metadata of a protected resource (RFC 9728)")
struct ResourceMetadataTests {
    private static let path = "/.well-known/oauth-protected-resource/api/messages"

    let issuer: TestIssuer
    let time = ManualClock(TestIssuer.now)

    init() throws {
        issuer = try TestIssuer()
    }

    static let urls = [
        ("https://api.example.com", "https://api.example.com/.well-known/oauth-protected-resource"),
        ("https://api.example.com/", "https://api.example.com/.well-known/oauth-protected-resource"),
        ("https://api.example.com/orders", "https://api.example.com/.well-known/oauth-protected-resource/orders"),
        ("https://api.example.com:8443/a/b%20c", "https://api.example.com:8443/.well-known/oauth-protected-resource/a/b%20c"),
        ("http://localhost:8000/api", "http://localhost:8000/.well-known/oauth-protected-resource/api"),
        ("http://[::1]:8000/api", "http://[::1]:8000/.well-known/oauth-protected-resource/api"),
    ]

    @Test("The URL of the resource metadata has the well-known path between the host and the path of the resource", arguments: urls)
    func insertion(_ resource: String, _ url: String) throws {
        let metadata = try ProtectedResourceMetadata(resource: resource, authorizationServers: [])
        #expect(metadata.url == url)
        #expect(metadata.resource == resource)
    }

    @Test(
        "A text that does not identify a resource is rejected as the resource of metadata",
        arguments: [
            "", "api.example.com", "api://default", "http://api.example.com", "https://", "https://user@api.example.com/",
            "https://api.example.com/?a=b", "https://api.example.com/#top", "https://api.example.com/:id", "https://api.example.com/*",
            "ftp://localhost/", "https://api.example.com/{id}", "https://api.example.com/ä",
        ])
    func invalid(_ resource: String) {
        #expect(throws: ProtectedResourceMetadata.InvalidResource(resource: resource)) {
            try ProtectedResourceMetadata(resource: resource, authorizationServers: [])
        }
    }

    @Test("The resource metadata contains each configured member and leaves out members without a value")
    func members() throws {
        let plain = try ProtectedResourceMetadata(resource: "https://api.example.com/", authorizationServers: [])
        #expect(
            plain.json == [
                "resource": "https://api.example.com/", "bearer_methods_supported": ["header"],
                "dpop_signing_alg_values_supported": ["RS256", "RS384", "RS512", "ES256", "ES384", "ES512"],
            ])
        let full = try ProtectedResourceMetadata(
            resource: "https://api.example.com/", authorizationServers: [TestIssuer.url], scopes: ["orders.read"], name: "Orders",
            documentation: URL(string: "https://example.com/docs"), policy: URL(string: "https://example.com/policy"),
            termsOfService: URL(string: "https://example.com/terms"), requiresBoundTokens: true)
        var expected = plain.json
        expected["authorization_servers"] = [.string(TestIssuer.url)]
        expected["scopes_supported"] = ["orders.read"]
        expected["resource_name"] = "Orders"
        expected["resource_documentation"] = "https://example.com/docs"
        expected["resource_policy_uri"] = "https://example.com/policy"
        expected["resource_tos_uri"] = "https://example.com/terms"
        expected["dpop_bound_access_tokens_required"] = true
        #expect(full.json == expected)
    }

    @Test("The messages API serves its resource metadata as cacheable JSON without a token, and each challenge names its URL")
    func served() async throws {
        try await RunningMessages.with(AccessTokenVerifier(issuer, time: time), time: time, publishesMetadata: true) { ask, port in
            let answer = try await ask(Self.path, ["Origin": "https://app.test"], "GET")
            #expect(answer.status == 200)
            #expect(answer.header("Content-Type") == "application/json")
            #expect(answer.header("Cache-Control") == "public, max-age=3600")
            #expect(answer.header("Access-Control-Allow-Origin") == "*")
            let origin = "http://127.0.0.1:\(port)"
            #expect(answer.json?["resource"] == .string(origin + "/api/messages"))
            #expect(answer.json?["authorization_servers"] == [.string(TestIssuer.url)])
            let parameter = #"resource_metadata="\#(origin)\#(Self.path)""#
            let none = try await ask("/api/messages", [:], "GET")
            #expect(none.status == 401)
            #expect(none.header("WWW-Authenticate") == #"Bearer realm="api://default", \#(parameter)"#)
            let weak = try await ask("/api/messages/private", ["Authorization": "Bearer \(issuer.token())"], "GET")
            #expect(weak.header("WWW-Authenticate")?.hasSuffix(#"max_age="300", \#(parameter)"#) == true)
        }
    }

    @Test("The messages API builds the URLs of its resource metadata from the configured origin, not from the Host header")
    func origin() async throws {
        let verifier = AccessTokenVerifier(issuer, time: time, proofs: ProofRules(origin: "https://api.example.com"))
        try await RunningMessages.with(verifier, time: time, publishesMetadata: true) { ask, _ in
            let answer = try await ask(Self.path, [:], "GET")
            #expect(answer.json?["resource"] == "https://api.example.com/api/messages")
            let none = try await ask("/api/messages", [:], "GET")
            let parameter = #"resource_metadata="https://api.example.com\#(Self.path)""#
            #expect(
                none.header("WWW-Authenticate")
                    == #"Bearer realm="api://default", \#(parameter), DPoP realm="api://default", "#
                    + #"algs="RS256 RS384 RS512 ES256 ES384 ES512", \#(parameter)"#)
        }
    }

    @Test("Without metadata, the messages API serves none and its challenges name none")
    func unpublished() async throws {
        try await RunningMessages.with(AccessTokenVerifier(issuer, time: time), time: time) { ask, _ in
            #expect(try await ask(Self.path, [:], "GET").status == 404)
            let none = try await ask("/api/messages", [:], "GET")
            #expect(none.header("WWW-Authenticate") == #"Bearer realm="api://default""#)
        }
    }
}
