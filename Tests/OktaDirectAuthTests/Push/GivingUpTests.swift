import AuthFoundation
import Foundation
import TestSupport
import Testing

@testable import OktaDirectAuth

/// Tests that a cancellation, a reset and a new start end the call at once, give no tokens, and notify the server.
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

    /// Checks that the call throws the error for this way of ending it.
    private func expectLeft(_ way: Way, _ task: Task<Flow.Status, any Error>) async {
        let error = await #expect(throws: (any Error).self) { try await task.value }
        if way == .cancel {
            #expect(error is CancellationError)
        } else {
            #expect(error as? Failure == .inconsistentContextState)
        }
    }

    /// Waits for this number of revocation requests, and returns their forms.
    ///
    /// To make sure that there are no further requests, it sends a last one, which arrives after all earlier ones.
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

    @Test(
        "Cancelling, resetting or restarting between two polls of a second factor ends the call immediately and revokes the mfa_token once",
        arguments: Way.allCases)
    func whileWaiting(way: Way) async throws {
        let flow = try await server.challengedFlow(clock: clock)
        server.answer("token", .pending)
        let task = Task { try await flow.resume(with: .oob(channel: .push)) }
        await clock.sleepers(1)
        await way.take(task, flow)
        await expectLeft(way, task)
        // The client has waited for nothing, because nothing advanced the clock.
        #expect(clock.waits.isEmpty && flow.context == nil && !flow.isAuthenticating)
        await flow.reset()
        #expect(try await withdrawals(1) == [["client_id": "app", "token": "mfa-1"]])
        #expect(server.forms("token").count { $0["oob_code"] != nil } == 1)
        await #expect(throws: Failure.flowNotStarted) { try await flow.resume(with: .oob(channel: .push)) }
    }

    @Test(
        "Cancelling, resetting or restarting between two polls of a first factor ends the call immediately and revokes the oob_code once",
        arguments: Way.allCases)
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

    @Test(
        "A reset revokes the mfa_token once, while a number is shown or while the app has not yet chosen a second factor",
        arguments: [false, true])
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
        "Cancelling, resetting or restarting during a poll ends the call immediately, and tokens that arrive later are revoked",
        arguments: Way.allCases)
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

    @Test("If tokens arrive after a password request is cancelled, reset or replaced, the tokens are revoked", arguments: Way.allCases)
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

    @Test(
        "An mfa_required response or a challenge that arrives after the cancellation is revoked when it arrives",
        arguments: [Way.cancel, .reset])
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

    @Test("If an approval arrives while the task is being cancelled, the sign-in ends as cancelled", arguments: 0..<50)
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

    @Test("A sign-in whose task is already cancelled sends no request")
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

    @Test("After a cancellation, a password request that waits for a rate limit is not repeated", arguments: [false, true])
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

    @Test("Resetting a flow after its success, denial or expiry sends no revocation", arguments: End.allCases)
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

    @Test(
        "After a denied or expired push as the first factor, no revocation is sent", arguments: ["access_denied", "authorization_pending"])
    func firstFactorEnded(code: String) async throws {
        let flow = try Flow(client: server.directClient())
        server.answer("token", .refusal(code))
        await #expect(throws: (any Error).self) { try await flow.start("jane", with: .oob(channel: .push)) }
        #expect(try await withdrawals(0).isEmpty)
    }

    @Test("After a push as the second factor expires, the app can request another push and cancel it")
    func again() async throws {
        let flow = try await server.challengedFlow()
        server.answer("token", .pending)
        await #expect(throws: Failure.pollingTimeoutExceeded) { try await flow.resume(with: .oob(channel: .push)) }
        server.answer("challenge", .outOfBand(binding: "transfer", more: #","binding_code":"95""#))
        _ = try await flow.resume(with: .oob(channel: .push))
        await flow.reset()
        #expect(try await withdrawals(1).compactMap { $0["token"] } == ["mfa-1"])
    }

    @Test("If a push as the first factor fails for a reason other than denial or expiry, its oob_code is revoked")
    func failed() async throws {
        let flow = try Flow(client: server.directClient())
        server.answer("token", .refusal("invalid_request"))
        await #expect(throws: APIClientError.self) { try await flow.start("jane", with: .oob(channel: .push)) }
        #expect(try await withdrawals(1).compactMap { $0["token"] } == ["oob-1"])
    }

    @Test("After a wrong one-time code and then a correct one-time code, a reset sends no revocation")
    func wrongCode() async throws {
        let flow = try await server.challengedFlow()
        server.answer("token", .refusal("invalid_grant"), .tokens())
        await #expect(throws: APIClientError.self) { try await flow.resume(with: .otp(code: "1")) }
        guard case .success = try await flow.resume(with: .otp(code: "2")) else { throw Failure.flowNotStarted }
        await flow.reset()
        #expect(try await withdrawals(0).isEmpty)
    }

    @Test("A new push as the first factor revokes the oob_code of the previous push")
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
        "A failed revocation of a cancelled transaction is not repeated and does not affect the next sign-in",
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

    @Test("A revocation request that gets no response does not delay the cancellation or the next sign-in")
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

    @Test("If the issuer has no revocation endpoint, resetting a sign-in sends no revocation")
    func noEndpoint() async throws {
        server.remove("revocation_endpoint")
        let flow = try await server.challengedFlow(clock: clock)
        await flow.reset()
        await #expect(throws: Never.self) { try await TransactionRevocation.send("x", through: flow.client) }
        #expect(server.forms("revoke").isEmpty)
    }
}
