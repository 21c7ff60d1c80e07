package import Foundation
internal import JOSE

/// Whether a password is good by its age.
package enum PasswordStanding: Sendable, Equatable {
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
    package func passwordStanding(under policy: PasswordPolicy, at now: Date) -> PasswordStanding {
        guard passwordHash != nil else { return .good }
        if mustChangePassword { return .expired }
        guard let days = policy.age.maximumDays else { return .good }
        let left = (passwordChangedAt ?? createdAt).addingTimeInterval(TimeInterval(days) * 86_400).timeIntervalSince(now)
        guard left > 0 else { return .expired }
        return left <= TimeInterval(policy.age.warningDays) * 86_400 ? .endsSoon(days: Int(clamping: (left / 86_400).rounded(.up))) : .good
    }
}

/// What became of a password that a person wants in place of theirs.
package enum NewPassword: Sendable, Equatable {
    /// It will do; this is its hash.
    case good(hash: String)
    /// It is against these rules; never empty.
    case refused([PasswordRule])
}

extension Engine {
    /// The check of a password that a user wants in place of theirs.
    ///
    /// Hashes as often as the policy remembers passwords: the caller limits the attempts. The verdict can throw
    /// ``PasswordHasher/Overloaded``.
    package func newPasswordCheck(
        _ password: String, of user: User, from origin: RequestOrigin, policy: PasswordPolicy, now: Date
    ) -> Check<NewPassword> {
        let inputs = NewPasswordInputs(
            hashes: user.rememberedPasswords(under: policy), isKept: user.keepsPassword(under: policy, at: now), login: user.login,
            names: user.names, policy: policy)
        return check(password, inputs, for: HashingShare(origin, of: user))
    }

    /// The check of a password that an administrator gives a user: earlier passwords don't matter.
    func givenPasswordCheck(_ password: String, of user: User, policy: PasswordPolicy) -> Check<NewPassword> {
        check(password, NewPasswordInputs(hashes: [], isKept: false, login: user.login, names: user.names, policy: policy))
    }

    private func check(_ password: String, _ inputs: NewPasswordInputs, for share: HashingShare = .server) -> Check<NewPassword> {
        Check(of: inputs) { [self] in
            let policy = inputs.policy
            guard !inputs.isKept else { return .refused([.kept(minutes: policy.age.minimumMinutes)]) }
            let violated = policy.violations(byNewPassword: password, login: inputs.login, names: inputs.names)
            guard violated.isEmpty else { return .refused(violated) }
            for earlier in inputs.hashes where try await environment.passwordHasher.verify(password, against: earlier, for: share) {
                return .refused([.unused(last: max(policy.age.history, 1))])
            }
            if await isBreached(password) { return .refused([.unexposed]) }
            let salt = try environment.random.bytes(16)
            return .good(hash: try await environment.passwordHasher.hash(password, logN: policy.scryptLogN, salt: salt, for: share))
        }
    }
}

/// The state on which the verdict about a new password depends.
private struct NewPasswordInputs: Equatable, Sendable {
    let hashes: [String]
    /// Whether the policy requires the present password to be kept for now.
    let isKept: Bool
    let login: String
    let names: [String]
    let policy: PasswordPolicy
}

extension User {
    /// Whether the minimum age of the policy forbids a new password for now.
    fileprivate func keepsPassword(under policy: PasswordPolicy, at now: Date) -> Bool {
        guard passwordStanding(under: policy, at: now) == .good, policy.age.minimumMinutes > 0, let changed = passwordChangedAt,
            passwordHash != nil
        else { return false }
        return now < changed.addingTimeInterval(TimeInterval(policy.age.minimumMinutes) * 60)
    }

    /// The hashes that a new password is compared with: the present one, and as many before it as the policy says.
    fileprivate func rememberedPasswords(under policy: PasswordPolicy) -> [String] {
        Array(([passwordHash].compactMap { $0 } + (earlierPasswords ?? [])).prefix(max(policy.age.history, 1)))
    }
}
