import Foundation
import Testing

@testable import IdentityCore

@Suite("Accounts")
struct AccountsTests {
    @Test("A password change makes the old password invalid, unlocks the account and updates the time of the password change")
    func setPassword() async throws {
        let org = try await SignInFixture()
        try await org.lock()
        let id = try await org.stored().value.id
        let change = try await org.engine.setPassword(userID: id, to: "Next-Horse-Staple", context: SignInFixture.context(at: 30))
        guard case .changed(let user) = change else {
            Issue.record("\(change)")
            return
        }
        #expect(user.passwordChangedAt == SignInFixture.start.addingTimeInterval(30))
        #expect(user.lockedAt == nil && user.failedAttempts == 0)
        #expect(try await org.signIn(at: 31).refusal?.code == .invalidGrant)
        #expect(try await org.signIn(SignInFixture.jane, "Next-Horse-Staple", at: 31).context != nil)
        #expect(try await org.log().contains { $0.type == "user.account.update_password" && $0.userID == id })
    }

    @Test("A new password that the policy rejects leaves the account unchanged")
    func unacceptable() async throws {
        let org = try await SignInFixture()
        let before = try await org.stored()
        let change = try await org.engine.setPassword(userID: before.value.id, to: "short", context: SignInFixture.context())
        #expect(change == .unacceptablePassword("The password must have at least 8 characters."))
        #expect(try await org.stored().version == before.version)
    }

    @Test("A change of the password or the status of an unknown user id returns unknownUser")
    func unknown() async throws {
        let org = try await SignInFixture()
        let context = SignInFixture.context()
        #expect(try await org.engine.setPassword(userID: "00uNobody", to: "Next-Horse-Staple", context: context) == .unknownUser)
        #expect(try await org.engine.setStatus(userID: "00uNobody", to: .active, context: context) == .unknownUser)
    }

    @Test(
        "A staged, suspended or deactivated account cannot sign in until it is active again",
        arguments: [User.Status.staged, .suspended, .deactivated])
    func status(_ status: User.Status) async throws {
        let org = try await SignInFixture()
        let id = try await org.stored().value.id
        _ = try await org.engine.setStatus(userID: id, to: status, context: SignInFixture.context())
        #expect(try await org.signIn().refusal?.reason == "account is \(status.rawValue)")
        _ = try await org.engine.setStatus(userID: id, to: .active, context: SignInFixture.context())
        #expect(try await org.signIn().context != nil)
    }

    @Test(
        "The password policy rejects passwords that are short, common, repetitive or contain the user's login",
        arguments: [
            ("short-1", "at least 8"), ("password123", "first that an attacker tries"), ("PASSWORD123", "first that an attacker tries"),
            ("87654321", "first that an attacker tries"), ("aaaabbbbcccc", "repeats"),
            ("my-jane.doe-password", "name that you sign in with"),
        ])
    func passwordRules(password: String, problem: String) {
        #expect(PasswordPolicy().problem(withNewPassword: password, login: "Jane.Doe@example.com")?.contains(problem) == true)
    }

    @Test(
        "The password policy accepts long phrases, spaces and any script",
        arguments: ["Correct-Horse-7", "correct horse battery staple", "пароль-который-длинный", "pässwörter sind lang"])
    func goodPasswords(password: String) {
        #expect(PasswordPolicy().problem(withNewPassword: password, login: "jane.doe@example.com") == nil)
    }
}
