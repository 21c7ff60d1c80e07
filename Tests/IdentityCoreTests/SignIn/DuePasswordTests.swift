import Foundation
import Testing

@testable import IdentityCore
@testable import SignInPages

@Suite("Sign-in with an expired password")
struct DuePasswordTests {
    private static let now = Date(timeIntervalSince1970: 1_700_000_000)
    private static let days: TimeInterval = 86_400

    /// Returns a user whose password was set this many days ago. Passwords expire after 90 days.
    private func subject(daysAgo: Double = 90, second: [FactorKind] = [], _ change: (inout SignInTransaction.Subject) -> Void = { _ in })
        -> SignInTransaction.Subject
    {
        var subject = SignInTransaction.Subject(
            user: User(id: "00u1", login: "jane", passwordHash: "old", createdAt: Self.now.addingTimeInterval(-daysAgo * Self.days)),
            decision: SignOnDecision(assurance: second.isEmpty ? .oneFactor : .twoFactors, reason: "rule"),
            passwordPolicy: PasswordPolicy(age: .init(maximumDays: 90, warningDays: 7, history: 2)), secondFactors: second,
            canChangePassword: true)
        change(&subject)
        return subject
    }

    private func transaction() -> SignInTransaction {
        let application = Application(id: "app", name: "App", kind: .native, signOnPolicy: "any")
        var transaction = SignInTransaction(
            id: "txn1", request: SignInRequest(application: application, server: nil, scopes: []), now: Self.now)
        transaction.rules = .pages
        return transaction
    }

    private func typed(_ subject: SignInTransaction.Subject) -> SignInTransaction.Input {
        .judged(.password, .knowledge, methods: ["pwd"], .proved(passwordHash: nil), subject)
    }

