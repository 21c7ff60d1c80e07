import AppSession
import AuthFoundation
import BrowserSignin
import CountersignSandbox
import CountersignUI
import ExampleTestSupport
import Foundation
import Testing
import Wording

@testable import BrowserApp

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@MainActor
@Suite("The browser app", .timeLimit(.minutes(5)))
struct AuthViewModelTests {
    private static var withMessages: Sandbox.Configuration { Sandbox.Configuration(messagesPort: 0) }

    @Test("In the browser app, a user can sign in, see the profile, refresh tokens, call the API, and sign out at the server and locally")
    func wholeVisit() async throws {
        try await withSandbox(Self.withMessages) { sandbox in
            let model = try await BrowserVisit(sandbox).model
            #expect(model.status == .loggedOut && model.idToken == nil && AuthText.mainButton(model) == words("Sign In"))
            await model.handleAuthAction()
            #expect(model.errorMessage == nil && model.status == .loggedIn && !model.isLoading)
            #expect(AuthText.status(model.status).text == "✅ " + words("Logged In") && AuthText.mainButton(model) == words("Sign Out"))
            let first = try #require(model.idToken)

            model.fetchTokenInfo()
            let info = try #require(model.tokenInfo)
            #expect(info.idToken == first && info.preferredUsername == SandboxUser.jane.login)
            #expect(info.tokenIssuer == sandbox.issuer.absoluteString)
            let lines = info.toString().split(separator: "\n").map { String($0.prefix { $0 != ":" }) }
            #expect(lines == ["ID Token", "Preferred username", "Token Issuer", "Auth time", "Issued at"])

            await model.fetchUserInfo()
            #expect(model.errorMessage == nil)
            #expect(model.userInfo?.text.hasPrefix("Name: Jane Doe\nUsername: jane.doe@example.com\nUpdated at: ") == true)

            await model.refreshToken()
            #expect(model.idToken != nil && model.idToken != first)
            await model.fetchMessage()
            #expect(model.serverMessage == "I am a robot.")
            let token = try #require(Credential.default?.token)

            await model.handleAuthAction()
            #expect(model.status == .loggedOut && model.idToken == nil && model.errorMessage == nil)
            #expect(Credential.allIDs.isEmpty)
            #expect(try await sandbox.client(.browser).introspect(token: token, type: .accessToken).active == false)
        }
    }

    @Test("Each sign-in of the browser app asks for the password, because each sign-in uses a private browser session")
    func ephemeral() async throws {
        try await withSandbox { sandbox in
            let model = try await BrowserVisit(sandbox).model
            for _ in 0..<2 {
                await model.handleAuthAction()
                #expect(model.status == .loggedIn)
                await model.handleAuthAction()
                #expect(model.status == .loggedOut)
            }
            #expect(sandbox.requests.count { $0.path.hasSuffix("/authorize") } == 2)
            #expect(sandbox.requests.count { $0.path.hasSuffix("/password") && $0.method == "POST" } == 2)
        }
    }

    @Test("The browser app shows no error if the user closes the browser or the app cancels the sign-in", arguments: [true, false])
    func closed(byPerson: Bool) async throws {
        try await withSandbox { sandbox in
            let (shown, show) = AsyncStream.makeStream(of: Void.self)
            let model = try await BrowserVisit(sandbox) { _ in
                show.finish()
                return byPerson ? .close : .reload(after: 3_600)
            }.model
            async let action: Void = model.handleAuthAction()
            for await _ in shown {}
            if !byPerson {
                #expect(model.isLoading && model.isInBrowser)
                await model.cancel()
            }
            await action
            #expect(model.status == .loggedOut && model.errorMessage == nil && !model.isLoading && !model.isInBrowser)
        }
    }

    @Test("If the sign-out of the browser app is cancelled, the user stays signed in")
    func signOutClosed() async throws {
        try await withSandbox { sandbox in
            let jane = try await BrowserVisit(sandbox).model
            await jane.handleAuthAction()
            let (shown, show) = AsyncStream.makeStream(of: Void.self)
            let model = try await BrowserVisit(sandbox) { _ in
                show.finish()
                return .close
            }.model
            #expect(model.status == .loggedIn && AuthText.mainButton(model) == words("Sign Out"))
            sandbox.inject(Fault(.delay(3_600), at: .any))
            async let action: Void = model.handleAuthAction()
            #expect(await eventually { model.isInBrowser })
            #expect(await eventually { sandbox.pendingFaults.isEmpty })
            await model.cancel()
            await action
            show.finish()
            for await _ in shown {}
            #expect(model.status == .loggedIn && model.idToken != nil && model.errorMessage == nil && Credential.allIDs.count == 1)
        }
    }

