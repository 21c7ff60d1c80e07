import Foundation
import Testing

@testable import AuthnAPI
@testable import IdentityCore

@Suite("The sign-in transaction")
struct SignInTransactionTests {
    private static let now = Date(timeIntervalSince1970: 1_700_000_000)

    private func transaction(contextClasses: [String] = []) -> SignInTransaction {
        let application = Application(id: "app", name: "App", kind: .native, signOnPolicy: "any")
        return SignInTransaction(
            id: "txn1", request: SignInRequest(application: application, server: nil, scopes: [], contextClasses: contextClasses),
            now: Self.now)
    }

    private func subject(_ assurance: SignOnRule.Assurance = .oneFactor, second: [FactorKind] = []) -> SignInTransaction.Subject {
        SignInTransaction.Subject(
            user: User(id: "00u1", login: "jane", passwordHash: "hash", createdAt: Self.now),
            decision: SignOnDecision(assurance: assurance, reason: "rule"), passwordPolicy: PasswordPolicy(lockoutAttempts: 2),
            secondFactors: second)
    }

    private func password(
        _ verdict: FactorVerdict, _ subject: SignInTransaction.Subject?
    ) -> SignInTransaction.Input {
        .judged(.password, .knowledge, methods: ["pwd"], verdict, subject)
    }

    @Test("A password completes a one-factor sign-in and writes only a log event")
    func oneFactor() {
        let (after, outcome, effects) = transaction().step(password(.proved(passwordHash: nil), subject()), now: Self.now)
        #expect(outcome == .authenticated(AuthenticationContext(userID: "00u1", time: Self.now, methods: ["pwd"])))
        #expect(effects == [.log(type: "user.authentication.password", .success, reason: "rule")])
        #expect(after.end == .authenticated && after.proofs.count == 1)
    }

