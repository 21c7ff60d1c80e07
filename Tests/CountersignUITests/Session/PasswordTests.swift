import AuthFoundation
import CountersignSandbox
import CountersignUI
import Foundation
import Testing

@Suite("Sign-in screens with a password")
@MainActor
struct PasswordTests {
    @Test("A right password signs the user in, and the tokens are stored as the default credential")
    func signsIn() async throws {
        try await SignInVisit.play { visit in
            #expect(visit.session.state == .signedOut)
            await visit.signIn()
            #expect(visit.session.state == .signedIn && visit.session.isSignedIn)
            #expect(visit.session.problem == nil && !visit.session.isBusy)
            #expect(visit.session.credential === Credential.default)
            #expect(visit.session.displayName == "Jane Doe")
            #expect(visit.session.form == SignInForm(), "The password is not kept.")
        }
    }

    @Test("Spaces around the user name, which keyboards add, are not sent")
    func spaces() async throws {
        try await SignInVisit.play { visit in
            visit.session.form.userName = " jane.doe@example.com "
            visit.session.form.password = SignInVisit.password
            await visit.session.submit()
            #expect(visit.session.isSignedIn)
        }
    }

    @Test("After a wrong password, the form keeps the user name but not the password, and the right password signs the user in")
    func wrongThenRight() async throws {
        try await SignInVisit.play { visit in
            await visit.signIn(password: "Wrong-Horse-7")
            #expect(visit.session.state == .signedOut)
            #expect(visit.session.problem?.code == .wrongCredentials)
            #expect(visit.session.form.userName == SignInVisit.jane.login && visit.session.form.password.isEmpty)
            #expect(!visit.session.canSubmit)
            await visit.signIn()
            #expect(visit.session.state == .signedIn && visit.session.problem == nil)
        }
    }

    @Test("A wrong password, an unknown user and a locked account cause the same problem, so that the screen reveals nothing")
    func locked() async throws {
        try await SignInVisit.play { visit in
            await visit.signIn(SandboxUser(login: "unknown@example.com", password: SignInVisit.password))
            #expect(visit.session.problem?.code == .wrongCredentials)
            for _ in 0..<15 {
                await visit.signIn(password: "Wrong-Horse-7")
                #expect(visit.session.problem?.code == .wrongCredentials)
            }
            await visit.signIn()
            #expect(visit.session.state == .signedOut, "The account is locked.")
            #expect(visit.session.problem?.code == .wrongCredentials)
        }
    }

    @Test("An incomplete form cannot be submitted, and sends no request")
    func incomplete() async throws {
        try await SignInVisit.play { visit in
            for (name, password) in [("", ""), ("jane", ""), ("", "secret"), ("  ", "secret")] {
                (visit.session.form.userName, visit.session.form.password) = (name, password)
                #expect(!visit.session.canSubmit)
                await visit.session.submit()
            }
            #expect(visit.sandbox.requests.isEmpty)
            visit.session.form.userName = "jane"
            #expect(visit.session.canSubmit)
        }
    }

    @Test("A second submission while the first one runs sends no second request")
    func doubleSubmit() async throws {
        try await SignInVisit.play { visit in
            visit.sandbox.inject(Fault(.delay(30), at: .token))
            let first = try await visit.begin(until: .credentials)
            #expect(visit.session.state == .signingIn(SignInStep(.credentials)) && visit.session.isBusy && !visit.session.canSubmit)
            await visit.session.submit()
            await visit.session.signInWithPasskey()
            #expect(await visit.endDelay(of: 31) { visit.session.isSignedIn })
            await first.value
            #expect(visit.count(grant: "password") == 1)
        }
    }

    @Test("After a network failure, the form keeps the password, and the next submission signs the user in")
    func offline() async throws {
        try await SignInVisit.play { visit in
            visit.sandbox.inject(Fault(.dropConnectionBeforeCommit, at: .token, count: 10))
            await visit.signIn()
            #expect(visit.session.state == .signedOut && visit.session.problem?.code == .offline)
            #expect(visit.session.canSubmit, "The user presses the button again.")
            visit.sandbox.clearFaults()
            await visit.session.submit()
            #expect(visit.session.isSignedIn && visit.session.problem == nil)
        }
    }

    @Test(
        "A failure of the server and a rate limit have problems of their own",
        arguments: [(Fault.Effect.status(500), SignInProblem.Code.serverFailed), (.status(429), .tooManyAttempts)])
    func serverFailure(effect: Fault.Effect, expected: SignInProblem.Code) async throws {
        try await SignInVisit.play { visit in
            visit.sandbox.inject(Fault(effect, at: .token, count: 10))
            await visit.signIn()
            #expect(visit.session.state == .signedOut)
            #expect(visit.session.problem?.code == expected, "\(String(describing: visit.session.problem))")
            #expect(visit.session.problem?.underlying != nil)
        }
    }

    @Test("A user who must set up a second factor first cannot sign in, and the screen says so")
    func notAllowed() async throws {
        try await SignInVisit.play(.directAuth) { visit in
            await visit.signIn(.john)
            #expect(visit.session.state == .signedOut && visit.session.problem?.code == .notAllowed)
        }
    }

