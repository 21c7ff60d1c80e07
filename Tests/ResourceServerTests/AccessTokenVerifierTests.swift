import Foundation
import JOSE
import ResourceServer
import Synchronization
import TestSupport
import Testing

@Suite("Verification of access tokens")
struct AccessTokenVerifierTests {
    let issuer: TestIssuer
    let time = ManualClock(TestIssuer.now)
    let verifier: AccessTokenVerifier

    init() throws {
        issuer = try TestIssuer()
        verifier = AccessTokenVerifier(issuer, time: time)
    }

    @Test("The access token verifier returns the claims of a valid token")
    func goodToken() async throws {
        let token = try await verifier.verify(issuer.token())
        #expect(token.subject == "jane.doe@example.com")
        #expect(token.userID == "00u1")
        #expect(token.clientID == "app")
        #expect(token.scopes == ["openid", "messages.read"])
        #expect(token.expiresAt == TestIssuer.now.addingTimeInterval(3600))
    }

    struct Refused: Sendable, CustomTestStringConvertible {
        let name: String
        let changes: [String: JSONValue?]
        let code: AccessTokenError.Code
        var testDescription: String { name }
    }

    static let seconds = Int64(TestIssuer.now.timeIntervalSince1970)
    static let refused: [Refused] = [
        Refused(name: "expired", changes: ["exp": .integer(seconds - 61)], code: .expired),
        Refused(name: "without expiry", changes: ["exp": nil], code: .notGenuine),
        Refused(name: "not yet valid", changes: ["nbf": .integer(seconds + 61)], code: .notYetValid),
        Refused(name: "issued in the future", changes: ["iat": .integer(seconds + 61)], code: .notYetValid),
        Refused(name: "another issuer", changes: ["iss": "https://id.example.com/oauth2/other"], code: .wrongIssuer),
        Refused(name: "the issuer with a slash", changes: ["iss": .string(TestIssuer.url + "/")], code: .wrongIssuer),
        Refused(name: "another audience", changes: ["aud": "api://other"], code: .wrongAudience),
        Refused(name: "no audience", changes: ["aud": nil], code: .wrongAudience),
        Refused(name: "another client", changes: ["cid": "other"], code: .wrongClient),
        Refused(name: "no client", changes: ["cid": nil], code: .wrongClient),
    ]

    @Test("An access token with a wrong or missing claim is rejected with an error about that claim", arguments: refused)
    func wrongClaims(_ refused: Refused) async throws {
        let token = try issuer.token(changing: refused.changes)
        #expect(await refusal { try await verifier.verify(token) } == refused.code)
    }

    @Test("An access token that expired within the leeway is accepted, and one matching audience of several is enough")
    func leeway() async throws {
        let token = try issuer.token(changing: ["exp": .integer(Self.seconds - 59), "aud": ["x", "api://default"]])
        _ = try await verifier.verify(token)
    }

    @Test("An access token that another key with the same key ID signed is rejected")
    func forgedSignature() async throws {
        let forger = try SigningKey.generate(.es256, keyID: "first")
        #expect(await refusal { try await verifier.verify(issuer.token(signedBy: forger)) } == .notGenuine)
    }

    @Test(
        "The access token verifier rejects a text that is not a token",
        arguments: ["x", "a.b.c", "eyJhbGciOiJub25lIn0.e30.", "", String(repeating: "a", count: 20_000)])
    func noToken(_ text: String) async throws {
        #expect(await refusal { try await verifier.verify(text) } == .notGenuine)
    }

    @Test("An access token without a required scope is rejected with an error that names the scope")
    func missingScope() async throws {
        let token = try issuer.token()
        let error = await #expect(throws: AccessTokenError.self) { try await verifier.verify(token, scopes: ["messages.write"]) }
        #expect(error?.code == .insufficientScope)
        #expect(error?.requiredScopes == ["messages.write"])
        _ = try await verifier.verify(token, scopes: ["messages.read"])
    }

    @Test("The description of an access token error does not contain the token")
    func noSecretsInErrors() async throws {
        let token = try issuer.token(changing: ["exp": 1])
        let error = await #expect(throws: AccessTokenError.self) { try await verifier.verify(token) }
        let description = try String(describing: #require(error))
        #expect(!description.contains(token.suffix(20)))
    }

    // MARK: - Keys

    @Test("The access token verifier fetches the issuer's keys once for many tokens")
    func keysAreKept() async throws {
        for number in 0..<5 { _ = try await verifier.verify(issuer.token(changing: ["jti": .string("token-\(number)")])) }
        #expect(issuer.requests(to: "keys") == 1)
        #expect(issuer.requests(to: "openid-configuration") == 1)
    }

    @Test("Concurrent verifications of access tokens share one fetch of the issuer's keys")
    func singleFlight() async throws {
        let token = try issuer.token()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<50 { group.addTask { _ = try await verifier.verify(token) } }
            try await group.waitForAll()
        }
        #expect(issuer.requests(to: "keys") == 1)
    }

