import Foundation
import JOSE
import TestSupport
import Testing

@testable import IdentityCore
@testable import OAuthEndpoints
@testable import OAuthWire
@testable import Store

@Suite("The phases of the token endpoint (Documentation/Protocol/OAuth.md §2.4 and §2.16)")
struct TokenEndpointTests {
    /// A text whose comparison or hashing takes quadratic time.
    private static let costly = "a" + String(repeating: "\u{301}\u{323}\u{327}", count: 10_000)

    /// Returns the processor time of the closure in nanoseconds.
    private func cost(of work: () -> Void) -> Int {
        let start = processorTime()
        work()
        return processorTime() - start
    }

    @Test("The token endpoint rejects an overlong parameter before its costly Unicode normalization")
    func costlyText() async throws {
        let organization = try await TestOrganization()
        let snapshot = try await organization.engine.snapshot()
        let application = try #require(snapshot.application("password-app"))
        let server = try #require(snapshot.server("default"))
        let request = AdmittedRequest(
            snapshot: snapshot, server: server, application: application, grantType: Self.costly, parameters: [:],
            context: TestOrganization.context(TestOrganization.start), assertionUse: nil)
        let once = cost { _ = Self.costly.hashValue }
        #expect(cost { _ = snapshot.application(Self.costly) } * 10 < once)
        #expect(cost { _ = request.knownGrantType } * 10 < once)
        #expect(Engine.possibleName(Self.costly).isEmpty)
        #expect(Engine.possibleName(TestOrganization.jane) == TestOrganization.jane)
        #expect(PasswordVerifier.beginning(of: Self.costly).utf8.count < 100)
        for parameter in ["client_id", "username", "password", "grant_type"] {
            var parameters = ["grant_type": "password", "client_id": "password-app", "username": "x", "password": "x", "scope": "openid"]
            parameters[parameter] = Self.costly
            #expect(try await organization.token(parameters).refused != nil)
        }
    }

    @Test("The system log does not contain an invented grant type of a request")
    func inventedGrantType() async throws {
        let organization = try await TestOrganization()
        _ = try await organization.token(["grant_type": "x\r\ny"], client: TestOrganization.service)
        #expect(try await organization.log().last?.type == "token.grant.none")
    }

