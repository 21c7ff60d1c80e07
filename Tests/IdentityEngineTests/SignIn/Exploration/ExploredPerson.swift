import Foundation

@testable import IdentityEngine

/// The person's devices.
enum ExploredDevice: Int, CaseIterable, Sendable {
    case first, second

    /// What an approval by it adds to `amr`.
    var methods: [String] { self == .first ? ["okta_verify", "swk"] : ["swk"] }

    func target(of challenge: Int) -> String { "ft-\(challenge)-\(rawValue)" }
}

/// Who the store holds when a step is taken: Jane in all states that an account can be in, and somebody else.
enum ExploredPerson: String, CaseIterable, Sendable {
    case jane
    case janeSinceNewPassword, janeDeactivated, janeReactivated, janeSuspended, janeLocked, janeLockOver, janeUnassigned
    case bob

    static let policy = PasswordPolicy(lockoutAttempts: 3, lockoutMinutes: 15)
    static let policyWithAge = PasswordPolicy(lockoutAttempts: 3, lockoutMinutes: 15, age: .init(maximumDays: 1))

    var isBob: Bool { self == .bob }
    var isActive: Bool { self != .janeDeactivated && self != .janeSuspended }
    /// What differs when a password was set or the account was deactivated since. Bob's is like Jane's: it is no name.
    var account: Int {
        switch self {
        case .janeSinceNewPassword: 1
        case .janeDeactivated, .janeReactivated: 2
        default: 0
        }
    }
    var isLocked: Bool { self == .janeLocked }

    /// Made once: every step needs them.
    private static let users = Dictionary(uniqueKeysWithValues: allCases.map { ($0, $0.makeUser()) })

    var user: User { Self.users[self] ?? makeUser() }

    private func makeUser() -> User {
        var user = User(
            id: isBob ? "00ubob" : "00ujane", login: isBob ? "bob" : "jane", passwordHash: "hash",
            createdAt: ExploredPolicy.time(-86_400))
        user.failedAttempts = 1
        switch self {
        case .jane, .janeUnassigned, .bob: break
        case .janeSinceNewPassword:
            user.passwordChangedAt = ExploredPolicy.time(1)
            user.failedAttempts = 0
        case .janeDeactivated, .janeReactivated:
            user.deactivatedAt = ExploredPolicy.time(1)
            user.status = self == .janeDeactivated ? .deactivated : .active
            user.failedAttempts = 2
        case .janeSuspended: user.status = .suspended
        case .janeLocked:
            user.failedAttempts = 3
            user.lockedAt = ExploredPolicy.time(-60)
        case .janeLockOver:
            user.failedAttempts = 3
            user.lockedAt = ExploredPolicy.time(-900)
        }
        return user
    }

    /// The account after a wrong password or code; for those whose account is open.
    func userAfterWrong(isCode: Bool, at seconds: Int) -> User {
        var user = user
        if self == .janeLockOver { (user.failedAttempts, user.lockedAt) = (0, nil) }
        // They are counted apart, and lock the account together: hers had failed twice.
        if isCode { user.failedCodes = ["totp": 1] } else { user.failedAttempts += 1 }
        if self == .janeReactivated { user.lockedAt = ExploredPolicy.time(seconds) }
        return user
    }

    /// Whether the password is a day old.
    var hasOldPassword: Bool { self != .janeSinceNewPassword }

    /// The account after a new password.
    func userAfterChange(at seconds: Int) -> User {
        var user = user
        (user.passwordHash, user.passwordChangedAt) = (ExploredInput.newHash, ExploredPolicy.time(seconds))
        (user.failedAttempts, user.lockedAt) = (0, nil)
        return user
    }

    /// The account after something was typed that was right: a code does not forget wrong passwords.
    func userAfterProof(newHash: String? = nil, isCode: Bool) -> User {
        var user = user
        if !isCode || self == .janeLockOver { user.failedAttempts = 0 }
        user.lockedAt = nil
        user.passwordHash = newHash ?? "hash"
        return user
    }
}
