import CountersignSandbox
import ExampleTestSupport
import Foundation
import QRCode
import Testing

@Suite(
    "The screens of the classic app", .timeLimit(.minutes(5)),
    .enabled(if: Pane.isEnabled, Comment(rawValue: Pane.missingNote)))
struct ClassicScreensTests {
    private static let hints = "Return Press  Tab Move  Ctrl-C Quit"
    private static let formHints = "Return Next  Tab Move  Esc Close  Ctrl-C Quit"

    /// Runs the app in a terminal, with the given configuration of the sandbox's classic API.
    private func play(
        _ settings: String, more: String = "", numbers: Bool = false, later seconds: Double = 0, arguments: [String] = [],
        _ body: (Sandbox, Pane) async throws -> Void
    ) async throws {
        let folder = URL.temporaryDirectory.appending(path: "vault-\(UUID().uuidString)", directoryHint: .isDirectory)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await withSandbox(.classic(settings, more: more, numbers: numbers, isStanding: false)) { sandbox in
            if seconds > 0 { sandbox.advance(by: seconds) }
            let pane = try await Pane(
                "ClassicTerminal",
                ["--issuer", sandbox.issuer.absoluteString, "--client-id", "browser-app", "--still", "--vault", folder.path] + arguments)
            try await body(sandbox, pane)
        }
    }

    private func signIn(_ pane: Pane, button: String = "Sign In") async throws {
        try await pane.waitFor("( \(button) )")
        try await pane.type(SandboxUser.jane.login)
        try await pane.press("Tab")
        try await pane.type(SandboxUser.jane.password ?? "")
        try await pane.waitFor("[ \(button) ]", "•••••••••••••••")
        try await pane.press("Enter")
    }