    @Test("An expired password stops the sign-in until the user sets a new password, which is stored with its time and the old hash")
    func changed() throws {
        let subject = subject()
        let (due, outcome, _) = transaction().step(typed(subject), now: Self.now)
        #expect(outcome == .passwordDue(.expired) && due.end == nil)
        let later = Self.now.addingTimeInterval(30)
        let (after, end, effects) = due.step(.passwordChanged(hash: "new", subject), now: later)
        #expect(end == .authenticated(AuthenticationContext(userID: "00u1", time: Self.now, methods: ["pwd"])))
        #expect(after.end == .authenticated)
        guard case .writeUser(let user) = try #require(effects.first) else {
            Issue.record("\(effects)")
            return
        }
        #expect(user.passwordHash == "new" && user.passwordChangedAt == later && user.earlierPasswords == ["old"])
        // The sign-in now refers to the account with the new password.
        #expect(after.account == .init(user))
    }

    @Test("A sign-in with an expired password requires the second factor before the password change")
    func secondFactorFirst() {
        let subject = subject(second: [.totp])
        let (first, outcome, _) = transaction().step(typed(subject), now: Self.now)
        #expect(outcome == .factorRequired([.totp]))
        #expect(first.step(.passwordChanged(hash: "new", subject), now: Self.now).1 == .refused(.overTransaction))
        let code = SignInTransaction.Input.judged(.totp, .possession, methods: ["otp"], .proved(passwordHash: nil), subject)
        #expect(first.step(code, now: Self.now).1 == .passwordDue(.expired))
    }

    @Test("A sign-in with an expired password is refused if the password cannot be changed in the sign-in")
    func refused() {
        let subject = subject { $0.canChangePassword = false }
        let (after, outcome, _) = transaction().step(typed(subject), now: Self.now)
        #expect(outcome == .refused(.expiredPassword) && after.end == .refused)
    }

    @Test("A warning before the password expires is shown only if the client requests it, and the user can keep or change the password")
    func warned() {
        let silent = subject(daysAgo: 85)
        guard case .authenticated = transaction().step(typed(silent), now: Self.now).1 else {
            Issue.record("The client did not request a warning.")
            return
        }
        let subject = subject(daysAgo: 85) { $0.warnsOfPassword = true }
        let (due, outcome, _) = transaction().step(typed(subject), now: Self.now)
        #expect(outcome == .passwordDue(.endsSoon(days: 5)))
        guard case .authenticated = due.step(.passwordKept(subject), now: Self.now).1 else {
            Issue.record("a password that is good still may be kept")
            return
        }
        guard case .authenticated = due.step(.passwordChanged(hash: "new", subject), now: Self.now).1 else {
            Issue.record("it may be changed as well")
            return
        }
    }

    @Test("A user cannot skip the change of an expired password")
    func notKept() {
        let subject = subject { $0.warnsOfPassword = true }
        let (due, _, _) = transaction().step(typed(subject), now: Self.now)
        #expect(due.step(.passwordKept(subject), now: Self.now).1 == .refused(.overTransaction))
    }

    @Test(
        "A password change is rejected before the password is proved, after the sign-in ends, if the account changed, or if no change is required"
    )
    func notNow() {
        let subject = subject()
        func isRefused(_ transaction: SignInTransaction, _ subject: SignInTransaction.Subject, at now: Date = Self.now) -> Bool {
            let (_, outcome, effects) = transaction.step(.passwordChanged(hash: "new", subject), now: now)
            let writes = effects.contains { if case .writeUser = $0 { true } else { false } }
            return outcome == .refused(.overTransaction) && !writes
        }
        #expect(isRefused(transaction(), subject))
        let (due, _, _) = transaction().step(typed(subject), now: Self.now)
        #expect(isRefused(due, subject, at: due.expiresAt))
        #expect(isRefused(due.step(.cancelled, now: Self.now).0, subject))
        var other = subject
        other.user.setPasswordHash("set elsewhere", now: Self.now)
        #expect(isRefused(due, other))
        var locked = subject
        locked.user.lockedAt = Self.now
        #expect(isRefused(due, locked))
        let good = self.subject(daysAgo: 1)
        let (done, _, _) = transaction().step(typed(good), now: Self.now)
        #expect(isRefused(done, good))
    }

    @Test("A password change during a sign-in discards earlier proofs of the session, and the second factor is required again")
    func sessions() {
        var proof = SignInTransaction.Proof(
            factor: .password, factorClasses: [.knowledge], methods: ["pwd"], time: Self.now.addingTimeInterval(-60))
        var resumed = transaction()
        resumed.sessionID = "ses1"
        let (_, outcome, _) = resumed.step(.resumed([proof], subject(daysAgo: 90)), now: Self.now)
        guard case .authenticated = outcome else {
            Issue.record("the session was begun with a password that was good: \(outcome)")
            return
        }
        proof = .init(factor: .totp, factorClasses: [.possession], methods: ["otp"], time: Self.now.addingTimeInterval(-60))
        let subject = subject(second: [.totp])
        let (begun, _, _) = resumed.step(.resumed([proof], subject), now: Self.now)
        let (due, dueOutcome, _) = begun.step(typed(subject), now: Self.now)
        #expect(dueOutcome == .passwordDue(.expired))
        let (after, again, _) = due.step(.passwordChanged(hash: "new", subject), now: Self.now)
        #expect(again == .factorRequired([.totp]))
        #expect(after.proofs.map(\.factor) == [.password] && after.sessionID == nil && after.inherited == 0)
    }

    @Test("A password grant with an expired password gets a specific error, but a missing second factor is required first")
    func direct() async throws {
        let org = try await SignInFixture { $0.passwordPolicy.age.maximumDays = 30 }
        #expect(try await org.signIn(at: 30 * Self.days - 1).context != nil)
        #expect(try await org.signIn(at: 30 * Self.days).refusal == .expiredPassword)
        // The response to a wrong password does not reveal that the right one has expired.
        #expect(
            try await org.signIn(SignInFixture.jane, "wrong-password", at: 30 * Self.days).refusal?.description
                == "The credentials provided were invalid.")
        try await org.enroll(.totp)
        #expect(try await org.signIn(to: "two", at: 30 * Self.days).refusal?.code == .mfaRequired)
        // The error follows the second factor.
        let subject = subject(second: [.totp]) { $0.canChangePassword = false }
        let (first, outcome, _) = transaction().step(typed(subject), now: Self.now)
        #expect(outcome == .factorRequired([.totp]))
        let code = SignInTransaction.Input.judged(.totp, .possession, methods: ["otp"], .proved(passwordHash: nil), subject)
        let (after, refused, _) = first.step(code, now: Self.now)
        #expect(refused == .refused(.expiredPassword) && after.end == .refused)
        #expect(Refusal.expiredPassword.description == "The password has expired. Sign in with a browser to set a new one.")
    }
}
