import AuthFoundation
import Foundation
import TestSupport
import Testing

@testable import OktaDirectAuth

@Suite("Overlapping calls and flows", .timeLimit(.minutes(1)))
struct OverlappingCallsTests {
    private let server = ScriptedIssuer.directAuthentication()
    private let clock = ManualClock()
    private typealias Failure = DirectAuthenticationFlowError

    @Test("Entering a one-time code while a push is pending ends the push and completes the same sign-in")
    func codeInsteadOfPush() async throws {
        let flow = try await server.challengedFlow(clock: clock)
        server.answer("challenge", .outOfBand(binding: "none"))
        server.answer("token", .pending, .tokens())
        let push = Task { try await flow.resume(with: .oob(channel: .push)) }
        await clock.sleepers(1)
        guard case .success(let token) = try await flow.resume(with: .otp(code: "1")) else { throw Failure.flowNotStarted }
        let error = await #expect(throws: Failure.inconsistentContextState) { try await push.value }
        #expect(error?.debugDescription == "Another step of the sign-in has begun meanwhile, or it was reset.")
        #expect(clock.waits.isEmpty && flow.context?.currentStatus == .success(token))
        #expect(server.forms("token").last?["mfa_token"] == "mfa-1" && server.forms("revoke").isEmpty)
    }