    @Test("An access token with a new key ID causes a new fetch of the issuer's keys")
    func rotation() async throws {
        _ = try await verifier.verify(issuer.token())
        let next = try SigningKey.generate(.es256, keyID: "second")
        issuer.publish([issuer.key, next])
        time.advance(by: 31)
        _ = try await verifier.verify(issuer.token(signedBy: next))
        #expect(issuer.requests(to: "keys") == 2)
    }

    @Test("Access tokens with forged key IDs cause only one fetch of the issuer's keys per interval")
    func refetchIsLimited() async throws {
        let forger = try SigningKey.generate(.es256, keyID: "invented")
        time.advance(by: 0)
        try await verifier.prepare()
        time.advance(by: 31)
        for _ in 0..<10 {
            #expect(await refusal { try await verifier.verify(issuer.token(signedBy: forger)) } == .notGenuine)
        }
        #expect(issuer.requests(to: "keys") == 2)
    }

    @Test("A key that the issuer no longer publishes is trusted for at most one hour, even if no token has an unknown key ID")
    func withdrawnKey() async throws {
        let next = try SigningKey.generate(.es256, keyID: "second")
        let token = try issuer.token(changing: ["exp": .integer(Self.seconds + 86_400)])
        _ = try await verifier.verify(token)
        issuer.publish([next])
        time.advance(by: 3_599)
        _ = try await verifier.verify(token)
        #expect(issuer.requests(to: "keys") == 1)
        time.advance(by: 1)
        #expect(await refusal { try await verifier.verify(token) } == .notGenuine)
        _ = try await verifier.verify(issuer.token(changing: ["exp": .integer(Self.seconds + 86_400)], signedBy: next))
        #expect(issuer.requests(to: "keys") == 2)
    }

    @Test("While the issuer is unreachable, known keys stay valid beyond an hour, and new keys are requested once per interval")
    func oldKeysWithoutIssuer() async throws {
        let token = try issuer.token(changing: ["exp": .integer(Self.seconds + 86_400)])
        _ = try await verifier.verify(token)
        issuer.state.withLock { $0.failure = 503 }
        time.advance(by: 3_600)
        for _ in 0..<5 { _ = try await verifier.verify(token) }
        #expect(issuer.requests(to: "openid-configuration") == 2)
        time.advance(by: 30)
        for _ in 0..<5 { _ = try await verifier.verify(token) }
        #expect(issuer.requests(to: "openid-configuration") == 3)
    }

    @Test("verifyNow uses the known keys while new keys are fetched, and afterwards rejects a token of a withdrawn key")
    func verifyNowWithOldKeys() async throws {
        let token = try issuer.token(changing: ["exp": .integer(Self.seconds + 86_400)])
        let next = try SigningKey.generate(.es256, keyID: "second")
        try await verifier.prepare()
        issuer.publish([next])
        time.advance(by: 3_600)
        _ = try verifier.verifyNow(token)
        // A token with an unknown key makes the verifier fetch the keys. Afterwards, tokens of the old key are invalid.
        _ = try await verifier.verify(issuer.token(changing: ["exp": .integer(Self.seconds + 86_400)], signedBy: next))
        #expect(await refusal { try verifier.verifyNow(token) } == .notGenuine)
        #expect(issuer.requests(to: "keys") == 2)
    }

    @Test(
        "While the issuer is unreachable, a token of a known key is accepted, and a token of an unknown key causes the error issuerUnavailable"
    )
    func issuerAway() async throws {
        try await verifier.prepare()
        issuer.state.withLock { $0.failure = 503 }
        _ = try await verifier.verify(issuer.token())
        time.advance(by: 31)
        let next = try SigningKey.generate(.es256, keyID: "second")
        #expect(await refusal { try await verifier.verify(issuer.token(signedBy: next)) } == .issuerUnavailable)
        _ = try await verifier.verify(issuer.token())
    }

    @Test("verifyNow fails before the keys are fetched, and afterwards verifies a token without a request")
    func verifyNow() async throws {
        let token = try issuer.token()
        #expect(await refusal { try verifier.verifyNow(token) } == .issuerUnavailable)
        try await verifier.prepare()
        let before = issuer.requests(to: "")
        #expect(try verifier.verifyNow(token).subject == "jane.doe@example.com")
        #expect(issuer.requests(to: "") == before)
    }

