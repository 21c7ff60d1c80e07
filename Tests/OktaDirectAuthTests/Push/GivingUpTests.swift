import AuthFoundation
import Foundation
import TestSupport
import Testing

@testable import OktaDirectAuth

/// Cancel, reset and a new start: each ends the call at once, issues no tokens, and notifies the server.
@Suite("Cancelling a sign-in", .timeLimit(.minutes(1)))
struct GivingUpTests {
    private let server = ScriptedIssuer.directAuthentication()
    private let clock = ManualClock()
    private typealias Failure = DirectAuthenticationFlowError
    typealias Flow = DirectAuthenticationFlow

    enum Way: CaseIterable, Sendable {
        case cancel, reset, startAnew

        func take(_ task: Task<Flow.Status, any Error>, _ flow: Flow) async {
            switch self {
            case .cancel: task.cancel()
            case .reset: await flow.reset()
            case .startAnew: await #expect(throws: APIClientError.self) { try await flow.start("unknown", with: .otp(code: "1")) }
            }
        }
    }

    init() {
        server.answer("primary-authenticate", .outOfBand(binding: "none"))
        server.answer("challenge", .outOfBand(binding: "none"))
        server.answer("revoke", .init(body: ""))
    }

    /// Returns the error that a call throws when it ends in this way.
    private func expectLeft(_ way: Way, _ task: Task<Flow.Status, any Error>) async {
        let error = await #expect(throws: (any Error).self) { try await task.value }
        if way == .cancel {
            #expect(error is CancellationError)
        } else {
            #expect(error as? Failure == .inconsistentContextState)
        }
    }

    /// Checks the number of notifications and revocations at the server. The last cancellation is sent after all earlier ones.
    private func withdrawals(_ count: Int) async throws -> [[String: String]] {
        func told() -> [[String: String]] { server.forms("revoke").filter { $0["token"]?.hasPrefix("last") == false } }
        let earlier = server.forms("revoke").count - told().count
        await server.awaits("revoke", count + earlier)
        let last = OpenTransaction(client: try server.directClient(clock: clock))
        last.opened("last-\(earlier)")
        last.abandon()
        await server.awaits("revoke", count + earlier + 1)
        return told()
    }

    @Test("Cancelling between two requests ends a second factor immediately and revokes its mfa_token once", arguments: Way.allCases)
    func whileWaiting(way: Way) async throws {
        let flow = try await server.challengedFlow(clock: clock)
        server.answer("token", .pending)
        let task = Task { try await flow.resume(with: .oob(channel: .push)) }
        await clock.sleepers(1)
        await way.take(task, flow)
        await expectLeft(way, task)
        // The clock stands still: the call did not wait.
        #expect(clock.waits.isEmpty && flow.context == nil && !flow.isAuthenticating)
        await flow.reset()
        #expect(try await withdrawals(1) == [["client_id": "app", "token": "mfa-1"]])
        #expect(server.forms("token").count { $0["oob_code"] != nil } == 1)
        await #expect(throws: Failure.flowNotStarted) { try await flow.resume(with: .oob(channel: .push)) }
    }

    @Test("Cancelling between two requests ends a first factor immediately and revokes its oob_code once", arguments: Way.allCases)
    func whileWaitingForFirstFactor(way: Way) async throws {
        let flow = try Flow(client: server.directClient(clock: clock))
        server.answer("token", .pending)
        let task = Task { try await flow.start("jane", with: .oob(channel: .push)) }
        await clock.sleepers(1)
        await way.take(task, flow)
        await expectLeft(way, task)
        #expect(try await withdrawals(1) == [["client_id": "app", "token": "oob-1"]])
        #expect(clock.waits.isEmpty && server.forms("token").count { $0["oob_code"] != nil } == 1)
    }

