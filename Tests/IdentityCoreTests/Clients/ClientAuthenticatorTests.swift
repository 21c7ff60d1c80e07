import Foundation
import JOSE
import Testing

@testable import IdentityCore
@testable import OAuthEndpoints
@testable import OAuthWire

@Suite("Client authentication (Documentation/Protocol/OAuth.md §2.2)")
struct ClientAuthenticatorTests {
    private static let url = TestOrganization.tokenURL("default")

    private static func secret(_ id: String, _ secret: String) -> ClientCredentials {
        ClientCredentials(clientID: id, secret: secret, endpoint: url)
    }

    private static func basic(_ id: String, _ secret: String) -> ClientCredentials {
        ClientCredentials(basic: (id, secret), endpoint: url)
    }

    private func outcome(_ credentials: ClientCredentials) async throws -> (Refusal.Code?, String?) {
        let organization = try await TestOrganization()
        let result = try await organization.token(["grant_type": "client_credentials", "scope": "messages.read"], client: credentials)
        return (result.refused, result.reason)
    }

    @Test(
        "A client with valid credentials is authenticated",
        arguments: [
            basic("service-app", "service-app-secret"),
            ClientCredentials(clientID: "service-app", basic: ("service-app", "service-app-secret"), endpoint: url),
            secret("post-app", TestOrganization.longSecret),
        ])
    func admitted(credentials: ClientCredentials) async throws {
        #expect(try await outcome(credentials).0 == nil)
    }

    @Test(
        "Missing, wrong or unknown client credentials get invalid_client, and credentials of several methods get invalid_request",
        arguments: [
            (ClientCredentials(endpoint: url), .invalidClient, "client.no_credentials"),
            (ClientCredentials(clientID: "", endpoint: url), .invalidClient, "client.no_credentials"),
            (ClientCredentials(clientID: "unknown", endpoint: url), .invalidClient, "client.unknown"),
            (ClientCredentials(clientID: "service-app", endpoint: url), .invalidClient, "client.credentials_missing"),
            (ClientCredentials(clientID: "service-app", secret: "", endpoint: url), .invalidClient, "client.credentials_missing"),
            (basic("service-app", "service-app-secreT"), .invalidClient, "client.secret"),
            (secret("service-app", "service-app-secret"), .invalidClient, "client.method"),
            (basic("post-app", TestOrganization.longSecret), .invalidClient, "client.method"),
            (basic("service-app", "\u{0}"), .invalidClient, "client.secret"), (secret("unknown", "x"), .invalidClient, "client.unknown"),
            (basic("inactive-app", TestOrganization.longSecret), .invalidClient, "client.unknown"),
            (secret("password-app", "x"), .invalidClient, "client.method"),
            (secret("password-app", "\u{0}"), .invalidClient, "client.method"),
            (secret("jwt-app", TestOrganization.longSecret), .invalidClient, "client.method"),
            (secret("key-app", "\u{0}"), .invalidClient, "client.method"),
            (
                ClientCredentials(
                    clientID: "service-app", secret: "service-app-secret", basic: ("service-app", "service-app-secret"), endpoint: url),
                .invalidRequest, "client.several_credentials"
            ),
            (
                ClientCredentials(
                    secret: "x", assertionType: ClientAuthenticator.assertionType, assertion: "a.b.c", endpoint: url), .invalidRequest,
                "client.several_credentials"
            ),
            (
                ClientCredentials(clientID: "post-app", basic: ("service-app", "service-app-secret"), endpoint: url), .invalidRequest,
                "client.two_ids"
            ),
            (ClientCredentials(assertionType: "urn:wrong", assertion: "a.b.c", endpoint: url), .invalidRequest, "client.assertion_type"),
            (ClientCredentials(assertion: "a.b.c", endpoint: url), .invalidRequest, "client.assertion_type"),
            (ClientCredentials(assertionType: ClientAuthenticator.assertionType, endpoint: url), .invalidRequest, "client.assertion_type"),
            (
                ClientCredentials(assertionType: ClientAuthenticator.assertionType, assertion: "a.b.c", endpoint: url), .invalidClient,
                "client.assertion_subject"
            ),
        ] as [(ClientCredentials, Refusal.Code, String)])
    func refused(credentials: ClientCredentials, code: Refusal.Code, reason: String) async throws {
        let (refused, why) = try await outcome(credentials)
        #expect(refused == code)
        #expect(why == reason)
    }

