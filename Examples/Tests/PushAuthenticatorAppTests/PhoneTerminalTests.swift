import CountersignSandbox
import ExampleTestSupport
import Foundation
import Testing

@testable import PushAuthenticatorApp

@Suite(
    "The push authenticator app in a terminal", .timeLimit(.minutes(5)),
    .enabled(if: Pane.isEnabled, Comment(rawValue: Pane.missingNote)))
struct PhoneTerminalTests {
    @Test("The terminal authenticator app adds an account, approves and denies requests, and removes the account from the device")
    func wholeLife() async throws {
        try await withTerminalPhone { phone, pane in
            try await phone.enroll(pane)
            let approved = try await phone.signInElsewhere()
            try await pane.waitForScreen(
                """
                  Push authenticator

                  Are you trying to sign in to Direct Authentication App?
                  Account       jane.doe@example.com
                  Organization  127.0.0.1
                …
                …
                …

                  >[ Deny n ]   [ It wasn't me s ]   [ Approve ]

                  Accounts
                    jane.doe@example.com
                    127.0.0.1

                   [ Add Account a ]   [ Check for Requests c ]
                ⋮
                  Return Press  Tab Move  Ctrl-C Quit
                """)
            try await phone.approve(pane)
            try await pane.waitFor("Approved")
            #expect(try await approved.outcome() == .tokens)

            let denied = try await phone.signInElsewhere()
            try await pane.waitFor(
                "Previous request: Approved", "> Are you trying to sign in to Direct Authentication App?",
                "jane.doe@example.com · 127.0.0.1 · ")
            try await pane.press("Enter")
            try await pane.waitFor(">[ Deny n ]")
            try await pane.press("Enter")
            try await pane.waitFor("Denied")
            #expect(try await denied.outcome() == .refused("access_denied"))

            try await phone.openSettings(pane)
            try await pane.waitForScreen(
                """
                  jane.doe@example.com

                  Organization  \(phone.sandbox.origin.absoluteString)

                  >[ ] Verify me before approving
                   [ ] Approve requests of apps (CIBA)

                   [ Remove Account r ]   [ Remove from This Device Only d ]   [ Back b ]

                  Denied
                ⋮
                  Return Change  Tab Move  Esc Back  Ctrl-C Quit
                """)
            try await pane.press("Down", "Enter")
            try await pane.waitFor("[x] Approve requests of apps (CIBA)")
            try await pane.press("d")
            let alert = try await pane.waitFor("The organization will keep sending requests")
            #expect(alert.contains("[ Remove ]") && alert.contains(">[ Keep ]"), "A Return that is held does not remove it.")
            try await pane.press("Escape")
            try await pane.waitFor(">[x] Approve requests of apps (CIBA)")
            try await pane.press("d")
            try await pane.waitFor(">[ Keep ]")
            try await pane.press("Tab")
            try await pane.waitFor(">[ Remove ]")
            try await pane.press("Enter")
            try await pane.waitFor("There are no accounts on this device.", "The account was removed from this device.")
            try await pane.press("C-c")
            #expect(try await pane.waitFor("ended 0").hasPrefix("before"))
        }
    }

    @Test("The terminal authenticator app shows a new request in the settings, and announces a new request in a form")
    func behind() async throws {
        try await withTerminalPhone { phone, pane in
            try await phone.enroll(pane)
            try await phone.openSettings(pane)
            try await pane.waitFor("Remove from This Device Only")
            let signIn = try await phone.signInElsewhere()
            try await pane.waitForScreen(
                """
                  jane.doe@example.com

                  Are you trying to sign in to Direct Authentication App?
                  Account       jane.doe@example.com
                  Organization  127.0.0.1
                …
                …
                …

                  >[ Deny n ]   [ It wasn't me s ]   [ Approve ]

                  Organization  \(phone.sandbox.origin.absoluteString)

                   [ ] Verify me before approving
                   [ ] Approve requests of apps (CIBA)

                   [ Remove Account r ]   [ Remove from This Device Only d ]   [ Back b ]
                ⋮
                  Return Press  Tab Move  Esc Back  Ctrl-C Quit
                """)
            try await pane.press("r")
            try await pane.waitForScreen(
                """
                  Remove Account

                  ! A request is waiting. Cancel to answer it.
                  Sign in again to change who can approve for you.

                  Username >[jane.doe@example.com____________________________]
                  Password  [________________________________________________]
                  Code      [________________________________________________]
                  Enter the code of your authenticator app, or leave it empty to approve on
                  another device.

                   ( Remove Account )   [ Cancel ]
                ⋮
                  Tab Move  Esc Cancel  Ctrl-C Quit
                """)
            try await pane.press("Escape")
            try await pane.waitFor("Deny n", "Remove from This Device Only")
            try await pane.press("s")
            try await pane.waitFor("Denied and reported as suspicious")
            #expect(try await signIn.outcome() == .refused("access_denied"))
        }
    }

