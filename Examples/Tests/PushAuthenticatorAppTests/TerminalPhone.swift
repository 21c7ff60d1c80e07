import CountersignSandbox
import ExampleTestSupport
import Foundation

/// The app in a terminal, with a folder of its own.
struct TerminalPhone {
    let sandbox: Sandbox
    let folder: URL
    let arguments: [String]

    /// Starts the app.
    func open() async throws -> Pane {
        let own = ["--issuer", sandbox.issuer.absoluteString, "--client-id", "phone-app", "--still", "--phone", folder.path]
        return try await Pane("PushAuthenticatorTerminal", own + arguments)
    }

    /// Opens the form for a new account, and fills it in.
    func fillForm(_ pane: Pane) async throws {
        try await pane.waitForScreen(
            """
              Push authenticator

              There are no accounts on this device.

              >[ Add Account a ]   ( Check for Requests c )
            ⋮
              Return Press  Ctrl-C Quit
            """)
        try await pane.press("Enter")
        try await pane.waitFor("Sign in to approve future sign-ins on this device.")
        try await pane.type(SandboxUser.jane.login)
        try await pane.press("Tab")
        try await pane.type(SandboxUser.jane.password ?? "")
        try await pane.waitFor("•••••••••••••••", "[ Add Account ]")
    }

    /// Adds Jane's account.
    func enroll(_ pane: Pane) async throws {
        try await fillForm(pane)
        try await pane.press("Enter")
        try await pane.waitFor("jane.doe@example.com was added.", "> jane.doe@example.com")
    }

    /// Opens the settings of the focused account.
    func openSettings(_ pane: Pane) async throws {
        while !(try await pane.screen().contains("> jane.doe@example.com")) {
            try await pane.press("Tab")
            // The screen is drawn before the next key.
            try await pane.press("C-l")
            try await pane.waitFor(">")
        }
        try await pane.press("Enter")
    }

    /// Approves the visible request, whose first button has the focus.
    func approve(_ pane: Pane) async throws {
        try await pane.waitFor(">[ Deny n ]", "[ Approve ]")
        try await pane.press("Tab", "Tab")
        try await pane.waitFor(">[ Approve ]")
        try await pane.press("Enter")
    }

    /// Starts a sign-in of Jane on another device.
    func signInElsewhere(numbers: AsyncStream<String>.Continuation? = nil) async throws -> SignInElsewhere {
        try await SignInElsewhere(sandbox, numbers: numbers)
    }
}

/// Runs a test with a sandbox and the app in a terminal.
func withTerminalPhone(
    _ configuration: Sandbox.Configuration = .init(), arguments: [String] = [], _ body: (TerminalPhone, Pane) async throws -> Void
) async throws {
    let folder = URL.temporaryDirectory.appending(path: "phone-\(UUID().uuidString)", directoryHint: .isDirectory)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await withSandbox(configuration) { sandbox in
        let phone = TerminalPhone(sandbox: sandbox, folder: folder, arguments: arguments)
        try await body(phone, try await phone.open())
    }
}
