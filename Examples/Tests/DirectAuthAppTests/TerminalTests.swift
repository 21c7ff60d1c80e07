import AuthFoundation
import CountersignSandbox
import ExampleTestSupport
import Foundation
import Testing

@Suite("The direct authentication app in a terminal", .enabled(if: Pane.isEnabled, Comment(rawValue: Pane.missingNote)))
struct TerminalTests {
    /// Runs a test with a sandbox, a phone, and the app in a terminal.
    private func play(
        arguments: [String] = [], asksForNumbers: Bool = false,
        _ body: (Sandbox, VirtualPhone, Pane, _ again: () async throws -> Pane) async throws -> Void
    ) async throws {
        let organization =
            asksForNumbers
            ? Sandbox.standardOrganization.replacing("number_challenge: never", with: "number_challenge: always") : nil
        try await withSandbox(Sandbox.Configuration(organization: organization)) { sandbox in
            let phone = try await sandbox.phone(for: SandboxUser.jane.login)
            let vault = URL.temporaryDirectory.appending(path: "vault-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: vault) }
            let arguments = ["--issuer", sandbox.issuer.absoluteString, "--client-id", "directauth-app", "--vault", vault.path] + arguments
            let start = { () async throws in try await Pane("DirectAuthTerminal", arguments) }
            try await body(sandbox, phone, try await start(), start)
        }
    }

    /// Returns the number of revocations so far. The set-up of the phone has revoked a token too.
    private func revocations(_ sandbox: Sandbox) -> Int { sandbox.requests.count { $0.endpoint == .revoke && $0.status == 200 } }

    private func signIn(_ phone: VirtualPhone, _ pane: Pane) async throws {
        try await pane.waitFor("( Sign In )")
        try await pane.type(SandboxUser.jane.login)
        try await pane.press("Tab")
        try await pane.type("Correct-Horse-7")
        try await pane.waitFor("[ Sign In ]")
        try await pane.press("Enter")
        try await phone.approveNext()
        try await pane.waitFor("Signed in")
    }

    @Test("In the terminal, the user of the direct authentication app can sign in, open the tokens and the profile, and sign out")
    func walk() async throws {
        try await play { _, phone, pane, _ in
            try await pane.waitForScreen(
                """
                  Countersign DirectAuth (Password + Push)

                  Email    >[________________________________________________]
                  Password  [________________________________________________]

                   ( Sign In )
                ⋮
                  Tab Move  Ctrl-C Quit
                """)
            try await pane.type("jane.doe@example.comX")
            try await pane.press("BSpace", "Tab")
            try await pane.type("Correct-Horse-7")
            try await pane.waitForScreen(
                """
                  Countersign DirectAuth (Password + Push)

                  Email     [jane.doe@example.com____________________________]
                  Password >[•••••••••••••••_________________________________]

                   [ Sign In ]
                ⋮
                  Return Next  Tab Move  Ctrl-C Quit
                """)
            try await pane.press("Enter")
            try await pane.waitForScreen(
                """
                  Countersign DirectAuth (Password + Push)

                  * Approve the push on your device.

                  >[ Cancel ]
                ⋮
                  Return Press  Esc Cancel  Ctrl-C Quit
                """)
            try await phone.approveNext()
            try await pane.waitForScreen(
                """
                  Countersign DirectAuth (Password + Push)

                  Signed in 🎉

                  ┌─ ID Token ───────────────────────────────────────────────────────────────┐
                …
                …
                …
                …
                …
                …
                …
                …
                …
                …

                  >[ Token Info t ]   [ User Info u ]   [ Refresh Token r ]   [ Sign Out o ]
                ⋮
                  Return Press  Tab Move  Ctrl-C Quit
                """)
            try await pane.press("t")
            try await pane.waitFor("Token type: Bearer", "! Anyone who sees these tokens can use them.")
            try await pane.press("End")
            try await pane.press("Escape")
            try await pane.waitFor("Signed in")
            try await pane.press("u")
            try await pane.waitFor("Name: Jane Doe", "Username: jane.doe@example.com")
            try await pane.press("Enter")
            try await pane.waitFor("Signed in")
            try await pane.press("o")
            try await pane.waitFor("( Sign In )")
            try await pane.press("C-c")
            #expect(try await pane.waitFor("ended").hasPrefix("before\nended 0"), "What was there before is there again.")
        }
    }

    @Test("In the direct authentication terminal app, Cancel shows the form, and a later approval of the push has no effect")
    func cancel() async throws {
        try await play { sandbox, phone, pane, _ in
            try await pane.waitFor("( Sign In )")
            try await pane.type(SandboxUser.jane.login)
            try await pane.press("Enter")
            try await pane.paste("Correct-Horse-7")
            try await pane.press("Enter")
            try await pane.waitFor("Approve the push")
            #expect(await eventually { !phone.waiting.isEmpty })
            let request = try #require(phone.waiting.first)
            let earlier = revocations(sandbox)
            try await pane.press("Enter")
            try await pane.waitFor("[ Sign In ]")
            #expect(await eventually { revocations(sandbox) == earlier + 1 })
            _ = try? await phone.approve(request.id)
            sandbox.advance(by: 6)
            try await pane.press("C-l")
            #expect(try await pane.screen().contains("[ Sign In ]"))
            let requests = sandbox.requests.map { "\($0.path) \($0.status.map(String.init) ?? "-")" }
            #expect(!phone.history.contains { $0.outcome == .approved }, "\(phone.history) \(requests)")
        }
    }

    @Test(
        "In a number challenge, the terminal shows the number, Esc cancels the sign-in, and picking the number on the phone signs the user in"
    )
    func number() async throws {
        try await play(asksForNumbers: true) { sandbox, phone, pane, _ in
            try await pane.waitFor("( Sign In )")
            try await pane.type(SandboxUser.jane.login)
            try await pane.press("Tab")
            try await pane.type("Correct-Horse-7")
            try await pane.press("Enter")
            let shown = try await pane.waitFor("Pick this number there: ")
            let number = try #require(shown.firstMatch(of: /Pick this number there: (\d+)/)?.1)
            try await pane.waitForScreen(
                """
                  Countersign DirectAuth (Password + Push)

                  * Approve the push on your device.

                  Pick this number there: \(number)

                  >[ Cancel ]
                ⋮
                  Return Press  Esc Cancel  Ctrl-C Quit
                """)
            #expect(await eventually { !phone.waiting.isEmpty })
            let given = phone.waiting.last
            let earlier = revocations(sandbox)
            try await pane.press("Escape")
            try await pane.waitFor("[ Sign In ]")
            #expect(await eventually { revocations(sandbox) == earlier + 1 })
            try await pane.press("Enter")
            let next = try await pane.waitFor("Pick this number there: ")
            let picked = String(try #require(next.firstMatch(of: /Pick this number there: (\d+)/)?.1))
            // The phone may still show the first request, which the server has withdrawn.
            #expect(await eventually { phone.waiting.last?.id != given?.id })
            try await phone.approve(try #require(phone.waiting.last).id, selectedNumber: picked)
            try await pane.waitFor("Signed in")
        }
    }

    @Test("The direct authentication terminal app disables its buttons during an operation, and shows a failure on the current screen")
    func busy() async throws {
        try await play { sandbox, phone, pane, _ in
            try await signIn(phone, pane)
            sandbox.inject(Fault(.delay(60), at: .token))
            try await pane.press("r")
            try await pane.waitFor("* One moment, please.", ">( Token Info t )   ( User Info u )   ( Refresh Token r )   [ Sign Out o ]")
            #expect(await sandbox.endDelay(of: 61) { (try? await pane.screen().contains("[ Refresh Token r ]")) == true })
            sandbox.inject(Fault(.dropConnectionBeforeCommit, at: .userInfo, count: 10))
            try await pane.press("u")
            try await pane.waitFor("⚠", "[ Refresh Token r ]", "Signed in")
            sandbox.clearFaults()
            try await pane.press("u")
            try await pane.waitFor("Name: Jane Doe")
        }
    }

    @Test("Ctrl-C in the direct authentication terminal app cancels a sign-in that waits for a push")
    func quitWhileWaiting() async throws {
        try await play { sandbox, _, pane, _ in
            try await pane.waitFor("( Sign In )")
            try await pane.type(SandboxUser.jane.login)
            try await pane.press("Tab")
            try await pane.type("Correct-Horse-7")
            try await pane.press("Enter")
            try await pane.waitFor("Approve the push")
            let earlier = revocations(sandbox)
            try await pane.press("C-c")
            try await pane.waitFor("ended 0")
            #expect(revocations(sandbox) == earlier + 1)
        }
    }

    @Test("The direct authentication terminal app shows in the form that the user name or password is wrong")
    func wrongPassword() async throws {
        try await play { _, _, pane, _ in
            try await pane.waitFor("( Sign In )")
            try await pane.type(SandboxUser.jane.login)
            try await pane.press("Tab")
            try await pane.type("Wrong-Horse-7")
            try await pane.press("Enter")
            try await pane.waitFor("⚠", "The user name or the password is incorrect.")
        }
    }

    @Test("If a signal ends the direct authentication terminal app, the terminal is restored, and the next start shows the session")
    func restart() async throws {
        try await play { _, phone, pane, again in
            try await signIn(phone, pane)
            try await pane.send(signal: "TERM", to: "DirectAuthTerminal")
            #expect(try await pane.waitFor("ended").hasPrefix("before\nended 143"))
            try await again().waitFor("Signed in")
        }
    }

    @Test("The direct authentication terminal app shows German texts, and adapts to a smaller terminal")
    func german() async throws {
        try await play(arguments: ["--language", "de"]) { _, _, pane, _ in
            try await pane.waitFor("( Anmelden )")
            try await pane.resize(columns: 40, rows: 12)
            try await pane.waitForScreen(
                """
                  Countersign DirectAuth (Passwort + Pus

                  E-Mail   >[________________________]
                  Passwort  [________________________]

                   ( Anmelden )
                ⋮
                  Tab Weiter  Strg-C Beenden
                """)
        }
    }

    @Test("The direct authentication terminal app can run a script, and exits with status 1 if the script fails")
    func script() async throws {
        try await withSandbox { sandbox in
            let phone = try await sandbox.phone(for: SandboxUser.jane.login)
            phone.autoApprove = true
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
                expect Signed in
                press Sign Out
                expect ( Sign In )
                within 1
                """
            let arguments = [
                "--issuer", sandbox.issuer.absoluteString, "--client-id", "directauth-app", "--vault", folder.path, "--script", file.path,
            ]
            try Data(lines.utf8).write(to: file)
            try await Pane("DirectAuthTerminal", arguments).waitFor("ended 0")
            try Data((lines + "\nexpect Signed in\n").utf8).write(to: file)
            let failed = try await Pane("DirectAuthTerminal", arguments).waitFor("ended 1")
            #expect(failed.contains("--- line 10: “Signed in” did not appear within 1 s"))
        }
    }
}
