import AuthFoundation
import Foundation
import OktaDirectAuth
import TestSupport
import Testing

@Suite("Push with long polling", .timeLimit(.minutes(1)))
struct HeldPushPollTests {
    private let server = ScriptedIssuer.directAuthentication()

    /// Waits for a push as the second factor at a server that delays each poll response by some seconds.
    private func wait(
        interval: String = "5", holding seconds: [TimeInterval], _ answers: ScriptedIssuer.Reply...
    ) async throws -> DirectAuthenticationFlow.Status {
        let flow = try await server.challengedFlow()
        server.answer("challenge", .outOfBand(binding: "none", interval: interval))
        server.answer("token", answers)
        let holds = Locked(seconds)
        server.atRequest("token") { [clock = server.clock] in
            clock.setBack(by: -(holds.withLock { $0.isEmpty ? 0 : $0.removeFirst() }))
        }
        return try await flow.resume(with: .oob(channel: .push))
    }

    @Test("Only the polls of a push ask the server to hold the response for up to 25 seconds")
    func header() async throws {
        _ = try await wait(holding: [25], .pending, .tokens())
        #expect(server.headers("token", "Prefer") == [nil, "wait=25", "wait=25"])
        #expect(server.headers("challenge", "Prefer") == [nil])
    }

    @Test("The request with a code that the user enters does not ask the server to hold the response")
    func typedCode() async throws {
        let flow = try await server.challengedFlow()
        server.answer("challenge", .outOfBand(binding: "prompt", interval: nil))
        server.answer("token", .tokens())
        _ = try await flow.resume(with: .oob(channel: .sms))
        _ = try await flow.resume(with: .prompt(code: "123456"))
        #expect(server.headers("token", "Prefer") == [nil, nil])
    }

    @Test("If the server holds a push poll longer than the interval, the next poll follows immediately")
    func interval() async throws {
        _ = try await wait(holding: [25, 5, 2, 4.5, 0], .pending, .pending, .pending, .pending, .pending, .tokens())
        #expect(server.clock.waits == [3, 0.5, 5])
    }

    @Test("After slow_down, a failure or a rate limit, the next poll waits the whole interval, even if the response was slow")
    func wholeInterval() async throws {
        let limited = ScriptedIssuer.Reply(status: 429, headers: ["Retry-After": "12"], body: #"{"error":"invalid_grant"}"#)
        _ = try await wait(
            holding: [3, 3, 3, 3], .refusal("slow_down"), .init(status: 503, body: ""), .failing(.timedOut), limited, .tokens())
        #expect(server.clock.waits == [10, 10, 10, 12])
    }

    @Test("The time for which the server holds polls counts towards the challenge's expiry, and after the expiry there is no poll")
    func end() async throws {
        await #expect(throws: DirectAuthenticationFlowError.pollingTimeoutExceeded) {
            try await wait(holding: Array(repeating: 25, count: 9), .pending)
        }
        // One request is for the password. The polls are at 0, 25 and 50 of 60 seconds.
        #expect(server.forms("token").count == 4 && server.clock.waits.isEmpty)
    }

    @Test("Setting the clock back while the server holds polls does not lengthen the wait")
    func clockSetBack() async throws {
        await #expect(throws: DirectAuthenticationFlowError.pollingTimeoutExceeded) {
            try await wait(interval: "20", holding: Array(repeating: -1_000, count: 9), .pending)
        }
        #expect(server.clock.waits == [20, 20, 20])
    }
}