    @Test("The push screens of the classic terminal app show the choice, the number, the denial and the signed-in user")
    func push() async throws {
        try await play("sign_on_policy: two-factors\n", numbers: true) { sandbox, pane in
            let phone = try await sandbox.phone(for: SandboxUser.jane.login)
            try await signIn(pane)
            try await pane.waitForScreen(
                """
                  A second factor is required.

                  Account: jane.doe@example.com

                  >[ push: Virtual phone of jane.doe@example.com ]
                   [ Cancel ]
                ⋮
                  \(Self.hints)
                """)
            try await pane.press("Enter")
            let waiting = """
                  Confirm by push: Virtual phone of jane.doe@example.com

                  Account: jane.doe@example.com
                  Waiting for your device…
                …

                  >[ Resend ]
                   [ Back ]
                   [ Cancel ]
                  … Waiting for your device…
                ⋮
                  \(Self.hints)
                """
            try await pane.waitForScreen(waiting)
            try await phone.denyNext()
            try await pane.waitForScreen(
                """
                  Confirm by push: Virtual phone of jane.doe@example.com

                  Account: jane.doe@example.com
                  The request was denied.

                  >[ Send another push ]
                   [ Resend ]
                   [ Back ]
                   [ Cancel ]
                ⋮
                  \(Self.hints)
                """)
            try await pane.press("Enter")
            let number = try #require(
                try await pane.waitFor("Pick the number").firstMatch(of: /Pick the number (\d+) on your phone\./)
            ).1
            try await pane.waitForScreen(waiting)
            try await phone.approveNext(number: String(number))
            try await pane.waitForScreen(
                """
                  Signed in as jane.doe@example.com


                  >[ Sign Out o ]
                ⋮
                  Return Press  Ctrl-C Quit
                """)
        }
    }

    @Test("The phone enrollment screens of the classic terminal app show the prompt and the complete QR code")
    func enrollment() async throws {
        try await play("sign_on_policy: two-factors\nfactors: { push: required, totp: not_allowed }\n") { sandbox, pane in
            try await signIn(pane)
            try await pane.waitForScreen(
                """
                  Set up another way to sign in.

                  Account: jane.doe@example.com

                  >[ Set up: push (required) ]
                   [ Cancel ]
                ⋮
                  \(Self.hints)
                """)
            try await pane.press("Enter")
            try await pane.waitForScreen(
                """
                  Activate: push

                  Account: jane.doe@example.com
                  Waiting for your device…
                  Scan the code with your device; it is also at
                …
                …
                …

                  >[ Show QR code ]
                   [ Send a link by text message ]
                   [ Send a link by email ]
                   [ Back ]
                   [ Cancel ]
                  … Waiting for your device…
                ⋮
                  \(Self.hints)
                """)
            try await pane.press("Tab", "Tab", "Enter")
            let link = try #require(try await sandbox.outbox.next(by: .mail).link?.absoluteString)
            try await pane.waitFor(">[ Send a link by email ]", "We sent you a link.")
            try await pane.press("BTab", "BTab", "Enter")
            let symbol = try QRSymbol(link, errorCorrection: .low).terminalText(colors: .darkBackground, quietZone: 1)
            let lines = symbol.split(separator: "\n").map { "  " + $0 }
            try await pane.waitForScreen((["  Activate: push"] + lines).joined(separator: "\n") + "\n  Esc Close  Ctrl-C Quit")
            _ = try await sandbox.phone(for: SandboxUser.jane.login, scanning: link)
            try await pane.waitFor("Signed in as jane.doe@example.com")
            try await pane.press("C-c")
            try await pane.waitFor("ended 0")
        }
    }

    @Test("The recovery screens of the classic terminal app show the channel, the code, the new password and the result")
    func recovery() async throws {
        let settings = "sign_on_policy: one-factor\nrecovery: [email, sms, call]\n"
        try await play(settings) { sandbox, pane in
            try await sandbox.addCodeFactor(.text, to: "+1 555 123 4821", for: SandboxUser.jane.login)
            try await pane.waitFor("( Sign In )")
            // The focus moves past the password and skips the button, which is disabled.
            try await pane.press("Tab", "Tab")
            try await pane.waitFor(">[ Forgot password ]")
            try await pane.press("Enter")
            try await pane.waitFor("How to reach you")
            try await pane.type(SandboxUser.jane.login)
            try await pane.press("Tab", "Down", "Enter")
            try await pane.waitForScreen(
                """
                  Forgot password

                  Username  [jane.doe@example.com____________________________]
                  How to reach you
                    ○ E-mail
                  > ● Text message
                    ○ Phone call

                   [ Continue ]   [ Close ]
                ⋮
                  ↑↓ Choose  Return Open  Tab Move  Esc Close  Ctrl-C Quit
                """)
            try await pane.press("Tab", "Enter")
            try await pane.waitForScreen(
                """
                  We sent you a code.


                  >[ Enter the code you received ]
                   [ Resend ]
                   [ Cancel ]
                ⋮
                  \(Self.hints)
                """)
            let code = try #require(try await sandbox.outbox.next(by: .text).code)
            try await pane.press("Enter")
            try await pane.waitFor("( Continue )")
            try await pane.type(code)
            try await pane.waitForScreen(
                """
                  Enter the code you received

                  Code >[\(code)__________________________________________]

                   [ Continue ]   [ Close ]
                ⋮
                  \(Self.formHints)
                """)
            try await pane.press("Enter")
            try await pane.waitForScreen(
                """
                  Choose a new password.

                  Account: jane.doe@example.com
                  A new password has at least 8 characters.

                  >[ Set a new password ]
                   [ Cancel ]
                ⋮
                  \(Self.hints)
                """)
            try await pane.press("Enter")
            try await pane.waitFor("New password again")
            try await pane.type("Another-Horse-8")
            try await pane.press("Tab")
            try await pane.type("Another-Horse-9")
            try await pane.waitForScreen(
                """
                  Set a new password

                  New password        [•••••••••••••••_________________________________]
                  New password again >[•••••••••••••••_________________________________]

                   [ Continue ]   [ Close ]
                ⋮
                  \(Self.formHints)
                """)
            try await pane.press("Enter")
            try await pane.waitFor("║ The two new passwords differ.", ">[ OK ]")
            try await pane.press("Enter")
            try await pane.waitFor("( Continue )", ">[________________________________________________]")
            try await pane.type("Another-Horse-8")
            try await pane.press("BTab")
            try await pane.type("Another-Horse-8")
            try await pane.waitFor("[ Continue ]")
            try await pane.press("Tab", "Enter")
            // browser-app requires two factors, so the sign-in returns no tokens. The password is still changed.
            try await pane.waitFor("║ You are signed in, but “browser-app” requires")
            try await pane.press("Enter")
            try await pane.waitFor("( Sign In )")
        }
    }

    @Test("The classic terminal app requires the change of an expired password, and reports a wrong old password")
    func duePassword() async throws {
        let aging = "password_policy:\n  age:\n    maximum_days: 90\n    warning_days: 5\n"
        try await play("sign_on_policy: one-factor\n", more: aging, later: 91 * 86_400) { _, pane in
            try await signIn(pane)
            try await pane.waitForScreen(
                """
                  Your password has expired.

                  Account: jane.doe@example.com
                  A new password has at least 8 characters.

                  >[ Change the password ]
                   [ Cancel ]
                ⋮
                  \(Self.hints)
                """)
            try await pane.press("Enter")
            try await pane.waitForScreen(
                """
                  Change the password

                  Current password   >[________________________________________________]
                  New password        [________________________________________________]
                  New password again  [________________________________________________]

                   ( Continue )   [ Close ]
                ⋮
                  Tab Move  Esc Close  Ctrl-C Quit
                """)
            try await pane.type("wrong")
            for _ in 0..<2 {
                try await pane.press("Tab")
                try await pane.type("Another-Horse-8")
            }
            try await pane.waitFor("[ Continue ]")
            try await pane.press("Enter")
            try await pane.waitForScreen(
                """
                  Change the password

                  Current password    [________________________________________________]
                  New password        [________________________________________________]
                  New password again  [________________________________________________]

                   ( Continue )   [ Close ]

                        ╔══════════════════════════════════════════════════════════════╗
                        ║ Error                                                        ║
                        ║                                                              ║
                        ║ Your password was not changed. The old password is wrong.    ║
                        ║ Enter the one that you signed in with.                       ║
                        ║                                                              ║
                        ║ >[ OK ]                                                      ║
                        ╚══════════════════════════════════════════════════════════════╝
                ⋮
                  Return Press  Esc OK  Ctrl-C Quit
                """)
        }
    }

    @Test("The classic terminal app shows German texts with --language de")
    func german() async throws {
        try await play("sign_on_policy: two-factors\n", arguments: ["--language", "de"]) { sandbox, pane in
            _ = try await sandbox.authenticatorApp(for: SandboxUser.jane.login)
            try await pane.waitForScreen(
                """
                  Anmeldung

                  Benutzername >[________________________________________________]
                  Passwort      [________________________________________________]

                   ( Anmelden )

                   [ Passwort vergessen ]   [ Konto entsperren ]
                   [ Mit einem Token fortfahren ]
                ⋮
                  Tab Weiter  Strg-C Beenden
                """)
            try await signIn(pane, button: "Anmelden")
            try await pane.waitForScreen(
                """
                  Ein zweiter Faktor ist erforderlich.

                  Konto: jane.doe@example.com

                  >[ Google Authenticator ]
                   [ Abbrechen ]
                ⋮
                  Enter Drücken  Tab Weiter  Strg-C Beenden
                """)
        }
    }

    @Test("The classic terminal app can run a script with a sign-in by security question and a sign-out")
    func script() async throws {
        let folder = URL.temporaryDirectory.appending(path: "script-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await withSandbox(.classic("sign_on_policy: two-factors\n", isStanding: false)) { sandbox in
            try await sandbox.addSecurityQuestion("first_award", answer: "Swimming cup", for: SandboxUser.jane.login)
            let file = folder.appending(path: "script.txt")
            let script = """
                type \(SandboxUser.jane.login)
                field Password
                type \(SandboxUser.jane.password ?? "")
                press Sign In
                within 30
                expect A second factor is required.
                press security question: What was the first prize that you won?
                press Answer your question
                field Answer
                type Chess cup
                press Continue
                expect The code or answer is wrong.
                press OK
                field Answer
                type Swimming cup
                press Continue
                expect Signed in as jane.doe@example.com
                press Sign Out
                expect ( Sign In )
                """
            try Data(script.utf8).write(to: file)
            try await Pane(
                "ClassicTerminal",
                [
                    "--issuer", sandbox.issuer.absoluteString, "--client-id", "sso-app", "--vault", folder.path, "--script", file.path,
                ]
            ).waitFor("ended 0")
        }
    }
}