    @Test("Resuming a number challenge a second time ends the first call's polling")
    func goesOnTwice() async throws {
        let flow = try await server.challengedFlow(clock: clock)
        server.answer("challenge", .outOfBand(binding: "transfer", more: #","binding_code":"95""#))
        _ = try await flow.resume(with: .oob(channel: .push))
        server.answer("token", .pending, .tokens())
        let first = Task { try await flow.resume(with: .transfer) }
        await clock.sleepers(1)
        guard case .success = try await flow.resume(with: .transfer) else { throw Failure.flowNotStarted }
        await #expect(throws: Failure.inconsistentContextState) { try await first.value }
    }

    @Test("Cancelling the task of a replaced call does not cancel the call that replaced it")
    func cancelledAfterwards() async throws {
        let flow = try await server.challengedFlow(clock: clock)
        server.answer("challenge", .outOfBand(binding: "none"))
        server.answer("token", .pending)
        let first = Task { try await flow.resume(with: .oob(channel: .push)) }
        await clock.sleepers(1)
        let second = Task { try await flow.resume(with: .oob(channel: .push)) }
        await #expect(throws: Failure.inconsistentContextState) { try await first.value }
        first.cancel()
        await server.awaits("token", 3)
        await clock.sleepers(1)
        server.answer("token", .tokens())
        clock.advance(by: 5)
        guard case .success = try await second.value else { throw Failure.flowNotStarted }
        #expect(server.forms("revoke").isEmpty)
    }

    @Test("Starting a second sign-in in a flow ends the first sign-in, and the second sign-in completes")
    func startedAnew() async throws {
        let flow = try DirectAuthenticationFlow(client: server.directClient(clock: clock))
        server.answer("primary-authenticate", .outOfBand(binding: "none"))
        server.answer("revoke", .init(body: ""))
        server.answer("token", .pending)
        let first = Task { try await flow.start("jane", with: .oob(channel: .push)) }
        await clock.sleepers(1)
        let second = Task { try await flow.start("joe", with: .oob(channel: .push)) }
        await #expect(throws: Failure.inconsistentContextState) { try await first.value }
        await server.awaits("token", 2)
        await clock.sleepers(1)
        #expect(flow.isAuthenticating && flow.context != nil)
        server.answer("token", .tokens())
        clock.advance(by: 5)
        guard case .success = try await second.value else { throw Failure.flowNotStarted }
    }

    @Test("A sign-in status that arrives after a cancellation or a reset is rejected", arguments: [true, false])
    func notTaken(isCancelled: Bool) async throws {
        let flow = try await server.challengedFlow()
        let status = try #require(flow.context?.currentStatus)
        let call = FlowCall<DirectAuthenticationFlow.Status>()
        var state = SignInState(context: .init(), isAuthenticating: true, call: call)
        if !isCancelled { #expect(state.end() == nil) }
        let error = #expect(throws: (any Error).self) { try state.take(status, of: call, isCancelled: isCancelled) }
        #expect(isCancelled ? error is CancellationError : error as? Failure == .inconsistentContextState)
        #expect(state.context?.currentStatus == nil)
        state = SignInState(context: .init(), isAuthenticating: true, call: call)
        try state.take(status, of: call, isCancelled: false)
        #expect(state.context?.currentStatus == status && state.isAuthenticating && state.call == nil)
        #expect(state.end(by: call) == nil && state.context != nil)
    }

    @Test("Resetting a flow revokes only that flow's push, and another flow of the same client completes")
    func twoFlows() async throws {
        let client = try server.directClient(clock: clock)
        let (first, second) = (DirectAuthenticationFlow(client: client), DirectAuthenticationFlow(client: client))
        server.answer(
            "primary-authenticate", .outOfBand(binding: "none"),
            .init(body: #"{"oob_code":"oob-2","channel":"push","binding_method":"none","expires_in":60,"interval":5}"#))
        server.answer("token", .pending)
        server.answer("revoke", .init(body: ""))
        let jane = Task { try await first.start("jane", with: .oob(channel: .push)) }
        await server.awaits("token", 1)
        let joe = Task { try await second.start("joe", with: .oob(channel: .push)) }
        await server.awaits("token", 2)
        await first.reset()
        await #expect(throws: Failure.inconsistentContextState) { try await jane.value }
        #expect(second.isAuthenticating && !first.isAuthenticating)
        server.answer("token", .tokens())
        await clock.sleepers(1)
        clock.advance(by: 5)
        guard case .success = try await joe.value else { throw Failure.flowNotStarted }
        await server.awaits("revoke", 1)
        #expect(server.forms("revoke").compactMap { $0["token"] } == ["oob-1"])
        #expect(server.forms("token").map { $0["oob_code"] } == ["oob-1", "oob-2", "oob-2"] && first.context == nil)
    }

    @Test("After a cancellation, a reset or a denial, the flow can start the next sign-in", arguments: ["cancel", "reset", "denial"])
    func reuse(after end: String) async throws {
        let flow = try await server.challengedFlow(clock: clock)
        server.answer("challenge", .outOfBand(binding: "none"))
        server.answer("revoke", .init(body: ""))
        server.answer("token", .pending, .refusal("access_denied"))
        let push = Task { try await flow.resume(with: .oob(channel: .push)) }
        await clock.sleepers(1)
        switch end {
        case "cancel": push.cancel()
        case "reset": await flow.reset()
        default: clock.advance(by: 5)
        }
        await #expect(throws: (any Error).self) { try await push.value }
        server.answer("token", .mfaRequired, .tokens())
        guard case .mfaRequired = try await flow.start("joe", with: .password("x")),
            case .success(let token) = try await flow.resume(with: .oob(channel: .push))
        else { throw Failure.flowNotStarted }
        #expect(flow.context?.currentStatus == .success(token) && !flow.isAuthenticating)
    }

    // MARK: Completion handlers and delegates

    /// A delegate that records its calls.
    private final class Observer: DirectAuthenticationFlowDelegate {
        let heard = Locked<[String]>([])
        func authenticationStarted<Flow>(flow: Flow) { note("started") }
        func authenticationFinished<Flow>(flow: Flow) { note("finished") }
        func authentication<Flow>(flow: Flow, received token: Token) { note("token") }
        func authentication<Flow>(flow: Flow, received error: OAuth2Error) { note("error") }
        func authentication<Flow>(flow: Flow, received status: DirectAuthenticationFlow.Status) {
            switch status {
            case .success: note("success")
            case .mfaRequired: note("mfaRequired")
            case .continuation: note("continuation")
            }
        }
        private func note(_ word: String) {
            MainActor.assertIsolated()
            heard.withLock { $0.append(word) }
        }
    }

    @Test(
        "Delegates are informed about each step of a push and about its approval, denial or cancellation",
        arguments: ["approval", "denial", "cancel", "reset"])
    func delegates(end: String) async throws {
        let flow = try DirectAuthenticationFlow(client: server.directClient(clock: clock))
        let observer = Observer()
        flow.add(delegate: observer)
        server.answer("token", .mfaRequired, .pending, end == "denial" ? .refusal("access_denied") : .tokens())
        server.answer("challenge", .outOfBand(binding: "transfer", more: #","binding_code":"95""#))
        _ = try await flow.start("jane", with: .password("x"))
        _ = try await flow.resume(with: .oob(channel: .push))
        let wait = Task { try await flow.resume(with: .transfer) }
        await clock.sleepers(1)
        switch end {
        case "cancel": wait.cancel()
        case "reset": await flow.reset()
        default: clock.advance(by: 5)
        }
        _ = await wait.result
        let expected = [
            "approval": ["success", "token", "finished"], "denial": ["error"], "cancel": ["error", "finished"], "reset": ["error"],
        ]
        #expect(observer.heard.withLock { $0 } == ["started", "mfaRequired", "continuation"] + (expected[end] ?? []))
    }

    @Test("Each step of direct authentication can be called with a completion handler, which is called once")
    func completions() async throws {
        let flow = try DirectAuthenticationFlow(client: server.directClient())
        server.answer("token", .mfaRequired, .pending, .tokens())
        server.answer("challenge", .outOfBand(binding: "transfer", more: #","binding_code":"95""#))
        let first = await withCheckedContinuation { done in flow.start("jane", with: .password("x")) { done.resume(returning: $0) } }
        guard case .success(.mfaRequired) = first else { throw Failure.flowNotStarted }
        let second = await withCheckedContinuation { done in flow.resume(with: .oob(channel: .push)) { done.resume(returning: $0) } }
        guard case .success(.continuation(.transfer(_, code: "95"))) = second else { throw Failure.flowNotStarted }
        let third = await withCheckedContinuation { done in flow.resume(with: .transfer) { done.resume(returning: $0) } }
        guard case .success(.success) = third else { throw Failure.flowNotStarted }
        await withCheckedContinuation { done in flow.reset { done.resume() } }
        #expect(flow.context == nil)
    }

    @Test("A reset, a denial and an expiry of a push give the completion handler different errors")
    func completionErrors() async throws {
        server.answer("challenge", .outOfBand(binding: "none"))
        server.answer("revoke", .init(body: ""))
        func result(_ answers: ScriptedIssuer.Reply..., resets: Bool = false) async throws -> Failure? {
            let flow = try await server.challengedFlow()
            server.answer("token", answers)
            if resets { server.clock.atSleep { flow.reset {} } }
            let result = await withCheckedContinuation { done in flow.resume(with: .oob(channel: .push)) { done.resume(returning: $0) } }
            if case .failure(let error) = result { return error }
            return nil
        }
        #expect(try await result(.pending) == .pollingTimeoutExceeded)
        guard case .server(let error)? = try await result(.refusal("access_denied")) else { throw Failure.flowNotStarted }
        #expect(error.code == .accessDenied)
        #expect(try await result(.pending, resets: true) == .inconsistentContextState)
        #expect(Failure(CancellationError()).userText.description.english == "The sign-in was cancelled.")
    }
}
