import AuthFoundation
import BrowserSignin
import CountersignSandbox
import Foundation
import OAuth2Auth
import Testing

@Suite("A sign-in in a browser", .timeLimit(.minutes(10)))
struct BrowserSignInTests {
    @Test("A browser sign-in with a password and a push returns tokens")
    func success() async throws {
        try await withSandbox(.standing()) { sandbox in
            let browser = try await sandbox.browser(of: .jane)
            let signin = try await sandbox.browserSignin(in: browser)
            let token = try await signin.signIn()
            #expect(token.idToken?.preferredUsername == SandboxUser.jane.login && token.refreshToken != nil)
            #expect(Set(token.methods).isSuperset(of: ["pwd", "swk", "mfa"]))
            #expect(browser.visited.count >= 2 && browser.visited.allSatisfy { $0.url.host() == sandbox.origin.host() })
            let client = signin.signInFlow.client
            #expect(try await client.userInfo(token: token).name == "Jane Doe")
            #expect(try await client.refresh(token).accessToken != token.accessToken)
        }
    }

    @Test("A browser sign-in with a password and an authenticator app's code returns tokens")
    func code() async throws {
        try await withSandbox(.standing()) { sandbox in
            let app = try await sandbox.authenticatorApp(for: SandboxUser.jane.login)
            let browser = sandbox.browser(visitor: SandboxBrowser.person(.jane, app: app))
            let token = try await sandbox.browserSignin(in: browser).signIn()
            #expect(Set(token.methods).isSuperset(of: ["pwd", "otp", "mfa"]))
        }
    }

    @Test("A sign-in in a browser with a session asks for no password; a sign-in in a private window asks for the password")
    func singleSignOn() async throws {
        try await withSandbox(.standing()) { sandbox in
            let browser = try await sandbox.browser(of: .jane)
            let signin = try await sandbox.browserSignin(in: browser)
            let first = try await signin.signIn()
            let pages = browser.visited.count
            let second = try await signin.signIn()
            #expect(browser.visited.count == pages && first.idToken?.subject == second.idToken?.subject)
            await MainActor.run { signin.ephemeralSession = true }
            _ = try await signin.signIn()
            #expect(browser.visited.count == pages)
            #expect(Self.passwords(sandbox) == 2)
        }
    }

    @Test("The sign-in page reports a wrong password, and the user can correct the password")
    func wrongPassword() async throws {
        try await withSandbox(.standing()) { sandbox in
            let phone = try await sandbox.phone(for: SandboxUser.jane.login)
            let right = SandboxBrowser.person(.jane, phone: phone)
            let browser = sandbox.browser { page in
                guard let form = page.forms.first, form.field(ofType: "password") != nil else { return try await right(page) }
                let password = page.notice == nil ? "wrong" : SandboxUser.jane.password ?? ""
                return .submit(form, values: ["username": SandboxUser.jane.login, "password": password])
            }
            _ = try await sandbox.browserSignin(in: browser).signIn()
            #expect(browser.visited.contains { $0.notice?.contains("wrong") == true })
        }
    }

    @Test("If the user cancels on the sign-in page, signIn() throws the server's access_denied")
    func cancelledOnPage() async throws {
        try await withSandbox(.standing()) { sandbox in
            let browser = sandbox.browser { page in
                guard let form = page.forms.first(where: { $0.action.path().hasSuffix("/cancel") }) else { return .close }
                return .submit(form)
            }
            let signin = try await sandbox.browserSignin(in: browser)
            let error = await #expect(throws: OAuth2ServerError.self) { try await signin.signIn() }
            #expect(error?.code == .accessDenied)
        }
    }

    @Test("If the browser is closed, signIn() throws userCancelledLogin; if the task is cancelled, signIn() throws CancellationError")
    func closed() async throws {
        try await withSandbox(.standing()) { sandbox in
            let signin = try await sandbox.browserSignin(in: sandbox.browser { _ in .close })
            await #expect(throws: BrowserSigninError.userCancelledLogin()) { try await signin.signIn() }
            let (pages, entrance) = AsyncStream.makeStream(of: HostedPage.self)
            let waiting = try await sandbox.browserSignin(
                in: sandbox.browser { page in
                    entrance.yield(page)
                    return .reload(after: 3600)
                })
            let call = Task { try await waiting.signIn() }
            for await _ in pages { break }
            call.cancel()
            await #expect(throws: CancellationError.self) { try await call.value }
        }
    }

    // MARK: Sign-out

    @Test(
        "A sign-out in the browser ends the browser's session, and the next sign-in asks for the password again", arguments: [true, false])
    func signOut(hasToken: Bool) async throws {
        try await withSandbox(.standing()) { sandbox in
            let browser = try await sandbox.browser(of: .jane)
            let signin = try await sandbox.browserSignin(in: browser)
            let token = try await signin.signIn()
            let pages = browser.visited.count
            let redirect = try await signin.signOut(token: hasToken ? token : nil)
            #expect(redirect.absoluteString.hasPrefix("com.example.app:/?state="))
            // Any site can send a request without the ID token, so the page then asks the user to confirm.
            #expect(browser.visited.count == (hasToken ? pages : pages + 1))
            _ = try await signin.signIn()
            #expect(Self.passwords(sandbox) == 2)
        }
    }

    @Test("After a sign-in in a private window, a sign-out sends one request to the server and shows no page")
    func ephemeralSignOut() async throws {
        try await withSandbox(.standing()) { sandbox in
            let browser = try await sandbox.browser(of: .jane)
            let signin = try await sandbox.browserSignin(in: browser)
            await MainActor.run { signin.ephemeralSession = true }
            let token = try await signin.signIn()
            let redirect = try await signin.signOut(token: token)
            #expect(redirect.absoluteString.hasPrefix("com.example.app:/?state=") && browser.visited.isEmpty)
            #expect(sandbox.requests.count { $0.path.hasSuffix("/logout") } == 1)
        }
    }

    @Test("A sign-out of session and tokens ends the browser session, revokes the tokens, deletes the credential, and reports both results")
    func signOutOfAll() async throws {
        try await withSandbox(.standing()) { sandbox in
            try await Credential.withStorage(MemoryTokenStorage(), session: sandbox.transport, clock: sandbox.clock) {
                let signin = try await sandbox.browserSignin(in: sandbox.browser(of: .jane))
                let credential = try Credential.store(try await signin.signIn())
                let client = signin.signInFlow.client
                let report = await signin.signOut(credential: credential, ending: .all)
                #expect(report.session.isDone && report.tokens.isDone, "\(String(describing: report.failure))")
                #expect(try await client.introspect(token: credential.token, type: .accessToken).active == false)
                #expect(Credential.default == nil)
            }
        }
    }

    private static func passwords(_ sandbox: Sandbox) -> Int { sandbox.requests.count { $0.path.hasSuffix("/password") } }
}
