import Foundation
import JOSE
import Testing

@testable import IdentityCore

@Suite("Password age")
struct PasswordAgeTests {
    private static let day: TimeInterval = 86_400

    private static func user(changedDaysAgo days: Double, mustChange: Bool = false) -> User {
        var user = User(id: "00u1", login: "jane", passwordHash: "hash", createdAt: SignInFixture.start.addingTimeInterval(-1_000 * day))
        user.passwordChangedAt = SignInFixture.start.addingTimeInterval(-days * day)
        user.mustChangePassword = mustChange
        return user
    }

    @Test(
        "A password is valid, expires soon or has expired according to the policy's maximum age and warning days",
        arguments: [
            (89.9, .endsSoon(days: 1)), (90, .expired), (500, .expired), (80, .endsSoon(days: 10)), (79.9, .good), (0, .good),
            (88.5, .endsSoon(days: 2)),
        ] as [(Double, PasswordStanding)])
    func standing(daysAgo: Double, expected: PasswordStanding) {
        let policy = PasswordPolicy(age: .init(maximumDays: 90, warningDays: 10))
        #expect(Self.user(changedDaysAgo: daysAgo).passwordStanding(under: policy, at: SignInFixture.start) == expected)
    }

    @Test("Without a maximum age, a password expires only if a change is required; a missing password never expires")
    func unlimited() {
        let now = SignInFixture.start
        #expect(Self.user(changedDaysAgo: 5_000).passwordStanding(under: PasswordPolicy(), at: now) == .good)
        #expect(Self.user(changedDaysAgo: 0, mustChange: true).passwordStanding(under: PasswordPolicy(), at: now) == .expired)
        var none = Self.user(changedDaysAgo: 5_000, mustChange: true)
        none.passwordHash = nil
        #expect(none.passwordStanding(under: PasswordPolicy(age: .init(maximumDays: 1)), at: now) == .good)
    }

    @Test("A password without a stored time of change has the age of the account")
    func undated() {
        var user = Self.user(changedDaysAgo: 0)
        user.passwordChangedAt = nil
        #expect(user.passwordStanding(under: PasswordPolicy(age: .init(maximumDays: 999)), at: SignInFixture.start) == .expired)
    }

    @Test("A new password resets the password age and clears a required change")
    func renewed() {
        var user = Self.user(changedDaysAgo: 100, mustChange: true)
        user.setPasswordHash("new", now: SignInFixture.start)
        let policy = PasswordPolicy(age: .init(maximumDays: 90))
        #expect(user.passwordStanding(under: policy, at: SignInFixture.start) == .good)
        #expect(!user.mustChangePassword)
    }

    @Test("The password history keeps as many passwords as the policy remembers, counting the current password")
    func history() {
        var user = User(id: "00u1", login: "jane", passwordHash: "1", createdAt: SignInFixture.start)
        for hash in ["2", "3", "4"] { user.setPasswordHash(hash, remembering: 3, now: SignInFixture.start) }
        #expect(user.passwordHash == "4" && user.earlierPasswords == ["3", "2"])
        user.setPasswordHash("5", remembering: 1, now: SignInFixture.start)
        #expect(user.earlierPasswords == nil)
    }