    @Test("In the terminal authenticator app, the user can pick the number of the sign-in from three numbers")
    func number() async throws {
        try await withTerminalPhone(.withNumbers) { phone, pane in
            try await phone.enroll(pane)
            let (numbers, entrance) = AsyncStream.makeStream(of: String.self)
            let signIn = try await phone.signInElsewhere(numbers: entrance)
            let number = try #require(await numbers.first())
            let shown = try await pane.waitFor("Select the number that the sign-in shows.", "[ \(number) ]")
            #expect(!shown.contains("Approve"))
            try await pane.waitForScreen(
                """
                  Push authenticator

                  Are you trying to sign in to Direct Authentication App?
                  Account       jane.doe@example.com
                  Organization  127.0.0.1
                …
                …
                …

                  >[ Deny n ]   [ It wasn't me s ]

                  Select the number that the sign-in shows.
                …

                  Accounts
                    jane.doe@example.com
                    127.0.0.1

                   [ Add Account a ]   [ Check for Requests c ]
                ⋮
                  Return Press  Tab Move  Ctrl-C Quit
                """)
            let choices = shown.matches(of: /\[ (\d+) \]/).map { String($0.1) }
            let place = try #require(choices.firstIndex(of: number))
            for _ in 0..<(2 + place) { try await pane.press("Tab") }
            try await pane.waitFor(">[ \(number) ]")
            try await pane.press("Enter")
            try await pane.waitFor("Approved")
            #expect(try await signIn.outcome() == .tokens)
        }
    }

    @Test("In the terminal authenticator app, the user chooses a PIN, must enter the PIN to approve, and sees an error after a wrong PIN")
    func pin() async throws {
        try await withTerminalPhone(.withVerification) { phone, pane in
            try await phone.fillForm(pane)
            try await pane.press("Tab", "Tab", "Space", "Tab")
            try await pane.waitFor("[x] Verify me before approving", ">[ Add Account ]")
            try await pane.press("Enter")
            try await pane.waitForScreen(
                """
                  Choose a PIN

                  This device requires it for each approval.

                  PIN >[________________________________________________]

                   ( OK )   [ Cancel ]
                ⋮
                  Return Next  Tab Move  Esc Cancel  Ctrl-C Quit
                """)
            try await pane.type("12")
            try await pane.waitFor(">[••__")
            try await pane.press("Enter")
            try await pane.waitFor("⚠ A PIN has at least 4 characters.")
            try await pane.type("34")
            try await pane.waitFor(">[••••__")
            try await pane.press("Enter")
            try await pane.waitFor("jane.doe@example.com was added.", "127.0.0.1 · verifies you")

            let signIn = try await phone.signInElsewhere()
            try await pane.waitFor("Are you trying to sign in to Direct Authentication App?")
            try await phone.approve(pane)
            try await pane.waitForScreen(
                """
                  Your PIN

                  Are you trying to sign in to Direct Authentication App?

                  PIN >[________________________________________________]

                   ( OK )   [ Cancel ]
                ⋮
                  Return Next  Tab Move  Esc Cancel  Ctrl-C Quit
                """)
            try await pane.type("9999")
            try await pane.waitFor(">[••••__")
            try await pane.press("Enter")
            try await pane.waitFor("Error")
            #expect(try await signIn.outcome() == .refused("access_denied"))
            try await pane.press("Enter")
            try await pane.waitForScreen(
                """
                  Push authenticator

                  Accounts
                  > jane.doe@example.com
                    127.0.0.1 · verifies you

                   [ Add Account a ]   [ Check for Requests c ]
                ⋮
                  ↑↓ Choose  Return Open  Tab Move  Ctrl-C Quit
                """)
        }
    }

