import Foundation
import Testing

@testable import IdentityCore
@testable import SignInPages

@Suite("Enrollment of a second factor during a sign-in")
struct EnrollmentInSignInTests {
    private static let now = Date(timeIntervalSince1970: 1_700_000_000)

    private func transaction(contextClasses: [String] = []) -> SignInTransaction {
        let application = Application(id: "app", name: "App", kind: .native, signOnPolicy: "any")
        return SignInTransaction(
            id: "txn1", request: SignInRequest(application: application, server: nil, scopes: [], contextClasses: contextClasses),
            now: Self.now)
    }

    private func subject(
        _ assurance: SignOnRule.Assurance = .twoFactors, canEnroll: Bool = true, second: [FactorKind] = [], login: String = "jane"
    ) -> SignInTransaction.Subject {
        SignInTransaction.Subject(
            user: User(id: "00u-\(login)", login: login, passwordHash: "hash", createdAt: Self.now),
            decision: SignOnDecision(assurance: assurance, reason: "rule"), passwordPolicy: PasswordPolicy(),
            secondFactors: second, canEnroll: canEnroll)
    }

    private func password(_ subject: SignInTransaction.Subject) -> SignInTransaction.Input {
        .judged(.password, .knowledge, methods: ["pwd"], .proved(passwordHash: nil), subject)
    }

    private func enrolled(_ subject: SignInTransaction.Subject) -> SignInTransaction.Input {
        .enrolled(.totp, .possession, methods: ["otp"], subject)
    }

    @Test("If a user without the required second factor enrolls a factor during the sign-in, that factor completes the sign-in")
    func setsUp() {
        let (first, outcome, effects) = transaction().step(password(subject()), now: Self.now)
        #expect(outcome == .enrollmentRequired && first.end == nil)
        #expect(effects == [.log(type: "user.authentication.password", .success, reason: "rule")])
        let later = Self.now.addingTimeInterval(60)
        let (second, end, log) = first.step(enrolled(subject()), now: later)
        let both = AuthenticationContext(userID: "00u-jane", time: later, earliestTime: Self.now, methods: ["pwd", "otp", "mfa"])
        #expect(end == .authenticated(both))
        #expect(second.end == .authenticated)
        #expect(log == [.log(type: "user.authentication.totp", .success, reason: "rule")])
    }

    @Test("If a user lacks the required second factor and the sign-in allows no enrollment, the sign-in is rejected")
    func mayNot() {
        let (after, outcome, _) = transaction().step(password(subject(canEnroll: false)), now: Self.now)
        guard case .refused(let refusal) = outcome else { return #expect(Bool(false), "\(outcome)") }
        #expect(refusal.code == .accessDenied && after.end == .refused)
    }

    @Test("A user who has a second factor must prove that factor, and is not offered an enrollment")
    func has() {
        let (_, outcome, _) = transaction().step(password(subject(second: [.totp])), now: Self.now)
        #expect(outcome == .factorRequired([.totp]))
    }

    @Test("If only the client requests a second factor and the user has none, the sign-in is rejected without an enrollment")
    func beyondPolicy() {
        let asking = transaction(contextClasses: ["urn:okta:loa:2fa:any"])
        guard case .refused(let refusal) = asking.step(password(subject(.oneFactor)), now: Self.now).1 else {
            return #expect(Bool(false), "not refused")
        }
        #expect(refusal.code == .unmetAuthenticationRequirements)
    }

    private func onPages() -> SignInTransaction {
        var transaction = transaction()
        transaction.rules = .pages
        return transaction
    }

    private var oldPassword: SignInTransaction.Proof {
        .init(factor: .password, factorClasses: [.knowledge], methods: ["pwd"], time: Self.now.addingTimeInterval(-60))
    }

    @Test("A user who continues a session cannot enroll a second factor until the user enters the password again")
    func session() {
        let (begun, outcome, effects) = onPages().step(.resumed([oldPassword], subject()), now: Self.now)
        #expect(outcome == .enrollmentRequired && effects.isEmpty)
        #expect(begun == onPages())
        guard case .refused = begun.step(enrolled(subject()), now: Self.now).1 else { return #expect(Bool(false), "not refused") }
        let (typed, asked, _) = begun.step(password(subject()), now: Self.now)
        #expect(asked == .enrollmentRequired)
        #expect(typed.step(enrolled(subject()), now: Self.now).0.end == .authenticated)
    }

    @Test("A sign-in that continues a session rejects an enrollment even if the user's second factor was removed during the sign-in")
    func takenAway() {
        let (waiting, outcome, _) = onPages().step(
            .resumed([oldPassword], subject(second: [.totp])), now: Self.now)
        #expect(outcome == .factorRequired([.totp]))
        guard case .refused = waiting.step(enrolled(subject()), now: Self.now).1 else { return #expect(Bool(false), "not refused") }
    }

    @Test(
        "An enrollment during a sign-in is rejected before the password, after the sign-in ends, for another user, or if a factor is already enrolled",
        arguments: ["before the password", "too late", "another user", "twice", "after the end", "one that is there already"])
    func refused(when: String) {
        let first = transaction().step(password(subject()), now: Self.now).0
        let (from, input, at): (SignInTransaction, SignInTransaction.Input, Date) =
            switch when {
            case "before the password": (transaction(), enrolled(subject()), Self.now)
            case "too late": (first, enrolled(subject()), first.expiresAt)
            case "another user": (first, enrolled(subject(login: "john")), Self.now)
            case "twice": (first.step(enrolled(subject()), now: Self.now).0, enrolled(subject()), Self.now)
            case "after the end": (first.step(.cancelled, now: Self.now).0, enrolled(subject()), Self.now)
            default: (first, enrolled(subject(canEnroll: false, second: [.totp])), Self.now)
            }
        guard case .refused = from.step(input, now: at).1 else { return #expect(Bool(false), "not refused") }
    }
}