    @Test("A password policy record without age and history has the defaults, and default values are not encoded")
    func oldRecords() throws {
        let policy = try JSONDecoder().decode(
            PasswordPolicy.self, from: Data(#"{"minimumLength":9,"lockoutAttempts":3,"scryptLogN":15}"#.utf8))
        #expect(policy == PasswordPolicy(minimumLength: 9, lockoutAttempts: 3, lockoutMinutes: nil))
        #expect(policy.age.maximumDays == nil && policy.complexity == .init())
        // Default values are not encoded, so that the first start after an update changes no record.
        let written = try JSONValue(parsing: Array(try JSONEncoder().encode(PasswordPolicy())))
        #expect(written.objectValue?.keys.sorted() == ["lockoutAttempts", "lockoutMinutes", "minimumLength", "scryptLogN"])
        let user = try JSONEncoder().encode(User(id: "00u1", login: "jane", createdAt: SignInFixture.start))
        #expect(try JSONValue(parsing: Array(user))["isPasswordDue"] == nil)
    }
}

@Suite("New passwords")
struct NewPasswordTests {
    private let jane = PasswordPolicy(
        complexity: .init(lowercase: 2, uppercase: 1, digits: 1, symbols: 1, excludesNames: true), age: .init(history: 4))

    @Test(
        "The check of a new password returns every rule that the password violates",
        arguments: [
            ("SHOUT-12345", [.lowercase(2)]), ("whisper-12345", [.uppercase(1)]), ("Horse-Staple", [.digits(1)]),
            ("HorseStaple7", [.symbols(1)]), ("Horse Staple 7", [.symbols(1)]), ("Horse-Muller-7", [.withoutNames]),
            ("a-b", [.characters(8), .uppercase(1), .digits(1), .varied]), ("Pferd-Käse-7", []),
            ("Horse-jane.doe-7", [.withoutLogin, .withoutNames]),
        ] as [(String, [PasswordRule])])
    func violations(password: String, rules: [PasswordRule]) {
        #expect(jane.violations(byNewPassword: password, login: "jane.doe@example.com", names: ["Jane", "MULLER", "Li"]) == rules)
    }

    @Test("A new password that is too long is rejected for its length alone")
    func long() {
        #expect(jane.violations(byNewPassword: String(repeating: "é", count: 513), login: "jane") == [.length])
    }

    @Test("The password policy lists the rules that a user sees before choosing a new password")
    func rules() {
        #expect(
            jane.rules == [
                .characters(8), .lowercase(2), .uppercase(1), .digits(1), .symbols(1), .withoutLogin, .withoutNames, .unused(last: 4),
            ])
        #expect(PasswordPolicy(minimumLength: 12).rules == [.characters(12), .withoutLogin, .unused(last: 1)])
    }

    @Test(
        "A new password must differ from the current one, and from the last passwords that the policy remembers, including the current one")
    func history() async throws {
        let org = try await SignInFixture { $0.passwordPolicy.age.history = 2 }
        let id = try await org.stored().value.id
        func judge(_ password: String, history: Int = 2) async throws -> [PasswordRule]? {
            let policy = PasswordPolicy(scryptLogN: 10, age: .init(history: history))
            let judged = try await org.engine.newPasswordCheck(
                password, of: try await org.stored().value, from: .unknown, policy: policy, now: SignInFixture.start
            ).judge()
            if case .refused(let rules) = judged { return rules }
            return nil
        }
        #expect(try await judge(SignInFixture.janesPassword, history: 0) == [.unused(last: 1)])
        for (count, password) in ["Second-Staple-2", "Third-Staple-3"].enumerated() {
            #expect(try await judge(password) == nil)
            _ = try await org.engine.setPassword(userID: id, to: password, context: SignInFixture.context(at: Double(count + 1)))
        }
        #expect(try await judge("Third-Staple-3") == [.unused(last: 2)])
        #expect(try await judge("Second-Staple-2") == [.unused(last: 2)])
        #expect(try await judge("Second-Staple-2", history: 1) == nil)
        #expect(try await judge(SignInFixture.janesPassword) == nil)
    }

    @Test("A password cannot be changed before the policy's minimum age, unless a change is required")
    func minimumAge() async throws {
        let org = try await SignInFixture()
        var user = try await org.stored().value
        let policy = PasswordPolicy(scryptLogN: 10, age: .init(minimumMinutes: 60))
        func judge(at seconds: TimeInterval) async throws -> NewPassword {
            try await org.engine.newPasswordCheck(
                "Second-Staple-2", of: user, from: .unknown, policy: policy, now: SignInFixture.start.addingTimeInterval(seconds)
            ).judge()
        }
        #expect(try await judge(at: 3_599) == .refused([.kept(minutes: 60)]))
        guard case .good = try await judge(at: 3_600) else { return #expect(Bool(false), "refused after its time") }
        user.mustChangePassword = true
        guard case .good = try await judge(at: 1) else { return #expect(Bool(false), "refused though it is due") }
    }

    @Test("A password change that the org file requires is required only once, and applying the file again does not require another change")
    func fromTheFile() async throws {
        func fixture(_ mustChange: Bool) -> (inout OrganizationDefinition) -> Void {
            { $0.users[0].mustChangePassword = mustChange }
        }
        let org = try await SignInFixture(fixture(true))
        let id = try await org.stored().value.id
        #expect(try await org.stored().value.mustChangePassword)
        _ = try await org.engine.setPassword(userID: id, to: "Second-Staple-2", context: SignInFixture.context(at: 1))
        var definition = SignInFixture.definition
        fixture(true)(&definition)
        _ = try await org.engine.apply(definition, context: SignInFixture.context(at: 2))
        #expect(try await !org.stored().value.mustChangePassword)
        #expect(try await org.engine.expirePassword(userID: id, context: SignInFixture.context(at: 3)) != .unknownUser)
        #expect(try await org.stored().value.mustChangePassword)
    }

    @Test("Password policy values out of range, and warning days without a maximum age, are reported as problems")
    func problems() {
        var definition = SignInFixture.definition
        definition.passwordPolicy.age = .init(maximumDays: 0, warningDays: 400, minimumMinutes: -1, history: 25)
        definition.passwordPolicy.complexity = .init(lowercase: 21, uppercase: -1)
        let keys = definition.problems().filter { $0.path.first == .key("passwordPolicy") }.compactMap { problem -> String? in
            if case .key(let key) = problem.path.last { key } else { nil }
        }
        #expect(keys == ["lowercase", "uppercase", "maximumDays", "warningDays", "minimumMinutes", "history", "warningDays"])
        definition.passwordPolicy.complexity = .init()
        definition.passwordPolicy.age = .init(warningDays: 3)
        #expect(
            definition.problems().map(\.message) == [
                "Passwords that never expire have no warning. Set maximum_days, or remove warning_days."
            ])
    }
}
