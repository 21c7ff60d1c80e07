import Foundation
import JOSE
import TestSupport
import Testing

@testable import AuthFoundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Refresh, revocation and UserInfo")
struct RefreshTests {
    private func signedIn(_ issuer: IssuerFixture, changes: [String: JSONValue?] = [:]) async throws -> Token {
        try await issuer.signIn(issuer.response(refresh: "refresh-1", idToken: issuer.idToken(changes)))
    }

    @Test("A refreshed token keeps its ID, and keeps the refresh token and ID token if the response omits them")
    func keepsWhatIsLeftOut() async throws {
        let issuer = try IssuerFixture()
        let old = try await signedIn(issuer)
        let reply = issuer.response(access: "access-2")
        issuer.session.on("/v1/token") { _, _ in reply }
        let new = try await issuer.client.refresh(old)
        #expect(new.id == old.id && new.accessToken == "access-2" && new.refreshToken == "refresh-1" && new.idToken == old.idToken)
        #expect(new != old && !new.isRefreshing)
    }

    @Test(
        "The ID token of a refresh response is rejected if its subject, audience, auth_time or nonce differs from the sign-in",
        arguments: [
            ("the same", [:], nil), ("another subject", ["sub": "00u2"], JWTError.invalidSubject),
            ("another audience", ["aud": ["app", "x"], "azp": "app"], .invalidAudience),
            ("another time of authentication", ["auth_time": 1_700_000_000], .invalidAuthenticationTime),
            ("a nonce", ["nonce": "n"], .nonceMismatch),
        ] as [(String, [String: JSONValue?], JWTError?)])
    func validatesRefreshed(name: String, changes: [String: JSONValue?], expected: JWTError?) async throws {
        let issuer = try IssuerFixture()
        let old = try await signedIn(issuer)
        let reply = issuer.response(
            access: "access-2", refresh: "refresh-2", idToken: try issuer.idToken(["jti": "second"].merging(changes) { $1 }))
        issuer.session.on("/v1/token") { _, _ in reply }
        do {
            let new = try await issuer.client.refresh(old)
            #expect(expected == nil && new.refreshToken == "refresh-2")
        } catch {
            #expect(error as? JWTError == expected)
        }
    }

    @Test("If the client rejects a refresh response, the client revokes the new access token but not the new refresh token")
    func givesBack() async throws {
        let issuer = try IssuerFixture()
        let old = try await signedIn(issuer)
        let reply = issuer.response(access: "access-2", refresh: "refresh-2", idToken: try issuer.idToken(["sub": "00u2"]))
        let revoked = Gate()
        issuer.session.on("/v1/token") { _, _ in reply }
        issuer.session.on("/v1/revoke") { _, _ in
            revoked.open()
            return .empty
        }
        await #expect(throws: JWTError.invalidSubject) { try await issuer.client.refresh(old) }
        await revoked.wait()
        #expect(issuer.session.forms("/v1/revoke").map { $0["token"] } == ["access-2"])
    }

    @Test("If the keys for a refreshed ID token are unavailable, the refresh returns the new tokens with the previous ID token")
    func survivesMissingKeys() async throws {
        let issuer = try IssuerFixture()
        let old = try await signedIn(issuer)
        let reply = issuer.response(
            access: "access-2", refresh: "refresh-2", idToken: try issuer.idToken(key: IssuerKeys.rotated.get()))
        issuer.session.on("/v1/token") { _, _ in reply }
        issuer.session.on("/v1/keys") { _, _ in ScriptedIssuer.Reply(status: 503) }
        let new = try await issuer.client.refresh(old)
        #expect(new.accessToken == "access-2" && new.refreshToken == "refresh-2")
        #expect(new.idToken == old.idToken)
    }

    @Test(
        "After a refresh response, the client requests new keys only once, so that the right to refresh the token does not end meanwhile",
        arguments: [503, 429])
    func fetchesKeysOnce(status: Int) async throws {
        let issuer = try IssuerFixture()
        let old = try await signedIn(issuer)
        let other = try issuer.idToken(key: IssuerKeys.rotated.get())
        let reply = issuer.response(access: "access-2", refresh: "refresh-2", idToken: other)
        issuer.session.on("/v1/token") { _, _ in reply }
        let before = issuer.session.requests("/v1/keys").count
        let limit = [
            "X-Rate-Limit-Limit": "1", "X-Rate-Limit-Remaining": "0", "X-Rate-Limit-Reset": "1800000060",
            "Date": "Fri, 15 Jan 2027 08:00:00 GMT",
        ]
        issuer.session.on("/v1/keys") { _, _ in ScriptedIssuer.Reply(status: status, headers: limit) }
        let new = try await issuer.client.refresh(old)
        #expect(issuer.session.requests("/v1/keys").count == before + 1 && issuer.clock.waits.isEmpty)
        #expect(new.refreshToken == "refresh-2" && new.idToken == old.idToken)
    }

