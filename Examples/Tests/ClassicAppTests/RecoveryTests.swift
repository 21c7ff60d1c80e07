import CountersignSandbox
import ExampleTestSupport
import Foundation
import OktaAuthSdk
import Testing

@testable import ClassicApp

@MainActor
@Suite("Account recovery in the classic app", .timeLimit(.minutes(5)))
struct RecoveryTests {
    private static let recovery =
        "sign_on_policy: one-factor\nshow_lockout: true\nrecovery: [email, sms, call]\nself_service_unlock: true\n"

    @Test(
        "In the classic app, a user resets a forgotten password with a code and a security question, and must enter the new password twice")
    func recover() async throws {
        try await withSandbox(.classic(Self.recovery)) { sandbox in
            try await sandbox.addCodeFactor(.text, to: ClassicVisit.number, for: ClassicVisit.jane)
            try await sandbox.addSecurityQuestion("first_award", answer: "Swimming cup", for: ClassicVisit.jane)
            let visit = ClassicVisit(sandbox)
            try await visit.take("Forgot password", ["username": ClassicVisit.jane, "way": "sms"])
            #expect(visit.model.headline == "We sent you a code.")
            try await visit.take("Enter the code you received", ["code": visit.code(by: .text)])
            #expect(visit.model.stage == .transaction(.recovery))
            try await visit.take("Answer your question", ["answer": "Chess cup"])
            #expect(visit.model.errorMessage?.isEmpty == false)
            try await visit.take("Answer your question", ["answer": "Swimming cup"])
            #expect(visit.model.stage == .transaction(.passwordReset))
            #expect(visit.model.details.contains { $0.hasPrefix("A new password has at least ") })
            let sent = sandbox.requests.count
            try await visit.take("Set a new password", ["new": "Another-Horse-8", "again": "Another-Horse-9"])
            #expect(visit.model.errorMessage == "The two new passwords differ." && sandbox.requests.count == sent)
            try await visit.take("Set a new password", ["new": "short", "again": "short"])
            #expect(visit.model.errorMessage?.isEmpty == false && visit.model.stage == .transaction(.passwordReset))
            try await visit.take("Set a new password", ["new": "Another-Horse-8", "again": "Another-Horse-8"])
            #expect(visit.model.stage == .done(hasTokens: false))
            let again = ClassicVisit(sandbox)
            await again.signIn("Another-Horse-8")
            #expect(again.model.stage == .done(hasTokens: false))
        }
    }

    @Test("After starting a recovery by email, the classic app tells the user to continue with the mailed link")
    func byMail() async throws {
        try await withSandbox(.classic(Self.recovery)) { sandbox in
            let visit = ClassicVisit(sandbox)
            try await visit.take("Forgot password", ["username": ClassicVisit.jane, "way": "email"])
            #expect(visit.model.headline == "We sent you a link by email. Continue there.")
            #expect(try await sandbox.outbox.next(by: .mail).recipient == ClassicVisit.jane)
        }
    }

    @Test(
        "In the classic app, a user can unlock a locked account, after the wrong password that locks the account or from the start screen",
        arguments: [true, false])
    func unlock(fromLock: Bool) async throws {
        try await withSandbox(.classic(Self.recovery, more: "password_policy:\n  lockout_attempts: 5\n")) { sandbox in
            try await sandbox.addCodeFactor(.call, to: ClassicVisit.number, for: ClassicVisit.jane)
            let visit = ClassicVisit(sandbox)
            for _ in 0..<5 { await visit.signIn("wrong") }
            #expect(visit.model.headline == "Your account is locked." && visit.model.stage == .transaction(.lockedOut))
            if fromLock {
                try await visit.take("Unlock the account", ["way": "call"])
            } else {
                let other = ClassicVisit(sandbox)
                try await other.take("Unlock account", ["username": ClassicVisit.jane, "way": "call"])
                try await other.take("Enter the code you received", ["code": other.code(by: .call)])
                #expect(other.model.stage == .done(hasTokens: false) && other.model.headline == "Done.")
            }
            if fromLock {
                try await visit.take("Enter the code you received", ["code": visit.code(by: .call)])
                #expect(visit.model.stage == .done(hasTokens: false))
            }
            let again = ClassicVisit(sandbox)
            await again.signIn()
            #expect(again.model.stage == .done(hasTokens: false))
        }
    }

    @Test("In the classic app, a user can change an expired password, and can keep a password that expires soon")
    func duePassword() async throws {
        let aging = "password_policy:\n  age:\n    maximum_days: 90\n    warning_days: 5\n"
        try await withSandbox(.classic("sign_on_policy: one-factor", more: aging)) { sandbox in
            sandbox.advance(by: 86 * 86_400)
            let early = ClassicVisit(sandbox)
            await early.signIn()
            #expect(early.model.headline == "Your password expires in 4 days." && early.titles.contains("Change the password"))
            try await early.take("Keep the password for now")
            #expect(early.model.stage == .done(hasTokens: false))
            sandbox.advance(by: 5 * 86_400)
            let late = ClassicVisit(sandbox)
            await late.signIn()
            #expect(late.model.headline == "Your password has expired." && !late.titles.contains("Keep the password for now"))
            for old in ["wrong", ClassicVisit.password] {
                try await late.take("Change the password", ["old": old, "new": "Another-Horse-8", "again": "Another-Horse-8"])
                #expect((late.model.errorMessage == nil) == (old != "wrong"))
            }
            #expect(late.model.stage == .done(hasTokens: false))
        }
    }

    @Test("Closing a form in the classic app sends no request")
    func closed() async throws {
        try await withSandbox(.classic(Self.recovery)) { sandbox in
            let visit = ClassicVisit(sandbox)
            let action = try #require(visit.model.actions.first)
            await visit.model.select(action)
            #expect(visit.model.openAction?.title == "Forgot password" && !visit.model.canSubmit)
            visit.model.closeForm()
            #expect(visit.model.openAction == nil && visit.model.values.isEmpty && sandbox.requests.isEmpty)
        }
    }
}
