import AuthFoundation
import BrowserSignin
import CountersignSandbox
import CountersignUI
import OAuth2Auth
import Testing

@Suite("Sign-in screens with a browser")
@MainActor
struct BrowserTests {
    private static let options = SignInOptions(methods: [.browser])

    /// Runs a test with a browser in which Jane signs in with her phone.
    private func play(
        _ options: SignInOptions = options, _ body: @MainActor (SignInVisit, SandboxBrowser) async throws -> Void
    ) async throws {
        try await SignInVisit.play(.browser, options: options) { visit in
            let phone = try await visit.sandbox.phone(for: SignInVisit.jane.login)
            phone.autoApprove = true
            let browser = visit.sandbox.browser(visitor: SandboxBrowser.person(.jane, phone: phone))
            visit.session.browser = try visit.sandbox.browserSignin(in: browser)
            try await body(visit, browser)
        }
    }

    @Test("A sign-in on the server's pages signs the user in")
    func signsIn() async throws {
        try await play { visit, browser in
            #expect(visit.session.offers(.browser) && !visit.session.offers(.password) && !visit.session.canSubmit)
            await visit.session.signInWithBrowser()
            #expect(visit.session.state == .signedIn && visit.session.problem == nil && !visit.session.isBusy)
            #expect(visit.session.credential === Credential.default)
            #expect(!browser.visited.isEmpty)
        }
    }

    @Test("The user name of the form is filled in on the server's page")
    func loginHint() async throws {
        try await play { visit, browser in
            visit.session.form.userName = "jane.doe@example.com "
            await visit.session.signInWithBrowser()
            #expect(visit.session.isSignedIn)
            let field = browser.visited.first?.forms.first?.fields.first { $0.name == "username" }
            #expect(field?.value == SignInVisit.jane.login)
        }
    }

    @Test("If the user closes the browser, the form appears without an error")
    func closed() async throws {
        try await play { visit, _ in
            let browser = visit.sandbox.browser { _ in throw BrowserSigninError.userCancelledLogin() }
            visit.session.browser = try visit.sandbox.browserSignin(in: browser)
            await visit.session.signInWithBrowser()
            #expect(visit.session.state == .signedOut && visit.session.problem == nil && !visit.session.isBusy)
        }
    }

    @Test("While the browser is open, the app can cancel the sign-in")
    func cancelled() async throws {
        try await play { visit, _ in
            let browser = visit.sandbox.browser { _ in
                let (never, end) = AsyncStream.makeStream(of: Never.self)
                for await _ in never {}
                end.finish()
                throw CancellationError()
            }
            visit.session.browser = try visit.sandbox.browserSignin(in: browser)
            let task = Task { await visit.session.signInWithBrowser() }
            #expect(await eventually { !browser.visited.isEmpty })
            #expect(visit.session.step.kind == .browser)
            visit.session.cancel()
            #expect(visit.session.state == .signedOut)
            await task.value
            #expect(visit.session.problem == nil)
        }
    }

    @Test("A browser that fails is reported")
    func fails() async throws {
        try await play { visit, _ in
            let browser = visit.sandbox.browser { _ in throw BrowserSigninError.cannotStartBrowserSession }
            visit.session.browser = try visit.sandbox.browserSignin(in: browser)
            await visit.session.signInWithBrowser()
            #expect(visit.session.state == .signedOut && visit.session.problem?.code == .browserFailed)
        }
    }

    @Test("A sign-out can end the session of the browser too, so that the next sign-in asks for the password")
    func signOut() async throws {
        try await play { visit, browser in
            await visit.session.signInWithBrowser()
            await visit.session.signOut()
            let count = browser.visited.count
            await visit.session.signInWithBrowser()
            #expect(visit.session.isSignedIn && browser.visited.count == count, "The browser's session is open.")
            await visit.session.signOut(endsBrowserSession: true)
            #expect(visit.session.state == .signedOut && visit.session.problem == nil && Credential.allIDs.isEmpty)
            await visit.session.signInWithBrowser()
            #expect(visit.session.isSignedIn && browser.visited.count > count)
        }
    }

    @Test("If the session is locked while a sign-out shows the browser, the tokens are still revoked")
    func signOutAcrossLock() async throws {
        try await play { visit, _ in
            await visit.session.signInWithBrowser()
            let credential = try #require(visit.session.credential)
            let token = credential.token
            visit.sandbox.inject(Fault(.delay(30), at: "logout"))
            let signOut = Task { await visit.session.signOut(endsBrowserSession: true) }
            #expect(await eventually { visit.sandbox.pendingFaults.isEmpty })
            credential.lock()
            visit.sandbox.advance(by: 31)
            await signOut.value
            #expect(credential.isLocked && visit.session.problem == nil && Credential.allIDs.isEmpty)
            #expect(try await visit.sandbox.client(.browser).introspect(token: token, type: .refreshToken).active == false)
        }
    }

    @Test("Without a redirect URI, the browser button reports a wrong configuration")
    func noRedirect() async throws {
        try await SignInVisit.play(options: Self.options) { visit in
            await visit.session.signInWithBrowser()
            #expect(visit.session.state == .signedOut && visit.session.problem?.code == .misconfigured)
        }
    }

    @Test("From the list of factors, the user can continue in the browser instead, which cancels the sign-in in progress")
    func instead() async throws {
        try await play(SignInOptions(methods: [.password, .browser])) { visit, browser in
            let session = SignInSession(client: visit.sandbox.client(.directAuth), options: visit.session.options)
            session.browser = visit.session.browser
            _ = try await visit.sandbox.authenticatorApp(for: SignInVisit.jane.login)
            (session.form.userName, session.form.password) = (SignInVisit.jane.login, SignInVisit.password)
            await session.submit()
            #expect(session.step.kind == .factors)
            await session.signInWithBrowser()
            #expect(session.isSignedIn && !browser.visited.isEmpty)
        }
    }
}
