import Testing

@Suite("Response headers")
struct HeaderTests {
    @Test(
        "Every response has a Date header, a request ID and the security headers, and contains no header twice",
        arguments: [
            ("GET", "/oauth2/default/v1/keys"), ("GET", "/.well-known/openid-configuration"), ("POST", "/oauth2/default/v1/token"),
            ("GET", "/oauth2/default/v1/userinfo"), ("POST", "/oauth2/v1/revoke"), ("OPTIONS", "/oauth2/default/v1/token"),
            ("GET", "/nowhere"), ("DELETE", "/oauth2/default/v1/token"), ("GET", "/health/live"), ("GET", "/oauth2/unknown/v1/keys"),
        ])
    func common(method: String, path: String) async throws {
        let response = try await RunningServer.with { try await $0.wire.call(method, path) }
        #expect(response["Date"] == "Fri, 15 Jan 2027 08:00:00 GMT")
        #expect(response["x-okta-request-id"]?.isEmpty == false)
        #expect(response["X-Content-Type-Options"] == "nosniff")
        #expect(response["Referrer-Policy"] == "no-referrer")
        #expect(response["X-Frame-Options"] == "DENY")
        #expect(response["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'")
        #expect(response["Strict-Transport-Security"] == "max-age=31536000", "The origin is https.")
        let names = response.headers.map { $0.name.lowercased() }
        #expect(Set(names).count == names.count, "no header occurs twice")
        #expect(!names.contains("server"))
    }

    @Test(
        "Every protocol endpoint sends the rate-limit headers in lower case",
        arguments: [
            ("GET", "/oauth2/default/v1/keys"), ("GET", "/.well-known/openid-configuration"), ("POST", "/oauth2/default/v1/token"),
            ("GET", "/oauth2/default/v1/userinfo"), ("POST", "/oauth2/default/v1/introspect"), ("POST", "/oauth2/v1/revoke"),
        ])
    func rateLimits(method: String, path: String) async throws {
        let response = try await RunningServer.fresh { try await $0.wire.call(method, path) }
        #expect(response["x-rate-limit-limit"] == "500")
        #expect(response["x-rate-limit-remaining"] == "499")
        #expect(response["x-rate-limit-reset"] == "1800000060")
    }

    @Test("Request IDs are unique")
    func requestIDs() async throws {
        let ids = try await RunningServer.with { running in
            var ids: [String] = []
            for _ in 1...3 { ids.append(try #require(try await running.wire.get("/health/live")["x-okta-request-id"])) }
            return ids
        }
        #expect(Set(ids).count == 3)
    }

    @Test("A CORS preflight returns 204 with the allowed origin and method, and no body")
    func preflight() async throws {
        let response = try await RunningServer.with { running in
            try await running.wire.call(
                "OPTIONS", "/oauth2/default/v1/token",
                headers: [("Origin", "https://app.example.com"), ("Access-Control-Request-Method", "POST")])
        }
        #expect(response.status == 204)
        #expect(response["Access-Control-Allow-Origin"] == "https://app.example.com")
        #expect(response["Access-Control-Allow-Methods"] == "POST")
        #expect(response["Access-Control-Max-Age"] == "3600")
        #expect(response["Vary"] == "Origin")
        #expect(response.body.isEmpty)
        #expect(response["Content-Length"] == nil)
        #expect(response["Access-Control-Allow-Credentials"] == nil)
    }

    @Test(
        "The CORS headers allow a page of any origin to read the discovery document, the key set and UserInfo responses",
        arguments: ["/.well-known/openid-configuration", "/oauth2/default/v1/keys", "/oauth2/default/v1/userinfo"])
    func crossOrigin(path: String) async throws {
        let response = try await RunningServer.with { try await $0.wire.get(path, headers: [("Origin", "https://app.example.com")]) }
        #expect(response["Access-Control-Allow-Origin"] == "https://app.example.com")
        #expect(response["Vary"] == "Origin")
        #expect(response["Access-Control-Expose-Headers"]?.contains("x-rate-limit-reset") == true)
    }

    @Test(
        "A request with an unsupported method is rejected with 405 and a list of the allowed methods",
        arguments: [
            ("GET", "/oauth2/default/v1/token", "POST, OPTIONS"), ("PUT", "/oauth2/default/v1/keys", "GET, HEAD, OPTIONS"),
            ("DELETE", "/oauth2/v1/userinfo", "GET, POST, HEAD, OPTIONS"), ("GET", "/oauth2/v1/introspect", "POST, OPTIONS"),
            ("POST", "/.well-known/openid-configuration", "GET, HEAD, OPTIONS"), ("POST", "/health/live", "GET, HEAD"),
            ("PATCH", "/oauth2/v1/revoke", "POST, OPTIONS"),
        ])
    func methods(method: String, path: String, allow: String) async throws {
        let response = try await RunningServer.with { try await $0.wire.call(method, path) }
        #expect(response.status == 405)
        #expect(response["Allow"] == allow)
        try expectAPIError(response, code: "E0000022", summary: "The endpoint does not support the method. Use: \(allow).")
    }

    @Test(
        "A request for an unknown path returns 404 with an API error",
        arguments: ["/", "/oauth2/v1/nothing", "/oauth2/default/v1/token/", "/oauth2/default"])
    func unknownPath(path: String) async throws {
        let response = try await RunningServer.with { try await $0.wire.get(path) }
        #expect(response.status == 404)
        try expectAPIError(response, code: "E0000007", summary: "Not found: there is no such resource on this server.")
    }
}
