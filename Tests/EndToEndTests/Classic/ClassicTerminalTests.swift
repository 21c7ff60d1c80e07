import CountersignSandbox
import Delivery
import Foundation
import OktaAuthSdk
import QRCode
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Tests `countersign sign-in classic` with a user at the terminal.
@Suite("The classic sign-in at a terminal", .timeLimit(.minutes(3)))
struct ClassicTerminalTests {
    private static let jane = ClassicTerminal.jane
    private static let number = "+1 555 123 4821"
    private static let twoFactors = "sign_on_policy: two-factors\n"
    private static let recovery =
        "sign_on_policy: one-factor\nshow_lockout: true\nrecovery: [email, sms, call]\nself_service_unlock: true\n"
    private static let mistyped = "The code or the answer is wrong."

    @Test("In the terminal, a user can enroll an authenticator app, a security question, a text message, a phone call and an email address")
    func enrollment() async throws {
        let factors = "factors: { totp: required, question: required, sms: optional, call: optional, email: optional, push: not_allowed }"
        try await withSandbox(.classic(Self.twoFactors + factors)) { sandbox in
            let terminal = try ClassicTerminal(sandbox, "--qr", "dark")
            try await terminal.givePassword()
            let menu = try await terminal.choose("Enroll: Google Authenticator (required)")
            #expect(menu.contains("[MFA_ENROLL]") && !menu.contains("security question") && !menu.contains("Skip"))
            let drawn = try await terminal.waitFor("type this secret in your authenticator app: ")
            #expect(drawn.contains("█"))
            let secret = try await terminal.waitFor("\n").trimmingCharacters(in: .whitespacesAndNewlines)
            let app = try sandbox.authenticatorApp(scanning: "otpauth://totp/Sandbox:\(Self.jane)?secret=\(secret)&issuer=Sandbox")
            try await terminal.give(code: app.wrongCode)
            try await terminal.waitFor(Self.mistyped)
            try await terminal.give(code: app.code)

            try await terminal.choose("Enroll: security question (required)")
            try await terminal.waitFor("20) ")
            try await terminal.answer("Which question: ", "21")
            try await terminal.waitFor("That is none of the questions.")
            try await terminal.choose("Enroll: security question (required)")
            try await terminal.answer("Which question: ", "1")
            try await terminal.answer("Your answer: ", "Swimming cup")

            try await terminal.choose("Enroll: text message")
            try await terminal.answer("Number, as in +15550100 (empty for the one that is known): ", Self.number)
            let first = try await sandbox.code(by: .text)
            sandbox.advance(by: 31)
            try await terminal.choose("Resend")
            let second = try await sandbox.code(by: .text)
            #expect(sandbox.outbox.messages.map(\.recipient) == ["+15551234821", "+15551234821"])
            if first != second {
                try await terminal.give(code: first)
                try await terminal.waitFor(Self.mistyped)
            }
            try await terminal.give(code: second)

            sandbox.advance(by: 31)
            try await terminal.choose("Enroll: phone call")
            try await terminal.answer("(empty for the one that is known): ", "")
            try await terminal.give(code: sandbox.code(by: .call))
            try await terminal.choose("Enroll: e-mail")
            try await terminal.give(code: sandbox.code(by: .mail))
            try await terminal.isSignedIn()
        }
    }