    @Test("A request with an invented client id writes no log event")
    func inventedClientID() async throws {
        let organization = try await TestOrganization()
        let before = try await organization.log()
        let long = "a" + String(repeating: "\u{301}", count: 30_000)
        for id in [long, "x\u{1B}[2J\r\nuser.authentication.password"] {
            #expect(try await organization.token(["grant_type": "password", "client_id": id]).refused == .invalidClient)
            await #expect(throws: Refusal.self) {
                try await organization.introspect("x", client: ClientCredentials(clientID: id, endpoint: TestOrganization.origin))
            }
        }
        #expect(try await organization.log() == before)
    }

    @Test("A rejected request of an authenticated client is logged with the check that failed")
    func refusalOfAnAuthenticatedClient() async throws {
        let organization = try await TestOrganization()
        #expect(try await organization.service("nonsense").reason == "scope.not_offered")
        let event = try #require(try await organization.log().last)
        #expect(event.type == "token.grant.client_credentials")
        #expect(event.outcome == .failure)
        #expect(event.reason == "scope.not_offered")
        #expect(event.clientID == "service-app")
        await #expect(throws: Refusal.self) { try await organization.introspect("", client: TestOrganization.service) }
        #expect(try await organization.log().last?.type == "token.introspect")
        #expect(try await organization.lastReason() == "parameter.missing: token")
    }

    @Test("A wrong password is logged once with its user, even if the client is public")
    func wrongPasswordsAreTold() async throws {
        let organization = try await TestOrganization()
        let before = try await organization.log().count
        #expect(try await organization.signIn("openid", ["password": "wrong"]).refused == .invalidGrant)
        let events = try await organization.log().dropFirst(before)
        #expect(events.map(\.type) == ["user.authentication.password"])
        #expect(events.first?.userID == (try await organization.janesID()))
    }

    @Test(
        "The token endpoint rejects each kind of invalid request with a specific error code and reason, and writes nothing",
        arguments: [
            (["grant_type": "password", "client_id": "password-app"], "missing", .notFound, "server.unknown"),
            (["grant_type": "nonsense", "client_id": "unknown"], "default", .invalidClient, "client.unknown"),
            (["client_id": "password-app"], "default", .invalidRequest, "parameter.missing: grant_type"),
            (["grant_type": "", "client_id": "password-app"], "default", .invalidRequest, "parameter.missing: grant_type"),
            (["grant_type": "nonsense", "client_id": "password-app"], "default", .unsupportedGrantType, "grant.unknown"),
            (["grant_type": "client_credentials", "client_id": "password-app"], "default", .unauthorizedClient, "grant.not_enabled"),
            (
                ["grant_type": "refresh_token", "client_id": "no-refresh-app", "refresh_token": "x"], "default", .unauthorizedClient,
                "grant.not_enabled"
            ),
            (["grant_type": "refresh_token", "client_id": "password-app"], "default", .invalidRequest, "parameter.missing: refresh_token"),
            (
                ["grant_type": "password", "client_id": "password-app", "password": "x", "scope": "openid"], "default", .invalidRequest,
                "parameter.missing: username"
            ),
            (
                ["grant_type": "password", "client_id": "password-app", "username": "x", "scope": "openid"], "default", .invalidRequest,
                "parameter.missing: password"
            ),
            (
                ["grant_type": "password", "client_id": "password-app", "username": "x", "password": "x"], "default", .invalidScope,
                "scope.missing"
            ),
            (
                ["grant_type": "password", "client_id": "password-app", "username": "x", "password": "x", "scope": "nonsense"], "default",
                .invalidScope, "scope.not_offered"
            ),
            (
                ["grant_type": "client_credentials", "client_id": "public-service", "scope": "messages.read"], "default",
                .unauthorizedClient, "client.public"
            ),
        ] as [([String: String], String, Refusal.Code, String)])
    func refusals(parameters: [String: String], server: String, code: Refusal.Code, reason: String) async throws {
        let organization = try await TestOrganization()
        let before = try await organization.log()
        let result = try await organization.token(parameters, server: server)
        #expect(result.refused == code)
        #expect(result.reason == reason)
        // The client proved nothing, so the reason goes to the access log only, and the store stays unchanged.
        #expect(try await organization.log() == before)
        #expect(try await organization.grants().isEmpty)
    }

    @Test("An authorization server without a matching access rule denies a password grant, and the log names the failed condition")
    func policyDenies() async throws {
        let organization = try await TestOrganization {
            $0.authorizationServers[2].accessPolicies = [
                AccessPolicy(name: "codes only", rules: [AccessRule(name: "code", grantTypes: ["authorization_code"])])
            ]
        }
        let result = try await organization.signIn("openid", server: "other")
        #expect(result.refused == .accessDenied)
        let event = try #require(try await organization.log().last)
        #expect(event.outcome == .denied)
        #expect(event.reason == "policy: codes only/code: grantType")
        #expect(event.clientID == "password-app")
    }

    @Test("A password grant with a wrong password gets invalid_grant and creates no grant")
    func wrongPassword() async throws {
        let organization = try await TestOrganization()
        #expect(try await organization.signIn("openid", ["password": "wrong"]).refused == .invalidGrant)
        #expect(try await organization.grants().isEmpty)
    }

    @Test("The log event of issued tokens contains the user, client, server and access rule, and the log contains no secret")
    func log() async throws {
        let organization = try await TestOrganization()
        let response = try await organization.signIn().get()
        let event = try #require(try await organization.log().last)
        #expect(event.type == "token.grant.password")
        #expect(event.outcome == .success)
        #expect(event.reason == "everyone/any")
        #expect(event.userID == (try await organization.janesID()))
        #expect(event.clientID == "password-app")
        #expect(event.server == "default")
        let text = "\(try await organization.log())"
        for secret in [response.accessToken, response.refreshToken ?? "", response.idToken ?? "", TestOrganization.janesPassword] {
            #expect(!text.contains(secret))
        }
    }

    @Test("The access token lifetime and expires_in are those of the access rule, also after a refresh")
    func lifetimes() async throws {
        let organization = try await TestOrganization { $0.authorizationServers[1].accessPolicies[0].rules[0].accessTokenLifetime = 900 }
        let response = try await organization.signIn().get()
        #expect(response.expiresIn == 900)
        #expect(try claims(of: response.accessToken)["exp"] == 1_700_000_900)
        #expect(try claims(of: response.idToken)["exp"] == 1_700_003_600)
        let refreshed = try await organization.refresh(response.refreshToken, at: 100).get()
        #expect(refreshed.expiresIn == 900)
    }

    @Test("The token endpoint ignores unknown parameters of a grant (OAuth.md §10.7)")
    func unknownParameters() async throws {
        let organization = try await TestOrganization()
        let result = try await organization.signIn(
            "openid", ["redirect_uri": "com.example:/callback", "grant_types_supported": "password", "whatever": "1"])
        #expect(result.refused == nil)
    }

    @Test("No description of a token request, token response, organization definition or user contains a secret")
    func descriptions() async throws {
        let organization = try await TestOrganization()
        let response = try await organization.signIn().get()
        let request = TokenRequest(
            server: "default",
            client: ClientCredentials(clientID: "app", secret: "s3cret", basic: ("app", "s3cret"), assertion: "s3cret", endpoint: ""),
            parameters: ["grant_type": "password", "password": "s3cret"])
        var text = "\(response) \(request) \(request.client) \(Result<TokenResponse, Refusal>.success(response))"
        dump(response, to: &text)
        dump(request, to: &text)
        dump(request.client, to: &text)
        var definition = TestOrganization.definition
        definition.applications[0].secret = "s3cret"
        definition.users[0].password = "s3cret"
        let user = try #require(try await organization.engine.user(login: TestOrganization.jane))
        let hash = try #require(user.passwordHash)
        text += "\(definition) \(user)"
        dump(definition, to: &text)
        dump(user, to: &text)
        #expect(!text.contains(hash))
        for secret in ["s3cret", response.accessToken, response.refreshToken ?? "", response.idToken ?? ""] {
            #expect(!text.contains(secret))
        }
    }

    @Test("The store contains only the digest of a refresh token, not the token")
    func secrets() async throws {
        let organization = try await TestOrganization()
        let token = try #require(try await organization.signIn().get().refreshToken)
        let state = try await organization.store.read {
            try $0.ticket(.refreshToken, digest: TicketDigest(of: token), now: TestOrganization.start)
        }
        let ticket = try #require(state.ticket)
        #expect(!String(decoding: ticket.payload, as: UTF8.self).contains(token))
        for grant in try await organization.grants() { #expect(!String(decoding: grant.record.payload, as: UTF8.self).contains(token)) }
    }
}

extension TestOrganization {
    fileprivate func signIn(_ scope: String, _ more: [String: String]) async throws -> Result<TokenResponse, Refusal> {
        try await signIn(scope, client: "password-app", server: "default", at: 0, more)
    }
}
