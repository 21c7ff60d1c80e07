import AuthFoundation
import CountersignSandbox
import ExampleTestSupport
import Foundation
import Testing

@Suite("The app in a terminal", .enabled(if: Pane.isEnabled, Comment(rawValue: Pane.missingNote)))
struct TerminalTests {
    private func play(_ body: (Sandbox, () async throws -> Pane) async throws -> Void) async throws {
        try await withSandbox { sandbox in
            let vault = URL.temporaryDirectory.appending(path: "vault-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: vault) }
            let arguments = ["--issuer", sandbox.issuer.absoluteString, "--client-id", "password-app", "--vault", vault.path]
            try await body(sandbox) { try await Pane("PasswordTerminal", arguments) }
        }
    }

    @Test("from the form to the profile, the tokens, and out, screen by screen")
    func walk() async throws {
        try await play { sandbox, start in
            let pane = try await start()
            try await pane.waitForScreen(
                """
                  Countersign DirectAuth

                  Welcome Back
                  Sign in with your Countersign credentials

                  Email or Username >[________________________________________________]
                  Password           [________________________________________________]

                   ( Sign In )
                ⋮
                  Tab Move  Ctrl-C Quit
                """)
            try await pane.type(SandboxUser.jane.login)
            try await pane.press("Tab")
            try await pane.type("Wrong-Horse-7")
            try await pane.press("Enter")
            try await pane.waitForScreen(
                """
                  Countersign DirectAuth

                  Welcome Back
                  Sign in with your Countersign credentials

                  Email or Username  [jane.doe@example.com____________________________]
                  Password          >[•••••••••••••___________________________________]

                   [ Sign In ]

                  ⚠ Authentication error: The credentials provided were invalid.
                    (invalid_grant).
                ⋮
                  Return Go on  Tab Move  Ctrl-C Quit
                """)
            try await pane.press("C-u")
            try await pane.type("Correct-Horse-7")
            sandbox.inject(Fault(.delay(60), at: .token))
            try await pane.press("Enter")
            try await pane.waitForScreen(
                """
                  Countersign DirectAuth

                  * Signing in...
                ⋮
                  Ctrl-C Quit
                """)
            #expect(await sandbox.endDelay(of: 61) { (try? await pane.screen().contains("Successfully")) == true })
            try await pane.waitForScreen(
                """
                  Countersign DirectAuth

                  ✔ Successfully Authenticated
                  You're now signed in to your account

                  ┌─ Access Token ───────────────────────────────────────────────────────────┐
                …
                …
                …
                …
                …
                …
                …

                  >[ View Profile p ]   [ Token Details t ]   [ Refresh Token r ]
                   [ Sign Out o ]
                ⋮
                  Return Press  Tab Move  Ctrl-C Quit
                """)
            try await pane.press("p")
            try await pane.waitForScreen(
                """
                  Profile

                  User Information
                  Name      Jane Doe
                  Email     jane.doe@example.com
                  Username  jane.doe@example.com
                …

                  Metadata
                …


                  >[ Done d ]
                ⋮
                  Return Press  Esc Done  Ctrl-C Quit
                """)
            try await pane.press("Escape")
            try await pane.waitFor("Successfully")
            try await pane.press("t")
            try await pane.waitFor("Token Type", "│ Bearer ")
            try await pane.press("NPage", "NPage", "NPage", "NPage")
            try await pane.waitFor("Expires In", " seconds")
            try await pane.press("d")
            try await pane.waitFor("Successfully")
            try await pane.press("o")
            try await pane.waitFor("( Sign In )")
            try await pane.press("C-c")
            #expect(try await pane.waitFor("ended").hasPrefix("before\nended 0"))
        }
    }

    @Test("a refresh shows that it is busy, and what went wrong")
    func refresh() async throws {
        try await play { sandbox, start in
            let pane = try await start()
            try await pane.waitFor("( Sign In )")
            try await pane.type(SandboxUser.jane.login)
            try await pane.press("Enter")
            try await pane.type("Correct-Horse-7")
            try await pane.press("Enter")
            try await pane.waitFor("Successfully")
            sandbox.inject(Fault(.delay(60), at: .token))
            try await pane.press("r")
            try await pane.waitFor("* One moment, please.", "( Refresh Token r )\n   ( Sign Out o )")
            #expect(await sandbox.endDelay(of: 61) { (try? await pane.screen().contains("[ Refresh Token r ]")) == true })

            // The session is there for the next process, and ends where the server has ended it.
            try await pane.press("C-c")
            try await pane.waitFor("ended 0")
            let next = try await start()
            try await next.waitFor("Successfully")
            try await sandbox.signOutEverywhere(SandboxUser.jane.login)
            try await next.press("r")
            try await next.waitFor("( Sign In )", "Your session has ended. Sign in again.")
        }
    }
}
