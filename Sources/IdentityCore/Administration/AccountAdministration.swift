internal import Foundation
package import JOSE
internal import Store

/// An account that an administrator creates.
package struct NewAccount: Sendable {
    package var login: String
    /// The profile attributes by claim name.
    package var profile: [String: JSONValue]
    package var groups: [String]
    /// The initial password, which the user must change at the first sign-in; `nil` for an account that is activated by a token.
    package var password: String?

    package init(login: String, profile: [String: JSONValue] = [:], groups: [String] = [], password: String? = nil) {
        (self.login, self.profile, self.groups, self.password) = (login, profile, groups, password)
    }
}

/// The reason why an administrator's change was rejected. `errorDescription` says what to do.
package struct AdministrationRefusal: Error, LocalizedError, Sendable, Equatable {
    package let text: String
    package var errorDescription: String? { text }

    init(_ text: String) { self.text = text }
}

/// Removals and additions of accounts and factors. The log records `RequestContext.administrator`.
extension Engine {
    /// Creates an account. An account with a password is active, and the user must change the password at the first sign-in. An account
    /// without a password is staged until the user activates it. Throws ``AdministrationRefusal`` for an existing or invalid login, an
    /// unknown group or an invalid password; `StoreError` if the store failed.
    package func addUser(_ account: NewAccount, context: RequestContext) async throws -> User {
        let id = try environment.random.identifier(prefix: "00u")
        return try await transact(context) { [self] reading in
            (exists: try user(login: account.login, in: reading.view) != nil, snapshot: try reading.snapshot)
        } check: { found in
            var user = User(id: id, login: account.login, profile: account.profile, createdAt: context.now)
            user.groups = account.groups
            return account.password.map { givenPasswordCheck($0, of: user, policy: found.snapshot.passwordPolicy) }
        } decide: { found, verdict in
            guard !found.exists else { throw AdministrationRefusal("A user “\(account.login)” exists already.") }
            guard UserDefinition.isValid(login: account.login) else {
                throw AdministrationRefusal("A login has 1 to 200 bytes, no white space and no control characters.")
            }
            for name in account.groups where !found.snapshot.organization.groups.contains(where: { $0.name == name }) {
                throw AdministrationRefusal("The organization has no group “\(name)”. Add it to the org file first.")
            }
            var hash: String?
            switch verdict {
            case .refused(let rules): throw AdministrationRefusal(rules.first?.violation ?? "The password violates the policy.")
            case .good(let good): hash = good
            case nil: break
            }
            var user = User(
                id: id, login: account.login, status: hash == nil ? .staged : .active, profile: account.profile, groups: account.groups,
                passwordHash: hash, createdAt: context.now)
            user.mustChangePassword = hash != nil
            var writes = Writes([.put(try StoredUser(new: user, origin: .api).record(holding: user))])
            writes.log("user.lifecycle.create", .success, userID: user.id)
            return Plan(user, writes)
        }
    }

    /// Removes enrolled factors of a user, for example after the loss of a phone. Also forgets the remembered devices, ends every session
    /// and pending sign-in, and resets the wrong answers to the removed factors. Tokens stay valid; revoke them separately if another
    /// person may have the device. If the sign-on policy requires a second factor, the next sign-in enrolls one.
    /// Returns the kinds of the removed factors.
    /// - Parameter kind: The kind of the factors to remove; `nil` removes all factors. If the user has none of this kind, nothing changes.
    package func resetFactors(
        ofUser userID: String, only kind: FactorKind? = nil, context: RequestContext
    ) async throws -> [FactorKind] {
        let removed = try await transact(context) { [self] reading in
            try FactorReset(userID, kind, reading.view, snapshot: reading.snapshot, environment: environment, now: context.now)
        } decide: { reset in
            // A full reset of a user without factors still ends sessions and forgets remembered devices, which a thief may have.
            guard let user = reset.user, kind == nil || !reset.removed.isEmpty else { return Plan([FactorKind]()) }
            var changed = user.value
            changed.endSessions(now: context.now)
            for factor in reset.removed { changed.forgetFailures(ofReplaced: factor.factor) }
            // The account is written too, so that an enrollment at the same time causes a conflict.
            var writes = Writes(reset.changes + [.put(try user.record(holding: changed))])
            if reset.removed.isEmpty { writes.log("user.session.end_all", .success, reason: "factor reset", userID: userID) }
            for factor in reset.removed {
                writes.log("user.mfa.factor.deactivate", .success, reason: factor.factor.rawValue, userID: userID)
            }
            return Plan(reset.removed.map(\.factor), writes)
        }
        guard kind == nil || !removed.isEmpty else { return [] }
        try await removeEndedSessions(ofUser: userID, context: context)
        return removed
    }