    @Test("Cancelling while a number is shown or a factor is awaited informs the server", arguments: [false, true])
    func betweenCalls(isShowingNumber: Bool) async throws {
        let flow = try await server.challengedFlow(clock: clock)
        if isShowingNumber {
            server.answer("challenge", .outOfBand(binding: "transfer", more: #","binding_code":"95""#))
            _ = try await flow.resume(with: .oob(channel: .push))
        }
        await flow.reset()
        await flow.reset()
        #expect(try await withdrawals(1).compactMap { $0["token"] } == ["mfa-1"])
    }

    @Test(
        "Cancelling during a request does not wait for it, and its tokens are revoked", arguments: Way.allCases)
    func lateTokens(way: Way) async throws {
        let flow = try await server.challengedFlow(clock: clock)
        let gate = server.hold("token")
        server.answer("token", .tokens())
        let task = Task { try await flow.resume(with: .oob(channel: .push)) }
        await server.awaits("token", 2)
        await way.take(task, flow)
        await expectLeft(way, task)
        gate.open()
        #expect(Set(try await withdrawals(3).compactMap { $0["token"] }) == ["mfa-1", "access-1", "refresh-1"])
        #expect(flow.context == nil)
    }

    @Test("Late tokens of a password are revoked, and nothing else is sent", arguments: Way.allCases)
    func latePassword(way: Way) async throws {
        let flow = try Flow(client: server.directClient(clock: clock))
        let gate = server.hold("token")
        server.answer("token", .tokens())
        let task = Task { try await flow.start("jane", with: .password("x")) }
        await server.awaits("token", 1)
        await way.take(task, flow)
        await expectLeft(way, task)
        gate.open()
        #expect(Set(try await withdrawals(2).compactMap { $0["token"] }) == ["access-1", "refresh-1"])
    }

    @Test("A late mfa_required or challenge is withdrawn when it arrives", arguments: [Way.cancel, .reset])
    func lateChallenge(way: Way) async throws {
        for (endpoint, factor, name) in [
            ("token", Flow.PrimaryFactor.password("x"), "mfa-1"), ("primary-authenticate", .oob(channel: .push), "oob-1"),
        ] {
            let server = ScriptedIssuer.directAuthentication()
            server.answer("token", .mfaRequired)
            server.answer("primary-authenticate", .outOfBand(binding: "none"))
            server.answer("revoke", .init(body: ""))
            let gate = server.hold(endpoint)
            let flow = try Flow(client: server.directClient(clock: clock))
            let task = Task { try await flow.start("jane", with: factor) }
            await server.awaits(endpoint, 1)
            await way.take(task, flow)
            await expectLeft(way, task)
            #expect(server.forms("revoke").isEmpty)
            gate.open()
            await server.awaits("revoke", 1)
            #expect(server.forms("revoke") == [["client_id": "app", "token": name]])
            #expect(server.forms("token").count == (endpoint == "token" ? 1 : 0))
        }
    }

    @Test("An approval that arrives during the cancellation signs in no user", arguments: 0..<50)
    func cancelledApproval(attempt: Int) async throws {
        let flow = try Flow(client: server.directClient())
        let task = Locked<Task<Flow.Status, any Error>?>(nil)
        let begun = Gate()
        server.answer("token", .tokens())
        server.atRequest("token") {
            await begun.wait()
            task.withLock { $0 }?.cancel()
        }
        let signIn = Task { try await flow.start("jane", with: .oob(channel: .push)) }
        task.withLock { $0 = signIn }
        begun.open()
        await #expect(throws: CancellationError.self) { try await signIn.value }
        #expect(!flow.isAuthenticating && flow.context == nil)
    }

    @Test("A task that is cancelled before its start sends nothing")
    func cancelledBefore() async throws {
        let flow = try Flow(client: server.directClient(clock: clock))
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await flow.start("jane", with: .password("x"))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(server.isUntouched && flow.context == nil)
        #expect(try await withdrawals(0).isEmpty)
    }

    @Test("A password that waits for a rate limit is not sent after a cancellation", arguments: [false, true])
    func rateLimited(isOnItsWay: Bool) async throws {
        let flow = try Flow(client: server.directClient(clock: clock))
        let headers = [
            "x-rate-limit-limit": "4", "x-rate-limit-remaining": "0", "x-rate-limit-reset": "1800000008",
            "Date": "Fri, 15 Jan 2027 08:00:00 GMT",
        ]
        server.answer("token", .init(status: 429, headers: headers, body: #"{"error":"invalid_grant"}"#), .tokens())
        let gate = server.hold("token")
        let task = Task { try await flow.start("jane", with: .password("x")) }
        await server.awaits("token", 1)
        if isOnItsWay {
            task.cancel()
            await expectLeft(.cancel, task)
            gate.open()
        } else {
            gate.open()
            await clock.sleepers(1)
            task.cancel()
            await expectLeft(.cancel, task)
        }
        _ = try await withdrawals(0)
        clock.advance(by: 1000)
        #expect(try await withdrawals(0).isEmpty && server.forms("token").count == 1)
    }

    // MARK: Requests that are not revoked

    enum End: CaseIterable, Sendable { case success, denial, serverExpiry, localExpiry, expiryOfNumber }

    @Test("After a success, a denial or an expiry, nothing is withdrawn", arguments: End.allCases)
    func ended(by end: End) async throws {
        let flow = try await server.challengedFlow()
        switch end {
        case .success:
            server.answer("token", .pending, .tokens())
            _ = try await flow.resume(with: .oob(channel: .push))
        case .denial, .serverExpiry, .localExpiry:
            server.answer("token", .pending)
            if end != .localExpiry { server.answer("token", .pending, .refusal(end == .denial ? "access_denied" : "expired_token")) }
            await #expect(throws: (any Error).self) { try await flow.resume(with: .oob(channel: .push)) }
        case .expiryOfNumber:
            server.answer("challenge", .outOfBand(binding: "transfer", more: #","binding_code":"95""#))
            _ = try await flow.resume(with: .oob(channel: .push))
            try await server.clock.sleep(for: 60)
        }
        await flow.reset()
        #expect(try await withdrawals(0).isEmpty)
    }

    @Test("After a denied or expired first factor, nothing is withdrawn", arguments: ["access_denied", "authorization_pending"])
    func firstFactorEnded(code: String) async throws {
        let flow = try Flow(client: server.directClient())
        server.answer("token", .refusal(code))
        await #expect(throws: (any Error).self) { try await flow.start("jane", with: .oob(channel: .push)) }
        #expect(try await withdrawals(0).isEmpty)
    }

    @Test("After a denied or expired push, another push can be requested and cancelled")
    func again() async throws {
        let flow = try await server.challengedFlow()
        server.answer("token", .pending)
        await #expect(throws: Failure.pollingTimeoutExceeded) { try await flow.resume(with: .oob(channel: .push)) }
        server.answer("challenge", .outOfBand(binding: "transfer", more: #","binding_code":"95""#))
        _ = try await flow.resume(with: .oob(channel: .push))
        await flow.reset()
        #expect(try await withdrawals(1).compactMap { $0["token"] } == ["mfa-1"])
    }

    @Test("A first factor that fails for another reason is withdrawn")
    func failed() async throws {
        let flow = try Flow(client: server.directClient())
        server.answer("token", .refusal("invalid_request"))
        await #expect(throws: APIClientError.self) { try await flow.start("jane", with: .oob(channel: .push)) }
        #expect(try await withdrawals(1).compactMap { $0["token"] } == ["oob-1"])
    }

    @Test("A wrong code keeps the sign-in open, and nothing is withdrawn")
    func wrongCode() async throws {
        let flow = try await server.challengedFlow()
        server.answer("token", .refusal("invalid_grant"), .tokens())
        await #expect(throws: APIClientError.self) { try await flow.resume(with: .otp(code: "1")) }
        guard case .success = try await flow.resume(with: .otp(code: "2")) else { throw Failure.flowNotStarted }
        await flow.reset()
        #expect(try await withdrawals(0).isEmpty)
    }

    @Test("Another first push withdraws the previous one")
    func anotherPush() async throws {
        let flow = try Flow(client: server.directClient(clock: clock))
        server.answer("primary-authenticate", .outOfBand(binding: "transfer", more: #","binding_code":"95""#))
        _ = try await flow.start("jane", with: .oob(channel: .push))
        server.answer(
            "primary-authenticate",
            .init(
                body: #"{"oob_code":"oob-2","channel":"push","binding_method":"transfer","binding_code":"07","expires_in":60,"interval":5}"#
            ))
        _ = try await flow.resume(with: .oob(channel: .push))
        #expect(try await withdrawals(1).compactMap { $0["token"] } == ["oob-1"])
        await flow.reset()
        #expect(try await withdrawals(2).compactMap { $0["token"] } == ["oob-1", "oob-2"])
    }

    // MARK: An unreachable server

    @Test(
        "A failed withdrawal has no effect and is not repeated",
        arguments: [
            ScriptedIssuer.Reply.failing(.notConnectedToInternet), .init(status: 503, body: ""), .refusal("invalid_client", status: 401),
            .init(
                status: 429,
                headers: [
                    "x-rate-limit-limit": "4", "x-rate-limit-remaining": "0", "x-rate-limit-reset": "1800000008",
                    "Date": "Fri, 15 Jan 2027 08:00:00 GMT",
                ]),
        ])
    func untold(reply: ScriptedIssuer.Reply) async throws {
        let flow = try await server.challengedFlow(clock: clock)
        server.answer("revoke", reply)
        await flow.reset()
        await server.awaits("revoke", 1)
        server.answer("token", .tokens())
        guard case .success = try await flow.start("jane", with: .password("x")) else { throw Failure.flowNotStarted }
        clock.advance(by: 1000)
        #expect(try await withdrawals(1).compactMap { $0["token"] } == ["mfa-1"] && clock.waits.isEmpty)
    }

    @Test("A server that does not respond to the withdrawal does not delay the app")
    func unanswered() async throws {
        let flow = try await server.challengedFlow(clock: clock)
        let gate = server.hold("revoke")
        server.answer("token", .pending)
        let task = Task { try await flow.resume(with: .oob(channel: .push)) }
        await clock.sleepers(1)
        task.cancel()
        await expectLeft(.cancel, task)
        await server.awaits("revoke", 1)
        server.answer("token", .tokens())
        guard case .success = try await flow.start("jane", with: .password("x")) else { throw Failure.flowNotStarted }
        gate.open()
    }

    @Test("Nothing is sent to an issuer without a revocation endpoint")
    func noEndpoint() async throws {
        server.remove("revocation_endpoint")
        let flow = try await server.challengedFlow(clock: clock)
        await flow.reset()
        await #expect(throws: Never.self) { try await TransactionRevocation.send("x", through: flow.client) }
        #expect(server.forms("revoke").isEmpty)
    }
}