    @Test("The browser app refreshes tokens automatically before their expiry, and shows when the session has ended")
    func automaticRefresh() async throws {
        try await withSandbox { sandbox in
            let model = try await BrowserVisit(sandbox, refreshesByItself: true).model
            await model.handleAuthAction()
            let first = try #require(model.idToken)
            #expect(Credential.default?.automaticRefresh == true)
            #expect(await sandbox.moveOn(by: 3_500) { model.idToken != first })
            #expect(model.status == .loggedIn && model.idToken == Credential.default?.token.idToken?.rawValue)

            // A new instance of the app also shows the end of the session.
            let again = try await BrowserVisit(sandbox, refreshesByItself: true).model
            model.fetchTokenInfo()
            try await sandbox.signOutEverywhere(SandboxUser.jane.login)
            #expect(await sandbox.moveOn(by: 3_500) { again.status == .sessionEnded && model.status == .sessionEnded })
            #expect(model.idToken == nil && model.tokenInfo == nil && model.errorMessage == nil)
        }
    }

    @Test("While an operation runs in the browser app, no button starts another operation")
    func busy() async throws {
        try await withSandbox(Self.withMessages) { sandbox in
            let (shown, show) = AsyncStream.makeStream(of: Void.self)
            let model = try await BrowserVisit(sandbox) { _ in
                show.finish()
                return .reload(after: 3_600)
            }.model
            async let action: Void = model.handleAuthAction()
            for await _ in shown {}
            let requests = sandbox.requests.count
            await model.handleAuthAction()
            await model.refreshToken()
            await model.fetchUserInfo()
            #expect(model.errorMessage == nil)
            await model.fetchMessage()
            await model.didBecomeActive()
            #expect(sandbox.requests.count == requests && model.serverMessage == nil && model.isLoading)
            await model.cancel()
            await action
            #expect(!model.isLoading)
        }
    }

    @Test("After an offline sign-out, the browser app has no credential and reports that the user is signed out on this device")
    func offline() async throws {
        try await withSandbox { sandbox in
            let model = try await BrowserVisit(sandbox).model
            await model.handleAuthAction()
            sandbox.inject(Fault(.dropConnectionBeforeCommit, at: .any, count: 100))
            await model.handleAuthAction()
            #expect(model.status == .loggedOut && Credential.allIDs.isEmpty)
            #expect(model.errorMessage?.hasPrefix("You are signed out on this device.") == true, "\(model.errorMessage ?? "")")
            model.errorMessage = nil
            // The next sign-in of any app with this store replaces the default credential.
            sandbox.clearFaults()
            await model.handleAuthAction()
            #expect(model.status == .loggedIn && model.errorMessage == nil)
        }
    }

    @Test("If the connection breaks, each button of the browser app shows an error, and the user stays signed in")
    func unreachable() async throws {
        try await withSandbox(Self.withMessages) { sandbox in
            let model = try await BrowserVisit(sandbox).model
            await model.handleAuthAction()
            sandbox.inject(Fault(.dropConnectionBeforeCommit, at: .any, count: 100))
            // The API request has its own network session. The expired token makes the app refresh it through the faulty session first.
            sandbox.advance(by: 7_200)
            for button in [model.refreshToken, model.fetchUserInfo, model.fetchMessage] {
                await button()
                #expect(model.errorMessage?.isEmpty == false && model.status == .loggedIn)
                model.errorMessage = nil
            }
            #expect(model.userInfo == nil && model.serverMessage == nil)
        }
    }

    @Test("The browser app reports that the session has ended, and the user can sign in again")
    func sessionEnded() async throws {
        try await withSandbox { sandbox in
            let model = try await BrowserVisit(sandbox).model
            await model.handleAuthAction()
            model.fetchTokenInfo()
            await model.fetchUserInfo()
            #expect(model.tokenInfo != nil && model.userInfo != nil)
            try await sandbox.signOutEverywhere(SandboxUser.jane.login)
            #expect(model.status == .loggedIn)
            await model.refreshToken()
            #expect(model.status == .sessionEnded && model.errorMessage?.isEmpty == false)
            #expect(model.idToken == nil && model.tokenInfo == nil && model.userInfo == nil, "Nothing of it is to be seen any more.")
            #expect(AuthText.status(model.status).text == "⌛ " + words("Session Ended") && AuthText.mainButton(model) == words("Sign In"))
            await model.handleAuthAction()
            #expect(model.status == .loggedIn && model.errorMessage == nil && Credential.allIDs.count == 1)
            #expect(model.idToken != nil && model.tokenInfo == nil && model.userInfo == nil)
        }
    }

    @Test("The browser app refreshes expired tokens when the app becomes active and before an API call")
    func refreshIfNeeded() async throws {
        try await withSandbox(Self.withMessages) { sandbox in
            let model = try await BrowserVisit(sandbox).model
            await model.didBecomeActive()
            #expect(model.status == .loggedOut)
            await model.handleAuthAction()
            let first = model.idToken
            await model.didBecomeActive()
            #expect(model.idToken == first)
            sandbox.advance(by: 7_200)
            await model.didBecomeActive()
            #expect(model.idToken != first)
            sandbox.advance(by: 7_200)
            await model.fetchMessage()
            #expect(model.serverMessage == "I am a robot." && model.errorMessage == nil)
        }
    }

