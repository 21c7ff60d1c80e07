import AuthFoundation
import CountersignSandbox
import ExampleTestSupport
import Foundation
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite(
    "The browser app in a terminal", .timeLimit(.minutes(5)),
    .enabled(if: Pane.isEnabled, Comment(rawValue: Pane.missingNote)))
struct BrowserTerminalTests {
    /// Starts the app in a terminal.
    private func open(_ sandbox: Sandbox, _ folder: URL, _ more: String...) async throws -> Pane {
        let messages = try #require(sandbox.messagesURL).appending(path: "api/messages").absoluteString
        return try await Pane(
            "BrowserTerminal",
            [
                "--issuer", sandbox.issuer.absoluteString, "--client-id", "browser-app", "--messages-url", messages, "--no-open", "--still",
                "--vault", folder.path,
            ] + more)
    }

    /// Opens the address on the screen as Jane, and follows the redirects.
    private func walk(_ pane: Pane, in sandbox: Sandbox, to path: String) async throws {
        let shown = try await pane.waitFor("Open this address in a browser on this machine:")
        let lines = shown.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        let first = try #require(lines.firstIndex { $0.hasPrefix("http://127.0.0.1") }, "\(shown)")
        let address = lines[first...].prefix { !$0.isEmpty && !$0.contains(" ") }.joined()
        let page = try #require(URL(string: address), "\(shown)")
        let browser = try await sandbox.browser(of: .jane)
        let redirect = try await browser.open(authorizeUrl: page, redirectUri: try #require(URL(string: "http://127.0.0.1/\(path)")))
        let session: any URLSessionProtocol = URLSession.shared
        _ = try await session.data(for: URLRequest(url: redirect))
    }

    @Test("In the terminal browser app, a user can sign in at the shown address, use each button, restart with the session, and sign out")
    func wholeVisit() async throws {
        let folder = URL.temporaryDirectory.appending(path: "vault-\(UUID().uuidString)", directoryHint: .isDirectory)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await withSandbox(Sandbox.Configuration(messagesPort: 0)) { sandbox in
            let pane = try await open(sandbox, folder)
            try await pane.waitForScreen(Self.loggedOut)
            try await pane.press("Enter")
            try await walk(pane, in: sandbox, to: "callback")
            try await pane.waitForScreen(Self.loggedIn)

            try await pane.press("g")
            try await pane.waitForScreen(Self.message)
            #expect(try await pane.screen().contains("║ Message Response "))
            try await pane.press("Enter")
            try await pane.waitForScreen(Self.loggedIn)
            try await pane.press("p")
            try await walk(pane, in: sandbox, to: "callback")
            try await pane.waitFor("Only you can read this")
            try await pane.press("Enter")
            try await pane.waitForScreen(Self.loggedIn)
            try await pane.press("u")
            try await pane.waitFor("Name: Jane Doe", "Username: jane.doe@example.com")
            try await pane.press("Escape")
            try await pane.waitFor("[ 🎁 Get Message g ]")
            try await pane.press("t")
            try await pane.waitFor("[ Close c ]")
            // A key that is typed ahead applies to the screen after the earlier keys.
            try await pane.press("Escape", "r")
            #expect(await eventually { sandbox.requests.contains { $0.grantType == "refresh_token" && $0.status == 200 } })
            try await pane.waitFor("[ 🔄 Refresh Token r ]")

            // The next start of the app restores the session.
            try await pane.press("C-c")
            try await pane.waitFor("ended 0")
            let again = try await open(sandbox, folder)
            try await again.waitFor("Logged In")
            try await again.press("s")
            try await walk(again, in: sandbox, to: "")
            try await again.waitForScreen(Self.loggedOut)
        }
    }

    @Test("In the terminal browser app, Esc cancels the sign-in and shows the start screen, and Ctrl-C restores the terminal")
    func cancelled() async throws {
        let folder = URL.temporaryDirectory.appending(path: "vault-\(UUID().uuidString)", directoryHint: .isDirectory)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await withSandbox(Sandbox.Configuration(messagesPort: 0)) { sandbox in
            let pane = try await open(sandbox, folder)
            try await pane.waitForScreen(Self.loggedOut)
            try await pane.press("Enter")
            try await pane.waitFor("Open this address in a browser on this machine:")
            try await pane.press("Escape")
            try await pane.waitForScreen(Self.loggedOut)
            try await pane.press("Enter")
            try await pane.waitFor("Open this address in a browser on this machine:")
            try await pane.press("C-c")
            #expect(try await pane.waitFor("ended 0").hasPrefix("before"))
        }
    }

    @Test("The terminal browser app shows texts in the chosen language, and shows a server error as an alert")
    func german() async throws {
        let folder = URL.temporaryDirectory.appending(path: "vault-\(UUID().uuidString)", directoryHint: .isDirectory)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await withSandbox(Sandbox.Configuration(messagesPort: 0)) { sandbox in
            let pane = try await open(sandbox, folder, "--language", "de")
            try await pane.waitFor("[ Anmelden s ]")
            sandbox.inject(Fault(.status(500), at: .any, count: 100))
            try await pane.press("Enter")
            try await pane.waitFor("Fehler")
            sandbox.clearFaults()
            try await pane.press("Enter")
            try await pane.waitFor("Abgemeldet")
        }
    }

    @Test("The terminal browser app disables its buttons while an operation runs")
    func busy() async throws {
        let folder = URL.temporaryDirectory.appending(path: "vault-\(UUID().uuidString)", directoryHint: .isDirectory)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await withSandbox(Sandbox.Configuration(messagesPort: 0)) { sandbox in
            let pane = try await open(sandbox, folder)
            try await pane.waitForScreen(Self.loggedOut)
            try await pane.press("Enter")
            try await walk(pane, in: sandbox, to: "callback")
            try await pane.waitForScreen(Self.loggedIn)
            sandbox.inject(Fault(.delay(60), at: .token))
            try await pane.press("r")
            try await pane.waitFor("( Sign Out s )", "( 🔄 Refresh Token r )   ( ℹ Token Info t )", "( 🎁 Get Message g )", "One moment…")
            #expect(await sandbox.endDelay(of: 61) { (try? await pane.screen().contains("[ 🔄 Refresh Token r ]")) == true })
        }
    }

    @Test("The terminal browser app can run a script, and exits with status 1 if the script fails")
    func script() async throws {
        let folder = URL.temporaryDirectory.appending(path: "script-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "script.txt")
        try await withSandbox(Sandbox.Configuration(messagesPort: 0)) { sandbox in
            let lines = """
                expect Logged Out
                press Sign In
                expect Open this address in a browser
                key esc
                expect [ Sign In s ]
                within 1
                """
            try Data(lines.utf8).write(to: file)
            try await open(sandbox, folder, "--script", file.path).waitFor("ended 0")
            try Data((lines + "\nexpect Logged In\n").utf8).write(to: file)
            try await open(sandbox, folder, "--script", file.path).waitFor("ended 1", "--- line 7: “Logged In” did not appear")
        }
    }

    private static let loggedIn = """
          Browser sign-in

          ✅ Logged In
          ┌─ ID Token ───────────────────────────────────────────────────────────────┐
        …
        …
        …
        …
        …
        …
        …

          >[ Sign Out s ]
           [ 🔄 Refresh Token r ]   [ ℹ Token Info t ]   [ 👤 User Info u ]
           [ 🎁 Get Message g ]   [ 🔐 Private Message p ]
        ⋮
          Return Press  Tab Move  Ctrl-C Quit
        """

    private static let message = """
          Browser sign-in

          ✅ Logged In
          ┌─ ID Token ───────────────────────────────────────────────────────────────┐
        …
        …
        …
        …
        …
        …
        …
        …
           [ Sig║                                                              ║
           [ 🔄 ║ >[ OK ]                                                      ║
           [ 🎁 ╚══════════════════════════════════════════════════════════════╝
        ⋮
          Return Press  Esc OK  Ctrl-C Quit
        """

    private static let loggedOut = """
          Browser sign-in

          🔒 Logged Out

          >[ Sign In s ]
        ⋮
          Return Press  Ctrl-C Quit
        """
}
