import AuthFoundation
import CountersignSandbox
import OktaDirectAuth
import Testing

@testable import CountersignUI

@Suite("Sign-in screens that wait for a push")
@MainActor
struct PushTests {
    /// Runs a test with Jane's phone.
    private func play(
        asksForNumbers: Bool = false, options: SignInOptions = SignInOptions(),
        _ body: @MainActor (SignInVisit, VirtualPhone) async throws -> Void
    ) async throws {
        try await SignInVisit.play(.directAuth, asksForNumbers: asksForNumbers, options: options) { visit in
            try await body(visit, try await visit.sandbox.phone(for: SignInVisit.jane.login))
        }
    }

    @Test("If a push is the only second factor, it is sent after the password, and its approval signs the user in")
    func approved() async throws {
        try await play { visit, phone in
            let task = try await visit.begin(until: .push)
            #expect(visit.session.step == SignInStep(.push, factor: .push, factors: [.push]))
            #expect(visit.session.isBusy && visit.session.form.password.isEmpty, "The server has accepted the password.")
            #expect(try #require(visit.session.attempt).password == nil, "Nothing keeps the password while the push waits.")
            try await phone.approveNext()
            visit.letTimePass()
            await task.value
            #expect(visit.session.state == .signedIn && !visit.session.isBusy)
            #expect(visit.session.credential?.token.idToken?.authenticationMethods?.contains(.multipleFactor) == true)
        }
    }

    @Test("If the push has a number challenge, the step has the number, and an approval with it signs the user in")
    func number() async throws {
        try await play(asksForNumbers: true) { visit, phone in
            let task = try await visit.begin(until: .push)
            #expect(await eventually { visit.session.step.number != nil })
            let number = try #require(visit.session.step.number)
            #expect(!"\(visit.session.state)".contains(number))
            let request = try await phone.approveNext(number: number)
            #expect(request.numberChoices?.contains(number) == true)
            visit.letTimePass()
            await task.value
            #expect(visit.session.isSignedIn)
        }
    }

    @Test("After a denied push, the user can send another one, and its approval signs the user in")
    func denied() async throws {
        try await play { visit, phone in
            let task = try await visit.begin(until: .push)
            try await phone.denyNext()
            visit.letTimePass()
            await task.value
            #expect(visit.session.step == SignInStep(.factors, factors: [.push]) && !visit.session.isBusy)
            #expect(visit.session.problem?.code == .denied)
            let again = Task { await visit.session.choose(.push) }
            try await phone.approveNext()
            visit.letTimePass()
            await again.value
            #expect(visit.session.isSignedIn && visit.session.problem == nil)
        }
    }

    @Test("A push that is not answered expires, and the list of factors appears with the reason")
    func expired() async throws {
        try await play { visit, _ in
            let task = try await visit.begin(until: .push)
            #expect(await visit.moveOn(by: 310) { visit.session.step.kind == .factors })
            await task.value
            #expect(visit.session.problem?.code == .notAnswered)
        }
    }

    @Test("While a push waits, the user can send it again, and only one sign-in results")
    func sentAgain() async throws {
        try await play { visit, phone in
            let task = try await visit.begin(until: .push)
            #expect(await eventually { phone.waiting.count == 1 })
            let first = try #require(phone.waiting.first)
            let again = Task { await visit.session.choose(.push) }
            #expect(await eventually { phone.waiting.contains { $0.id != first.id } })
            let second = try #require(phone.waiting.first { $0.id != first.id })
            try await phone.approve(second.id)
            visit.letTimePass()
            await again.value
            await task.value
            #expect(visit.session.isSignedIn)
            #expect(Credential.allIDs.count == 1)
        }
    }

