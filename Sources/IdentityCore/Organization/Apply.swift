internal import Foundation
internal import Store

extension Engine {
    /// Updates the store to match a definition, in one commit. Idempotent.
    /// - Configuration: entries of the definition replace stored entries. Entries that an earlier definition created and this one does not
    ///   contain are removed. Other entries stay.
    /// - Users: only the members that changed in the definition since it was last applied are written. Users that the definition no longer
    ///   contains are deactivated.
    /// - Sessions, grants and enrollments stay, unless the change of a user closes or replaces them.
    ///
    /// Returns the created, changed, removed and unchanged entries. Throws:
    /// - ``OrganizationError`` if the definition is invalid, or a new password is known from a data breach.
    /// - ``StoreError/Code/wrongMasterKey``, before any write, if another master key sealed the store; other ``StoreError`` if the store
    ///   failed.
    /// - ``PasswordHasher/Overloaded`` or `CancellationError` while hashing the passwords of new users.
    package func apply(
        _ definition: OrganizationDefinition, options: ApplyOptions = ApplyOptions(), context: RequestContext
    ) async throws -> ApplyReport {
        let problems = definition.problems()
        guard problems.isEmpty else { throw OrganizationError(problems: problems) }
        // Normalizes the definition by encoding and decoding it, so that an unchanged number does not look like a change on every start.
        let definition = try RecordCoding.decode(OrganizationDefinition.self, from: try RecordCoding.encode(definition))
        let report = try await transact(context) { [environment] (reading: Reading<[String: String]>) in
            try ApplyPlan(
                definition, options: options, hashes: reading.verdict ?? [:], view: reading.view, environment: environment, now: context.now
            )
        } check: { plan in
            guard !plan.missingHashes.isEmpty else { return nil }
            return Check(of: plan.missingHashes) { [self] in
                try await refuseBreached(plan.missingHashes, of: definition)
                return plan.hashes.merging(try await hash(plan.missingHashes, policy: definition.passwordPolicy)) { $1 }
            }
        } needsMore: { _, _ in
            true
        } decide: { plan, _ in
            let report = ApplyReport(entries: plan.entries, previousOrigin: plan.previousOrigin)
            var writes = Writes(plan.keyCheck + plan.changes)
            guard !plan.changes.isEmpty else { return Plan(report, writes) }
            for event in plan.factorEvents {
                writes.log(
                    "user.mfa.factor.\(event.action.rawValue)", .success, reason: "\(event.factor.rawValue), from the org file",
                    userID: event.userID)
            }
            let sums = [ApplyReport.Entry.Action.created, .changed, .removed].map { "\(report.count($0)) \($0.rawValue)" }
            writes.log("organization.apply", .success, reason: sums.joined(separator: ", "))
            return Plan(report, writes)
        }
        await readAgain()
        return report
    }

    /// Returns the changes that ``apply(_:options:context:)`` would make now, and writes nothing. Does not check whether passwords are
    /// known from data breaches. Throws the errors of ``apply(_:options:context:)``, except the errors of hashing.
    package func preview(_ definition: OrganizationDefinition, context: RequestContext) async throws -> ApplyReport {
        let problems = definition.problems()
        guard problems.isEmpty else { throw OrganizationError(problems: problems) }
        let definition = try RecordCoding.decode(OrganizationDefinition.self, from: try RecordCoding.encode(definition))
        return try await transact(context) { [environment] reading in
            let plan = try ApplyPlan(
                definition, options: ApplyOptions(), hashes: [:], view: reading.view, environment: environment, now: context.now)
            return ApplyReport(entries: plan.entries, previousOrigin: plan.previousOrigin)
        } decide: {
            Plan($0)
        }
    }

    /// Rejects new passwords that are known from data breaches. Throws an ``OrganizationError`` that names their places in the definition.
    private func refuseBreached(_ passwords: [String: String], of definition: OrganizationDefinition) async throws {
        let breached = await breached(Set(passwords.values))
        let problems = definition.users.enumerated().filter { breached.contains($1.password ?? "") }.map { index, _ in
            OrganizationError.Problem([.key("users"), .index(index), .key("password")], PasswordRule.unexposed.violation)
        }
        guard problems.isEmpty else { throw OrganizationError(problems: problems) }
    }

    /// Returns the new passwords that are known from data breaches; looks up at most eight at a time.
    private func breached(_ passwords: Set<String>) async -> Set<String> {
        guard environment.breachedPasswords != nil else { return [] }
        return await withTaskGroup(of: String?.self) { group in
            var found: Set<String> = []
            for (index, password) in passwords.enumerated() {
                if index >= 8, let known = await group.next() ?? nil { found.insert(known) }
                group.addTask { [self] in await isBreached(password) ? password : nil }
            }
            for await case let known? in group { found.insert(known) }
            return found
        }
    }

    /// Hashes several passwords, at most eight at a time.
    func hash(_ passwords: [String: String], policy: PasswordPolicy) async throws -> [String: String] {
        try await withThrowingTaskGroup(of: (String, String).self) { group in
            var hashes: [String: String] = [:]
            for (index, (key, password)) in passwords.enumerated() {
                if index >= 8, let (key, hash) = try await group.next() { hashes[key] = hash }
                let salt = try environment.random.bytes(16)
                group.addTask { [hasher = environment.passwordHasher] in
                    (key, try await hasher.hash(password, logN: policy.scryptLogN, salt: salt))
                }
            }
            for try await (key, hash) in group { hashes[key] = hash }
            return hashes
        }
    }
}

/// The changes that make the store match a definition.
struct ApplyPlan: Sendable {
    /// The change that adds the check record of the master key; empty if the store has it.
    let keyCheck: [Change]
    let changes: [Change]
    let entries: [ApplyReport.Entry]
    let previousOrigin: String?
    /// The password hashes that were computed already, by login key.
    let hashes: [String: String]
    /// The passwords that must be hashed before the plan is complete, by login key.
    let missingHashes: [String: String]
    /// The enrollments and removals of factors, for the system log.
    let factorEvents: [UserPlan.FactorEvent]

    /// Plans from one view of the store, with the password hashes that were computed already, by login key. Throws
    /// ``StoreError/Code/wrongMasterKey`` if another master key sealed the store.
    init(
        _ definition: OrganizationDefinition, options: ApplyOptions, hashes: [String: String], view: any StoreView,
        environment: EngineEnvironment, now: Date
    ) throws {
        self.hashes = hashes
        let check = try MasterKeyCheck(environment).verify(view)
        keyCheck = check.change.map { [$0] } ?? []
        // During a rotation, a secret that a server without the store's key sealed would stop the others.
        let environment = environment.sealing(with: check.key)
        let configuration = try ConfigurationPlan(definition, view: view, environment: environment)
        let users = try UserPlan(
            definition, options: options, hashes: hashes, view: view, environment: environment, derivedKeys: check.derived, now: now)
        changes = configuration.changes + users.changes
        entries = configuration.entries + users.entries
        previousOrigin = configuration.previousOrigin
        missingHashes = users.missingHashes
        factorEvents = users.factorEvents
    }
}