    @Test(
        "A remote issuer URL over http, or an issuer URL with another scheme or none, is rejected without a request",
        arguments: ["http://id.example.com", "ftp://localhost", "id.example.com"])
    func insecureIssuer(_ url: String) async throws {
        let verifier = AccessTokenVerifier(.init(issuer: url), fetcher: issuer)
        #expect(await refusal { try await verifier.verify("a.b.c") } == .issuerUnavailable)
        #expect(issuer.requests(to: "") == 0)
        for host in ["localhost", "127.0.0.1:8080", "[::1]:8080"] {
            let local = "http://\(host)/oauth2/default"
            issuer.state.withLock { $0.metadata = ["issuer": .string(local), "jwks_uri": .string(local + "/v1/keys")] }
            let verifier = AccessTokenVerifier(.init(issuer: local), fetcher: issuer, now: { [time] in time.now })
            #expect(await refusal { try await verifier.verify(issuer.token(changing: ["iss": .string(local)])) } == nil, "\(local)")
        }
    }

    @Test(
        "Issuer metadata that names another issuer, or a keys URL without https, is rejected before the keys are fetched",
        arguments: [
            ["issuer": "https://evil.example.com"], ["issuer": .null], ["jwks_uri": "http://id.example.com/oauth2/default/v1/keys"],
            ["jwks_uri": "file:///etc/passwd"], ["jwks_uri": .null],
        ] as [[String: JSONValue]])
    func metadata(changes: [String: JSONValue]) async throws {
        let issuer = try TestIssuer()
        issuer.state.withLock { $0.metadata = changes }
        let verifier = AccessTokenVerifier(issuer)
        #expect(await refusal { try await verifier.verify(issuer.token()) } == .issuerUnavailable)
        #expect(issuer.requests(to: "/keys") == 0)
    }

    @Test("The access token verifier's configuration removes symmetric algorithms")
    func symmetricAlgorithms() {
        let all: Set<JWSAlgorithm> = [.hs256, .hs384, .hs512, .es256]
        #expect(AccessTokenVerifier.Configuration(issuer: TestIssuer.url, algorithms: all).algorithms == [.es256])
    }

    // MARK: - Introspection

    @Test(
        "In introspection mode, a token is rejected if the response has a wrong issuer, audience, client or expiry",
        arguments: [
            (["iss": "https://evil.example.com"], .wrongIssuer), (["aud": "api://other"], .wrongAudience), (["aud": .null], .wrongAudience),
            (["exp": 1_749_999_940], .expired), (["client_id": "other"], .wrongClient), (["client_id": .null], .wrongClient), ([:], nil),
        ] as [([String: JSONValue], AccessTokenError.Code?)])
    func introspected(changes: [String: JSONValue], expected: AccessTokenError.Code?) async throws {
        let issuer = try TestIssuer()
        let good: [String: JSONValue] = [
            "active": true, "iss": .string(TestIssuer.url), "aud": "api://default", "client_id": "app", "exp": 1_749_999_941,
        ]
        issuer.state.withLock { $0.introspection = .object(good.merging(changes) { $1 }) }
        let verifier = AccessTokenVerifier(issuer, mode: .introspection(.init(id: "api", secret: "secret")))
        #expect(await refusal { try await verifier.verify("opaque") } == expected)
    }

    @Test("In introspection mode, neither the token nor the client's secret is sent over plain http")
    func introspectionOverHTTP() async throws {
        let issuer = try TestIssuer()
        issuer.state.withLock {
            $0.introspectionEndpoint = "http://id.example.com/oauth2/default/v1/introspect"
            $0.introspection = ["active": true, "aud": "api://default", "client_id": "app", "exp": 1_750_000_100]
        }
        let client = AccessTokenVerifier.IntrospectionClient(id: "api", secret: "secret")
        let verifier = AccessTokenVerifier(issuer, mode: .introspection(client))
        #expect(await refusal { try await verifier.verify("token") } == .issuerUnavailable)
        #expect(issuer.requests(to: "/introspect") == 0)
    }

    @Test("In introspection mode, each verification of a token sends a request to the issuer")
    func introspection() async throws {
        let client = AccessTokenVerifier.IntrospectionClient(id: "api", secret: "s e:cret")
        let verifier = AccessTokenVerifier(issuer, time: time, mode: .introspection(client))
        issuer.state.withLock {
            $0.introspection = ["active": true, "aud": "api://default", "client_id": "app", "scope": "openid email", "exp": 1_750_000_100]
        }
        let token = try await verifier.verify("opaque")
        #expect(token.scopes == ["openid", "email"])
        #expect(issuer.state.withLock(\.authorization) == "Basic " + Data("api:s%20e%3Acret".utf8).base64EncodedString())
        issuer.state.withLock { $0.introspection = ["active": false] }
        #expect(await refusal { try await verifier.verify("opaque") } == .inactive)
        issuer.state.withLock { $0.introspection = ["active": true, "aud": "other", "client_id": "app"] }
        #expect(await refusal { try await verifier.verify("opaque") } == .wrongAudience)
    }
}