    @Test("The late response of a push does not replace the number of the push that was sent again")
    func lateNumber() async throws {
        try await play(asksForNumbers: true) { visit, _ in
            _ = try await visit.sandbox.authenticatorApp(for: SignInVisit.jane.login)
            let wire = Wire(visit.sandbox.transport)
            let session = SignInSession(client: visit.sandbox.client(.directAuth, session: wire))
            (session.form.userName, session.form.password) = (SignInVisit.jane.login, SignInVisit.password)
            await session.submit()
            let (release, entrance) = AsyncStream.makeStream(of: Never.self)
            let held = Locked(0)
            wire.change { path, data in
                guard path.hasSuffix("/challenge") else { return data }
                let isFirst = held.withLock { count in
                    count += 1
                    return count == 1
                }
                if isFirst { for await _ in release {} }
                return data
            }
            let first = Task { await session.choose(.push) }
            #expect(await eventually { held.withLock { $0 } == 1 })
            let second = Task { await session.choose(.push) }
            #expect(await eventually { session.step.number != nil })
            let step = session.step
            entrance.finish()
            await first.value
            #expect(session.step == step && session.isBusy && session.problem == nil)
            session.cancel()
            await second.value
            await session.settled()
        }
    }

    @Test("If the user cancels while a push waits, the form appears, and an approval on the phone has no effect")
    func cancelled() async throws {
        try await play { visit, phone in
            let task = try await visit.begin(until: .push)
            #expect(await eventually { !phone.waiting.isEmpty })
            let request = try #require(phone.waiting.first)
            visit.session.cancel()
            #expect(visit.session.state == .signedOut && !visit.session.isBusy && visit.session.problem == nil)
            await task.value
            await visit.session.settled()
            _ = try? await phone.approve(request.id)
            visit.letTimePass()
            #expect(!phone.history.contains { $0.outcome == .approved })
            #expect(visit.session.state == .signedOut && Credential.allIDs.isEmpty)
        }
    }

    @Test("If the task of the submission is cancelled while a push waits, the sign-in is cancelled here and at the server")
    func taskCancelled() async throws {
        try await play { visit, phone in
            let task = try await visit.begin(until: .push)
            #expect(await eventually { !phone.waiting.isEmpty })
            task.cancel()
            await task.value
            #expect(visit.session.state == .signedOut && visit.session.problem == nil)
            await visit.session.settled()
            #expect(visit.sandbox.requests.contains { $0.endpoint == .revoke })
        }
    }

    @Test("If the user cancels just after the approval, no user is signed in, and no tokens are stored")
    func approvedThenCancelled() async throws {
        try await play { visit, phone in
            let task = try await visit.begin(until: .push)
            try await phone.approveNext()
            visit.session.cancel()
            await task.value
            visit.letTimePass()
            await visit.session.settled()
            #expect(visit.session.state == .signedOut && Credential.allIDs.isEmpty)
        }
    }

    /// Cancels the sign-in of a session as soon as the tokens have arrived.
    private final class Canceller: DirectAuthenticationFlowDelegate, Sendable {
        private let session: SignInSession

        init(_ session: SignInSession) { self.session = session }

        func authentication<Flow>(flow: Flow, received token: Token) {
            MainActor.assumeIsolated { [session] in session.cancel() }
        }
    }

    @Test("If the user cancels when the tokens have just arrived, no user is signed in, and the tokens are revoked")
    func cancelledAtTheEnd() async throws {
        try await play { visit, phone in
            let task = try await visit.begin(until: .push)
            let canceller = Canceller(visit.session)
            try #require(visit.session.attempt?.flow).add(delegate: canceller)
            try await phone.approveNext()
            visit.letTimePass()
            await task.value
            await visit.session.settled()
            #expect(visit.session.state == .signedOut && Credential.allIDs.isEmpty)
            #expect(visit.sandbox.requests.contains { $0.endpoint == .revoke })
            _ = canceller
        }
    }

