import AppSession
import AuthFoundation
import CountersignSandbox
import DirectAuthApp
import ExampleTestSupport
import Foundation
import Testing

/// A sandbox, Jane with her phone, and the app.
@MainActor
struct Scene {
    static let password = "Correct-Horse-7"

    let sandbox: Sandbox
    let phone: VirtualPhone
    let model: AuthViewModel

    /// Runs a test with its own credential store.
    ///
    /// - Parameters:
    ///   - asksForNumbers: Whether pushes have a number challenge.
    ///   - refreshesByItself: Whether the app's tokens are refreshed automatically.
    ///   - storage: The credential storage.
    ///   - body: The test.
    /// - Throws: The errors of the test.
    static func play(
        asksForNumbers: Bool = false, refreshesByItself: Bool = false, storage: any TokenStorage = MemoryTokenStorage(),
        _ body: @MainActor (Scene) async throws -> Void
    ) async throws {
        let organization =
            asksForNumbers
            ? Sandbox.standardOrganization.replacing("number_challenge: never", with: "number_challenge: always") : nil
        try await withSandbox(Sandbox.Configuration(organization: organization), storage: storage) { sandbox in
            let phone = try await sandbox.phone(for: SandboxUser.jane.login)
            let scene = Scene(
                sandbox: sandbox, phone: phone, model: Self.model(sandbox, refreshesByItself: refreshesByItself))
            try await body(scene)
        }
    }

    /// Returns a new instance of the app.
    static func model(_ sandbox: Sandbox, refreshesByItself: Bool = false) -> AuthViewModel {
        AuthViewModel(authService: service(sandbox, refreshesByItself: refreshesByItself), language: "en")
    }

    /// Returns a new service of the app.
    static func service(_ sandbox: Sandbox, refreshesByItself: Bool = false) -> AuthService {
        AuthService(client: .success(sandbox.client(.directAuth)), refreshesAutomatically: refreshesByItself, language: "en")
    }

    /// Types a user name and a password, and presses the button.
    func pressSignIn(_ username: String = SandboxUser.jane.login, password: String = Self.password) -> Task<Void, Never> {
        model.username = username
        model.password = password
        return Task { await model.signIn() }
    }

    /// Waits until the app waits for the approval. Returns whether it does.
    func waitForPush() async -> Bool {
        await eventually { if case .waitingForPush = model.state { true } else { false } }
    }

    /// Advances the clock, so that the app polls at once.
    func letTimePass() { sandbox.advance(by: 6) }

    /// Signs in, and approves the sign-in on the phone.
    func signIn() async throws {
        let signIn = pressSignIn()
        _ = try await phone.approveNext()
        letTimePass()
        await signIn.value
        try #require(isSignedIn, "\(model.state)")
    }

    var isSignedIn: Bool { if case .authorized = model.state { true } else { false } }
}
