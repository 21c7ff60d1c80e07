import AuthFoundation
import Foundation
import TestSupport
import Testing

@testable import OktaDirectAuth

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Push polling", .timeLimit(.minutes(1)))
struct PushPollingTests {
    private let server = ScriptedIssuer.directAuthentication()
    private typealias Failure = DirectAuthenticationFlowError

    /// Waits for a push as the second factor, and returns the error that ends it.
    private func failure(interval: String = "5", _ answers: ScriptedIssuer.Reply...) async throws -> (any Error)? {
        let flow = try await server.challengedFlow()
        server.answer("challenge", .outOfBand(binding: "none", interval: interval))
        server.answer("token", answers)
        return await #expect(throws: (any Error).self) { try await flow.resume(with: .oob(channel: .push)) }
    }

    private func success(interval: String = "5", _ answers: ScriptedIssuer.Reply...) async throws {
        let flow = try await server.challengedFlow()
        server.answer("challenge", .outOfBand(binding: "none", interval: interval))
        server.answer("token", answers + [.tokens()])
        guard case .success = try await flow.resume(with: .oob(channel: .push)) else { throw Failure.flowNotStarted }
        #expect(!flow.isAuthenticating)
    }

    @Test("Push polling starts immediately and repeats after each interval, and each slow_down adds five seconds")
    func intervals() async throws {
        try await success(.pending, .refusal("slow_down"), .refusal("direct_auth_authorization_pending"), .refusal("slow_down"), .pending)
        #expect(server.clock.waits == [5, 10, 10, 15, 15])
    }

    @Test("A push that is approved before the first poll completes without a wait")
    func approvedAlready() async throws {
        try await success()
        #expect(server.clock.waits.isEmpty && server.forms("token").count == 2)
    }

