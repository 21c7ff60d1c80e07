import AuthFoundation
import CountersignSandbox
import Foundation
import Testing

@testable import CountersignUI
@testable import DeviceAuthenticator

@Suite("Safe answers in an authenticator app")
@MainActor
struct RequestSafetyTests {
    @Test(
        "The approve action of a notification shows a request without a sign-in (CIBA), because the notification has not shown its message")
    func message() async throws {
        let token = Data([1, 2, 3, 4])
        try await PhoneVisit.play(organization: PhoneVisit.withBank, pushToken: token, acceptsCIBA: true) { visit in
            let pushes = visit.pushes(to: token)
            let payment = try await visit.askAsBank("Pay 900 euros")
            #expect(await visit.model.receive(try await pushes.userInfo(), action: "APPROVE_BUTTON"))
            let request = try #require(visit.model.current)
            #expect(request.message == "Pay 900 euros" && visit.model.selected == request.id && visit.model.outcome == nil)
            visit.sandbox.advance(by: 6)
            #expect(try await visit.bankHasTokens(payment) == false)
            await visit.model.approve(request.id)
            #expect(visit.model.outcome == .approved)
            visit.sandbox.advance(by: 6)
            #expect(try await visit.bankHasTokens(payment))
        }
    }

    @Test("An approval of a request that could not be verified verifies it and shows its details, and only the next approval is sent")
    func unverified() async throws {
        try await PhoneVisit.play { visit in
            visit.loseKeys()
            let signIn = try await visit.signInElsewhere()
            let request = try await visit.request()
            #expect(!request.isVerified && request.application == nil && !visit.model.canApprove)
            await visit.model.approve(request.id)
            #expect(visit.model.problem?.code == .failed && visit.model.current?.isVerified == false && visit.model.outcome == nil)
            visit.sandbox.clearFaults()
            await visit.model.approve(request.id)
            #expect(visit.model.current?.isVerified == true && visit.model.current?.application == "Direct Authentication App")
            #expect(visit.model.outcome == nil && visit.model.problem == nil)
            await visit.model.approve(request.id)
            #expect(visit.model.outcome == nil, "The user has not read the details yet.")
            #expect(!visit.sandbox.requests.contains { $0.endpoint == "verify" })
            visit.letUserRead()
            await visit.model.approve(request.id)
            #expect(visit.model.outcome == .approved)
            #expect(await visit.end(signIn).isSignedIn)
        }
    }

    @Test("A denial that fails at the server keeps the request, and the next denial ends the sign-in", arguments: [500, 503, 429])
    func serverFails(status: Int) async throws {
        try await PhoneVisit.play { visit in
            let signIn = try await visit.signInElsewhere()
            let request = try await visit.request()
            visit.sandbox.inject(Fault(.status(status), at: "verify", count: 10))
            await visit.model.deny(request.id)
            #expect(visit.model.problem?.code == .failed && visit.model.requests.map(\.id) == [request.id] && visit.model.outcome == nil)
            visit.sandbox.clearFaults()
            await visit.model.deny(request.id)
            #expect(visit.model.outcome == .denied && visit.model.requests.isEmpty)
            #expect(await visit.end(signIn).problem?.code == .denied)
        }
    }

    @Test(
        "A push that cannot be verified for now stays pending, its action approves nothing, and a later tap still denies it",
        arguments: ["APPROVE_BUTTON", "DENY_BUTTON", "REVIEW_BUTTON"])
    func unverifiedPush(action: String) async throws {
        let token = Data([1, 2, 3, 4])
        try await PhoneVisit.play(pushToken: token) { visit in
            visit.loseKeys()
            let pushes = visit.pushes(to: token)
            let signIn = try await visit.signInElsewhere()
            let userInfo = try await pushes.userInfo()
            #expect(await visit.model.receive(userInfo, action: action))
            let request = try #require(visit.model.current)
            #expect(!request.isVerified && visit.model.selected == request.id && visit.model.outcome == nil)
            #expect(visit.model.problem?.code == .failed && !visit.sandbox.requests.contains { $0.endpoint == "verify" })
            visit.sandbox.clearFaults()
            #expect(await visit.model.receive(userInfo, action: "DENY_BUTTON"))
            #expect(visit.model.outcome == .denied && visit.model.requests.isEmpty && visit.model.problem == nil)
            #expect(await visit.end(signIn).problem?.code == .denied)
        }
    }

