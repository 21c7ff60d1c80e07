import IdentityCore
import JOSE
import Testing

@Suite("How the challenge endpoints are called, over the wire")
struct DirectAuthenticationTransportTests {
    static let endpoints = ["challenge", "primary-authenticate", "oob-authenticate", "bc/authorize"]
    static let paths = endpoints.flatMap { ["\(DirectClient.custom)/\($0)", "\(DirectClient.org)/\($0)"] }

    @Test("pages of other origins may ask, as at the token endpoint", arguments: paths)
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

            let answered = try await running.wire.post(path, "client_id=nobody", headers: [("Origin", "https://app.example.com")])
            try expectRefusal(answered, 401, "invalid_client")
            #expect(answered["Access-Control-Allow-Origin"] == "https://app.example.com")
            #expect(answered["Access-Control-Expose-Headers"]?.contains("x-rate-limit-reset") == true)
        }
    }

    @Test("only POST does anything", arguments: paths, ["GET", "PUT", "DELETE", "PATCH"])
    func methods(path: String, method: String) async throws {
        let response = try await RunningServer.with { try await $0.wire.call(method, path + "?client_id=password-app") }
        #expect(response.status == 405)
        #expect(response["Allow"] == "POST, OPTIONS")
        #expect(try response.json["errorCauses"] == [])
    }

    @Test(
        "only forms in UTF-8 are read",
        arguments: paths,
        ["application/json", "text/plain", "multipart/form-data; boundary=x", "application/x-www-form-urlencoded; charset=latin1"])
    func contentTypes(path: String, type: String) async throws {
        let response = try await RunningServer.with { running in
            try await running.wire.call("POST", path, headers: [("Content-Type", type)], body: Array("client_id=password-app".utf8))
        }
        try expectRefusal(response, 400, "invalid_request")
    }

    @Test(
        "a parameter that occurs twice is refused, whichever it is",
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

    @Test("the parameters are the body's: those of a query are not read", arguments: endpoints)
    func query(endpoint: String) async throws {
        let response = try await RunningServer.with { running in
            try await running.wire.post("\(DirectClient.custom)/\(endpoint)?client_id=password-app", "channel_hint=push")
        }
        try expectRefusal(response, 401, "invalid_client")
    }

    @Test("over an address's limit every one of them is 429 in the API form, with all three headers", arguments: endpoints)
    func addressLimit(endpoint: String) async throws {
        let limits = RateLimits(perClient: 100, perAddress: 1, perAddressSignIns: 100, perUser: 100)
        try await RunningServer.fresh(rateLimits: limits) { running in
            let path = "\(DirectClient.custom)/\(endpoint)"
            #expect(try await running.wire.post(path, "client_id=nobody").status == 401)
            let refused = try await running.wire.post(path, "client_id=nobody")
            #expect(refused.status == 429)
            try expectAPIError(refused, code: "E0000047", summary: "Too many requests. Wait and try again.")
            #expect(refused["x-rate-limit-limit"] == "1")
            #expect(refused["x-rate-limit-remaining"] == "0")
            #expect(refused["x-rate-limit-reset"] == "1800000060")
        }
    }

    // MARK: - Discovery (F-3)

    static let documents = [
        ("/.well-known/openid-configuration", RunningServer.origin + "/oauth2/v1"),
        ("/.well-known/oauth-authorization-server", RunningServer.origin + "/oauth2/v1"),
        ("/oauth2/default/.well-known/openid-configuration", RunningServer.origin + "/oauth2/default/v1"),
        ("/oauth2/default/.well-known/oauth-authorization-server", RunningServer.origin + "/oauth2/default/v1"),
        ("/.well-known/oauth-authorization-server/oauth2/default", RunningServer.origin + "/oauth2/default/v1"),
    ]

    @Test("discovery lists the grants by their names on the wire, and where and how to ask in the back channel", arguments: documents)
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

    @Test("clients derive the endpoints from the token endpoint's URL: both exist, and the URL has no other /token and no query")
    func derivedEndpoints() async throws {
        try await RunningServer.with { running in
            for path in ["/.well-known/openid-configuration", "/oauth2/default/.well-known/openid-configuration"] {
                let document = try await running.wire.get(path).json
                let url = try #require(document["token_endpoint"]?.stringValue)
                #expect(url.ranges(of: "/token").count == 1 && url.hasSuffix("/token") && !url.contains("?"))
                for sibling in ["/challenge", "/primary-authenticate"] {
                    let derived = url.dropFirst(RunningServer.origin.utf8.count).replacing("/token", with: sibling)
                    try expectRefusal(try await running.wire.post(String(derived), "client_id=nobody"), 401, "invalid_client")
                }
            }
        }
    }
}
