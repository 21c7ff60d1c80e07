import Crypto
import Foundation
import JOSE
import TestSupport
import Testing

@testable import AuthorizationServer
@testable import IdentityCore
@testable import Store

/// Numbers at and beyond the bounds of every type that a server may convert them to.
enum HostileNumber {
    static let json: [JSONValue] = [
        .double(-1e300), .double(1e300), .double(1e19), .double(-1e19), .double(.greatestFiniteMagnitude), .double(1e-300),
        .integer(.max), .integer(.min), .integer(-1), .integer(253_402_300_800), .double(1.5), .string("1e300"), .array([.integer(.max)]),
    ]
    static let text = [
        "1e300", "-1e300", "-1", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "99999999999999999999999999",
        "253402300800", "NaN", "inf", "0x7fffffffffffffff", "1.5", "%EF%BC%91", "%D9%A1%D9%A2",
    ]
}

@Suite("Attacks: numbers out of range")
struct NumberTests {
    private static let issuer = "https://partner.example.com"
    private static let key = Result { try SigningKey.generate(.es256, keyID: "hostile-1") }

    /// Returns a token of the hostile party with valid claims and one changed value.
    private static func token(_ claims: JSONValue, _ name: String, _ value: JSONValue) throws -> String {
        var claims = claims
        claims["jti"] = .string(UUID().uuidString)
        claims[name] = value
        return try key.get().sign(claims)
    }