    @Test("If a push can be verified only at the second attempt, the deny action of its notification still denies it")
    func deniedAtSecondAttempt() async throws {
        let token = Data([1, 2, 3, 4])
        try await PhoneVisit.play(pushToken: token) { visit in
            visit.loseKeys()
            let pushes = visit.pushes(to: token)
            let signIn = try await visit.signInElsewhere()
            let userInfo = try await pushes.userInfo()
            let before = visit.sandbox.requests.count { $0.endpoint == .keys }
            #expect(await visit.model.receive(userInfo))
            let attempts = visit.sandbox.requests.count { $0.endpoint == .keys } - before
            try #require(attempts > 0 && visit.model.problem?.code == .failed)
            visit.sandbox.clearFaults()
            visit.sandbox.inject(Fault(.status(503), at: .keys, count: attempts))
            #expect(await visit.model.receive(userInfo, action: "DENY_BUTTON"))
            #expect(visit.model.outcome == .denied && visit.model.requests.isEmpty && visit.model.problem == nil)
            #expect(await visit.end(signIn).problem?.code == .denied)
        }
    }

    @Test(
        "If the user cannot be verified and the server fails, the request stays pending, and the next answer approves it",
        arguments: [503, 429])
    func verificationAndServerFail(status: Int) async throws {
        try await PhoneVisit.play(verifiesUser: true) { visit in
            let signIn = try await visit.signInElsewhere()
            let request = try await visit.request()
            visit.pin.set(nil)
            visit.sandbox.inject(Fault(.status(status), at: "verify", count: 10))
            await visit.model.approve(request.id)
            #expect(visit.model.problem?.code == .failed && visit.model.requests.map(\.id) == [request.id] && visit.model.outcome == nil)
            visit.sandbox.clearFaults()
            visit.pin.set("1234")
            await visit.model.approve(request.id)
            #expect(visit.model.outcome == .approved)
            #expect(await visit.end(signIn).isSignedIn)
        }
    }

    @Test("A temporary failure of the phone does not end a request, and a lost key does")
    func failuresOfPhone() {
        let ends: [any Error] = [
            DeviceAuthenticatorError.securityError(.jwtError("JWT verification failed")),
            DeviceAuthenticatorError.securityError(.localAuthenticationCancelled(CancellationError())),
            DeviceAuthenticatorError.storageError(.itemNotFound), SecurityError.jwtError("JWT verification failed"),
        ]
        for error in ends { #expect(PushRequestProblem(error).endsRequest, "\(error)") }
        let keeps: [any Error] = [
            DeviceAuthenticatorError.storageError(.deviceLocked), DeviceAuthenticatorError.genericError("other"),
            DeviceAuthenticatorError.internalError("other"), DeviceAuthenticatorError.securityError(.failedToSignPayload("other")),
        ]
        for error in keeps { #expect(!PushRequestProblem(error).endsRequest, "\(error)") }
    }

    @Test("A phone whose clock is ten minutes fast shows requests, answers them, and removes expired ones")
    func fastClock() async throws {
        try await PhoneVisit.play(secondsFast: 600) { visit in
            _ = try await visit.push()
            await visit.model.approve(try await visit.request().id)
            #expect(visit.model.outcome == .approved)
            _ = try await visit.push()
            try await visit.arrival(of: 1)
            visit.sandbox.advance(by: 400)
            visit.model.select(nil)
            #expect(visit.model.requests.isEmpty)
        }
    }
}
