import CountersignSandbox
import CountersignUI
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
    private func receiving(_ sandbox: Sandbox) async throws -> (PhoneVisit, AsyncStream<Data>) {
        let visit = try PhoneVisit(sandbox)
        let pushes = visit.receivePushes(token: Self.first)
        await visit.model.updatePushToken(Self.first)
        try await visit.enroll()
        return (visit, pushes)
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
            #expect(visit.model.requestModel.requests.count == 2)
            #expect(try await visit.receive(push, action: PushAction.review))
            let shown = try #require(visit.model.requestModel.current)
            #expect(shown.id == visit.model.requestModel.selected && visit.model.requestModel.requests.count == 2)
            await visit.model.requestModel.approve(try await visit.read(shown.id).id)
            #expect(try await newer.outcome() == .tokens)
            #expect(visit.model.requestModel.current == nil, "The user opens the older request.")
            await visit.model.requestModel.approve(try await visit.request().id)
            #expect(try await older.outcome() == .tokens)
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
            #expect(try await visit.receive(push, action: PushAction.review))
            #expect(model.front == .home && model.removing == nil && model.requestModel.current?.id == model.requestModel.selected)

            model.openAccount = id
            model.begin(.remove(id))
            await visit.submit(password: "wrong")
            model.form.password = "Half-a-Passw"
            #expect(model.front == .change(.remove(id)) && model.errorMessage?.isEmpty == false)
            #expect(try await visit.receive(push, action: PushAction.review))
            #expect(model.front == .home && model.form == SignInForm() && model.errorMessage == nil && model.requestModel.selected != nil)
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
            #expect(try await visit.receive(push, action: PushAction.review))
            #expect(model.front == .change(.remove(id)) && model.openAccount == id)
            #expect(model.progress == .waitingForApproval(number: nil) && model.requestModel.current?.id == model.requestModel.selected)
            await model.requestModel.approve(try await visit.read(try #require(model.requestModel.selected)).id)
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
                #expect(try await visit.receive(push))
                await visit.model.requestModel.deny(try #require(visit.model.requestModel.current).id)
                #expect(try await signIn.outcome() == .refused("access_denied"))
            } else {
                // The request has expired, but by less than the allowed clock skew.
                sandbox.advance(by: 301)
                signIn.cancel()
            }
            let requests = sandbox.requests.count { $0.endpoint == "verify" }
            #expect(try await visit.receive(push, action: action))
            #expect(visit.model.errorMessage == "This request is no longer pending.")
            #expect(visit.model.requestModel.requests.isEmpty && visit.model.requestModel.selected == nil)
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
            #expect(try await visit.receive(push, action: action))
            #expect(
                model.errorMessage?.isEmpty == false && model.front == .home
                    && model.requestModel.current?.id == model.requestModel.selected)
            await model.requestModel.approve(try await visit.read(try #require(model.requestModel.selected)).id)
            #expect(try await signIn.outcome() == .tokens)
        }
    }

    @Test("While another action is in progress, the app sends the response of a notification's action afterwards")
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
            async let answered = visit.receive(first, action: PushAction.approve)
            #expect(await eventually { visit.pin.question != nil })
            let requests = visit.model.requestModel
            async let denied = visit.receive(second, action: PushAction.deny)
            #expect(await eventually { requests.selected != nil && requests.selected != requests.answering })
            #expect(requests.requests.count == 2 && requests.current?.id == requests.answering && requests.selected != requests.answering)
            try await visit.give(pin: "1234")
            #expect(try await answered)
            #expect(try await older.outcome() == .tokens)
            #expect(try await denied)
            #expect(requests.requests.isEmpty && requests.outcome == .denied)
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
            for _ in signIns { #expect(try await visit.receive(try #require(await pushes.first()))) }
            #expect(model.isLoading && model.requestModel.requests.count == 2)
            #expect(await sandbox.moveOn(by: 60) { !model.isLoading })
            await retrieved
            #expect(model.requestModel.requests.count == 2)
            for request in model.requestModel.requests {
                await model.requestModel.approve(try await visit.read(request.id).id)
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
            #expect(try await visit.receive(try #require(await pushes.first())))
            #expect(sandbox.pushGateway.received.map { $0.deviceToken.prefix(4) } == ["b2b2"])
            await visit.model.requestModel.approve(try await visit.request().id)
            #expect(try await signIn.outcome() == .tokens)
        }
    }

    @Test("A forged push, or a push for a removed account, causes an error and shows no request")
    func untrusted() async throws {
        try await withSandbox { sandbox in
            let (visit, pushes) = try await receiving(sandbox)
            let signIn = try await visit.signInElsewhere()
            let push = try #require(await pushes.first())
            let forged = try Self.forged(push)
            #expect(try await visit.receive(forged))
            #expect(visit.model.requestModel.requests.isEmpty && visit.model.errorMessage?.isEmpty == false)
            visit.model.clearMessages()
            await visit.model.removeFromDevice(try #require(visit.model.accounts.first?.id))
            #expect(try await visit.receive(push))
            #expect(visit.model.requestModel.requests.isEmpty && visit.model.errorMessage?.isEmpty == false)
            signIn.cancel()
        }
    }

    /// Returns the same push with another signature of the challenge.
    private static func forged(_ push: Data) throws -> Data {
        let userInfo = try #require(try JSONSerialization.jsonObject(with: push) as? [String: Any])
        let changed = userInfo.mapValues { value in
            guard let text = value as? String, text.split(separator: ".").count == 3, let last = text.last else { return value }
            return String(text.dropLast(8)) + (last == "A" ? "BBBBBBBB" : "AAAAAAAA")
        }
        return try JSONSerialization.data(withJSONObject: changed)
    }
}