    /// Deletes an account permanently, with its factors, sessions, grants, consents and remembered devices. The system log keeps its lines.
    /// A deleted device enrollment is kept for ``Enrollment/retention``, so that the device learns of the deletion. If the store fails, the
    /// account stays deactivated, and a repeated call completes the deletion. Throws ``AdministrationRefusal`` if the org file names the
    /// user, because the next start would create the account again. Returns `false` for an unknown user.
    package func deleteUser(id userID: String, context: RequestContext) async throws -> Bool {
        guard let stored = try await store.read({ [self] in try user(id: userID, in: $0) }) else { return false }
        guard stored.applied == nil else {
            throw AdministrationRefusal(
                "The org file names “\(stored.value.login)”, so the next start would create the account again. Remove the user from the org "
                    + "file, apply it, then delete the account.")
        }
        // Until the account itself is removed, its status closes its sessions and grants.
        _ = try await setStatus(userID: userID, to: .deactivated, context: context)
        try await signOutEverywhere(userID: userID, context: context)
        _ = try await resetFactors(ofUser: userID, context: context)
        for kind in [RecordKind.session, .grant, .consent, .rememberedDevice] {
            _ = try await inBatches(kind, ofUser: userID) { ids in
                try await transact(context) { reading in
                    try ids.compactMap { try reading.view.record(kind, id: $0) }
                } decide: { (records: [Record]) in
                    Plan(records.count, Writes(records.map { .remove(kind, id: $0.id, version: $0.version) }))
                }
            }
        }
        return try await transact(context) { [self] reading in
            try user(id: userID, in: reading.view)
        } decide: { found in
            guard let found else { return Plan(true) }
            var writes = Writes([.remove(.user, id: userID, version: found.version)])
            writes.log("user.lifecycle.delete", .success, userID: userID)
            return Plan(true, writes)
        }
    }

    /// Returns a random password that satisfies the organization's policy. The caller shows it once.
    package func temporaryPassword() async throws -> String {
        let policy = try await snapshot().passwordPolicy
        // Without characters that look alike. Each group of four has a lower-case letter, a capital, a digit and a symbol.
        let groups = ["abcdefghijkmnpqrstuvwxyz", "ABCDEFGHJKLMNPQRSTUVWXYZ", "23456789", "-._"].map(Array.init)
        let length = max(16, policy.minimumLength)
        var password = ""
        while password.count < length {
            let group = groups[password.count % groups.count]
            guard let byte = try environment.random.bytes(1).first, Int(byte) < 256 / group.count * group.count else { continue }
            password.append(group[Int(byte) % group.count])
        }
        return password
    }
}

/// A user, the factors that a reset removes, and the changes that remove them; from one read.
private struct FactorReset: Sendable {
    let user: StoredUser?
    let removed: [Enrollment]
    let changes: [Change]

    init(
        _ userID: String, _ kind: FactorKind?, _ view: any StoreView, snapshot: OrgSnapshot, environment: EngineEnvironment, now: Date
    ) throws {
        user = try view.record(.user, id: userID).map(StoredUser.init)
        removed = try view.enrollments(of: userID).filter { kind == nil || $0.factor == kind }
        let directory = DeviceDirectory(snapshot: snapshot, view: view, now: now)
        var counters = DeviceCounters(view, environment: environment, derivedKeys: snapshot.derivedKeys)
        var changes = try directory.deleting(removed.filter { $0.push != nil })
        for factor in removed where factor.push == nil {
            // The counter of a hardware device is kept, so that its old codes stay invalid.
            changes += factor.hotp == nil ? [factor.removal] : try counters.take(factor)
        }
        changes += try counters.changes()
        // A remembered device needs no second factor. The user may have remembered it by a factor that is removed now.
        if kind == nil || !removed.isEmpty {
            changes += try view.records(.rememberedDevice, where: "user", is: userID, limit: .max)
                .map { .remove(.rememberedDevice, id: $0.id, version: $0.version) }
        }
        self.changes = changes
    }
}
