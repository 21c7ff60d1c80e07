import Foundation

@testable import IdentityCore

/// The user's devices.
enum ExploredDevice: Int, CaseIterable, Sendable {
    case first, second

    /// The `amr` values that an approval of this device adds.
    var methods: [String] { self == .first ? ["okta_verify", "swk"] : ["swk"] }

    func target(of challenge: Int) -> String { "ft-\(challenge)-\(rawValue)" }
}

/// The stored user at a step: Jane in each state of an account, and another user.
enum ExploredPerson: String, CaseIterable, Sendable {
    case jane
    case janeSinceNewPassword, janeDeactivated, janeReactivated, janeSuspended, janeLocked, janeLockOver, janeUnassigned
    /// The account is locked for unknown origins. The user signs in from a known origin, at which two wrong passwords were entered.
    case janeAtHome
    /// The user's authenticator app is closed as a first and as a second factor, because of too many wrong codes.
    case janeWithClosedApp
    case bob

    var isBob: Bool { self == .bob }
    var isActive: Bool { self != .janeDeactivated && self != .janeSuspended }
    /// The number of the account's state, which only a new password or a deactivation changes.
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

    /// The users of all cases. They are created once, because every step needs them.
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

    /// Returns the account after a wrong password or code. The account must not be locked, and its app must not be closed.
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
        // Wrong answers are counted per factor. Three in total lock the account. After the end of a lock, each wrong answer locks the
        // account again.
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

    /// Returns the account after a sign-in that was completed with a possession factor other than the app.
    func userAfterApproval() -> User {
        var user = user
        (user.failedCodes, user.failedFurther) = (nil, nil)
        return user
    }

    /// Whether the password was set more than a day ago.
    var hasOldPassword: Bool { self != .janeSinceNewPassword }

    /// Returns the account after the user set a new password.
    func userAfterChange(at seconds: Int) -> User {
        var user = user
        (user.passwordHash, user.passwordChangedAt) = (ExploredInput.newHash, ExploredPolicy.time(seconds))
        (user.failedAttempts, user.lockedAt) = (0, nil)
        if self == .janeAtHome { user.usedOrigins?[0].failures = nil }
        return user
    }

    /// Returns the account after a correct password or code. A correct code does not reset the count of wrong passwords.
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
