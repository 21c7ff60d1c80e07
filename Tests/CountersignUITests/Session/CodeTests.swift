import AuthFoundation
import CountersignSandbox
import CountersignUI
import Testing

@Suite("Sign-in screens that ask for a code")
@MainActor
struct CodeTests {
    private static let jane = SandboxUser.jane.login
    private static let number = "+1 555 123 4821"

    /// Runs a test in which Jane has an authenticator app.
    private func play(
        options: SignInOptions = SignInOptions(), _ body: @MainActor (SignInVisit, AuthenticatorApp) async throws -> Void
    ) async throws {
        try await SignInVisit.play(.directAuth, options: options) { visit in
            try await body(visit, try await visit.sandbox.authenticatorApp(for: Self.jane))
        }
    }

    @Test("A code of an authenticator app signs the user in, without a choice if it is the only second factor")
    func authenticatorApp() async throws {
        try await play { visit, app in
            await visit.signIn()
            #expect(
                visit.session.step == SignInStep(.code, factor: .authenticatorCode, factors: [.authenticatorCode, .recoveryCode]))
            #expect(!visit.session.canSubmit && !visit.session.isBusy)
            visit.session.form.code = " \(app.code) "
            #expect(visit.session.canSubmit)
            await visit.session.submit()
            #expect(visit.session.isSignedIn && visit.session.form.code.isEmpty)
        }
    }

    @Test("After a wrong code, the field is empty, and the right code signs the user in")
    func wrongThenRight() async throws {
        try await play { visit, app in
            await visit.signIn()
            visit.session.form.code = app.code(after: 50)
            await visit.session.submit()
            #expect(visit.session.step.kind == .code && visit.session.problem?.code == .wrongCode)
            #expect(visit.session.form.code.isEmpty && !visit.session.isBusy)
            visit.session.form.code = app.code
            await visit.session.submit()
            #expect(visit.session.isSignedIn && visit.session.problem == nil)
        }
    }

    @Test("Five wrong codes end the sign-in, and the user starts again with the password")
    func tooManyWrongCodes() async throws {
        try await play { visit, app in
            await visit.signIn()
            for _ in 0..<5 {
                #expect(visit.session.step.kind == .code)
                visit.session.form.code = app.code(after: 50)
                await visit.session.submit()
            }
            #expect(visit.session.state == .signedOut && visit.session.problem?.code == .tooManyAttempts)
            #expect(visit.session.form.userName == Self.jane && visit.session.form.code.isEmpty)
        }
    }

    @Test("A network failure keeps the code, and the next submission signs the user in")
    func offline() async throws {
        try await play { visit, app in
            await visit.signIn()
            visit.session.form.code = app.code
            visit.sandbox.inject(Fault(.dropConnectionBeforeCommit, at: .token, count: 10))
            await visit.session.submit()
            #expect(visit.session.step.kind == .code && visit.session.problem?.code == .offline)
            visit.sandbox.clearFaults()
            await visit.session.submit()
            #expect(visit.session.isSignedIn)
        }
    }

    @Test("A second submission of a code while the first one is checked sends no second request")
    func doubleSubmit() async throws {
        try await play { visit, app in
            await visit.signIn()
            visit.session.form.code = app.code
            visit.sandbox.inject(Fault(.delay(30), at: .token))
            let first = Task { await visit.session.submit() }
            #expect(await eventually { visit.session.isBusy })
            await visit.session.submit()
            await visit.session.choose(.recoveryCode)
            #expect(await visit.endDelay(of: 31) { visit.session.isSignedIn })
            await first.value
            #expect(visit.count(grant: "http://auth0.com/oauth/grant-type/mfa-otp") == 1)
        }
    }

    @Test("A recovery code signs the user in after the user has chosen it")
    func recoveryCode() async throws {
        try await play { visit, _ in
            let code = try #require(try await visit.sandbox.recoveryCodes(for: Self.jane).first)
            await visit.signIn()
            visit.session.goBack()
            #expect(visit.session.step.kind == .factors)
            await visit.session.choose(.recoveryCode)
            #expect(visit.session.step.kind == .code && visit.session.step.factor == .recoveryCode)
            visit.session.form.code = code
            await visit.session.submit()
            #expect(visit.session.isSignedIn)
        }
    }

    @Test(
        "A code by text message or call signs the user in, and another one can be requested",
        arguments: [(SignInFactor.textMessage, MessageChannel.text), (.call, .call)])
    func sentCode(factor: SignInFactor, channel: MessageChannel) async throws {
        try await SignInVisit.play(.directAuth, options: SignInOptions(secondFactors: [factor])) { visit in
            try await visit.sandbox.addCodeFactor(channel, to: Self.number, for: Self.jane)
            await visit.signIn()
            #expect(visit.session.step == SignInStep(.code, factor: factor, factors: [factor]) && !visit.session.isBusy)
            let first = try #require(try await visit.sandbox.outbox.next(to: Self.jane, by: channel).code)
            await visit.session.choose(factor)
            #expect(visit.session.step.kind == .code && visit.session.problem?.code == .tooManyAttempts, "It was sent a moment ago.")
            visit.sandbox.advance(by: 31)
            await visit.session.choose(factor)
            let second = try #require(try await visit.sandbox.outbox.next(to: Self.jane, by: channel).code)
            #expect(visit.session.step.kind == .code)
            if first != second {
                visit.session.form.code = first
                await visit.session.submit()
                #expect(visit.session.problem?.code == .wrongCode)
            }
            visit.session.form.code = second
            await visit.session.submit()
            #expect(visit.session.isSignedIn)
        }
    }

    @Test("A factor that the user does not have is removed from the list, and another factor signs the user in")
    func unavailable() async throws {
        let options = SignInOptions(secondFactors: [.push, .textMessage])
        try await SignInVisit.play(.directAuth, options: options) { visit in
            let phone = try await visit.sandbox.phone(for: Self.jane)
            await visit.signIn()
            #expect(visit.session.step.factors == [.push, .textMessage])
            await visit.session.choose(.textMessage)
            #expect(visit.session.step == SignInStep(.factors, factors: [.push]))
            #expect(visit.session.problem?.code == .factorUnavailable)
            let push = Task { await visit.session.choose(.push) }
            try await phone.approveNext()
            visit.letTimePass()
            await push.value
            #expect(visit.session.isSignedIn)
        }
    }

    @Test("A sign-in that is open for too long ends, and the user must start again")
    func tooLate() async throws {
        let options = SignInOptions(secondFactors: [.textMessage, .authenticatorCode])
        try await play(options: options) { visit, _ in
            try await visit.sandbox.addCodeFactor(.text, to: Self.number, for: Self.jane)
            await visit.signIn()
            visit.sandbox.advance(by: 1_000)
            await visit.session.choose(.textMessage)
            #expect(visit.session.state == .signedOut && visit.session.problem?.code == .tooLate)
        }
    }
}