    @Test("If the API rejects the token, the browser app shows the API's challenge")
    func refusedByAPI() async throws {
        try await withSandbox(Self.withMessages) { sandbox in
            let model = try await BrowserVisit(sandbox, messagesSession: SpoilingSession()).model
            await model.fetchMessage()
            #expect(model.serverMessage == "Not authenticated.")
            model.serverMessage = nil
            await model.handleAuthAction()
            await model.fetchMessage()
            #expect(model.serverMessage == nil)
            #expect(model.errorMessage?.hasPrefix("The API refused the token: Bearer") == true, "\(model.errorMessage ?? "")")
        }
    }

    @Test("The browser app shows no error if the API has no messages, and calls port 8000 of this machine by default")
    func messages() async throws {
        try await withSandbox(Self.withMessages) { sandbox in
            let seen = Seen()
            let model = try await BrowserVisit(sandbox, choose: { seen.note($0) }).model
            await model.handleAuthAction()
            await model.fetchMessage()
            #expect(model.serverMessage == "No messages found." && model.errorMessage == nil)
            #expect(seen.messages.map(\.text).contains("I am a robot.") && seen.messages.count > 1)

            let session = RefusingSession()
            let usual = AuthService(browser: .failure(CancellationError()), session: session, refreshesByItself: false)
            await #expect(throws: URLError.self) { try await usual.fetchMessageFromBackend() }
            #expect(session.urls == ["http://localhost:8000/api/messages"])
        }
    }

    @Test("If the API needs a stronger or newer sign-in, the browser app signs in again and shows the private message")
    func stepUp() async throws {
        try await withSandbox(Self.withMessages) { sandbox in
            let model = try await BrowserVisit(sandbox).model
            func passwords() -> Int { sandbox.requests.count { $0.path.hasSuffix("/password") && $0.method == "POST" } }
            await model.fetchPrivateMessage()
            #expect(model.serverMessage == "Not authenticated.")
            await model.handleAuthAction()
            let first = try #require(model.idToken)
            // The first request needs two factors by name, the second request is recent, the third one is too late.
            for (delay, expected) in [(0.0, 2), (60, 2), (400, 3)] {
                sandbox.advance(by: delay)
                model.serverMessage = nil
                await model.fetchPrivateMessage()
                #expect(model.serverMessage?.hasPrefix("Only you can read this") == true && model.errorMessage == nil)
                #expect(passwords() == expected && !model.isInBrowser && model.status == .loggedIn)
            }
            #expect(model.idToken != first && Credential.allIDs.count == 1)
        }
    }

    @Test("If the user closes the browser during a step-up, the browser app shows no error and keeps the tokens")
    func stepUpClosed() async throws {
        try await withSandbox(Self.withMessages) { sandbox in
            await (try await BrowserVisit(sandbox).model).handleAuthAction()
            let model = try await BrowserVisit(sandbox) { _ in .close }.model
            let before = try #require(model.idToken)
            await model.fetchPrivateMessage()
            #expect(model.idToken == before && model.serverMessage == nil && model.errorMessage == nil && model.status == .loggedIn)
        }
    }

    @Test("If the API responds with an unexpected status, the browser app shows the status code")
    func unexpectedAnswer() async throws {
        try await withSandbox(Self.withMessages) { sandbox in
            let model = try await BrowserVisit(sandbox, messagesURL: sandbox.messagesURL?.appending(path: "nothing")).model
            await model.handleAuthAction()
            await model.fetchMessage()
            #expect(model.errorMessage == "The API answered with status 404.")
        }
    }

    @Test("Without settings, the browser app reports at the sign-in that the app is not configured")
    func notConfigured() async throws {
        let missing = Result<BrowserSignin, any Error> {
            try BrowserSignin(plist: URL(filePath: "/nowhere/Okta.plist"))
        }
        try await withSandbox { _ in
            let model = AuthViewModel(authService: AuthService(browser: missing))
            await model.handleAuthAction()
            #expect(model.errorMessage?.hasPrefix("This app is not configured. ") == true)
            #expect(model.status == .loggedOut && !model.isLoading)
        }
    }

    @Test("After a restart, the browser app still shows the signed-in user")
    func restored() async throws {
        try await withSandbox { sandbox in
            let first = try await BrowserVisit(sandbox).model
            await first.handleAuthAction()
            let second = try await BrowserVisit(sandbox).model
            #expect(second.status == .loggedIn && second.idToken == first.idToken)
        }
    }

    @Test("After an offline sign-out in the password app, a sign-in in the browser app becomes the default of the shared store")
    func afterAnotherApp() async throws {
        try await withSandbox { sandbox in
            let session = PasswordSession(
                client: .success(sandbox.client(.password)), secondFactors: [], refreshesAutomatically: false, texts: SignInTexts())
            try await session.signIn(username: SandboxUser.john.login, password: SandboxUser.john.password ?? "")
            sandbox.inject(Fault(.dropConnectionBeforeCommit, at: .any, count: 100))
            try await session.signOut()
            #expect(session.token == nil && Credential.default == nil)
            sandbox.clearFaults()
            let model = try await BrowserVisit(sandbox).model
            #expect(model.status == .loggedOut)
            await model.handleAuthAction()
            model.fetchTokenInfo()
            #expect(model.status == .loggedIn && model.tokenInfo?.preferredUsername == SandboxUser.jane.login)
        }
    }
}
