import IdentityCore
import JOSE
import TestSupport
import Testing

@Suite("HTTP requests to the challenge endpoints")
struct DirectAuthenticationTransportTests {
    static let endpoints = ["challenge", "primary-authenticate", "oob-authenticate", "bc/authorize"]
    static let paths = endpoints.flatMap { ["\(DirectClient.custom)/\($0)", "\(DirectClient.org)/\($0)"] }

    @Test("Pages of other origins may call the challenge endpoints, as they may call the token endpoint", arguments: paths)
    func preflight(path: String) async throws {
        try await RunningServer.with { running in
            let headers = [("Origin", "https://app.example.com"), ("Access-Control-Request-Method", "POST")]
            let asked = try await running.wire.call("OPTIONS", path, headers: headers)
            #expect(asked.status == 204)
            #expect(asked.body.isEmpty)
            #expect(asked["Access-Control-Allow-Origin"] == "https://app.example.com")
            #expect(asked["Access-Control-Allow-Methods"] == "POST")
            #expect(asked["Access-Control-Max-Age"] == "3600")
            #expect(asked["Vary"] == "Origin")
            let token = try await running.wire.call("OPTIONS", "\(DirectClient.custom)/token", headers: headers)
            #expect(asked["Access-Control-Allow-Headers"] == token["Access-Control-Allow-Headers"])

            let answered = try await running.wire.post(path, "client_id=unknown", headers: [("Origin", "https://app.example.com")])
            try expectRefusal(answered, 401, "invalid_client")
            #expect(answered["Access-Control-Allow-Origin"] == "https://app.example.com")
            #expect(answered["Access-Control-Expose-Headers"]?.contains("x-rate-limit-reset") == true)
        }
    }

    @Test("The challenge endpoints reject all methods but POST and OPTIONS with 405", arguments: paths, ["GET", "PUT", "DELETE", "PATCH"])
    func methods(path: String, method: String) async throws {
        let response = try await RunningServer.with { try await $0.wire.call(method, path + "?client_id=password-app") }
        #expect(response.status == 405)
        #expect(response["Allow"] == "POST, OPTIONS")
        #expect(try response.json["errorCauses"] == [])
    }

    @Test(
        "The challenge endpoints reject bodies that are not forms in UTF-8",
        arguments: paths,
        ["application/json", "text/plain", "multipart/form-data; boundary=x", "application/x-www-form-urlencoded; charset=latin1"])
    func contentTypes(path: String, type: String) async throws {
        let response = try await RunningServer.with { running in
            try await running.wire.call("POST", path, headers: [("Content-Type", type)], body: Array("client_id=password-app".utf8))
        }
        try expectRefusal(response, 400, "invalid_request")
    }

    @Test(
        "A repeated parameter is rejected by the challenge endpoints and the token endpoint",
        arguments: [
            "client_id", "mfa_token", "oob_code", "channel_hint", "login_hint", "challenge_hint", "acr_values", "scope", "binding_message",
        ])
    func repeatedParameters(name: String) async throws {
        try await RunningServer.with { running in
            for path in Self.paths + ["\(DirectClient.custom)/token"] {
                let client = name == "client_id" ? "" : "client_id=password-app&"
                try expectRefusal(try await running.wire.post(path, "\(client)\(name)=a&\(name)=b"), 400, "invalid_request")
            }
        }
    }

    @Test("The challenge endpoints ignore query parameters", arguments: endpoints)
    func query(endpoint: String) async throws {
        let response = try await RunningServer.with { running in
            try await running.wire.post("\(DirectClient.custom)/\(endpoint)?client_id=password-app", "channel_hint=push")
        }
        try expectRefusal(response, 401, "invalid_client")
    }

    @Test(
        "If an address exceeds its request limit, a challenge endpoint returns 429 with all three rate limit headers", .onOneServer,
        arguments: endpoints)
    func addressLimit(endpoint: String) async throws {
        let limits = RateLimits(perClient: 100, perAddress: 1, perAddressSignIns: 100, perUser: 100)
        try await RunningServer.fresh(rateLimits: limits) { running in
            let path = "\(DirectClient.custom)/\(endpoint)"
            #expect(try await running.wire.post(path, "client_id=unknown").status == 401)
            let refused = try await running.wire.post(path, "client_id=unknown")
            #expect(refused.status == 429)
            try expectAPIError(refused, code: "E0000047", summary: "Too many requests. Wait and try again.")
            #expect(refused["x-rate-limit-limit"] == "1")
            #expect(refused["x-rate-limit-remaining"] == "0")
            #expect(refused["x-rate-limit-reset"] == "1800000060")
        }
    }

    // MARK: - Discovery

    static let documents = [
        ("/.well-known/openid-configuration", RunningServer.origin + "/oauth2/v1"),
        ("/.well-known/oauth-authorization-server", RunningServer.origin + "/oauth2/v1"),
        ("/oauth2/default/.well-known/openid-configuration", RunningServer.origin + "/oauth2/default/v1"),
        ("/oauth2/default/.well-known/oauth-authorization-server", RunningServer.origin + "/oauth2/default/v1"),
        ("/.well-known/oauth-authorization-server/oauth2/default", RunningServer.origin + "/oauth2/default/v1"),
    ]

    @Test("Discovery lists the direct authentication grants, the backchannel endpoint and its delivery mode", arguments: documents)
    func discovery(path: String, base: String) async throws {
        let document = try await RunningServer.with { try await $0.wire.get(path).json }
        let grants = try #require(document["grant_types_supported"]?.stringArrayValue)
        for grant in [
            "password", "refresh_token", "urn:okta:params:oauth:grant-type:oob", "http://auth0.com/oauth/grant-type/mfa-oob",
            "urn:openid:params:grant-type:ciba",
        ] {
            #expect(grants.count { $0 == grant } == 1, "\(grant)")
        }
        #expect(document["backchannel_authentication_endpoint"] == .string(base + "/bc/authorize"))
        #expect(document["backchannel_token_delivery_modes_supported"] == ["poll"])
    }

    @Test("The endpoints that clients derive from the token endpoint exist, and the token endpoint's URL contains /token once and no query")
    func derivedEndpoints() async throws {
        try await RunningServer.with { running in
            for path in ["/.well-known/openid-configuration", "/oauth2/default/.well-known/openid-configuration"] {
                let document = try await running.wire.get(path).json
                let url = try #require(document["token_endpoint"]?.stringValue)
                #expect(url.ranges(of: "/token").count == 1 && url.hasSuffix("/token") && !url.contains("?"))
                for sibling in ["/challenge", "/primary-authenticate"] {
                    let derived = url.dropFirst(RunningServer.origin.utf8.count).replacing("/token", with: sibling)
                    try expectRefusal(try await running.wire.post(String(derived), "client_id=unknown"), 401, "invalid_client")
                }
            }
        }
    }
}