    @Test(
        "A trusted issuer's assertion with a time claim out of range is rejected unless iat or nbf is in the past; other numbers are ignored"
    )
    func assertions() async throws {
        let trusted = TrustedIssuer(issuer: Self.issuer, keys: JSONWebKeySet([try #require(Self.key.get().publicKey)]))
        try await PushServer.with(PushOrganization(trustedIssuers: [trusted])) { server in
            let now = Int64(server.clock.now.timeIntervalSince1970)
            let claims: JSONValue = [
                "iss": .string(Self.issuer), "sub": .string(PushOrganization.jane), "aud": "https://id.example.com/oauth2/default",
                "iat": .integer(now), "exp": .integer(now + 300),
            ]
            func exchange(_ assertion: String) async throws -> WireResponse {
                try await server.wire.post(
                    "/oauth2/default/v1/token",
                    Form.encode([
                        "client_id": "assertion-app", "grant_type": PushOrganization.jwtBearer, "assertion": assertion, "scope": "openid",
                    ]))
            }
            for name in ["auth_time", "exp", "iat", "nbf"] {
                for value in HostileNumber.json where value != .double(1.5) && value != .double(1e-300) {
                    let response = try await exchange(Self.token(claims, name, value))
                    let isLongAgo = ["iat", "nbf"].contains(name) && (value.doubleValue ?? 1) < 0
                    #expect(response.status == (isLongAgo ? 200 : 400), "\(name) \(value): \(response.status) \(response.body)")
                }
            }
            for name in ["updated_at", "max_age", "cnf"] {
                for value in HostileNumber.json {
                    #expect(try await exchange(Self.token(claims, name, value)).status == 200, "\(name) \(value)")
                }
            }
            let early = try await exchange(Self.token(claims, "auth_time", .integer(0)))
            #expect(early.status == 200)
        }
    }

    @Test("A client assertion with exp, iat or nbf out of range is rejected unless iat or nbf is in the past; auth_time is ignored")
    func clientAssertions() async throws {
        let publicKey = try #require(Self.key.get().publicKey)
        try await RunningServer.fresh { server in
            var definition = TestOrganization.definition(
                origin: RunningServer.origin, rateLimits: RateLimits(perClient: 10_000, perAddress: 10_000))
            var application = try #require(definition.applications.first { $0.id == "service-app" })
            application.id = "number-app"
            application.secret = nil
            application.authentication = .privateKeyJWT
            application.keys = JSONWebKeySet([publicKey])
            definition.applications.append(application)
            _ = try await server.engine.apply(definition, context: RequestContext(now: server.clock.now, requestID: "keys"))
            let now = Int64(server.clock.now.timeIntervalSince1970)
            let claims: JSONValue = [
                "iss": "number-app", "sub": "number-app", "aud": "https://id.example.com/oauth2/default/v1/token", "iat": .integer(now),
                "exp": .integer(now + 300),
            ]
            func ask(_ assertion: String) async throws -> Int {
                try await server.wire.post(
                    "/oauth2/default/v1/token",
                    Form.encode([
                        "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer", "client_assertion": assertion,
                        "grant_type": "client_credentials", "scope": "messages.read",
                    ])
                ).status
            }
            for name in ["exp", "iat", "nbf"] {
                for value in HostileNumber.json where value != .double(1.5) && value != .double(1e-300) {
                    let isLongAgo = ["iat", "nbf"].contains(name) && (value.doubleValue ?? 1) < 0
                    #expect(try await ask(Self.token(claims, name, value)) == (isLongAgo ? 200 : 401), "\(name) \(value)")
                }
            }
            #expect(try await ask(Self.token(claims, "auth_time", .double(-1e300))) == 200)
        }
    }

    @Test("A DPoP proof with iat out of range is rejected, and numbers out of range in other claims cause no server error")
    func proofs() async throws {
        let limits = RateLimits(perClient: 10_000, perAddress: 10_000, perAddressSignIns: 10_000, perUser: 10_000)
        try await RunningServer.fresh(rateLimits: limits) { server in
            let maker = try ProofMaker()
            let url = "https://id.example.com/oauth2/default/v1/token"
            for name in ["iat", "exp", "nbf"] {
                for value in HostileNumber.json {
                    let proof = try maker.proof("POST", url, at: server.clock.now, changing: [name: value])
                    let response = try await server.wire.post(
                        "/oauth2/default/v1/token",
                        "client_id=password-app&grant_type=password&username=jane.doe@example.com&password=Correct-Horse-7&scope=openid",
                        headers: [("DPoP", proof)])
                    // The server uses only `iat` to determine the age of a proof (RFC 9449 §4.3).
                    #expect(
                        name == "iat" ? response.status == 400 : [200, 400].contains(response.status),
                        "\(name) \(value): \(response.status)")
                }
            }
            #expect(try await server.wire.get("/health/live").status == 200)
        }
    }

    @Test("An ID token hint or an access token with a number out of range causes no server error")
    func hints() async throws {
        try await PushServer.with { server in
            let claims: JSONValue = ["iss": "https://id.example.com/oauth2/default", "sub": "jane", "aud": "web-app"]
            for name in ["exp", "iat", "nbf", "auth_time"] {
                for value in HostileNumber.json {
                    let token = try Self.token(claims, name, value)
                    let logout = "/oauth2/default/v1/logout?id_token_hint=\(token)"
                    for path in [logout, WireRelyingParty.webApp.authorizeURL(["id_token_hint": token])] {
                        #expect(try await server.wire.get(path).status < 500)
                    }
                    let info = try await server.wire.get("/oauth2/default/v1/userinfo", headers: [("Authorization", "Bearer \(token)")])
                    #expect(info.status == 401)
                }
            }
        }
    }

    @Test("A request header with a number out of range causes no server error, and the server keeps responding")
    func headers() async throws {
        try await RunningServer.fresh(configuration: .init(port: 0, limits: .init(idleTimeout: .milliseconds(300)))) { server in
            for number in HostileNumber.text {
                for header in ["Content-Length", "X-Forwarded-For", "Max-Forwards", "Retry-After"] {
                    let request =
                        "GET /.well-known/openid-configuration HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\(header): \(number)\r\n\r\n"
                    let answer = String(decoding: try await server.wire.send(Array(request.utf8)), as: UTF8.self)
                    let status = answer.prefix { $0 != "\r\n" }
                    switch (header, UInt64(number)) {
                    case ("Content-Length", nil): #expect(status.hasPrefix("HTTP/1.1 400 "), "\(number): \(status)")
                    // The server waits for the body until the idle timeout. A proxy refuses the number.
                    case ("Content-Length", let length?) where length > Int64.max:
                        #expect(answer.isEmpty || status.hasPrefix("HTTP/1.1 400 "), "\(number): \(status)")
                    default: #expect(status == "HTTP/1.1 200 OK", "\(header) \(number)")
                    }
                }
            }
            #expect(try await server.wire.get("/health/live").status == 200)
        }
    }

    @Test("An authorization request with max_age out of range is rejected with invalid_request")
    func maxAge() async throws {
        try await PushServer.with { server in
            let app = WireRelyingParty.webApp
            for number in HostileNumber.text.map({ $0.removingPercentEncoding ?? $0 }) {
                let answer = try app.answer(try await server.wire.get(app.authorizeURL(["max_age": number])))
                #expect(answer["error"] == "invalid_request", "\(number)")
                #expect(answer["error_description"]?.contains("max_age") == true, "\(number)")
            }
        }
    }

    @Test("A backchannel request with request_expiry out of range is rejected")
    func requestExpiry() async throws {
        try await PushServer.with { server in
            for number in HostileNumber.text {
                let text = number.removingPercentEncoding ?? number
                let response = try await BackchannelClient(server).authorize(["request_expiry": text])
                #expect(response.status == 400, "\(number): \(response.status)")
                #expect(response.body.contains("request_expiry"), "\(number): \(response.body)")
            }
        }
    }

    private static let orgFile = """
        name: Numbers
        origin: https://id.example.com
        sign_on_policies: [{name: one-factor, rules: [{name: All, require: one_factor, reauthenticate_after: @0}]}]
        sessions: {idle_lifetime: @1, lifetime: @2}
        key_rotation: {signs_for_days: @3, published_days_ahead: @4, published_days_after: @5}
        rate_limits: {per_client: @6, per_address: @7, messages: @8}
        password_policy:
          minimum_length: @9
          lockout_attempts: @10
          lockout_minutes: @11
          scrypt_log_n: @12
          age: {maximum_days: @13, warning_days: @14, minimum_minutes: @15, history: @16}
        authorization_servers:
          - id: default
            audience: api://default
            access_policies:
              - name: All
                rules:
                  - name: All
                    access_token_lifetime: @17
                    refresh_token_lifetime: @18
                    refresh_token_idle_lifetime: @19
        applications:
          - {id: app, name: App, type: native, grant_types: [password, refresh_token], sign_on_policy: one-factor, refresh_token_leeway: @20}
        users:
          - {login: jane@example.com, profile: {updated_at: @21, nested: {number: @22}}, hotp: {secret: ABCDEFGHIJKLMNOPQRSTUVWXYZ234567, credential_id: "1", counter: @23}}
        """
    private static let usual = [
        "3600", "3600", "7200", "90", "7", "7", "600", "600", "600", "8", "10", "15", "14", "90", "5", "0", "4", "3600", "86400", "86400",
        "30", "1", "1", "0",
    ]

    @Test("An org file whose numbers are all in range is accepted")
    func usualNumbers() throws {
        var yaml = Self.orgFile
        for index in Self.usual.indices.reversed() { yaml = yaml.replacingOccurrences(of: "@\(index)", with: Self.usual[index]) }
        _ = try OrgFile.load(yaml: yaml)
    }

    @Test(
        "A number out of range in an org file never crashes the process: the file is rejected with an error or applied",
        arguments: usual.indices)
    func configuration(place: Int) async throws {
        for number in HostileNumber.text.map({ $0.removingPercentEncoding ?? $0 }) + ["1000000000d", "9223372036854775807d"] {
            var yaml = Self.orgFile
            for index in Self.usual.indices.reversed() {
                yaml = yaml.replacingOccurrences(of: "@\(index)", with: index == place ? number : Self.usual[index])
            }
            let file: OrgFile
            do {
                file = try OrgFile.load(yaml: yaml)
            } catch let error as OrgFileError {
                #expect(error.problems.allSatisfy { !$0.message.isEmpty })
                continue
            }
            let engine = Engine(
                store: InMemoryStore(),
                environment: EngineEnvironment(
                    random: SystemRandomSource(), masterKey: SymmetricKey(size: .bits256), passwordHasher: PasswordHasher(width: 1)))
            let context = RequestContext(now: ManualClock(sleeps: .untilCancelled).now, requestID: "numbers")
            _ = try await engine.apply(file.organization, context: context)
            _ = try await engine.maintainKeys(context) { _ in try TestKeys.rsa() }
            #expect(try await engine.snapshot().applications.count == 1)
        }
    }
}