    @Test("A refresh request has a timeout of less than 30 seconds")
    func givesUpWithinGrace() async throws {
        let issuer = try IssuerFixture()
        let old = try await signedIn(issuer)
        let reply = issuer.response(access: "access-2")
        issuer.session.on("/v1/token") { _, _ in reply }
        _ = try await issuer.client.refresh(old)
        let request = try #require(issuer.session.requests("/v1/token").last)
        #expect(request.timeoutInterval < 30)
    }

    @Test("An empty refresh token in a refresh response does not replace the current refresh token")
    func ignoresEmptyRefreshToken() async throws {
        let issuer = try IssuerFixture()
        let old = try await signedIn(issuer)
        let reply = issuer.response(access: "access-2", refresh: "")
        issuer.session.on("/v1/token") { _, _ in reply }
        #expect(try await issuer.client.refresh(old).refreshToken == "refresh-1")
    }

    @Test("200 concurrent refreshes through OAuth2Client, one of them cancelled, send at most two requests")
    func sharesRequest() async throws {
        let issuer = try IssuerFixture()
        let old = try await signedIn(issuer)
        let (arrived, gate) = (Gate(), Gate())
        let before = issuer.session.requests("/v1/token").count
        let reply = issuer.response(access: "access-2", refresh: "refresh-2")
        issuer.session.on("/v1/token") { _, _ in
            arrived.open()
            await gate.wait()
            return reply
        }
        let client = issuer.client
        let tasks = (0..<200).map { _ in Task { try await client.refresh(old) } }
        await arrived.wait()
        #expect(old.isRefreshing)
        tasks[0].cancel()
        gate.open()
        var tokens: Set<Token> = []
        for task in tasks.dropFirst() { tokens.insert(try await task.value) }
        #expect(tokens.count == 1)
        #expect(issuer.session.requests("/v1/token").count - before <= 2)
    }

    @Test("A token without a refresh token cannot be refreshed")
    func needsRefreshToken() async throws {
        let issuer = try IssuerFixture()
        await #expect(throws: OAuth2Error.missingToken(type: .refreshToken)) { try await issuer.client.refresh(.fixture(refresh: nil)) }
    }

    @Test("Revoking all tokens sends one request for each token even if one request fails, and throws the first error")
    func revokesAll() async throws {
        let issuer = try IssuerFixture()
        issuer.session.on("/v1/revoke") { request, _ in
            let body = String(decoding: request.httpBody ?? Data(), as: UTF8.self)
            return body.contains("access_token") ? .json(#"{"error":"invalid_request"}"#, status: 400) : .empty
        }
        let error = await #expect(throws: APIClientError.self) { try await issuer.client.revoke(.fixture(deviceSecret: "d")) }
        #expect(error?.serverError?.code == .invalidRequest)
        #expect(
            Set(issuer.session.forms("/v1/revoke").compactMap { $0["token_type_hint"] }) == [
                "access_token", "refresh_token", "device_secret",
            ])
        await #expect(throws: OAuth2Error.missingToken(type: .deviceSecret)) {
            try await issuer.client.revoke(.fixture(), type: .deviceSecret)
        }
    }

    @Test("A UserInfo response with the subject of another user is rejected")
    func checksProfile() async throws {
        let issuer = try IssuerFixture()
        let token = try await signedIn(issuer)
        issuer.session.on("/v1/userinfo") { _, _ in .json(#"{"sub":"00u2"}"#) }
        await #expect(throws: JWTError.invalidSubject) { try await issuer.client.userInfo(token: token) }
    }

    @Test("Token.from(refreshToken:) returns the given refresh token with the ID token of the response")
    func fromRefreshToken() async throws {
        let issuer = try IssuerFixture()
        let reply = issuer.response(idToken: try issuer.idToken())
        issuer.session.on("/v1/token") { _, _ in reply }
        let token = try await Token.from(refreshToken: "elsewhere", using: issuer.client)
        #expect(token.refreshToken == "elsewhere" && token.idToken?.subject == "00u1")
    }

    @Test("The error for an endpoint that is missing in the discovery document names the endpoint")
    func missingEndpoint() async throws {
        let issuer = try IssuerFixture()
        issuer.announce(["RS256"])
        await #expect(throws: OAuth2Error.missingOpenIdConfiguration(attribute: "revocation_endpoint")) {
            try await issuer.client.revoke(.fixture(), type: .accessToken)
        }
    }

    @Test("The completion handler of OAuth2Client.refresh receives the error for a missing refresh token")
    func completions() async throws {
        let issuer = try IssuerFixture()
        let token = try Token.fixture(refresh: nil)
        let result = await withCheckedContinuation { continuation in
            issuer.client.refresh(token) { continuation.resume(returning: $0) }
        }
        #expect(result == .failure(.missingToken(type: .refreshToken)))
    }
}
