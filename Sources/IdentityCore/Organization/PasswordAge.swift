package import Foundation
internal import JOSE

/// The validity of a password by its age.
package enum PasswordStanding: Sendable, Equatable {
    /// The password is valid, or the user has none.
    case good
    /// The password is valid for this many days, including the current one, and the policy requires a warning.
    case endsSoon(days: Int)
    /// The password must be changed before the sign-in continues: it is too old, or an administrator expired it.
    case expired
}

extension User {
    /// Returns the validity of the user's password by its age; `good` without a password.
    package func passwordStanding(under policy: PasswordPolicy, at now: Date) -> PasswordStanding {
        guard passwordHash != nil else { return .good }
        if mustChangePassword { return .expired }
        guard let days = policy.age.maximumDays else { return .good }
        let left = (passwordChangedAt ?? createdAt).addingTimeInterval(TimeInterval(days) * 86_400).timeIntervalSince(now)
        guard left > 0 else { return .expired }
        return left <= TimeInterval(policy.age.warningDays) * 86_400 ? .endsSoon(days: Int(clamping: (left / 86_400).rounded(.up))) : .good
    }
}

/// The result of checking a new password.
package enum NewPassword: Sendable, Equatable {
    /// The password is acceptable.
    case good(hash: String)
    /// The password violates these rules; never empty.
    case refused([PasswordRule])
}

extension Engine {
    /// Returns the check of a new password that the user chose. The check hashes once for each remembered password, so the caller must
    /// limit the attempts. The check can throw ``PasswordHasher/Overloaded``.
    package func newPasswordCheck(
        _ password: String, of user: User, from origin: RequestOrigin, policy: PasswordPolicy, now: Date
    ) -> Check<NewPassword> {
        let inputs = NewPasswordInputs(
            hashes: user.rememberedPasswords(under: policy), isKept: user.keepsPassword(under: policy, at: now), login: user.login,
            names: user.names, policy: policy)
        return check(password, inputs, for: HashingShare(origin, of: user))
    }

    /// Returns the check of a password that an administrator sets, which ignores earlier passwords.
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

/// The inputs of the check of a new password.
private struct NewPasswordInputs: Equatable, Sendable {
    let hashes: [String]
    /// Whether the user must keep the current password for now.
    let isKept: Bool
    let login: String
    let names: [String]
    let policy: PasswordPolicy
}

extension User {
    /// Whether the policy's minimum age requires the user to keep the current password for now.
    fileprivate func keepsPassword(under policy: PasswordPolicy, at now: Date) -> Bool {
        guard passwordStanding(under: policy, at: now) == .good, policy.age.minimumMinutes > 0, let changed = passwordChangedAt,
            passwordHash != nil
        else { return false }
        return now < changed.addingTimeInterval(TimeInterval(policy.age.minimumMinutes) * 60)
    }

    /// Returns the hashes with which a new password is compared: the current hash, and as many earlier hashes as the policy requires.
    fileprivate func rememberedPasswords(under policy: PasswordPolicy) -> [String] {
        Array(([passwordHash].compactMap { $0 } + (earlierPasswords ?? [])).prefix(max(policy.age.history, 1)))
    }
}