    @Test(
        "In the terminal, a phone can be enrolled with the drawn QR code, or with the QR code's address if no picture is drawn",
        arguments: ["dark", "never"])
    func phone(drawing: String) async throws {
        try await withSandbox(.classic(Self.twoFactors + "factors: { push: optional, totp: not_allowed }")) { sandbox in
            let terminal = try ClassicTerminal(sandbox, "--qr", drawing)
            try await terminal.givePassword()
            try await terminal.choose("Enroll: ")
            let shown = try await terminal.waitFor(
                drawing == "dark" ? "Scan it with your device; it is also at " : "scan with your device is at ")
            #expect(shown.contains("█") == (drawing == "dark"))
            let address = try await terminal.waitFor("\n").trimmingCharacters(in: .whitespacesAndNewlines)
            var request = URLRequest(url: try #require(URL(string: address)))
            request.setValue("text/plain", forHTTPHeaderField: "Accept")
            let text = String(decoding: try await PlainHTTP.data(for: request).0, as: UTF8.self)
            if drawing == "dark" {
                let symbol = try QRSymbol(text, errorCorrection: .low).terminalText(colors: .darkBackground)
                #expect(shown.replacing("\r\n", with: "\n").contains(symbol), "\(shown)")
            }
            _ = try await sandbox.phone(for: Self.jane, scanning: text)
            try await terminal.choose("Wait for your device")
            try await terminal.isSignedIn()
        }
    }

    @Test(
        "In the terminal, the user can request a code by text, call or mail, have the code sent again, and correct a wrong code",
        arguments: [MessageChannel.text, .call, .mail])
    func sentCode(by channel: MessageChannel) async throws {
        try await withSandbox(.classic(Self.twoFactors)) { sandbox in
            try await sandbox.addCodeFactor(channel, to: channel == .mail ? Self.jane : Self.number, for: Self.jane)
            let terminal = try ClassicTerminal(sandbox)
            try await terminal.givePassword()
            let name =
                [.text: "text message to +1 XXX-XXX-4821", .call: "phone call to +1 XXX-XXX-4821", .mail: "e-mail to j"][channel] ?? ""
            try await terminal.choose(name)
            _ = try await sandbox.code(by: channel)
            sandbox.advance(by: 31)
            #expect(try await terminal.choose("Resend").contains("[MFA_CHALLENGE]"))
            let code = try await sandbox.code(by: channel)
            try await terminal.give(code: code == "000000" ? "111111" : "000000")
            try await terminal.waitFor(Self.mistyped)
            try await terminal.choose("Back")
            sandbox.advance(by: 31)
            try await terminal.choose(name)
            let last = try await sandbox.code(by: channel)
            if code != last {
                try await terminal.give(code: code)
                try await terminal.waitFor(Self.mistyped)
            }
            try await terminal.give(code: last)
            try await terminal.isSignedIn()
        }
    }

    @Test("The terminal does not echo the answer to a security question, and after a wrong answer the user can answer again")
    func question() async throws {
        try await withSandbox(.classic(Self.twoFactors)) { sandbox in
            try await sandbox.addSecurityQuestion("first_award", answer: "Swimming cup", for: Self.jane)
            let terminal = try ClassicTerminal(sandbox)
            try await terminal.givePassword()
            try await terminal.choose("security question: ")
            for answer in ["Chess cup", "Swimming cup"] {
                try await terminal.choose("Answer the security question")
                try await terminal.answer("?: ", answer)
                if answer == "Chess cup" { try await terminal.waitFor(Self.mistyped) }
            }
            let (status, text) = await terminal.end()
            #expect(status == 0 && text.contains("Signed in.") && !text.contains("Swimming cup"), "\(text)")
        }
    }

    @Test("In the terminal, a classic sign-in shows the number and the denial of a push, and the user can send another push")
    func push() async throws {
        var configuration = try Sandbox.Configuration.classic(Self.twoFactors)
        configuration.organization = configuration.organization?
            .replacing("number_challenge: never", with: "number_challenge: always")
        try await withSandbox(configuration) { sandbox in
            let phone = try await sandbox.phone(for: Self.jane)
            let terminal = try ClassicTerminal(sandbox)
            try await terminal.givePassword()
            try await terminal.choose("push to ")
            try await terminal.choose("Wait for your phone")
            try await terminal.waitFor("Pick the number ")
            try await phone.denyNext(within: .patience)
            try await terminal.waitFor("It was denied.")
            try await terminal.choose("Send another push")
            try await terminal.choose("Wait for your phone")
            try await terminal.waitFor("Pick the number ")
            let number = try await terminal.waitFor(" on your phone.").filter(\.isNumber)
            try await phone.approveNext(number: String(number.suffix(2)), within: .patience)
            try await terminal.isSignedIn()
        }
    }

    @Test(
        "In the terminal, the user resets a forgotten password with a code and a security question, and must enter the new password twice")
    func recover() async throws {
        try await withSandbox(.classic(Self.recovery)) { sandbox in
            try await sandbox.addCodeFactor(.text, to: Self.number, for: Self.jane)
            try await sandbox.addSecurityQuestion("first_award", answer: "Swimming cup", for: Self.jane)
            let terminal = try ClassicTerminal(sandbox, "--recover", "sms")
            try await terminal.give(code: sandbox.code(by: .text))
            for answer in ["Chess cup", "Swimming cup"] {
                #expect(try await terminal.choose("Answer the security question").contains("[RECOVERY]"))
                try await terminal.answer("?: ", answer)
            }
            for (first, second) in [("Another-Horse-8", "Another-Horse-9"), ("short", "short"), ("Another-Horse-8", "Another-Horse-8")] {
                #expect(try await terminal.choose("Set a new password").contains("[PASSWORD_RESET]"))
                try await terminal.answer("New password: ", first)
                try await terminal.answer("New password again: ", second)
                if first != second { try await terminal.waitFor("The two new passwords differ.") }
            }
            try await terminal.isSignedIn()
            let again = try ClassicTerminal(sandbox)
            try await again.givePassword("Another-Horse-8")
            try await again.isSignedIn()
        }
    }

    @Test("After starting a recovery by email, the command exits and tells the user to continue with the mailed link")
    func recoverByMail() async throws {
        try await withSandbox(.classic(Self.recovery)) { sandbox in
            let terminal = try ClassicTerminal(sandbox, "--recover", "email")
            let (status, text) = await terminal.end()
            #expect(status == 0 && text.contains("We sent you a link by email. Continue there. [RECOVERY_CHALLENGE]"))
            #expect(try await sandbox.outbox.next(by: .mail).recipient == Self.jane)
        }
    }

    @Test(
        "In the terminal, a user can unlock a locked account, after the wrong password that locks the account or with --unlock",
        arguments: [true, false])
    func unlock(fromLock: Bool) async throws {
        try await withSandbox(.classic(Self.recovery, more: "password_policy:\n  lockout_attempts: 5\n")) { sandbox in
            try await sandbox.addCodeFactor(.call, to: Self.number, for: Self.jane)
            for _ in 0..<(fromLock ? 4 : 5) {
                let ended = try await Command.run(
                    ["sign-in", "classic", Self.jane, "--issuer", sandbox.issuer.absoluteString], input: "wrong\n")
                #expect(ended.status != 0)
            }
            let terminal = try fromLock ? ClassicTerminal(sandbox) : ClassicTerminal(sandbox, "--unlock", "call")
            if fromLock {
                try await terminal.givePassword("wrong")
                #expect(try await terminal.choose("Unlock by call").contains("Your account is locked. [LOCKED_OUT]"))
            }
            try await terminal.give(code: sandbox.code(by: .call))
            let (status, text) = await terminal.end()
            #expect(status == 0 && text.contains("Done."), "\(text)")
            let again = try ClassicTerminal(sandbox)
            try await again.givePassword()
            try await again.isSignedIn()
        }
    }

    @Test("In the terminal, a user can change an expired password, and can keep a password that expires soon")
    func duePassword() async throws {
        let aging = "password_policy:\n  age:\n    maximum_days: 90\n    warning_days: 5\n"
        try await withSandbox(.classic("sign_on_policy: one-factor", more: aging)) { sandbox in
            sandbox.advance(by: 86 * 86_400)
            let early = try ClassicTerminal(sandbox)
            try await early.givePassword()
            #expect(try await early.choose("Keep the password for now").contains("Your password expires in 4 days. [PASSWORD_WARN]"))
            try await early.isSignedIn()
            sandbox.advance(by: 5 * 86_400)
            let late = try ClassicTerminal(sandbox)
            try await late.givePassword()
            for old in ["wrong", ClassicTerminal.password] {
                #expect(try await late.choose("Change the password").contains("Your password has expired. [PASSWORD_EXPIRED]"))
                try await late.answer("Password so far: ", old)
                try await late.answer("New password: ", "Another-Horse-8")
                try await late.answer("New password again: ", "Another-Horse-8")
            }
            try await late.isSignedIn()
        }
    }

    @Test("In the terminal, Ctrl-C or the menu choice Cancel cancels the classic transaction at the server", arguments: [true, false])
    func cancel(isInterrupt: Bool) async throws {
        try await withSandbox(.classic(Self.twoFactors)) { sandbox in
            _ = try await sandbox.authenticatorApp(for: Self.jane)
            let terminal = try ClassicTerminal(sandbox)
            try await terminal.givePassword()
            if isInterrupt {
                try await terminal.waitFor("Choice [")
                terminal.interrupt()
            } else {
                try await terminal.choose("Cancel")
            }
            let (status, text) = await terminal.end()
            #expect(status == (isInterrupt ? 130 : 1), "\(text)")
            #expect(sandbox.requests.count { $0.path.hasSuffix("/authn/cancel") && $0.status == 200 } == 1)
        }
    }
}
