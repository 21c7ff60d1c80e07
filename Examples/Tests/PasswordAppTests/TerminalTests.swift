import AuthFoundation
import CountersignSandbox
import ExampleTestSupport
import Foundation
import Testing

@Suite("The password app in a terminal", .enabled(if: Pane.isEnabled, Comment(rawValue: Pane.missingNote)))
struct TerminalTests {
    private func play(
        arguments: [String] = [], _ body: (Sandbox, () async throws -> Pane) async throws -> Void
    ) async throws {
        try await withSandbox { sandbox in
            let vault = URL.temporaryDirectory.appending(path: "vault-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: vault) }
            let arguments = ["--issuer", sandbox.issuer.absoluteString, "--client-id", "password-app", "--vault", vault.path] + arguments
            try await body(sandbox) { try await Pane("PasswordTerminal", arguments) }
        }
    }

    @Test("In the terminal, the user of the password app can sign in, open the profile and the tokens, and sign out")
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

                  ⚠ The user name or the password is incorrect. Check both and try again.
                ⋮
                  Return Next  Tab Move  Ctrl-C Quit
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

    private func signIn(_ pane: Pane, as user: SandboxUser = .jane) async throws {
        try await pane.waitFor("( Sign In )")
        try await pane.press("C-u")
        try await pane.type(user.login)
        try await pane.press("Tab")
        try await pane.type(try #require(user.password))
        try await pane.press("Enter")
        try await pane.waitFor("Successfully Authenticated")
    }

    @Test("If a profile request finds that the session has ended, the form appears, and the next user sees their own profile")
    func nextPerson() async throws {
        try await play { sandbox, start in
            let pane = try await start()
            try await signIn(pane)
            sandbox.advance(by: 4_000)
            try await sandbox.signOutEverywhere(SandboxUser.jane.login)
            try await pane.press("p")
            // The app learns from the response that its tokens have expired.
            try await pane.waitForScreen(
                """
                  Profile

                  ! Unable to load profile
                  Please try again later
                  ⚠ Failed to fetch user profile: Your sign-in has expired. Sign in again.

                  >[ Done d ]
                ⋮
                  Return Press  Esc Done  Ctrl-C Quit
                """)
            try await pane.press("d")
            try await pane.waitFor("Successfully Authenticated", "Failed to fetch user profile")
            try await pane.press("p")
            try await pane.waitFor("Welcome Back", "Your session has ended. Sign in again.")
            // The focus is still on the password field.
            try await pane.press("BTab")
            try await signIn(pane, as: .john)
            try await pane.press("p")
            try await pane.waitFor("Last Updated", "john.roe@example.com")
        }
    }

    @Test("The password terminal app shows German texts with --language de")
    func german() async throws {
        try await play(arguments: ["--language", "de"]) { _, start in
            let pane = try await start()
            try await pane.waitForScreen(
                """
                  Countersign DirectAuth

                  Willkommen zurück
                  Melden Sie sich mit Ihrem Countersign-Konto an

                  E-Mail oder Benutzer >[________________________________________________]
                  Passwort              [________________________________________________]

                   ( Anmelden )
                ⋮
                  Tab Weiter  Strg-C Beenden
                """)
            try await pane.type(SandboxUser.jane.login)
            try await pane.press("Tab")
            try await pane.type("Correct-Horse-7")
            try await pane.press("Enter")
            try await pane.waitFor("Erfolgreich angemeldet", "[ Profil p ]   [ Token t ]   [ Token erneuern r ]   [ Abmelden o ]")
            try await pane.press("t")
            try await pane.waitFor("Art des Tokens: Das Schema, mit dem das Token gesendet wird.")
        }
    }

    @Test("The password terminal app can run a script, and exits with status 1 if the script fails")
    func script() async throws {
        let folder = URL.temporaryDirectory.appending(path: "script-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "script.txt")
        let lines = """
            type jane.doe@example.com
            field Password
            type Correct-Horse-7
            press Sign In
            within 30
            expect Successfully Authenticated
            press View Profile
            expect Jane Doe
            press Done
            press Sign Out
            expect ( Sign In )
            within 1
            """
        try await play(arguments: ["--script", file.path]) { _, start in
            try Data(lines.utf8).write(to: file)
            try await start().waitFor("ended 0")
            try Data((lines + "\npress View Profile\n").utf8).write(to: file)
            try await start().waitFor("ended 1", "--- line 13: there was nothing to press called “View Profile” within 1 s")
        }
    }

    @Test(
        "In the password terminal app, a refresh shows its progress, a failed refresh shows an error, and an ended session shows the form")
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
            sandbox.inject(Fault(.dropConnectionBeforeCommit, at: .token, count: 10))
            try await pane.press("r")
            try await pane.waitFor("Successfully", "⚠ Token refresh failed: ", "[ Refresh Token r ]")
            sandbox.clearFaults()

            // The next process restores the session, and ends it after the server has ended it.
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
