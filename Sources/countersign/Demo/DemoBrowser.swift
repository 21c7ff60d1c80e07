import AuthFoundation
import BrowserSignin
import CountersignSandbox
import Foundation
import JOSE
import OAuth2Auth

/// The browser of the demo: the user's own, or an automated one that signs in as Jane without a window.
final class DemoBrowser: Sendable {
    private struct State {
        var visitor: SandboxBrowser.Visitor?
        var showsAddress = false
    }

    /// The automated browser; `nil` for the user's own.
    private let walker: SandboxBrowser?
    private let state: Locked<State>

    /// Creates a browser; `walks` selects the automated one.
    init(walks: Bool, clock: SandboxClock) {
        let state = Locked(State())
        self.state = state
        walker =
            walks
            ? SandboxBrowser(clock: clock) { page in
                guard let visitor = state.withLock({ $0.visitor }) else { return .close }
                return try await visitor(page)
            } : nil
    }

    /// Sets the automated browser's behavior; it has no effect on the user's own browser.
    func becomes(_ visitor: @escaping SandboxBrowser.Visitor) { state.withLock { $0.visitor = visitor } }

    /// Shows instructions to the user; a no-op with the automated browser.
    func tell(_ words: TerminalText) {
        if walker == nil { Terminal.note("\n\(words)") }
    }

    /// The number of pages shown; always 0 in the user's own browser, where it is unknown.
    var pageCount: Int { walker?.visited.count ?? 0 }

    /// The last number that a page showed for number matching; `nil` for none, and in the user's own browser.
    var number: String? { walker?.visited.last { $0.number != nil }?.number }

    /// Returns a browser sign-in for an app of the sandbox.
    @MainActor
    func signin(_ application: SandboxApplication, _ sandbox: Sandbox) throws -> BrowserSignin {
        var settings = sandbox.configuration(application)
        settings.redirectUri = OAuth2Client.Configuration.loopback.signIn
        settings.logoutRedirectUri = OAuth2Client.Configuration.loopback.signOut
        let client = OAuth2Client(settings, clock: sandbox.clock)
        return BrowserSignin(loginFlow: try AuthorizationCodeFlow(client: client), logoutFlow: SessionLogoutFlow(client: client)) {
            [walker, state] _, _, _ in
            if let walker { return walker }
            return SystemBrowserProvider(opener: state.withLock { $0.showsAddress } ? Self.show : nil)
        }
    }

    @MainActor
    func signIn(_ signin: BrowserSignin) async throws -> Token {
        try await orShowing { try await signin.signIn() }
    }

    @MainActor
    func signOut(_ credential: Credential, of signin: BrowserSignin) async throws -> BrowserSignin.SignOutReport {
        await signin.signOut(credential: credential, ending: .all)
    }

    /// Connects a device in the automated browser; a no-op in the user's own browser, in which the user connects it.
    func connect(_ verification: DeviceAuthorizationFlow.Verification) async throws {
        guard let walker else { return }
        _ = try await walker.visit(verification.verificationUriComplete ?? verification.verificationUri)
    }

    /// Runs `work`, and meanwhile shows the codes of the app, one of which the user must type. The automated browser shows none.
    func showing<Success: Sendable>(_ app: AuthenticatorApp, _ work: () async throws -> Success) async throws -> Success {
        guard walker == nil else { return try await work() }
        let display = Task {
            var shown = ""
            while !Task.isCancelled {
                if app.code != shown {
                    shown = app.code
                    Terminal.note("Jane's authenticator app shows \(Terminal.styledNote("\(shown)", .bold))")
                }
                do { try await TerminalClock.sleep(for: .seconds(1)) } catch { return }
            }
        }
        defer { display.cancel() }
        return try await work()
    }

    /// Runs `work`. If no browser can be opened, runs `work` again and shows the address instead.
    @MainActor
    private func orShowing<Success>(_ work: @MainActor () async throws -> Success) async throws -> Success {
        do {
            return try await work()
        } catch let error where Self.isWithoutBrowser(error) && !state.withLock({ $0.showsAddress }) {
            state.withLock { $0.showsAddress = true }
            return try await work()
        }
    }

    private static func isWithoutBrowser(_ error: any Error) -> Bool {
        switch error {
        case SystemBrowserError.cannotOpen: true
        case BrowserSigninError.authenticationProvider(let inner), BrowserSigninError.generic(let inner): isWithoutBrowser(inner)
        default: false
        }
    }

    private static func show(_ page: URL) async throws {
        Terminal.note("Open this address in a browser on this machine:\n\n\(page.absoluteString)\n")
    }
}

/// Runs this program as a second process, to show its view of the stored credentials.
enum SecondProcess {
    static func credentialIDs(vault: URL) async throws -> [String] {
        let output = try await run(["credential", "list", "--json", "--vault", vault.path()])
        let list = try JSONValue(parsing: output)
        return list["credentials"]?.arrayValue?.compactMap { $0["id"]?.stringValue } ?? []
    }

    private static func run(_ arguments: [String]) async throws -> [UInt8] {
        guard let executable = Bundle.main.executableURL else { throw CommandFailure("The path of this program is unknown.") }
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        let output = URL.temporaryDirectory.appending(path: "countersign-\(ProcessInfo.processInfo.processIdentifier)-output.json")
        // The output goes to a file, because a pipe would need a reader while the process runs.
        guard FileManager.default.createFile(atPath: output.path(), contents: nil, attributes: [.posixPermissions: 0o600]) else {
            throw CommandFailure("\(output.path()) can't be created. Set TMPDIR to a folder that you can write to.")
        }
        defer { try? FileManager.default.removeItem(at: output) }
        process.standardOutput = try FileHandle(forWritingTo: output)
        let status = try await process.status()
        guard status == 0 else {
            throw CommandFailure("`countersign \(arguments.joined(separator: " "))` failed with exit code \(status). Run it to see why.")
        }
        return Array(try Data(contentsOf: output))
    }
}

/// Finds the server's error inside the errors that wrap it.
enum ServerRefusal {
    /// Returns the OAuth error code, if the server sent one.
    static func code(of error: any Error) -> String? {
        guard case .server(let error) = OAuth2Error(error) else { return nil }
        return error.code.rawValue
    }
}