    @Test("A request by an unknown client and a request with a wrong client secret get the same response")
    func sameAnswer() async throws {
        let organization = try await TestOrganization()
        var answers: Set<String> = []
        for credentials in [
            Self.secret("unknown", "x"), Self.secret("service-app", "x"), Self.secret("inactive-app", "x"),
            Self.secret("password-app", "x"),
        ] {
            let refusal = try await #require(throws: Refusal.self) {
                try await organization.token(["grant_type": "client_credentials"], client: credentials).get()
            }
            #expect(refusal.code == .invalidClient && refusal.members.isEmpty)
            answers.insert("\(String(describing: refusal.status)) \(refusal.description)")
        }
        #expect(answers.count == 1, "\(answers)")
    }

    // MARK: - Assertions

    struct Assertion: Sendable, CustomTestStringConvertible {
        var name: String
        var change: @Sendable (inout JSONValue) -> Void
        var client = "key-app"
        var reason: String?

        var testDescription: String { name }
    }

    private static let now: Int64 = 1_700_000_000

    private static func assertion(_ client: String, _ change: (inout JSONValue) -> Void) throws -> ClientCredentials {
        var claims: JSONValue = [
            "iss": .string(client), "sub": .string(client), "aud": .string(url), "exp": .integer(now + 300), "iat": .integer(now),
            "jti": "1",
        ]
        change(&claims)
        let key =
            client == "jwt-app"
            ? try SigningKey.secret(Array(TestOrganization.longSecret.utf8), algorithm: .hs256) : try #require(TestOrganization.clientKey)
        return ClientCredentials(
            assertionType: ClientAuthenticator.assertionType, assertion: try key.sign(claims), endpoint: url)
    }

    @Test(
        "A client assertion is accepted if its audience, issuer, subject, times and key are valid, and otherwise rejected with invalid_client",
        arguments: [
            Assertion(name: "as published", change: { _ in }),
            Assertion(name: "signed with the secret", change: { _ in }, client: "jwt-app"),
            Assertion(
                name: "without iat and jti",
                change: {
                    $0["iat"] = nil; $0["jti"] = nil
                }),
            Assertion(name: "aud is the issuer", change: { $0["aud"] = "https://id.test/oauth2/default" }),
            Assertion(name: "aud is an array of one", change: { $0["aud"] = [.string(url)] }),
            Assertion(
                name: "aud names another server too", change: { $0["aud"] = ["https://elsewhere.test", .string(url)] },
                reason: "client.assertion: several audiences"),
            Assertion(name: "ends in an hour", change: { $0["exp"] = .integer(now + 3600) }),
            Assertion(name: "ends later", change: { $0["exp"] = .integer(now + 3602) }, reason: "client.assertion: too long"),
            Assertion(name: "over", change: { $0["exp"] = .integer(now) }, reason: "client.assertion: expired"),
            Assertion(name: "without exp", change: { $0["exp"] = nil }, reason: "client.assertion: missingClaim"),
            Assertion(name: "from the future", change: { $0["iat"] = .integer(now + 120) }, reason: "client.assertion: issuedInFuture"),
            Assertion(name: "for elsewhere", change: { $0["aud"] = "https://elsewhere.test" }, reason: "client.assertion: wrongAudience"),
            Assertion(
                name: "for another server", change: { $0["aud"] = .string(TestOrganization.tokenURL("other")) },
                reason: "client.assertion: wrongAudience"),
            Assertion(name: "by another issuer", change: { $0["iss"] = "service-app" }, reason: "client.assertion: wrongIssuer"),
            Assertion(name: "for a client with a secret", change: { $0["sub"] = "service-app" }, reason: "client.method"),
            Assertion(name: "for an unknown client", change: { $0["sub"] = "unknown" }, reason: "client.unknown"),
            Assertion(
                name: "signed with another's key",
                change: {
                    $0["sub"] = "jwt-app"; $0["iss"] = "jwt-app"
                }, reason: "client.assertion: algorithmNotAllowed"),
        ])
    func assertions(assertion: Assertion) async throws {
        let (code, reason) = try await outcome(try Self.assertion(assertion.client, assertion.change))
        #expect(reason == assertion.reason)
        #expect(code == (assertion.reason == nil ? nil : .invalidClient))
    }

    @Test("A client assertion that is signed with the client's public key as HMAC secret is rejected")
    func confusedAlgorithms() async throws {
        let publicKey = try #require(TestOrganization.clientKey?.publicKey)
        let forged = try SigningKey.secret(publicKey.json().serialized(), algorithm: .hs256, keyID: "client-key")
        let claims: JSONValue = ["iss": "key-app", "sub": "key-app", "aud": .string(Self.url), "exp": .integer(Self.now + 300)]
        let credentials = ClientCredentials(
            assertionType: ClientAuthenticator.assertionType, assertion: try forged.sign(claims), endpoint: Self.url)
        #expect(try await outcome(credentials).1 == "client.assertion: algorithmNotAllowed")
    }

    @Test("A client assertion with a jti is valid once, even in concurrent requests")
    func replay() async throws {
        let organization = try await TestOrganization()
        let credentials = try Self.assertion("key-app") { _ in }
        let parameters = ["grant_type": "client_credentials", "scope": "messages.read"]
        let outcomes = try await withThrowingTaskGroup(of: Refusal.Code?.self) { group in
            for _ in 0..<3 { group.addTask { try await organization.token(parameters, client: credentials).refused } }
            return try await group.reduce(into: [Refusal.Code?]()) { $0.append($1) }
        }
        #expect(outcomes.count { $0 == nil } == 1)
        #expect(outcomes.count { $0 == .invalidClient } == 2)
        #expect(try await organization.token(parameters, client: credentials, at: 5).refused == .invalidClient)
        #expect(try await organization.grants().count == 1)
    }

    @Test("The server logs each replay of a client assertion")
    func replayIsLogged() async throws {
        let organization = try await TestOrganization()
        let credentials = try Self.assertion("key-app") { _ in }
        let parameters = ["grant_type": "client_credentials", "scope": "messages.read"]
        _ = try await organization.token(parameters, client: credentials).get()
        _ = try await organization.token(parameters, client: credentials)
        #expect(try await organization.lastReason() == "client.assertion: used")
        await #expect(throws: Refusal.self) { try await organization.introspect("x", client: credentials) }
        #expect(try await organization.log().count { $0.reason == "client.assertion: used" } == 2)
    }

    @Test("An introspection request without the token parameter also consumes its client assertion")
    func replayAfterRefusal() async throws {
        let organization = try await TestOrganization()
        let once = try Self.assertion("key-app") { _ in }
        let refusal = await #expect(throws: Refusal.self) { try await organization.introspect("", client: once) }
        #expect(refusal?.code == .invalidRequest)
        await #expect(throws: Refusal.self) { try await organization.introspect("x", client: once) }
    }

    @Test("The introspection endpoint accepts a client assertion with a jti only once, and a client assertion without a jti repeatedly")
    func replayElsewhere() async throws {
        let organization = try await TestOrganization()
        let once = try Self.assertion("key-app") { _ in }
        #expect(try await organization.introspect("x", client: once).isActive == false)
        await #expect(throws: Refusal.self) { try await organization.introspect("x", client: once) }
        let often = try Self.assertion("key-app") { $0["jti"] = nil }
        for _ in 0..<2 { #expect(try await organization.introspect("x", client: often).isActive == false) }
    }
}