    @Test("If the client lacks the grant, the session reports a wrong configuration with the server's error as the cause")
    func wrongClient() async throws {
        try await SignInVisit.play(.browser) { visit in
            await visit.signIn()
            #expect(visit.session.problem?.code == .misconfigured)
            #expect(visit.session.problem?.underlying is OAuth2ServerError)
        }
    }

    @Test("Without an Okta.plist, the session reports the missing settings at the sign-in")
    func noSettings() async {
        await Credential.withStorage(MemoryTokenStorage()) {
            let session = SignInSession()
            #expect(session.state == .signedOut && session.problem == nil)
            (session.form.userName, session.form.password) = ("jane", "secret")
            await session.submit()
            #expect(session.state == .signedOut && session.problem?.code == .misconfigured)
            #expect(session.problem?.underlying is OAuth2Client.PropertyListConfigurationError)
        }
    }

    @Test("If an app's own settings cannot be read, the session reports their error as the cause at the sign-in")
    func ownSettings() async {
        await Credential.withStorage(MemoryTokenStorage()) {
            let file = URL(filePath: "/nowhere/Own.plist")
            let client = Result { try OAuth2Client(OAuth2Client.PropertyListConfiguration(plist: file)) }
            let session = SignInSession(client: client)
            (session.form.userName, session.form.password) = ("jane", "secret")
            await session.submit()
            #expect(session.state == .signedOut && session.problem?.code == .misconfigured)
            #expect(session.problem?.underlying.map { String(reflecting: $0) }?.contains("Own.plist") == true)
        }
    }

    @Test("If the tokens cannot be stored, they are revoked, and the user is not signed in")
    func storageFails() async throws {
        let storage = FaultyStorage()
        try await SignInVisit.play(storage: storage) { visit in
            await storage.fail(with: TokenError.invalidConfiguration, at: .writing)
            await visit.signIn()
            #expect(visit.session.state == .signedOut && visit.session.problem?.code == .storageFailed)
            await visit.session.settled()
            #expect(visit.sandbox.requests.contains { $0.endpoint == .revoke })
            await storage.fail(with: nil, at: .writing)
            await visit.signIn()
            #expect(visit.session.isSignedIn)
        }
    }

    @Test("If the task of the submission is cancelled, the sign-in is cancelled, and no tokens are stored")
    func taskCancelled() async throws {
        try await SignInVisit.play { visit in
            visit.sandbox.inject(Fault(.delay(30), at: .token))
            let task = try await visit.begin(until: .credentials)
            task.cancel()
            await task.value
            #expect(visit.session.state == .signedOut && visit.session.problem == nil && !visit.session.isBusy)
            visit.sandbox.advance(by: 31)
            await visit.session.settled()
            #expect(Credential.allIDs.isEmpty)
            #expect(visit.session.form.password.isEmpty)
        }
    }

    @Test("If the user cancels while the password is checked, tokens that arrive later are revoked")
    func cancelled() async throws {
        try await SignInVisit.play { visit in
            visit.sandbox.inject(Fault(.delay(30), at: .token))
            let task = try await visit.begin(until: .credentials)
            #expect(await eventually { visit.sandbox.pendingFaults.isEmpty })
            visit.session.cancel()
            #expect(visit.session.state == .signedOut && !visit.session.isBusy)
            await task.value
            visit.sandbox.advance(by: 31)
            await visit.session.settled()
            #expect(Credential.allIDs.isEmpty)
            #expect(visit.sandbox.requests.contains { $0.endpoint == .revoke })
        }
    }

    @Test("The password does not outlive the form: neither a screen that disappears nor a sign-out keeps it", arguments: [false, true])
    func typedPassword(signsOut: Bool) async throws {
        try await SignInVisit.play { visit in
            (visit.session.form.userName, visit.session.form.password) = (SignInVisit.jane.login, SignInVisit.password)
            // The screen calls this when it disappears.
            if signsOut { await visit.session.signOut() } else { visit.session.cancel() }
            #expect(visit.session.form.password.isEmpty && visit.session.form.userName == SignInVisit.jane.login)
        }
    }

    @Test("The late response of a cancelled sign-in does not change the form of the next one")
    func lateResponse() async throws {
        try await SignInVisit.play(.directAuth) { visit in
            _ = try await visit.sandbox.phone(for: SignInVisit.jane.login)
            visit.sandbox.inject(Fault(.delay(30), at: .token))
            let task = try await visit.begin(until: .credentials)
            #expect(await eventually { visit.sandbox.pendingFaults.isEmpty })
            visit.session.cancel()
            visit.session.form.password = SignInVisit.password
            visit.sandbox.advance(by: 31)
            await task.value
            await visit.session.settled()
            #expect(visit.session.state == .signedOut && visit.session.canSubmit && visit.session.problem == nil)
        }
    }

    @Test("The descriptions and mirrors of a form and of a state contain no password, no code and no number")
    func redaction() {
        var form = SignInForm()
        (form.userName, form.password, form.code) = ("jane", "Correct-Horse-7", "123456")
        let state = SignInState.signingIn(SignInStep(.push, factor: .push, factors: [.push], number: "42"))
        for text in ["\(form)", "\(state)", String(reflecting: form), String(reflecting: state), dumped(form), dumped(state)] {
            for secret in ["Correct-Horse-7", "123456", "42"] { #expect(!text.contains(secret), "\(text)") }
        }
    }

    private func dumped(_ value: some Any) -> String {
        var text = ""
        dump(value, to: &text)
        return text
    }
}
