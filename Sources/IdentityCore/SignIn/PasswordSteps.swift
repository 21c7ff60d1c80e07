internal import Foundation

/// The steps for a password that has expired or expires soon.
extension SignInTransaction {
    private static let changeType = "user.account.update_password"
    private static let signInType = "user.authentication.password"

    /// Returns the requirement to change the password that the user typed; `nil` for none. Only the password's age at the time of typing
    /// matters: a later expiry does not end a session.
    func passwordRequirement(of subject: Subject) -> Requirement? {
        guard let typed = proofs.dropFirst(inherited).last(where: { $0.factor == .password }) else { return nil }
        let standing = subject.user.passwordStanding(under: subject.passwordPolicy, at: typed.time)
        switch standing {
        case .good: return nil
        case .endsSoon where !subject.canChangePassword || !subject.warnsOfPassword || keepsPassword == true: return nil
        case .expired where !subject.canChangePassword: return .refused(.expiredPassword)
        case .endsSoon, .expired: return .newPassword(standing)
        }
    }

    /// Handles a new password. The change ends earlier sessions, so the proofs that came from a session are removed.
    func passwordChanged(_ hash: String, _ subject: Subject, now: Date) -> (SignInTransaction, Outcome, [Effect]) {
        guard isPasswordDue(of: subject, now: now) else { return refused(.overTransaction, Self.changeType, []) }
        var user = subject.user
        user.setPasswordHash(hash, remembering: subject.passwordPolicy.age.history, from: subject.origin, now: now)
        var next = self
        next.meet(user)
        // A new password causes no expiry warning, regardless of the policy.
        next.keepsPassword = true
        next.proofs.removeFirst(inherited)
        next.inherited = 0
        next.sessionID = nil
        var changed = subject
        changed.user = user
        return next.proved(
            changed, Self.signInType,
            [.writeUser(user), .log(type: Self.changeType, .success, reason: "changed in a sign-in, as it was due")])
    }

    /// Handles the decision to keep a password that expires soon.
    func passwordKept(_ subject: Subject, now: Date) -> (SignInTransaction, Outcome, [Effect]) {
        guard isPasswordDue(of: subject, now: now), case .newPassword(.endsSoon) = requirement(for: subject) else {
            return refused(.overTransaction, Self.signInType, [])
        }
        var next = self
        next.keepsPassword = true
        return next.proved(subject, Self.signInType, [])
    }

    /// Whether the sign-in waits for a new password, and its account has not changed.
    private func isPasswordDue(of subject: Subject, now: Date) -> Bool {
        guard end == nil, now < expiresAt, isAbout(subject.user), subject.user.status == .active,
            !subject.isLocked(at: now),
            case .newPassword = requirement(for: subject)
        else { return false }
        return true
    }
}

extension Refusal {
    /// The refusal if the password is correct but has expired, and the client cannot change it.
    static let expiredPassword = Refusal(
        .invalidGrant, "The password has expired. Sign in with a browser to set a new one.", reason: "password expired")
}
