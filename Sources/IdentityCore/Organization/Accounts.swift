internal import Foundation
internal import Store

/// What became of a change to an account.
package enum AccountChange: Sendable, Equatable {
    /// It was made and is durable.
    case changed(User)
    /// There is no such user.
    case unknownUser
    /// The new password will not do; the sentence says why.
    case unacceptablePassword(String)
}

extension User {
    /// Gives the account a password: guesses are forgotten, and what was granted before is no longer good. Of those before it as many are
    /// remembered as the policy compares new ones with, the present one among them. Origins that only the old password proved become
    /// unknown, except the one from which the user sets the new one.
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

    /// Says what may be done with the account: deactivation ends for good what was granted before.
    mutating func setStatus(_ status: Status, now: Date) {
        if status == .deactivated && self.status != .deactivated { deactivatedAt = Self.time(now, unlike: deactivatedAt) }
        self.status = status
    }

    /// Ends what is signed in and what is about to be: a sign-in that was begun before can end in no session any more.
    mutating func endSessions(now: Date) {
        sessionsEndedAt = Self.time(now, unlike: sessionsEndedAt)
        activationID = nil
    }

    /// Ends what was granted, and what is being granted to a sign-in that was read before.
    mutating func endGrants(now: Date) { grantsEndedAt = Self.time(now, unlike: grantsEndedAt) }

    /// Two changes at one time differ all the same, and so do three: grants tell by the time whether there was a change since.
    private static func time(_ now: Date, unlike earlier: Date?) -> Date {
        guard let earlier else { return now }
        return max(now, earlier.addingTimeInterval(0.001))
    }
}

extension Engine {
    /// Sets a user's password and opens a lock. Grants made before are refused from then on.
    ///
    /// - Parameters:
    ///   - userID: The user.
    ///   - password: The new password; it must satisfy the password policy.
    ///   - context: The request.
    /// - Returns: What became of it.
    /// - Throws: ``StoreError``; ``PasswordHasher/Overloaded``; `CancellationError`.
    package func setPassword(userID: String, to password: String, context: RequestContext) async throws -> AccountChange {
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
                }
            }
        }
    }

    /// Makes a user change their password when they next sign in with it. What they are signed in to already goes on.
    ///
    /// - Parameters:
    ///   - userID: The user.
    ///   - context: The request.
    /// - Returns: What became of it.
    /// - Throws: ``StoreError`` if the store failed.
    package func expirePassword(userID: String, context: RequestContext) async throws -> AccountChange {
        try await change(userID, type: "user.account.expire_password", context: context) {
            if $0.passwordHash != nil { $0.mustChangePassword = true }
        }
    }

    /// Sets what may be done with an account. Whoever is not active can neither sign in nor refresh.
    ///
    /// - Parameters:
    ///   - userID: The user.
    ///   - status: The new status.
    ///   - context: The request.
    /// - Returns: What became of it.
    /// - Throws: ``StoreError`` if the store failed.
    package func setStatus(userID: String, to status: User.Status, context: RequestContext) async throws -> AccountChange {
        try await change(userID, type: "user.lifecycle.\(status.rawValue)", context: context) {
            $0.setStatus(status, now: context.now)
        }
    }

    /// Ends every session of a user and every sign-in under way, by one write of the account.
    func markSessionsEnded(ofUser userID: String, context: RequestContext) async throws -> AccountChange {
        try await change(userID, type: "user.session.end_all", context: context) { $0.endSessions(now: context.now) }
    }

    /// Ends every grant of a user, those that are being made included, by one write of the account.
    package func markGrantsEnded(ofUser userID: String, context: RequestContext) async throws -> AccountChange {
        try await change(userID, type: "user.grant.end_all", context: context) { $0.endGrants(now: context.now) }
    }

    /// Opens an account that failed attempts locked, and a question that was answered wrongly too often.
    ///
    /// - Parameters:
    ///   - userID: The user.
    ///   - context: The request.
    /// - Returns: What became of it.
    /// - Throws: ``StoreError`` if the store failed.
    package func unlock(userID: String, context: RequestContext) async throws -> AccountChange {
        try await change(userID, type: "user.account.unlock", context: context) { $0.forgetMistakes() }
    }

    /// Opens an account that mistakes closed, or their question, by somebody's word.
    ///
    /// - Returns: Whether something was closed, and is open now.
    package func unlockIfClosed(userID: String, by name: String, context: RequestContext) async throws -> Bool {
        var isOpened = false
        let type = "user.account.unlock_by_admin"
        _ = try await change(userID, type: type, reason: "by \(name)", context: context) {
            isOpened = $0.isClosedByMistakes(at: context.now)
            if isOpened { $0.forgetMistakes() }
        }
        return isOpened
    }

    /// The user who signs in with a name.
    ///
    /// - Parameter login: The name, in any case.
    /// - Returns: They, or nil.
    /// - Throws: ``StoreError`` if the store failed.
    package func user(login: String) async throws -> User? {
        try await store.read { [self] in try self.user(login: login, in: $0)?.value }
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
    /// The plan that changes the user; it writes nothing if the change has no effect.
    fileprivate func changing(type: String, reason: String? = nil, _ change: (inout User) -> Void) throws -> Plan<AccountChange> {
        var user = value
        change(&user)
        if user == value { return Plan(.changed(user)) }
        var writes = Writes([.put(try record(holding: user))])
        writes.log(type, .success, reason: reason, userID: user.id)
        return Plan(.changed(user), writes)
    }
}
