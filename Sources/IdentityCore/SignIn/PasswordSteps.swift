internal import Foundation

/// The steps of a transaction whose password is due.
extension SignInTransaction {
    private static let changeType = "user.account.update_password"
    private static let signInType = "user.authentication.password"

    /// Whether the password that the user typed must be changed; `nil` if not.
    ///
    /// The age of a password counts when it is typed. The password that began a session counts as good as long as the session lasts.
    func passwordRequirement(of subject: Subject) -> Requirement? {
        guard let typed = proofs.dropFirst(hosted?.inherited ?? 0).last(where: { $0.factor == .password }) else { return nil }
        let standing = subject.user.passwordStanding(under: subject.passwordPolicy, at: typed.time)
        switch standing {
        case .good: return nil
        case .endsSoon where !subject.canChangePassword || !subject.warnsOfPassword || keepsPassword == true: return nil
        case .expired where !subject.canChangePassword: return .refused(.expiredPassword)
        case .endsSoon, .expired: return .newPassword(standing)
        }
    }

    /// The password was changed. It ends the sessions of before, and with them what one of them proved here.
    func passwordChanged(_ hash: String, _ subject: Subject, now: Date) -> (SignInTransaction, Outcome, [Effect]) {
        guard isPasswordDue(of: subject, now: now) else { return refused(.overTransaction, Self.changeType, []) }
        var user = subject.user
        user.setPasswordHash(hash, remembering: subject.passwordPolicy.age.history, from: subject.origin, now: now)
        var next = self
        next.meet(user)
        // Nobody is warned of a password that is a moment old, whatever the policy's numbers are.
        next.keepsPassword = true
        next.proofs.removeFirst(hosted?.inherited ?? 0)
        next.hosted?.inherited = 0
        next.hosted?.session = nil
        var changed = subject
        changed.user = user
        return next.proved(
            changed, Self.signInType,
            [.writeUser(user), .log(type: Self.changeType, .success, reason: "changed in a sign-in, as it was due")])
    }

    /// The password is kept for the days that it has left.
    func passwordKept(_ subject: Subject, now: Date) -> (SignInTransaction, Outcome, [Effect]) {
        guard isPasswordDue(of: subject, now: now), case .newPassword(.endsSoon) = requirement(for: subject) else {
            return refused(.overTransaction, Self.signInType, [])
        }
        var next = self
        next.keepsPassword = true
        return next.proved(subject, Self.signInType, [])
    }

    /// Whether a new password is what the sign-in waits for, of an account that is still the one that it met.
    private func isPasswordDue(of subject: Subject, now: Date) -> Bool {
        guard end == nil, now < expiresAt, isAbout(subject.user), subject.user.status == .active,
            !subject.isLocked(at: now),
            case .newPassword = requirement(for: subject)
        else { return false }
        return true
    }
}

extension Refusal {
    /// The password was right and is due, and this client has no way to change it.
    static let expiredPassword = Refusal(
        .invalidGrant, "The password has expired. Sign in with a browser to set a new one.", reason: "password expired")
}