    @Test("A second factor of another class completes the sign-in, and amr lists the methods of both factors and mfa")
    func twoFactors() {
        let subject = subject(.twoFactors, second: [.push])
        let (first, outcome, _) = transaction().step(password(.proved(passwordHash: nil), subject), now: Self.now)
        #expect(outcome == .factorRequired([.push]))
        #expect(first.end == nil)
        let later = Self.now.addingTimeInterval(20)
        let push = SignInTransaction.Input.judged(
            .push, .possession, methods: ["okta_verify", "swk"], .proved(passwordHash: nil), subject)
        let (second, end, _) = first.step(push, now: later)
        #expect(
            end
                == .authenticated(
                    AuthenticationContext(
                        userID: "00u1", time: later, earliestTime: Self.now, methods: ["pwd", "okta_verify", "swk", "mfa"])))
        #expect(second.end == .authenticated)
    }

    @Test("A security question counts as a second factor only in the classic API")
    func recollection() {
        let subject = subject(.twoFactors, second: [.push])
        let question = SignInTransaction.Input.judged(
            .question, .recollection, methods: ["kba"], .proved(passwordHash: nil), subject)
        let (first, _, _) = transaction().step(password(.proved(passwordHash: nil), subject), now: Self.now)
        #expect(first.step(question, now: Self.now).1 == .factorRequired([.push]))
        var classic = first
        classic.rules = .classic
        guard case .authenticated(let context) = classic.step(question, now: Self.now).1 else {
            Issue.record("not authenticated")
            return
        }
        #expect(context.methods == ["pwd", "kba", "mfa"])
    }

    @Test("A correct answer to one factor resets only the wrong answers to this factor")
    func failuresOfKinds() {
        var user = User(id: "00u1", login: "jane", createdAt: Self.now)
        let policy = PasswordPolicy(lockoutAttempts: 4)
        for factor in [FactorKind.totp, .totp, .question] {
            let consequence = user.countFailure(of: factor, policy: policy, now: Self.now)
            #expect(consequence == .none)
        }
        user.forgetFailures(of: .question)
        #expect(user.failedCodes == ["totp": 2])
        user.forgetFailures(of: .password)
        #expect(user[.others].total == 2)
        user.forgetFailures(of: .totp)
        #expect(user.failedCodes == nil)
    }

    @Test("Two factors of the same class do not count as two factors")
    func sameClass() {
        let subject = subject(.twoFactors, second: [.push])
        let (first, _, _) = transaction().step(password(.proved(passwordHash: nil), subject), now: Self.now)
        let (_, outcome, _) = first.step(password(.proved(passwordHash: nil), subject), now: Self.now)
        #expect(outcome == .factorRequired([.push]))
    }

    @Test("Wrong passwords are counted, and lock the account at the policy's limit")
    func failure() throws {
        var subject = subject()
        let (_, outcome, effects) = transaction().step(password(.failed, subject), now: Self.now)
        #expect(outcome == .refused(.wrongCredentials("wrong password")))
        #expect(effects.count == 2)
        subject.user.failedAttempts = 1
        let (_, _, locking) = transaction().step(password(.failed, subject), now: Self.now)
        guard case .writeUser(let user) = try #require(locking.first) else {
            Issue.record("the user is not written")
            return
        }
        #expect(user.failedAttempts == 2 && user.lockedAt == Self.now)
        #expect(locking.contains(.log(type: "user.account.lock", .success, reason: "2 failed attempts")))
    }

    @Test("A sign-in to a locked account is refused for a wrong and a correct password, and writes only a log event")
    func locked() {
        var subject = subject()
        subject.user.lockedAt = Self.now
        for verdict in [FactorVerdict.failed, .proved(passwordHash: nil)] {
            let (_, outcome, effects) = transaction().step(password(verdict, subject), now: Self.now)
            #expect(outcome == .refused(.wrongCredentials("account is locked")))
            #expect(effects == [.log(type: "user.authentication.password", .failure, reason: "account is locked")])
        }
    }

    @Test(
        "A sign-in returns the requested acr that its factors satisfy, and no acr if only an unknown acr is requested",
        arguments: [
            (["urn:okta:loa:1fa:any"], [], "urn:okta:loa:1fa:any"), (["unknown", "urn:okta:loa:1fa:pwd"], [], "urn:okta:loa:1fa:pwd"),
            (["urn:okta:loa:2fa:any:ifpossible"], [], "urn:okta:loa:2fa:any:ifpossible"), (["unknown"], [], nil),
        ] as [([String], [FactorKind], String?)])
    func contextClass(asked: [String], second: [FactorKind], met: String?) {
        let (_, outcome, _) = transaction(contextClasses: asked).step(
            password(.proved(passwordHash: nil), subject(second: second)), now: Self.now)
        #expect(
            outcome == .authenticated(AuthenticationContext(userID: "00u1", time: Self.now, methods: ["pwd"], contextClass: met)))
    }

    @Test("A requested acr can require more factors than the policy, and gets unmet_authentication_requirements if the user lacks a factor")
    func contextClassAsksMore() {
        let input = password(.proved(passwordHash: nil), subject(second: [.push]))
        for asked in ["urn:okta:loa:2fa:any", "urn:okta:loa:2fa:any:ifpossible"] {
            #expect(transaction(contextClasses: [asked]).step(input, now: Self.now).1 == .factorRequired([.push]))
        }
        let (_, outcome, _) = transaction(contextClasses: ["urn:okta:loa:2fa:any"]).step(
            password(.proved(passwordHash: nil), subject()), now: Self.now)
        guard case .refused(let refusal) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(refusal.code == .unmetAuthenticationRequirements)
    }

    @Test("A requested acr never reduces the factors that the policy requires")
    func contextClassAsksLess() {
        let input = password(.proved(passwordHash: nil), subject(.twoFactors, second: [.push]))
        #expect(transaction(contextClasses: ["urn:okta:loa:1fa:any"]).step(input, now: Self.now).1 == .factorRequired([.push]))
    }

    @Test("A denying rule, or a policy without a matching rule, refuses the sign-in, and the reason names this rule or policy")
    func policy() {
        let policy = SignOnPolicy(
            name: "p",
            rules: [
                SignOnRule(name: "contractors", groups: ["Contractors"], assurance: .deny),
                SignOnRule(name: "staff", groups: ["Staff"], assurance: .twoFactors),
            ])
        #expect(policy.decide(groups: ["Contractors", "Staff"]).assurance == .deny)
        #expect(policy.decide(groups: ["Contractors"]).reason == "sign-on policy “p”, rule “contractors”: deny")
        #expect(policy.decide(groups: ["Staff"]).assurance == .twoFactors)
        #expect(policy.decide(groups: []).assurance == .deny)
        #expect(policy.decide(groups: []).reason == "sign-on policy “p”: no rule matches the user's groups")
    }
}
