import AuthorizationServer
import Foundation
import IdentityCore
import JOSE
import TestSupport
import Testing

@Suite("Device API paths, methods and limits")
struct DeviceRouteTests {
    @Test("The device API accepts bodies up to 64 KiB, even if the server allows larger bodies elsewhere")
    func ownLimit() async throws {
        let configuration = AuthorizationServer.Configuration(port: 0, limits: .init(bodyBytes: 200_000))
        try await RunningServer.fresh(configuration: configuration) { running in
            let server = DeviceServer(running: running)
            for (count, code) in [(65_536, "E0000011"), (65_537, "E0000003")] {
                let body = Array(("{\"a\":\"" + String(repeating: "x", count: count - 8) + "\"}").utf8)
                #expect(body.count == count)
                let response = try await server.call("POST", DeviceServer.api, contentType: "application/json", body: body)
                #expect(try response.json["errorCode"] == .string(code))
            }
        }
    }

    @Test("A challenge answer without an access token returns 404 if the challenge is unknown, and 400 if the method is unknown")
    func unknownChallenge() async throws {
        try await DeviceServer.with { server in
            let path = DeviceServer.api + "/challenge/ft00000000000000000/verify"
            let body: JSONValue = ["method": "push", "challengeResponse": "a.b.c"]
            let response = try await server.call("POST", path, contentType: "application/json", body: body.serialized())
            #expect(response.status == 404)
            #expect(try response.json["errorCode"] == "E0000007")
            let other = try await server.call("POST", path, contentType: "application/json", body: Array(#"{"method":"fax"}"#.utf8))
            #expect(other.status == 400)
            #expect(try other.json["errorCode"] == "E0000001")
        }
    }

    @Test(
        "At the device API, an unsupported method returns 405 with the Allow header, and an unknown path returns 404",
        arguments: [
            ("POST", "/.well-known/okta-organization", 405, "GET, HEAD, OPTIONS"),
            ("POST", "/.well-known/app-authenticator-configuration", 405, "GET, HEAD"), ("GET", DeviceServer.api, 405, "POST"),
            ("GET", DeviceServer.api + "/pfd1", 405, "PATCH, DELETE"), ("PUT", DeviceServer.api + "/pfd1", 405, "PATCH, DELETE"),
            ("POST", DeviceServer.api + "/pfd1/push/notifications", 405, "GET, HEAD"),
            ("GET", DeviceServer.api + "/challenge/ft1/verify", 405, "POST"), ("GET", DeviceServer.api + "/", 404, nil),
            ("GET", DeviceServer.api + "/pfd1/push", 404, nil), ("GET", DeviceServer.api + "/pfd1/push/others", 404, nil),
            ("GET", DeviceServer.api + "/pfd1/push/notifications/x", 404, nil),
            ("POST", DeviceServer.api + "/challenge//verify", 404, nil), ("GET", "/idp/myaccount", 404, nil),
            ("GET", "/.well-known/okta-organization/x", 404, nil), ("POST", "/oauth2/v1/app-authenticators", 404, nil),
            ("GET", "/oauth2/default/v1/app-authenticators", 404, nil),
        ] as [(String, String, Int, String?)])
    func routes(method: String, path: String, status: Int, allow: String?) async throws {
        let response = try await RunningServer.with {
            try await $0.wire.call(method, path, headers: [DeviceServer.version, ("Content-Length", "0")])
        }
        #expect(response.status == status && response["Allow"] == allow)
    }

    @Test("If an address exceeds its request limit, the device API returns 429 with all three rate limit headers", .onOneServer)
    func limits() async throws {
        try await DeviceServer.with(rateLimits: RateLimits(perClient: 10, perAddress: 2)) { server in
            for _ in 0..<2 { #expect(try await server.call("DELETE", DeviceServer.api + "/pfd1").status == 401) }
            let response = try await server.call("DELETE", DeviceServer.api + "/pfd1")
            #expect(response.status == 429 && response["x-rate-limit-limit"] == "2" && response["x-rate-limit-remaining"] == "0")
            #expect(response["x-rate-limit-reset"] != nil)
            #expect(try response.json["errorCode"] == "E0000047")
        }
    }
}
