import Foundation
import JOSE
import TestSupport
import Testing

@testable import AuthFoundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Retries")
struct RetryTests {
    private static func limited(reset: Int64, remaining: Int = 0, headerCase: (String) -> String = { $0 }) -> ScriptedIssuer.Reply {
        let headers = [
            "x-rate-limit-limit": "4", "x-rate-limit-remaining": String(remaining), "x-rate-limit-reset": String(reset),
            "date": httpDate(1_800_000_000), "x-okta-request-id": "req-1",
        ]
        return .json(
            #"{"errorCode":"E0000047","errorSummary":"Too many requests.","errorLink":"E0000047","errorId":"oae1","errorCauses":[]}"#,
            status: 429, headers: Dictionary(uniqueKeysWithValues: headers.map { (headerCase($0.key), $0.value) }))
    }

    @Test(
        "A rate-limited token request is retried when the rate limit period ends, regardless of the case of the header names",
        arguments: ["lower", "Capitalized"])
    func waitsForReset(style: String) async throws {
        let issuer = try IssuerFixture()
        let good = issuer.response()
        let limited = Self.limited(reset: 1_800_000_007, headerCase: { style == "lower" ? $0 : $0.capitalized })
        issuer.session.on("/v1/token") { _, count in count < 2 ? limited : good }
        let request = IssuerFixture.PasswordRequest(
            openIdConfiguration: try await issuer.client.openIdConfiguration(), clientConfiguration: issuer.client.configuration,
            tokenValidatorContext: NullIDTokenValidatorContext())
        _ = try await issuer.client.exchange(token: request)
        #expect(issuer.clock.waits == [7, 7])
        let sent = issuer.session.requests("/v1/token")
        #expect(sent.map { $0.value(forHTTPHeaderField: "X-Okta-Retry-Count") } == [nil, "1", "2"])
        #expect(sent.map { $0.value(forHTTPHeaderField: "X-Okta-Retry-For") } == [nil, "req-1", "req-1"])
        #expect(sent[0].httpBody == sent[2].httpBody)
    }

    @Test("A token request that remains rate-limited is retried three times and then fails with the server's message")
    func reportsLimit() async throws {
        let issuer = try IssuerFixture()
        let error = await #expect(throws: APIClientError.self) { try await issuer.signIn(Self.limited(reset: 1_800_000_001)) }
        #expect(issuer.session.requests("/v1/token").count == 4)
        #expect(error?.isTransient == true)
        #expect(error?.userText == .tooMany)
        #expect(error?.debugDescription == "Too many requests. (E0000047, status 429, error oae1, request req-1)")
    }

    @Test("A 429 response without rate limit headers fails immediately, without a retry")
    func reportsBareLimit() async throws {
        let issuer = try IssuerFixture()
        let reply = ScriptedIssuer.Reply.json(#"{"error":"invalid_grant","error_description":"Slow."}"#, status: 429)
        await #expect(throws: APIClientError.self) { try await issuer.signIn(reply) }
        #expect(issuer.session.requests("/v1/token").count == 1)
        #expect(issuer.clock.waits.isEmpty)
    }

    @Test("A delegate can prevent the retry of a rate-limited request")
    func delegateForbids() async throws {
        final class Refusal: OAuth2ClientDelegate {
            func api(client: any APIClient, shouldRetry request: URLRequest) -> APIRetry { .doNotRetry }
        }
        let issuer = try IssuerFixture()
        let refusal = Refusal()
        issuer.client.add(delegate: refusal)
        await #expect(throws: APIClientError.self) { try await issuer.signIn(Self.limited(reset: 1_800_000_001)) }
        #expect(issuer.session.requests("/v1/token").count == 1)
        withExtendedLifetime(refusal) {}
    }

    @Test("A token request is not retried after a 502, a 503 or a lost connection", arguments: [502, 503, 0])
    func neverRepeatsTokenRequest(status: Int) async throws {
        let issuer = try IssuerFixture()
        _ = try await issuer.client.openIdConfiguration()
        issuer.session.on("/v1/token") { _, _ in
            if status == 0 { throw URLError(.networkConnectionLost) }
            return .json("{}", status: status)
        }
        let token = try Token.fixture()
        let error = await #expect(throws: APIClientError.self) { try await issuer.client.refresh(token) }
        #expect(error?.isTransient == true)
        #expect(issuer.session.requests("/v1/token").count == 1)
    }

    @Test(
        "A UserInfo, introspection or revocation request is sent again after a lost connection and after a 503",
        arguments: ["userinfo", "introspect", "revoke"])
    func repeatsIdempotentRequests(endpoint: String) async throws {
        let issuer = try IssuerFixture()
        issuer.session.on("/v1/\(endpoint)") { _, count in
            if count == 0 { throw URLError(.networkConnectionLost) }
            return count == 1 ? .json("", status: 503) : .json(#"{"sub":"00u1","active":true}"#)
        }
        let token = try Token.fixture()
        switch endpoint {
        case "userinfo": #expect(try await issuer.client.userInfo(token: token).subject == "00u1")
        case "introspect": #expect(try await issuer.client.introspect(token: token, type: .accessToken).active == true)
        default: try await issuer.client.revoke(token, type: .accessToken)
        }
        #expect(issuer.session.requests("/v1/\(endpoint)").count == 3)
        let waits = issuer.clock.waits
        #expect(waits.count == 2 && (0.25...0.75).contains(waits[0]) && (0.5...1.5).contains(waits[1]))
    }

    @Test("A response body that is shorter than its Content-Length causes the error of a lost connection")
    func noticesTruncation() async throws {
        let issuer = try IssuerFixture()
        var reply = issuer.response()
        reply.headers["Content-Length"] = String(reply.body.count + 10)
        let error = await #expect(throws: APIClientError.self) { try await issuer.signIn(reply) }
        #expect(error == .httpError(URLError(.networkConnectionLost)))
    }

    @Test("Cancelling a rate-limited request ends the wait before the retry")
    func cancels() async throws {
        let session = ScriptedIssuer()
        let clock = ManualClock()
        let client = OAuth2Client(try .fixture, session: session, clock: clock)
        _ = try await client.openIdConfiguration()
        session.on("/v1/userinfo") { _, _ in Self.limited(reset: 1_800_000_030) }
        let token = try Token.fixture()
        let task = Task { try await client.userInfo(token: token) }
        await clock.sleepers(1)
        #expect(clock.waits == [30])
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("A response that exceeds the maximum response size is rejected")
    func limitsSize() async throws {
        let issuer = try IssuerFixture()
        let reply = ScriptedIssuer.Reply(body: String(repeating: " ", count: RequestSender.maximumResponseSize + 1))
        let error = await #expect(throws: APIClientError.self) { try await issuer.signIn(reply) }
        #expect(error == .httpError(URLError(.dataLengthExceedsMaximum)))
    }
}
