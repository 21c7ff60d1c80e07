import Foundation

@testable import IdentityCore

/// The user's devices.
enum ExploredDevice: Int, CaseIterable, Sendable {
    case first, second

    /// The `amr` values that its approval adds.
    var methods: [String] { self == .first ? ["okta_verify", "swk"] : ["swk"] }

    func target(of challenge: Int) -> String { "ft-\(challenge)-\(rawValue)" }
}

/// The stored user at a step: Jane in each state of an account, and another user.
enum ExploredPerson: String, CaseIterable, Sendable {
    case jane
    case janeSinceNewPassword, janeDeactivated, janeReactivated, janeSuspended, janeLocked, janeLockOver, janeUnassigned
    /// The account is locked for unknown origins; the user comes from a known origin with two wrong passwords.
    case janeAtHome
    /// Too many wrong codes closed the user's app, as a first and as a second factor.
    case janeWithClosedApp
    case bob

    var isBob: Bool { self == .bob }
    var isActive: Bool { self != .janeDeactivated && self != .janeSuspended }
    /// The state of the account that a new password or a deactivation changes. Users have no influence on it.
    var account: Int {
        switch self {
        case .janeSinceNewPassword: 1
        case .janeDeactivated, .janeReactivated: 2
        default: 0
        }
    }
    var isLocked: Bool { self == .janeLocked }
    /// Whether a correct code of the user's app is ignored.
    var hasClosedApp: Bool { self == .janeWithClosedApp }
    /// The origin of the user's requests.
    var origin: RequestOrigin { self == .janeAtHome ? Self.home : .unknown }

    private static let home = RequestOrigin(network: "home")

    /// Whether a lock applies to the requests of this user.
    static func hasLock(_ user: User) -> Bool { user[user.callers(from: home)].lockedAt != nil }

    /// Made once, because every step needs them.
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
            (user.failedAttempts, user.lockedAt) = (7, ExploredPolicy.time(-60))
        case .janeLockOver: (user.failedAttempts, user.lockedAt) = (3, ExploredPolicy.time(-30))
        case .janeAtHome:
            (user.failedAttempts, user.lockedAt) = (7, ExploredPolicy.time(-60))
            user.usedOrigins = Self.home.ids.map {
                KnownOrigin(id: $0, proved: ["password", "totp", "push"], failures: FailureCounts(first: ["password": 2]))
            }
        case .janeWithClosedApp: (user.failedCodes, user.failedFurther) = (["totp": 100], ["totp": 100])
        }
        return user
    }

    /// The account after a wrong password or code, if it was neither closed nor locked.
    func userAfterWrong(isCode: Bool, isFurther: Bool, at seconds: Int) -> User {
        var user = user
        let kind = isCode ? "totp" : "password"
        let lockedAt = ExploredPolicy.time(seconds)
        if self == .janeAtHome {
            var failures = FailureCounts(first: ["password": 2], lockedAt: lockedAt)
            if isFurther { failures.further = [kind: 1] } else { failures.first[kind, default: 0] += 1 }
            user.usedOrigins?[0].failures = failures
            return user
        }
        // Wrong answers are counted per factor. Three in total lock the account. After a lock each wrong answer locks again.
        if isFurther {
            user.failedFurther = (user.failedFurther ?? [:]).merging([kind: 1], uniquingKeysWith: +)
        } else if isCode {
            user.failedCodes = [kind: 1]
        } else {
            user.failedAttempts += 1
        }
        user.lockedAt = self == .janeReactivated || self == .janeLockOver ? lockedAt : nil
        return user
    }

    /// The account after a sign-in that a possession factor other than the app completed.
    func userAfterApproval() -> User {
        var user = user
        (user.failedCodes, user.failedFurther) = (nil, nil)
        return user
    }

    /// Whether the password was set more than a day ago.
    var hasOldPassword: Bool { self != .janeSinceNewPassword }

    /// The account after a new password.
    func userAfterChange(at seconds: Int) -> User {
        var user = user
        (user.passwordHash, user.passwordChangedAt) = (ExploredInput.newHash, ExploredPolicy.time(seconds))
        (user.failedAttempts, user.lockedAt) = (0, nil)
        if self == .janeAtHome { user.usedOrigins?[0].failures = nil }
        return user
    }

    /// The account after a correct password or code. A correct code does not reset wrong passwords.
    func userAfterProof(newHash: String? = nil, isCode: Bool) -> User {
        var user = user
        if !isCode {
            user.failedAttempts = 0
            if self == .janeAtHome { user.usedOrigins?[0].failures = nil }
        }
        if self != .janeAtHome { user.lockedAt = nil }
        user.passwordHash = newHash ?? "hash"
        return user
    }
}
