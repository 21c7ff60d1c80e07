import CountersignSandbox
import ExampleTestSupport
import Foundation
import OktaAuthSdk
import QRCode
import Testing

@Suite(
    "The classic app in a terminal", .timeLimit(.minutes(5)),
    .enabled(if: Pane.isEnabled, Comment(rawValue: Pane.missingNote)))
struct ClassicTerminalTests {
    private func open(_ sandbox: Sandbox, _ folder: URL) async throws -> Pane {
        try await Pane(
            "ClassicTerminal",
            ["--issuer", sandbox.issuer.absoluteString, "--client-id", "browser-app", "--still", "--vault", folder.path])
    }

    private func signIn(_ pane: Pane) async throws {
        try await pane.waitForScreen(Self.start(name: ""))
        try await pane.type(SandboxUser.jane.login)
        try await pane.press("Tab")
        try await pane.type(SandboxUser.jane.password ?? "")
        let filled = try await pane.waitFor("•••••••••••••••")
        #expect(!filled.contains(SandboxUser.jane.password ?? "") && filled.contains("[ Sign In ]"))
        try await pane.press("Enter")
    }

    @Test("The classic terminal app reports a wrong code, signs the user in with a valid code, and shows the start screen after a sign-out")
    func code() async throws {
        let folder = URL.temporaryDirectory.appending(path: "vault-\(UUID().uuidString)", directoryHint: .isDirectory)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await withSandbox(Sandbox.Configuration.classic("sign_on_policy: two-factors\n", isStanding: false)) { sandbox in
            let app = try await sandbox.authenticatorApp(for: SandboxUser.jane.login)
            let pane = try await open(sandbox, folder)
            try await signIn(pane)
            try await pane.waitFor("A second factor is required.", "[ Google Authenticator ]")
            try await pane.press("Enter")
            try await pane.waitFor("[ Enter the code ]")
            try await pane.press("Enter")
            try await pane.waitFor("( Continue )")
            let code = app.code
            try await pane.type(code.otherCode)
            try await pane.press("Enter")
            try await pane.waitFor("The code or answer is wrong.")
            try await pane.press("Enter")
            try await pane.waitFor("[ Continue ]")
            try await pane.press("C-u")
            try await pane.type(app.code)
            try await pane.press("Enter")
            try await pane.waitFor("Signed in as jane.doe@example.com")
            try await pane.press("o")
            try await pane.waitForScreen(Self.start(name: SandboxUser.jane.login, isAtPassword: true))
        }
    }

    @Test("An authenticator app can be enrolled with the QR code that the classic terminal app draws")
    func enrollment() async throws {
        let folder = URL.temporaryDirectory.appending(path: "vault-\(UUID().uuidString)", directoryHint: .isDirectory)
        defer { try? FileManager.default.removeItem(at: folder) }
        let settings = "sign_on_policy: two-factors\nfactors: { totp: required, push: not_allowed }\n"
        try await withSandbox(Sandbox.Configuration.classic(settings, isStanding: false)) { sandbox in
            let pane = try await open(sandbox, folder)
            try await signIn(pane)
            try await pane.waitFor("[ Set up: Google Authenticator (required) ]")
            try await pane.press("Enter")
            let shown = try await pane.waitFor("[ Show QR code ]", "type this secret:").replacing(/\s+/, with: " ")
            let secret = try #require(shown.firstMatch(of: /type this secret: ([A-Z2-7]+)/)).1
            let uri = "otpauth://totp/127.0.0.1:\(SandboxUser.jane.login)?secret=\(secret)&issuer=127.0.0.1"
            try await pane.press("Enter")
            // The complete QR code of the URI, from its first line to its last.
            let symbol = try QRSymbol(uri, errorCorrection: .low).terminalText(colors: .darkBackground, quietZone: 1)
            let lines = symbol.split(separator: "\n").map { "  " + $0 }
            try await pane.waitForScreen(
                (["  Activate: Google Authenticator"] + lines).joined(separator: "\n") + "\n\n\n  Esc Close  Ctrl-C Quit")
            let app = try sandbox.authenticatorApp(scanning: uri)
            try await pane.press("Escape")
            try await pane.waitFor("[ Enter the code ]")
            try await pane.press("Tab")
            try await pane.waitFor(">[ Enter the code ]")
            try await pane.press("Enter")
            try await pane.waitFor("( Continue )")
            try await pane.type(app.code)
            try await pane.press("Enter")
            try await pane.waitFor("Signed in as jane.doe@example.com")
        }
    }

    @Test("Ctrl-C in the classic terminal app cancels the transaction at the server and restores the terminal")
    func interrupted() async throws {
        let folder = URL.temporaryDirectory.appending(path: "vault-\(UUID().uuidString)", directoryHint: .isDirectory)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await withSandbox(Sandbox.Configuration.classic("sign_on_policy: two-factors\n", isStanding: false)) { sandbox in
            _ = try await sandbox.authenticatorApp(for: SandboxUser.jane.login)
            let pane = try await open(sandbox, folder)
            try await signIn(pane)
            try await pane.waitFor("A second factor is required.")
            try await pane.press("C-c")
            #expect(try await pane.waitFor("ended 0").hasPrefix("before"))
            #expect(sandbox.requests.count { $0.path.hasSuffix("/authn/cancel") && $0.status == 200 } == 1)
        }
    }

    private static func start(name: String, isAtPassword: Bool = false) -> String {
        """
          Sign in

          Username \(isAtPassword ? " " : ">")[\(name.padding(toLength: 48, withPad: "_", startingAt: 0))]
          Password \(isAtPassword ? ">" : " ")[________________________________________________]

           ( Sign In )

           [ Forgot password ]   [ Unlock account ]   [ Continue with a token ]
        ⋮
          \(isAtPassword ? "Return Next  " : "")Tab Move  Ctrl-C Quit
        """
    }
}
