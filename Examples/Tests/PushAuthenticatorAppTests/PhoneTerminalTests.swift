import AuthFoundation
import CountersignSandbox
import ExampleTestSupport
import Foundation
import OktaDirectAuth
import Testing

@Suite(
    "The push authenticator app in a terminal", .timeLimit(.minutes(5)),
    .enabled(if: Pane.isEnabled, Comment(rawValue: Pane.missingNote)))
struct PhoneTerminalTests {
    private func open(_ sandbox: Sandbox, _ folder: URL) async throws -> Pane {
        try await Pane(
            "PushAuthenticatorTerminal",
            ["--issuer", sandbox.issuer.absoluteString, "--client-id", "phone-app", "--still", "--phone", folder.path])
    }

    private func enroll(_ pane: Pane) async throws {
        try await pane.waitForScreen(Self.empty)
        try await pane.press("Enter")
        try await pane.waitFor("Sign in, and this device approves your sign-ins from then on.")
        try await pane.type(SandboxUser.jane.login)
        try await pane.press("Tab")
        try await pane.type(SandboxUser.jane.password ?? "")
        try await pane.waitFor("•••••••••••••••")
        try await pane.press("Enter")
        try await pane.waitFor("jane.doe@example.com was added.")
    }

    /// Begins a sign-in on another device.
    private func signInElsewhere(_ sandbox: Sandbox) async throws -> Task<Bool, any Error> {
        let flow = DirectAuthenticationFlow(client: OAuth2Client(sandbox.configuration(.directAuth), session: sandbox.transport))
        _ = try await flow.start(SandboxUser.jane.login, with: .password(SandboxUser.jane.password ?? ""))
        return Task {
            if case .success = try await flow.resume(with: .oob(channel: .push)) { return true }
            return false
        }
    }

    @Test("is enrolled, shows what comes, approves and denies it, and is removed")
    func wholeLife() async throws {
        let folder = URL.temporaryDirectory.appending(path: "phone-\(UUID().uuidString)", directoryHint: .isDirectory)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await withSandbox { sandbox in
            let pane = try await open(sandbox, folder)
            try await enroll(pane)
            let approved = try await signInElsewhere(sandbox)
            let shown = try await pane.waitFor("Direct Authentication App wants to sign you in")
            #expect(shown.contains("[ Approve y ]") && shown.contains("[ Deny n ]") && shown.contains("[ It Wasn't Me s ]"))
            try await pane.press("y")
            try await pane.waitFor("Approved.")
            #expect(try await approved.value)

            let denied = try await signInElsewhere(sandbox)
            try await pane.waitFor("[ Deny n ]")
            try await pane.press("n")
            try await pane.waitFor("Denied.")
            await #expect(throws: (any Error).self) { try await denied.value }

            try await pane.press("Up", "Up", "Up")
            try await pane.waitFor("> jane.doe@example.com")
            try await pane.press("Enter")
            try await pane.waitFor("Approve requests of apps (CIBA)")
            try await pane.press("Down", "Enter")
            try await pane.waitFor("[x] Approve requests of apps (CIBA)")
            try await pane.press("d")
            try await pane.waitFor("The organization is not told")
            try await pane.press("Enter")
            try await pane.waitFor("No account is on this device.")
            try await pane.press("C-c")
            #expect(try await pane.waitFor("ended 0").hasPrefix("before"))
        }
    }

    private static let empty = """
          Push authenticator

          No account is on this device.

          >[ Add Account a ]   ( Check for Requests c )
        ⋮
          Return Press  Ctrl-C Quit
        """
}