    @Test("After a cancelled sign-in, the next sign-in succeeds")
    func again() async throws {
        try await play { visit, phone in
            let task = try await visit.begin(until: .push)
            #expect(await eventually { !phone.waiting.isEmpty })
            let old = try #require(phone.waiting.first)
            visit.session.cancel()
            await task.value
            let next = try await visit.begin(until: .push)
            #expect(await eventually { phone.waiting.contains { $0.id != old.id } })
            try await phone.approve(try #require(phone.waiting.first { $0.id != old.id }).id)
            visit.letTimePass()
            await next.value
            #expect(visit.session.isSignedIn)
        }
    }

    @Test("If the user goes back from a push to the list of factors, an approval on the phone still signs the user in")
    func approvedInBackground() async throws {
        try await play { visit, phone in
            _ = try await visit.sandbox.authenticatorApp(for: SignInVisit.jane.login)
            await visit.signIn()
            #expect(visit.session.step == SignInStep(.factors, factors: [.push, .authenticatorCode, .recoveryCode]))
            let task = Task { await visit.session.choose(.push) }
            #expect(await eventually { visit.session.step.kind == .push })
            visit.session.goBack()
            #expect(visit.session.step.kind == .factors && !visit.session.isBusy)
            try await phone.approveNext()
            visit.letTimePass()
            await task.value
            #expect(visit.session.isSignedIn)
        }
    }

    @Test("If the user goes back from a push and enters a code instead, the code signs the user in, and one session is stored")
    func otherFactor() async throws {
        try await play { visit, phone in
            let app = try await visit.sandbox.authenticatorApp(for: SignInVisit.jane.login)
            await visit.signIn()
            let push = Task { await visit.session.choose(.push) }
            #expect(await eventually { !phone.waiting.isEmpty })
            visit.session.goBack()
            await visit.session.choose(.authenticatorCode)
            #expect(visit.session.step.kind == .code && visit.session.step.factor == .authenticatorCode && !visit.session.isBusy)
            visit.session.form.code = app.code
            await visit.session.submit()
            await push.value
            #expect(visit.session.isSignedIn && Credential.allIDs.count == 1)
        }
    }

    @Test("A push that the user approves while the field for a code is open signs the user in")
    func approvedWhileTyping() async throws {
        try await play { visit, phone in
            _ = try await visit.sandbox.authenticatorApp(for: SignInVisit.jane.login)
            await visit.signIn()
            let push = Task { await visit.session.choose(.push) }
            #expect(await eventually { !phone.waiting.isEmpty })
            await visit.session.choose(.authenticatorCode)
            #expect(visit.session.step.kind == .code)
            visit.session.form.code = "123"
            try await phone.approveNext()
            visit.letTimePass()
            await push.value
            #expect(visit.session.isSignedIn && visit.session.form.code.isEmpty)
        }
    }

    @Test("A denial of a push that the user has left does not disturb the list of factors")
    func deniedInBackground() async throws {
        try await play { visit, phone in
            _ = try await visit.sandbox.authenticatorApp(for: SignInVisit.jane.login)
            await visit.signIn()
            let push = Task { await visit.session.choose(.push) }
            #expect(await eventually { !phone.waiting.isEmpty })
            visit.session.goBack()
            try await phone.denyNext()
            visit.letTimePass()
            await push.value
            #expect(visit.session.step.kind == .factors && visit.session.problem == nil && !visit.session.isBusy)
        }
    }

    @Test("Going back from a push without another factor cancels the sign-in")
    func goBackToForm() async throws {
        try await play { visit, _ in
            let task = try await visit.begin(until: .push)
            visit.session.goBack()
            await task.value
            #expect(visit.session.state == .signedOut)
            #expect(visit.session.form.userName == SignInVisit.jane.login && visit.session.form.password.isEmpty)
        }
    }

    @Test("A short network failure while a push waits does not end the sign-in")
    func networkFailure() async throws {
        try await play { visit, phone in
            let task = try await visit.begin(until: .push)
            #expect(await eventually { !phone.waiting.isEmpty })
            visit.sandbox.inject(Fault(.dropConnectionBeforeCommit, at: .token, count: 2))
            try await phone.approveNext()
            #expect(await visit.moveOn(by: 6) { visit.session.isSignedIn })
            await task.value
        }
    }

    @Test("If the server requires a factor that the app has no screen for, the session reports that the user cannot sign in")
    func noScreen() async throws {
        try await play(options: SignInOptions(secondFactors: [.authenticatorCode])) { visit, _ in
            await visit.signIn()
            #expect(visit.session.state == .signedOut && visit.session.problem?.code == .notAllowed)
        }
    }
}
