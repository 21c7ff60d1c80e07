public import Foundation
internal import JOSE

/// Whether a password is good by its age.
public enum PasswordStanding: Sendable, Equatable {
    /// It is; or there is none.
    case good
    /// It is, for as many days as this, the day that has begun among them; the policy wants the person warned.
    case endsSoon(days: Int)
    /// It must be changed before anything else: it is too old, or somebody decided so.
    case expired
}

extension User {
    /// Whether the person's password is good by its age.
    ///
    /// - Parameters:
    ///   - policy: The policy that says how long passwords are good.
    ///   - now: When.
    /// - Returns: Good also for who has no password.
    public func passwordStanding(under policy: PasswordPolicy, at now: Date) -> PasswordStanding {
        guard passwordHash != nil else { return .good }
        if mustChangePassword { return .expired }
        guard let days = policy.age.maximumDays else { return .good }
        let left = (passwordChangedAt ?? createdAt).addingTimeInterval(TimeInterval(days) * 86_400).timeIntervalSince(now)
        guard left > 0 else { return .expired }
        return left <= TimeInterval(policy.age.warningDays) * 86_400 ? .endsSoon(days: Int(clamping: (left / 86_400).rounded(.up))) : .good
    }
}

/// What became of a password that a person wants in place of theirs.
public enum NewPassword: Sendable, Equatable {
    /// It will do; this is its hash.
    case good(hash: String)
    /// It is against these rules; never empty.
    case refused([PasswordRule])
}

extension IdentityEngine {
    /// Judges a password that a person wants in place of theirs, which they proved.
    ///
    /// What it finds is good as long as the person's password stays what it was: the commit that writes the new one must meet it. Hashes
    /// as often as the policy remembers passwords; whoever calls limits how often people can ask.
    ///
    /// - Parameters:
    ///   - password: The password as it was typed.
    ///   - user: The user.
    ///   - origin: The origin of the request, which decides its place in the hashing queue.
    ///   - policy: The password policy.
    ///   - now: When.
    /// - Returns: Its hash, or what it is against.
    /// - Throws: ``PasswordHasher/Overloaded`` when too many wait; `CancellationError`.
    func judgeNewPassword(
        _ password: String, of user: User, from origin: RequestOrigin, policy: PasswordPolicy, now: Date
    ) async throws -> NewPassword {
        let share = HashingShare(origin, of: user)
        if user.passwordStanding(under: policy, at: now) == .good, policy.age.minimumMinutes > 0, let changed = user.passwordChangedAt,
            user.passwordHash != nil, now < changed.addingTimeInterval(TimeInterval(policy.age.minimumMinutes) * 60)
        {
            return .refused([.kept(minutes: policy.age.minimumMinutes)])
        }
        let violated = policy.violations(byNewPassword: password, login: user.login, names: user.names)
        guard violated.isEmpty else { return .refused(violated) }
        for earlier in user.rememberedPasswords(under: policy)
        where try await environment.passwordHasher.verify(password, against: earlier, for: share) {
            return .refused([.unused(last: max(policy.age.history, 1))])
        }
        if await isBreached(password) { return .refused([.unexposed]) }
        let salt = try environment.random.bytes(16)
        return .good(hash: try await environment.passwordHasher.hash(password, logN: policy.scryptLogN, salt: salt, for: share))
    }
}

extension User {
    /// The hashes that a new password is compared with: the present one, and as many before it as the policy says.
    fileprivate func rememberedPasswords(under policy: PasswordPolicy) -> [String] {
        Array(([passwordHash].compactMap { $0 } + (earlierPasswords ?? [])).prefix(max(policy.age.history, 1)))
    }
}
