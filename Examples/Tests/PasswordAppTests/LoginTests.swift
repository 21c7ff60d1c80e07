import AppSession
import AuthFoundation
import CountersignSandbox
import ExampleTestSupport
import Foundation
import Testing

@testable import PasswordApp

/// The app with a sandbox and a credential store of its own.
@MainActor
struct Scene {
    static let password = "Correct-Horse-7"

    let sandbox: Sandbox
    let model: LoginViewModel

    static func play(
        as application: SandboxApplication = .password, storage: any TokenStorage = MemoryTokenStorage(),
        _ body: @MainActor (Scene) async throws -> Void
    ) async throws {
        try await withSandbox(storage: storage) { sandbox in
            try await body(Scene(sandbox: sandbox, model: model(sandbox, application)))
        }
    }

    /// Returns a new instance of the app.
    static func model(_ sandbox: Sandbox, _ application: SandboxApplication = .password) -> LoginViewModel {
        LoginViewModel(authService: service(sandbox, application), language: "en")
    }

    static func service(_ sandbox: Sandbox, _ application: SandboxApplication = .password) -> AuthService {
        AuthService(client: .success(sandbox.client(application)), refreshesAutomatically: false, language: "en")
    }

    /// Types a user name and a password, and presses the button.
    func pressSignIn(_ username: String = SandboxUser.jane.login, password: String = Self.password) async {
        model.username = username
        model.password = password
        await model.login()
    }

    func signIn() async throws {
        await pressSignIn()
        try #require(model.authState == .authenticated)
    }
}

@Suite("Sign-in with the password app")
@MainActor
struct LoginTests {
    @Test("With the correct password, the password app signs the user in and shows each state of the sign-in")
    func success() async throws {
        try await Scene.play { scene in
            let history = History { scene.model.authState }
            #expect(scene.model.token == "No Token")
            await scene.pressSignIn()
            #expect(history.values == [.notAuthenticated, .authenticating, .authenticated])
            #expect(scene.model.token == Credential.default?.token.accessToken)
            #expect(scene.model.password.isEmpty, "It is not kept.")
            #expect(scene.model.username == SandboxUser.jane.login)
            #expect(scene.model.message == nil && !scene.model.isLoading)
        }
    }

    @Test("The form of the password app cannot be sent while a field is empty or a request is running")
    func canSubmit() async throws {
        try await Scene.play { scene in
            for (name, password) in [("", ""), ("jane", ""), ("", "secret")] {
                (scene.model.username, scene.model.password) = (name, password)
                #expect(!scene.model.canSubmit)
                await scene.model.login()
            }
            #expect(scene.sandbox.requests.isEmpty)
            scene.sandbox.inject(Fault(.delay(30), at: .token))
            let login = Task { await scene.pressSignIn() }
            #expect(await eventually { scene.model.authState == .authenticating })
            #expect(scene.model.isLoading && !scene.model.canSubmit)
            await scene.model.login()
            #expect(await scene.sandbox.endDelay(of: 31) { !scene.model.isLoading })
            await login.value
            #expect(scene.model.authState == .authenticated)
            #expect(scene.sandbox.requests.count { $0.endpoint == .token } == 1)
        }
    }

    @Test("The password app shows that the user name or password is wrong, and keeps the input")
    func wrongPassword() async throws {
        try await Scene.play { scene in
            await scene.pressSignIn(password: "Wrong-Horse-7")
            let message = try #require(scene.model.message)
            #expect(message == "The user name or the password is incorrect. Check both and try again.")
            #expect(scene.model.authState == .error(message))
            #expect(scene.model.password == "Wrong-Horse-7" && scene.model.canSubmit)
            #expect(Credential.allIDs.isEmpty)
            await scene.pressSignIn()
            #expect(scene.model.authState == .authenticated)
            #expect(scene.model.message == nil)
        }
    }

    @Test("If a second factor is required, the password app shows an error and keeps the input")
    func secondFactor() async throws {
        try await Scene.play(as: .directAuth) { scene in
            _ = try await scene.sandbox.phone(for: SandboxUser.jane.login)
            await scene.pressSignIn()
            let message = try #require(scene.model.message)
            #expect(message.contains("second factor"))
            #expect(scene.model.authState == .error(message))
            #expect(scene.model.password == Scene.password)
            await #expect(throws: SessionError.self) {
                try await Scene.service(scene.sandbox, .directAuth).authenticate(username: SandboxUser.jane.login, password: Scene.password)
            }
        }
    }

    @Test("The password app shows a network failure of a sign-in, and the next sign-in succeeds")
    func offline() async throws {
        try await Scene.play { scene in
            scene.sandbox.inject(Fault(.dropConnectionBeforeCommit, at: .token, count: 10))
            await scene.pressSignIn()
            #expect(scene.model.message != nil)
            scene.sandbox.clearFaults()
            try await scene.signIn()
        }
    }

    @Test("Without a configuration, the password app reports at the sign-in that Okta.plist is missing")
    func noConfiguration() async throws {
        try await Credential.withStorage(MemoryTokenStorage()) {
            let settings = ClientSettings(file: URL(filePath: "/nowhere/Okta.plist"))
            let model = LoginViewModel(authService: AuthService(settings: settings, language: "en"), language: "en")
            (model.username, model.password) = ("jane", "secret")
            await model.login()
            let message = try #require(model.message)
            #expect(message.contains("Okta.plist"))
        }
    }

    @Test("After a restart of the password app, the user is still signed in")
    func restored() async throws {
        try await Scene.play { scene in
            try await scene.signIn()
            let again = Scene.model(scene.sandbox)
            #expect(again.authState == .authenticated)
            #expect(again.token == scene.model.token)
        }
    }
}
