import AuthFoundation
import CountersignSandbox
import CountersignUI
import Foundation
import OktaDirectAuth
import Testing

/// A sandbox, Jane, and an app with a session.
@MainActor
struct SignInVisit {
    static let jane = SandboxUser.jane
    static let password = "Correct-Horse-7"

    let sandbox: Sandbox
    let session: SignInSession

    /// Runs a test with its own sandbox, on a manual clock, and with its own credential store.
    ///
    /// - Parameters:
    ///   - application: The application of the session.
    ///   - asksForNumbers: Whether pushes have a number challenge.
    ///   - options: The options of the session.
    ///   - storage: The credential storage.
    ///   - body: The test.
    static func play(
        _ application: SandboxApplication = .password, asksForNumbers: Bool = false, options: SignInOptions = SignInOptions(),
        storage: any TokenStorage = MemoryTokenStorage(), _ body: @MainActor (SignInVisit) async throws -> Void
    ) async throws {
        let organization =
            asksForNumbers
            ? Sandbox.standardOrganization.replacing("number_challenge: never", with: "number_challenge: always") : nil
        try await withSandbox(Sandbox.Configuration(organization: organization), storage: storage) { sandbox in
            let session = SignInSession(client: sandbox.client(application), options: options)
            try await body(SignInVisit(sandbox: sandbox, session: session))
            session.cancel()
            await session.settled()
        }
    }

    /// Types the user name and the password, and presses the button.
    func signIn(_ user: SandboxUser = jane, password: String? = nil) async {
        session.form.userName = user.login
        session.form.password = password ?? user.password ?? ""
        await session.submit()
    }

    /// Presses the button, and waits for a step while the call continues.
    func begin(until kind: SignInStep.Kind) async throws -> Task<Void, Never> {
        let task = Task { await signIn() }
        try #require(await eventually { session.step.kind == kind && session.state != .signedOut }, "\(session.state)")
        return task
    }

    /// Advances the clock, so that the app polls at once.
    func letTimePass() { sandbox.advance(by: 6) }

    /// Ends an injected delay: advances the clock once the delay has begun, and waits until a condition is true.
    func endDelay(of seconds: Double, until condition: () async -> Bool) async -> Bool {
        guard await eventually({ sandbox.pendingFaults.isEmpty }) else { return false }
        return await moveOn(by: seconds, until: condition)
    }

    /// Advances the clock until a condition is true: once, and up to three more times for callers that did not wait yet.
    func moveOn(by seconds: Double, until condition: () async -> Bool) async -> Bool {
        for _ in 0..<4 {
            sandbox.advance(by: seconds)
            if await eventually(within: .seconds(10), condition) { return true }
        }
        return false
    }

    /// The number of requests with a grant type.
    func count(grant: String) -> Int { sandbox.requests.count { $0.grantType == grant } }

    /// Returns a session of the next launch of the app.
    func relaunched(_ application: SandboxApplication = .password) -> SignInSession {
        SignInSession(client: sandbox.client(application))
    }

    /// Runs a function with a session of a new process, which has only the storage in common with this one.
    func withNewProcess(_ storage: any TokenStorage, _ body: @MainActor (SignInSession) async throws -> Void) async throws {
        try await Credential.withStorage(storage, session: sandbox.transport, clock: sandbox.clock) { try await body(relaunched()) }
    }
}

/// Runs a test with its own sandbox, which is stopped at the end, and with its own credential store on the sandbox's clock.
@MainActor
func withSandbox(
    _ configuration: Sandbox.Configuration = .init(), storage: any TokenStorage = MemoryTokenStorage(),
    _ body: @MainActor (Sandbox) async throws -> Void
) async throws {
    let sandbox = try await Sandbox.start(configuration)
    do {
        try await Credential.withStorage(storage, session: sandbox.transport, clock: sandbox.clock) { try await body(sandbox) }
    } catch {
        await sandbox.stop()
        throw error
    }
    await sandbox.stop()
}

/// Waits until other tasks make a condition true. Returns whether it became true before the limit.
@MainActor
func eventually(within limit: Duration = .seconds(20), _ condition: () async -> Bool) async -> Bool {
    let clock = ContinuousClock()
    let deadline = clock.now.advanced(by: limit)
    while !(await condition()) {
        guard clock.now < deadline, (try? await clock.sleep(for: .milliseconds(10))) != nil else { return false }
    }
    return true
}