    @Test("After an approved push, the response mfa_required continues the sign-in with another factor and the newest token")
    func anotherFactor() async throws {
        let flow = try DirectAuthenticationFlow(client: server.directClient())
        server.answer("primary-authenticate", .outOfBand(binding: "none"))
        server.answer("token", .pending, .mfaRequired, .refusal("mfa_required", status: 403, more: #","mfa_token":"mfa-2""#), .tokens())
        server.answer("challenge", .outOfBand(binding: "none"))
        guard case .mfaRequired = try await flow.start("jane", with: .oob(channel: .push)),
            case .mfaRequired = try await flow.resume(with: .oob(channel: .push)),
            case .success = try await flow.resume(with: .otp(code: "1"))
        else { throw Failure.flowNotStarted }
        #expect(server.forms("token").map { $0["mfa_token"] } == [nil, nil, "mfa-1", "mfa-2"])
    }

    @Test(
        "Push polling ends exactly at the expiry of the challenge, and no poll follows",
        arguments: [("20", [20.0, 20, 20], 4), ("25", [25, 25, 10], 4), ("1e9", [60], 2)])
    func expires(interval: String, waits: [TimeInterval], requests: Int) async throws {
        let error = try await failure(interval: interval, .pending)
        #expect(error as? Failure == .pollingTimeoutExceeded)
        #expect((error as? Failure)?.userText == .notApprovedInTime)
        #expect(server.clock.waits == waits && server.forms("token").count == requests)
    }

    @Test("The time for which the app shows a number counts towards the expiry of the challenge")
    func expiresWhileShown() async throws {
        let clock = server.clock
        let flow = try DirectAuthenticationFlow(client: server.directClient())
        server.answer("primary-authenticate", .outOfBand(binding: "transfer", more: #","binding_code":"07""#))
        server.answer("token", .pending)
        _ = try await flow.start("jane", with: .oob(channel: .push))
        try await clock.sleep(for: 52)
        await #expect(throws: Failure.pollingTimeoutExceeded) { try await flow.resume(with: .transfer) }
        #expect(clock.waits == [52, 5, 3])
        await #expect(throws: Failure.pollingTimeoutExceeded) { try await flow.resume(with: .transfer) }
        #expect(clock.waits.count == 4 && server.forms("token").count == 3)
    }

    @Test("Setting the clock back during push polling does not lengthen the wait")
    func clockSetBack() async throws {
        let clock = server.clock
        clock.atSleep { if clock.waits.count < 50 { clock.setBack(by: 1000) } }
        let error = try await failure(interval: "20", .pending)
        #expect(error as? Failure == .pollingTimeoutExceeded && clock.waits == [20, 20, 20])
    }

    // MARK: Denial

    @Test(
        "A denied push ends polling, and the error has a text for the user",
        arguments: [
            (#"{"error":"access_denied","error_description":"The user rejected it."}"#, ErrorText.denied),
            (#"{"error":"access_denied"}"#, .denied), (#"{"error":"access_denied","error_description":""}"#, .denied),
            (#"{"error":"expired_token"}"#, .notApprovedInTime), (#"{"error":"invalid_grant"}"#, .signInExpired),
        ])
    func denied(body: String, text: ErrorText) async throws {
        let error = try #require(await failure(.pending, .init(status: 400, body: body)))
        #expect(ErrorText(of: error) == text && Failure(error).userText == text)
        #expect((error as? APIClientError)?.serverError?.statusCode == 400)
        #expect(server.clock.waits == [5])
    }

    @Test("A push that the user rejected on the other device has a text that names the device")
    func rejectedOnOtherDevice() async throws {
        let error = try #require(await failure(.pending, .init(status: 400, body: #"{"error":"oob_rejected"}"#)))
        #expect(ErrorText(of: error).description.english == "The sign-in was denied on your other device.")
    }

    // MARK: The network

    @Test(
        "Temporary failures of the network or the server do not end push polling",
        arguments: [
            ScriptedIssuer.Reply.failing(.notConnectedToInternet), .failing(.networkConnectionLost), .failing(.timedOut),
            .failing(.cannotFindHost), .failing(.dnsLookupFailed), .failing(.cannotConnectToHost), .failing(.dataNotAllowed),
            .init(status: 503, body: ""), .init(status: 500, body: #"{"error":"server_error"}"#), .init(status: 502, body: "<html>"),
        ])
    func passingFailure(reply: ScriptedIssuer.Reply) async throws {
        try await success(reply, .pending, reply, reply)
        #expect(server.clock.waits == [5, 5, 5, 5])
    }

    @Test("If the network fails until the challenge expires, push polling ends with the network error")
    func lastingFailure() async throws {
        let error = try await failure(interval: "20", .pending, .failing(.notConnectedToInternet))
        #expect(error.map(ErrorText.init(of:)) == .offline)
        #expect(server.clock.waits == [20, 20, 20])
    }

    @Test(
        "A permanent error ends push polling immediately",
        arguments: [
            ScriptedIssuer.Reply.failing(.serverCertificateUntrusted), .failing(.secureConnectionFailed), .failing(.badURL),
            .init(body: "<html>"), .init(status: 404, body: ""), .refusal("invalid_client", status: 401), .refusal("invalid_request"),
        ])
    func lastingCause(reply: ScriptedIssuer.Reply) async throws {
        _ = try await failure(reply)
        #expect(server.clock.waits.isEmpty)
    }

    // MARK: Rate limits

    private static let exhausted = [
        "x-rate-limit-limit": "4", "x-rate-limit-remaining": "0", "x-rate-limit-reset": "1800000008",
        "Date": "Fri, 15 Jan 2027 08:00:00 GMT",
    ]

    private static func limited(_ headers: [String: String], body: String = #"{"error":"invalid_grant","error_description":"Wait."}"#)
        -> ScriptedIssuer.Reply
    {
        .init(status: 429, headers: headers, body: body)
    }

    @Test(
        "A rate limit delays the next push poll for the time that the server specifies, but at least for the interval",
        arguments: [
            ([:], 5), (["Retry-After": "12"], 12), (["Retry-After": "2"], 5), (["Retry-After": "soon"], 5),
            (["Retry-After": "-9"], 5), (exhausted, 8), (exhausted.merging(["x-rate-limit-remaining": "1"]) { $1 }, 5),
        ] as [([String: String], TimeInterval)])
    func rateLimit(headers: [String: String], wait: TimeInterval) async throws {
        try await success(.pending, Self.limited(headers), .pending)
        #expect(server.clock.waits == [5, wait, 5] && server.forms("token").count == 5)
        #expect(server.headers("token", "X-Okta-Retry-Count").allSatisfy { $0 == nil })
    }

    @Test(
        "If a rate limit lasts longer than the challenge, push polling ends at the expiry with the rate limit error",
        arguments: ["90", "1e300"])
    func rateLimitBeyondExpiry(delay: String) async throws {
        let body = #"{"errorCode":"E0000047","errorSummary":"Too many requests.","errorLink":"E0000047","errorId":"x","errorCauses":[]}"#
        let error = try await failure(Self.limited(["Retry-After": delay], body: body))
        #expect(error.map(ErrorText.init(of:)) == .tooMany)
        #expect(server.clock.waits == [60])
    }

    @Test("A rate-limited password request is retried when the rate limit period ends")
    func rateLimitOfPassword() async throws {
        let flow = try DirectAuthenticationFlow(client: server.directClient())
        server.answer("token", Self.limited(Self.exhausted), .tokens())
        guard case .success = try await flow.start("jane", with: .password("x")) else { throw Failure.flowNotStarted }
        #expect(server.clock.waits == [8] && server.headers("token", "X-Okta-Retry-Count") == [nil, "1"])
    }
}
