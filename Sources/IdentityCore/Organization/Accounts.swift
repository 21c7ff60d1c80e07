internal import Foundation
internal import Store

/// The result of a change to an account.
package enum AccountChange: Sendable, Equatable {
    /// The change is durable.
    case changed(User)
    case unknownUser
    /// The new password violates the policy; the sentence says how.
    case unacceptablePassword(String)
}

extension User {
    /// Sets the password, resets wrong-answer counts, and closes earlier grants. Origins that only the old password proved become unknown.
    /// - Parameters:
    ///   - history: The number of hashes to keep for comparison with new passwords, including the current one.
    ///   - origin: The origin from which the user sets the password; it stays known.
    mutating func setPasswordHash(
        _ hash: String?, remembering history: Int = 0, from origin: RequestOrigin = .unknown, now: Date
    ) {
        let earlier = ([passwordHash].compactMap { $0 } + (earlierPasswords ?? [])).prefix(max(history - 1, 0))
        earlierPasswords = earlier.isEmpty ? nil : Array(earlier)
        passwordHash = hash
        mustChangePassword = false
        passwordChangedAt = Self.time(now, unlike: passwordChangedAt)
        openLocks()
        forgetOriginsOfPassword(except: origin)
    }

    /// Sets the status. A deactivation permanently closes earlier grants.
    mutating func setStatus(_ status: Status, now: Date) {
        if status == .deactivated && self.status != .deactivated { deactivatedAt = Self.time(now, unlike: deactivatedAt) }
        self.status = status
    }

    /// Ends all sessions, pending sign-ins and pending activations: a sign-in that started earlier can no longer create a session.
    mutating func endSessions(now: Date) {
        sessionsEndedAt = Self.time(now, unlike: sessionsEndedAt)
        activationID = nil
    }

    /// Closes all grants, including those that concurrent sign-ins are about to create.
    mutating func endGrants(now: Date) { grantsEndedAt = Self.time(now, unlike: grantsEndedAt) }

    /// Returns a time that differs from the earlier time, so that each change is detectable even within one clock tick.
    private static func time(_ now: Date, unlike earlier: Date?) -> Date {
        guard let earlier else { return now }
        return max(now, earlier.addingTimeInterval(0.001))
    }
}

extension Engine {
    /// Sets a user's password and unlocks the account. Earlier grants are closed. `mustChange` requires another password at the next
    /// sign-in.
    package func setPassword(
        userID: String, to password: String, mustChange: Bool = false, context: RequestContext
    ) async throws -> AccountChange {
        try await transact(context) { [self] reading in
            (policy: try reading.snapshot.passwordPolicy, user: try user(id: userID, in: reading.view))
        } check: { found in
            found.user.map { givenPasswordCheck(password, of: $0.value, policy: found.policy) }
        } decide: { found, verdict in
            guard let stored = found.user, let verdict else { return Plan(.unknownUser) }
            switch verdict {
            case .refused(let rules): return Plan(.unacceptablePassword(rules.first?.violation ?? ""))
            case .good(let hash):
                return try stored.changing(type: "user.account.update_password") {
                    $0.setPasswordHash(hash, remembering: found.policy.age.history, now: context.now)
                    $0.mustChangePassword = mustChange
                }
            }
        }
    }

    /// Requires the user to change the password at the next password sign-in. Existing sessions and grants stay valid.
    package func expirePassword(userID: String, context: RequestContext) async throws -> AccountChange {
        try await change(userID, type: "user.account.expire_password", context: context) {
            if $0.passwordHash != nil { $0.mustChangePassword = true }
        }
    }

    /// Sets the status of an account. Only active users can sign in and refresh tokens.
    package func setStatus(userID: String, to status: User.Status, context: RequestContext) async throws -> AccountChange {
        try await change(userID, type: "user.lifecycle.\(status.rawValue)", context: context) {
            $0.setStatus(status, now: context.now)
        }
    }

    /// Replaces the groups of an account. Sessions and grants stay: each later sign-in and each new token uses the new groups. Throws
    /// ``AdministrationRefusal`` for a group that the organization does not have.
    package func setGroups(userID: String, to groups: [String], context: RequestContext) async throws -> AccountChange {
        try await transact(context) { [self] reading in
            (user: try user(id: userID, in: reading.view), known: try reading.snapshot.organization.groups.map(\.name))
        } decide: { found in
            guard let stored = found.user else { return Plan(.unknownUser) }
            if let unknown = groups.first(where: { !found.known.contains($0) }) {
                let known = found.known.isEmpty ? "It has no groups" : "Its groups are: \(found.known.sorted().joined(separator: ", "))"
                throw AdministrationRefusal("The organization has no group “\(unknown)”. \(known). Add a new group to the org file first.")
            }
            let reason = groups.isEmpty ? "no groups" : "groups: \(groups.joined(separator: ", "))"
            return try stored.changing(type: "user.account.update_groups", reason: reason) { $0.groups = groups }
        }
    }

    /// Ends every session and pending sign-in of a user with one write of the account.
    func markSessionsEnded(ofUser userID: String, context: RequestContext) async throws -> AccountChange {
        try await change(userID, type: "user.session.end_all", context: context) { $0.endSessions(now: context.now) }
    }

    /// Closes every grant of a user with one write of the account, including grants that concurrent sign-ins are about to create.
    package func markGrantsEnded(ofUser userID: String, context: RequestContext) async throws -> AccountChange {
        try await change(userID, type: "user.grant.end_all", context: context) { $0.endGrants(now: context.now) }
    }

    /// Unlocks an account: resets all wrong answers and removes all locks.
    package func unlock(userID: String, context: RequestContext) async throws -> AccountChange {
        try await change(userID, type: "user.account.unlock", context: context) { $0.forgetMistakes() }
    }

    /// Unlocks an account on behalf of an administrator, if wrong answers locked the account or closed a factor or the recovery. Returns
    /// whether the account was unlocked.
    package func unlockIfClosed(userID: String, by name: String, context: RequestContext) async throws -> Bool {
        var isOpened = false
        let type = "user.account.unlock_by_admin"
        _ = try await change(userID, type: type, reason: "by \(name)", context: context) {
            isOpened = $0.isClosedByMistakes(at: context.now)
            if isOpened { $0.forgetMistakes() }
        }
        return isOpened
    }

    /// Returns the user with a login, in any case; `nil` if there is none.
    package func user(login: String) async throws -> User? {
        try await store.read { [self] in try self.user(login: login, in: $0)?.value }
    }

    /// Returns the user with an id; `nil` if there is none.
    package func user(id: String) async throws -> User? {
        try await store.read { [self] in try user(id: id, in: $0)?.value }
    }

    /// Writes a change of a user with its log event.
    private func change(
        _ userID: String, type: String, reason: String? = nil, context: RequestContext, _ body: (inout User) -> Void
    ) async throws -> AccountChange {
        try await transact(context) { [self] reading in
            try user(id: userID, in: reading.view)
        } decide: { stored in
            try stored?.changing(type: type, reason: reason, body) ?? Plan(.unknownUser)
        }
    }
}

extension StoredUser {
    /// Returns the plan that changes the user, without writes if the change has no effect.
    fileprivate func changing(type: String, reason: String? = nil, _ change: (inout User) -> Void) throws -> Plan<AccountChange> {
        var user = value
        change(&user)
        if user == value { return Plan(.changed(user)) }
        var writes = Writes([.put(try record(holding: user))])
        writes.log(type, .success, reason: reason, userID: user.id)
        return Plan(.changed(user), writes)
    }
}
