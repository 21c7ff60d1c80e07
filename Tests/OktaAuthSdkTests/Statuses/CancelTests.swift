import Foundation
import OktaAuthSdk
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@MainActor
@Suite("Cancelling a classic sign-in")
struct CancelTests {
    private func challenge(_ org: Org) async throws -> OktaAuthStatusFactorChallenge {
        try await org.status(OktaAuthStatusFactorChallenge.self, Answers.challenge("push", next: "poll", result: "WAITING"))
    }

    @Test(
        "Cancelling a classic transaction sends the state token, and succeeds regardless of the response body",
        arguments: ["{}", #"{"_embedded":{}}"#, ""])
    func cancels(body: String) async throws {
        let org = try Org()
        let status = try await challenge(org)
        #expect(status.canCancel())
        org.server.answer(body)
        try await status.cancelTransaction()
        #expect(try org.lastSent == #"POST /cancel {"stateToken":"state-1"}"#)
    }

    @Test("A classic transaction can be cancelled without callback closures")
    func withoutClosures() async throws {
        let org = try Org()
        let status = try await challenge(org)
        org.server.answer("{}")
        status.cancel()
        let heard = Heard()
        await heard.turn()
        #expect(try org.last.path == "/api/v1/authn/cancel")
    }

    @Test("Cancelling before a classic transaction has started sends no request")
    func unauthenticated() async throws {
        let org = try Org()
        try await org.start.cancelTransaction()
        #expect(org.server.arrivals.isEmpty)
    }

    @Test("After a classic transaction is cancelled, responses to pending requests call no closure, and awaiting calls throw")
    func dropsAnswers() async throws {
        let org = try Org()
        let status = try await challenge(org)
        let push = try #require(status.factor as? OktaFactorPush)
        let heard = Heard()
        org.server.hold()
        org.server.answer(Answers.success)
        org.server.answer(Answers.success)
        org.server.answer("{}")
        push.checkFactorResult(onStatusChange: { heard.status($0) }, onError: { heard.error($0) })
        let waiter = Task { try await push.checkFactorResult().statusType }
        let isSent = { org.server.arrivals.count == 3 }
        while !isSent() { await heard.turn() }
        var isCancelled = false
        status.cancel(onSuccess: { isCancelled = true }, onError: { heard.error($0) })
        // The response to the cancellation arrives before the response to the poll.
        org.server.releaseLatestFirst()
        await #expect(throws: CancellationError.self) { try await waiter.value }
        await heard.turn()
        #expect(isCancelled)
        #expect(heard.count == 0)
    }

    @Test("A response that arrives while a transaction is being cancelled is delivered only if the cancellation fails")
    func comesAfterAll() async throws {
        let org = try Org()
        let status = try await challenge(org)
        let push = try #require(status.factor as? OktaFactorPush)
        let (polled, cancelled) = (Heard(), Heard())
        // The poll's response arrives while the cancellation is being sent.
        let listener = StepByStep()
        status.restApi.httpRequestListener = listener
        push.checkFactorResult(onStatusChange: { polled.status($0) }, onError: { polled.error($0) })
        status.cancel(onSuccess: {}, onError: { cancelled.error($0) })
        #expect(listener.waiting.count == 2)
        listener.waiting[0](Answers.success, 200)
        await polled.turn()
        #expect(polled.count == 0)
        listener.waiting[1](Answers.refusal("E0000009", "Internal"), 500)
        await polled.settle()
        #expect(cancelled.errors.compactMap(refusalCode) == ["E0000009"])
        #expect(polled.statuses.map(\.statusType) == [.success])
    }

    @Test("Cancelling a classic transaction does not affect the next sign-in with the same start status")
    func another() async throws {
        let org = try Org()
        let status = try await challenge(org)
        org.server.answer("{}")
        try await status.cancelTransaction()
        org.server.answer(Answers.required(Answers.selectable("sms")).replacing("state-1", with: "state-2"))
        let next = try #require(
            try await org.start.authenticate(username: "ana", password: "x") as? OktaAuthStatusFactorRequired)
        org.server.answer(Answers.challenge("sms").replacing("state-1", with: "state-2"))
        #expect(try await next.availableFactors.first?.select() is OktaAuthStatusFactorChallenge)
    }

    @Test("Cancelling the task of a factor request ends the wait immediately with a CancellationError")
    func taskCancelled() async throws {
        let org = try Org()
        let status = try await challenge(org)
        let listener = StepByStep()
        status.restApi.httpRequestListener = listener
        let waiter = Task { try await status.verifyFactor(passCode: "1").statusType }
        while listener.waiting.isEmpty { await Task.yield() }
        waiter.cancel()
        await #expect(throws: CancellationError.self) { try await waiter.value }
        listener.waiting[0](Answers.success, 200)
        await Heard().turn()
    }

    @Test("A cancelled OktaAPIRequest does not call its completion closure")
    func requestCancelled() async throws {
        let org = try Org()
        let listener = StepByStep()
        org.start.restApi.httpRequestListener = listener
        var results = 0
        let request = org.start.restApi.getTransactionState(stateToken: "state-1") { _ in results += 1 }
        request.cancel()
        #expect(request.isCancelled)
        listener.waiting[0](Answers.success, 200)
        await Heard().turn()
        #expect(results == 0)
    }

    /// An HTTP library that keeps each request until the test answers it.
    @MainActor
    private final class StepByStep: @MainActor OktaHTTPRequestListenerProtocol {
        var waiting: [(String, Int) -> Void] = []

        func sendRequest(_ request: URLRequest, completionHandler: @escaping (Data?, URLResponse?, (any Error)?) -> Void) {
            waiting.append { body, status in
                guard let url = request.url else { return }
                let response = HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: nil)
                completionHandler(Data(body.utf8), response, nil)
            }
        }
    }
}
