import CountersignSandbox
import DeviceAuthenticator
import ExampleTestSupport
import Foundation
import Testing

@testable import PushAuthenticatorApp

@MainActor
@Suite("Pushes in the push authenticator app", .timeLimit(.minutes(5)))
struct PushTests {
    private static let first = Data(repeating: 0xA1, count: 32)
    private static let second = Data(repeating: 0xB2, count: 32)

    /// Returns an app with Jane's account, and the pushes that it receives.
    private func receiving(_ sandbox: Sandbox) async throws -> (PhoneVisit, AsyncStream<PushPayload>) {
        let visit = try PhoneVisit(sandbox)
        let pushes = visit.receivePushes(token: Self.first)
        await visit.model.updatePushToken(Self.first)
        try await visit.enroll()
        return (visit, pushes)
    }

    @Test("The push authenticator app shows the request of a foreground push once, and ignores a push of another app")
    func foreground() async throws {
        try await withSandbox { sandbox in
            let (visit, pushes) = try await receiving(sandbox)
            #expect(await !visit.model.didReceive(PushPayload(["aps": ["alert": "Lunch?"]])))
            #expect(visit.model.requests.isEmpty && visit.model.errorMessage == nil)
            let signIn = try await visit.signInElsewhere()
            let push = try #require(await pushes.first())
            for _ in 0..<2 { #expect(await visit.model.didReceive(push)) }
            await visit.model.didBecomeActive()
            let request = try #require(visit.model.requests.first)
            #expect(visit.model.requests.count == 1 && request.application == "Direct Authentication App")
            await visit.model.answer(request.id, .approve())
            #expect(try await signIn.outcome() == .tokens)
            // The push arrives a second time, after the answer.
            #expect(await visit.model.didReceive(push))
            #expect(visit.model.requests.isEmpty)
        }
    }

    @Test("A tapped notification shows its request before an older request")
    func tapped() async throws {
        try await withSandbox { sandbox in
            let (visit, pushes) = try await receiving(sandbox)
            let older = try await visit.signInElsewhere()
            _ = try #require(await pushes.first())
            let newer = try await visit.signInElsewhere()
            let push = try #require(await pushes.first())
            await visit.model.didBecomeActive()
            #expect(visit.model.requests.count == 2)
            #expect(await visit.model.didRespond(to: PushPayload(push.userInfo, action: PushAction.review)))
            let shown = try #require(visit.model.shownRequest)
            #expect(shown.id == visit.model.presented && visit.model.requests.count == 2)
            await visit.model.answer(shown.id, .approve())
            #expect(try await newer.outcome() == .tokens)
            await visit.model.answer(try #require(visit.model.shownRequest).id, .approve())
            #expect(try await older.outcome() == .tokens)
        }
    }

    @Test("The actions Approve and Deny on a notification approve and deny the sign-in", arguments: [PushAction.approve, PushAction.deny])
    func action(_ action: String) async throws {
        try await withSandbox { sandbox in
            let (visit, pushes) = try await receiving(sandbox)
            let signIn = try await visit.signInElsewhere()
            let push = try #require(await pushes.first())
            #expect(await visit.model.didRespond(to: PushPayload(push.userInfo, action: action)))
            #expect(visit.model.requests.isEmpty && visit.model.errorMessage == nil)
            if action == PushAction.approve {
                #expect(try await signIn.outcome() == .tokens)
            } else {
                #expect(try await signIn.outcome() == .refused("access_denied"))
            }
        }
    }

    @Test("If a request has a number challenge, the action Approve on the notification opens the request instead of approving the request")
    func actionWithNumber() async throws {
        try await withSandbox(.withNumbers) { sandbox in
            let (visit, pushes) = try await receiving(sandbox)
            let signIn = try await visit.signInElsewhere()
            let push = try #require(await pushes.first())
            #expect(await visit.model.didRespond(to: PushPayload(push.userInfo, action: PushAction.approve)))
            #expect(visit.model.shownRequest?.numbers?.count == 3 && visit.model.notice == "jane.doe@example.com was added.")
            signIn.cancel()
        }
    }

    @Test("A tapped notification closes open settings and forms, and shows the request")
    func tappedBehind() async throws {
        try await withSandbox { sandbox in
            let (visit, pushes) = try await receiving(sandbox)
            let model = visit.model
            let id = try #require(model.accounts.first?.id)
            let signIn = try await visit.signInElsewhere()
            let push = try #require(await pushes.first())
            model.openAccount = id
            model.removing = id
            #expect(model.front == .account(id))
            #expect(await model.didRespond(to: push))
            #expect(model.front == .home && model.removing == nil && model.shownRequest?.id == model.presented)

            model.openAccount = id
            model.begin(.remove(id))
            await visit.submit(password: "wrong")
            model.form.password = "Half-a-Passw"
            #expect(model.front == .change(.remove(id)) && model.errorMessage?.isEmpty == false)
            #expect(await model.didRespond(to: push))
            #expect(model.front == .home && model.form == SignInForm() && model.errorMessage == nil && model.presented != nil)
            signIn.cancel()
        }
    }

    @Test("While a form waits for an approval, a tapped notification keeps the form open, and the form shows the request")
    func tappedUnderWay() async throws {
        try await withSandbox { sandbox in
            let (visit, pushes) = try await receiving(sandbox)
            let model = visit.model
            let id = try #require(model.accounts.first?.id)
            model.openAccount = id
            model.begin(.remove(id))
            async let submitted: Void = visit.submit()
            let push = try #require(await pushes.first())
            #expect(await model.didRespond(to: push))
            #expect(model.front == .change(.remove(id)) && model.openAccount == id)
            #expect(model.progress == .waitingForApproval(number: nil) && model.shownRequest?.id == model.presented)
            await model.answer(try #require(model.presented), .approve())
            visit.letTimePass()
            await submitted
            #expect(model.accounts.isEmpty && model.front == .home, "\(model.errorMessage ?? "")")
        }
    }

    @Test(
        "If a request is no longer pending, a tap or an action on its notification shows an error and sends no response",
        arguments: [PushAction.review, PushAction.approve, PushAction.deny], [true, false])
    func late(action: String, wasAnswered: Bool) async throws {
        try await withSandbox { sandbox in
            let (visit, pushes) = try await receiving(sandbox)
            let signIn = try await visit.signInElsewhere()
            let push = try #require(await pushes.first())
            if wasAnswered {
                #expect(await visit.model.didReceive(push))
                await visit.model.answer(try #require(visit.model.shownRequest).id, .deny())
                #expect(try await signIn.outcome() == .refused("access_denied"))
            } else {
                // The request has expired, but by less than the allowed clock skew.
                sandbox.advance(by: 301)
                signIn.cancel()
            }
            let requests = sandbox.requests.count { $0.endpoint == "verify" }
            #expect(await visit.model.didRespond(to: PushPayload(push.userInfo, action: action)))
            #expect(visit.model.errorMessage == "This request is no longer pending.")
            #expect(visit.model.requests.isEmpty && visit.model.presented == nil)
            #expect(sandbox.requests.count { $0.endpoint == "verify" } == requests)
        }
    }

    @Test(
        "If the connection breaks during an action on a notification, the app shows an error and the request, and the user can answer again",
        arguments: [PushAction.approve, PushAction.deny])
    func actionFails(_ action: String) async throws {
        try await withSandbox { sandbox in
            let (visit, pushes) = try await receiving(sandbox)
            let model = visit.model
            let signIn = try await visit.signInElsewhere()
            let push = try #require(await pushes.first())
            model.openAccount = try #require(model.accounts.first?.id)
            sandbox.inject(Fault(.dropConnectionBeforeCommit, at: "verify"))
            #expect(await model.didRespond(to: PushPayload(push.userInfo, action: action)))
            #expect(model.errorMessage?.isEmpty == false && model.front == .home && model.shownRequest?.id == model.presented)
            await model.answer(try #require(model.presented), .approve())
            #expect(try await signIn.outcome() == .tokens)
        }
    }

    @Test("While another action is in progress, an action on a notification sends no response, and the app shows the request")
    func actionWhileBusy() async throws {
        try await withSandbox { sandbox in
            let visit = try PhoneVisit(sandbox)
            let pushes = visit.receivePushes(token: Self.first)
            await visit.model.updatePushToken(Self.first)
            try await visit.enroll(verifiesUser: true)
            let older = try await visit.signInElsewhere()
            let first = try #require(await pushes.first())
            let newer = try await visit.signInElsewhere()
            let second = try #require(await pushes.first())
            async let answered = visit.model.didRespond(to: PushPayload(first.userInfo, action: PushAction.approve))
            #expect(await eventually { visit.pin.question != nil })
            #expect(await visit.model.didRespond(to: PushPayload(second.userInfo, action: PushAction.deny)))
            #expect(visit.model.requests.count == 2 && visit.model.presented == visit.model.shownRequest?.id)
            try await visit.give(pin: "1234")
            #expect(await answered)
            #expect(try await older.outcome() == .tokens)
            #expect(visit.model.requests.count == 1)
            newer.cancel()
        }
    }

    @Test("A request that arrives by push during a fetch of requests stays visible and can be answered")
    func whileFetching() async throws {
        try await withSandbox { sandbox in
            let (visit, pushes) = try await receiving(sandbox)
            let model = visit.model
            try await visit.enroll(.john)
            // The response for the first account arrives; the response for the second account is delayed.
            sandbox.inject(Fault(.contentType("application/json"), at: "notifications"))
            sandbox.inject(Fault(.delay(60), at: "notifications"))
            async let retrieved: Void = model.retrieve()
            #expect(await eventually { sandbox.pendingFaults.isEmpty })
            let signIns = [try await visit.signInElsewhere(), try await visit.signInElsewhere(of: .john)]
            for _ in signIns { #expect(await model.didReceive(try #require(await pushes.first()))) }
            #expect(model.isLoading && model.requests.count == 2)
            #expect(await sandbox.moveOn(by: 60) { !model.isLoading })
            await retrieved
            #expect(model.requests.count == 2)
            for request in model.requests {
                await model.answer(request.id, .approve())
                #expect(model.errorMessage == nil)
            }
            for signIn in signIns { #expect(try await signIn.outcome() == .tokens) }
        }
    }

    @Test("After the push authenticator app updates its push token, the next push is sent to the new token")
    func newToken() async throws {
        try await withSandbox { sandbox in
            let (visit, _) = try await receiving(sandbox)
            let pushes = visit.receivePushes(token: Self.second)
            await visit.model.updatePushToken(Self.second)
            #expect(visit.model.errorMessage == nil)
            let signIn = try await visit.signInElsewhere()
            #expect(await visit.model.didReceive(try #require(await pushes.first())))
            #expect(sandbox.pushGateway.received.map { $0.deviceToken.prefix(4) } == ["b2b2"])
            await visit.model.answer(try #require(visit.model.shownRequest).id, .approve())
            #expect(try await signIn.outcome() == .tokens)
        }
    }

    @Test("A forged push, or a push for a removed account, causes an error and shows no request")
    func untrusted() async throws {
        try await withSandbox { sandbox in
            let (visit, pushes) = try await receiving(sandbox)
            let signIn = try await visit.signInElsewhere()
            let push = try #require(await pushes.first())
            let forged = Self.forged(push)
            #expect(await !visit.model.didReceive(forged))
            #expect(visit.model.requests.isEmpty && visit.model.errorMessage?.isEmpty == false)
            visit.model.errorMessage = nil
            await visit.model.removeFromDevice(try #require(visit.model.accounts.first?.id))
            #expect(await !visit.model.didReceive(push))
            #expect(visit.model.requests.isEmpty && visit.model.errorMessage?.isEmpty == false)
            signIn.cancel()
        }
    }

    /// Returns the same push with another signature of the challenge.
    private static func forged(_ push: PushPayload) -> PushPayload {
        PushPayload(
            push.userInfo.mapValues { value in
                guard let text = value as? String, text.split(separator: ".").count == 3, let last = text.last else { return value }
                return String(text.dropLast(8)) + (last == "A" ? "BBBBBBBB" : "AAAAAAAA")
            })
    }
}