    @Test("In the terminal authenticator app, an account can be removed at the organization after a wrong password is corrected")
    func removal() async throws {
        try await withTerminalPhone { phone, pane in
            try await phone.enroll(pane)
            let app = try await phone.sandbox.authenticatorApp(for: SandboxUser.jane.login)
            try await phone.openSettings(pane)
            try await pane.waitFor("Remove from This Device Only")
            try await pane.press("r")
            try await pane.waitFor("Sign in again to change who can approve for you.")
            try await pane.press("Tab")
            try await pane.type("Wrong-Horse-7")
            try await pane.waitFor("[ Remove Account ]")
            try await pane.press("Enter")
            try await pane.waitFor("Error", ">[ OK ]")
            try await pane.press("Enter")
            try await pane.waitFor("Password >[____")
            try await pane.type(SandboxUser.jane.password ?? "")
            try await pane.press("Tab")
            let code = app.code
            try await pane.type(code)
            try await pane.press("Tab")
            try await pane.waitFor(">[ Remove Account ]", code)
            try await pane.press("Enter")
            try await pane.waitForScreen(
                """
                  Push authenticator

                  There are no accounts on this device.

                  >[ Add Account a ]   ( Check for Requests c )

                  The account was removed.
                ⋮
                  Return Press  Ctrl-C Quit
                """)
            #expect(phone.sandbox.requests.contains { $0.method == "DELETE" && (200..<300).contains($0.status ?? 0) })
        }
    }

    @Test("Ctrl-C in the terminal authenticator app revokes the app's own pending sign-in, so that no request is left")
    func quitWhileWaiting() async throws {
        try await withTerminalPhone { phone, pane in
            try await phone.enroll(pane)
            try await phone.openSettings(pane)
            try await pane.waitFor("Remove from This Device Only")
            try await pane.press("r")
            try await pane.waitFor("Sign in again to change who can approve for you.")
            try await pane.press("Tab")
            try await pane.type(SandboxUser.jane.password ?? "")
            try await pane.waitFor("[ Remove Account ]")
            try await pane.press("Enter")
            try await pane.waitForScreen(
                """
                  Remove Account

                  Are you trying to sign in to Phone App?
                  Account       jane.doe@example.com
                  Organization  127.0.0.1
                …
                …
                …

                  >[ Deny n ]   [ It wasn't me s ]   [ Approve ]

                  … Approve the sign-in on one of your devices, possibly this one.

                   [ Cancel ]
                ⋮
                  Return Press  Tab Move  Esc Cancel  Ctrl-C Quit
                """)
            let revoked = phone.sandbox.requests.count { $0.endpoint == .revoke }
            try await pane.press("C-c")
            try await pane.waitFor("ended 0")
            #expect(phone.sandbox.requests.count { $0.endpoint == .revoke && $0.status == 200 } == revoked + 1, "It waited for the server.")
            let again = try await phone.open()
            try await again.waitFor("> jane.doe@example.com")
            try await again.press("Tab", "Tab", "Enter")
            try await again.waitFor("No requests")
        }
    }

    @Test("The terminal authenticator app shows German texts with --language de")
    func german() async throws {
        try await withTerminalPhone(arguments: ["--language", "de"]) { _, pane in
            try await pane.waitForScreen(
                """
                  Push-Authenticator

                  Auf diesem Gerät gibt es keine Konten.

                  >[ Konto hinzufügen a ]   ( Anfragen abrufen c )
                ⋮
                  Enter Drücken  Strg-C Beenden
                """)
            try await pane.press("a")
            try await pane.waitForScreen(
                """
                  Konto hinzufügen

                  Melden Sie sich an, um künftige Anmeldungen auf diesem Gerät zu bestätigen.

                  Benutzername >[________________________________________________]
                  Passwort      [________________________________________________]
                  Code          [________________________________________________]
                  Geben Sie den Code Ihrer Authenticator-App ein, oder lassen Sie das Feld
                  leer, um auf einem anderen Gerät zuzustimmen.

                   [ ] Vor jeder Zustimmung verifizieren

                   ( Konto hinzufügen )   [ Abbrechen ]

                  Oder fügen Sie den Inhalt des QR-Codes einer Anmeldeseite ein:
                  QR-Code       [________________________________________________]
                   ( Code verwenden )
                ⋮
                  Tab Weiter  Esc Abbrechen  Strg-C Beenden
                """)
        }
    }

    @Test("A script can add an account in the terminal authenticator app and enable back-channel requests")
    func script() async throws {
        let file = URL.temporaryDirectory.appending(path: "script-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        let lines = """
            press Add Account
            type jane.doe@example.com
            field Password
            type Correct-Horse-7
            key enter
            within 30
            expect jane.doe@example.com was added.
            press jane.doe@example.com
            press Approve requests of apps (CIBA)
            expect [x] Approve requests of apps (CIBA)
            press Back
            expect requests of apps
            """
        try Data(lines.utf8).write(to: file)
        try await withTerminalPhone(arguments: ["--script", file.path]) { _, pane in
            let seen = try await pane.waitFor("ended")
            #expect(seen.hasSuffix("ended 0"), "\(seen)")
        }
    }
}
