package import Foundation
package import JOSE
internal import Store

/// A change that key maintenance made.
package struct KeyChange: Sendable, Equatable {
    package enum Action: Sendable, Equatable {
        /// The key was created and published, and begins to sign at `signsFrom`.
        case published(signsFrom: Date)
        /// The key signs earlier than planned.
        case advanced
        /// The key was removed: it was withdrawn, or all tokens that it signed have expired.
        case removed
    }

    package var keyID: String
    package var action: Action
}

/// The time when the next signing keys begin to sign, and the treatment of the present keys.
package enum KeyHandover: Sendable {
    /// The next keys sign after the configured number of days, so that clients with a cached key set know them by then.
    case scheduled
    /// The next keys sign at once, if they have been published for at least ``SigningKeyRing/cacheLifetime``.
    case immediate
    /// The next keys sign at once. A client with a cached key set rejects new tokens until it reads the set again.
    case forced
    /// The next keys sign at once, and the present keys are withdrawn because a key was disclosed. Withdrawn keys are no longer published,
    /// and every token that they signed is rejected. Refresh tokens stay valid.
    case withdrawing
}

/// The error that the next signing key cannot sign yet, because clients may have cached a key set without it.
package struct KeyHandoverError: Error, Sendable, Equatable {
    /// The time when every cached copy of the key set contains the next key; `nil` if no next key is published.
    package let knownFrom: Date?
}

extension Engine {
    /// Creates missing signing keys, publishes successors ahead of time, and removes keys whose tokens have all expired. The key of an
    /// algorithm that was added later is published for ``SigningKeyRing/cacheLifetime`` before it signs; RS256 signs until then. Call it at
    /// start, after the organization was applied, and about every hour. Idempotent, and safe in two processes at the same time: both use
    /// the same unique slot in the key line, and the second adopts the first one's key. Returns the changes.
    /// - Parameter make: Creates a private key for an algorithm. An RSA key takes about 0.1 seconds.
    @discardableResult
    package func maintainKeys(
        _ context: RequestContext, making make: @escaping @Sendable (JWSAlgorithm) throws -> SigningKey = { try SigningKey.generate($0) }
    ) async throws -> [KeyChange] {
        try await changeKeys(context, making: make) { line, rotation, firstSignsFrom in
            guard let newest = line.last else { return .make(after: nil, signsFrom: firstSignsFrom) }
            let handover = newest.sealed.signsFrom.addingTimeInterval(days: rotation.signsForDays)
            guard context.now >= handover.addingTimeInterval(days: -rotation.publishedDaysAhead) else { return .keep }
            // Even after a long downtime, the next key is published long enough before it signs.
            return .make(after: newest, signsFrom: max(handover, context.now.addingTimeInterval(days: rotation.publishedDaysAhead)))
        }
    }

    /// Rotates the signing keys now rather than on schedule. Returns the changes; empty if the next keys are published already and the
    /// handover is ``KeyHandover/scheduled``. Throws ``KeyHandoverError``, without any change, if clients may not know a next key yet.
    @discardableResult
    package func rotateKeys(
        _ handover: KeyHandover, context: RequestContext,
        making make: @escaping @Sendable (JWSAlgorithm) throws -> SigningKey = { try SigningKey.generate($0) }
    ) async throws -> [KeyChange] {
        try await changeKeys(context, withdrawing: handover == .withdrawing, making: make) { line, rotation, firstSignsFrom in
            let now = context.now
            if let newest = line.last, newest.sealed.signsFrom > now {
                if handover == .scheduled { return .keep }
                let knownFrom = newest.sealed.createdAt.addingTimeInterval(TimeInterval(SigningKeyRing.cacheLifetime))
                if handover == .immediate, now < knownFrom { throw KeyHandoverError(knownFrom: knownFrom) }
                var advanced = newest.sealed
                advanced.signsFrom = now
                return .advance(advanced)
            }
            if handover == .immediate, !line.isEmpty { throw KeyHandoverError(knownFrom: nil) }
            let signsFrom =
                switch handover {
                case .scheduled where !line.isEmpty: now.addingTimeInterval(days: rotation.publishedDaysAhead)
                case .scheduled, .immediate: firstSignsFrom
                case .forced, .withdrawing: now
                }
            return .make(after: line.last, signsFrom: signsFrom)
        }
    }

    /// The next state of one algorithm's keys.
    private enum LineStep: Sendable {
        case keep
        /// The next key signs earlier than planned.
        case advance(SealedSigningKey)
        case make(after: SigningKeyRing.Entry?, signsFrom: Date)
    }

    private struct KeyState: Sendable {
        let snapshot: OrgSnapshot
        let steps: [(JWSAlgorithm, LineStep)]

        /// The algorithms that need a new key.
        var missing: [JWSAlgorithm] { steps.compactMap { if case .make = $0.1 { $0.0 } else { nil } } }
    }

    /// Decides about the keys of each algorithm, and commits the result. Missing keys are created in parallel, between the read and the
    /// commit. `decide` gets the keys, the rules, and the time when the first key of an algorithm begins to sign.
    private func changeKeys(
        _ context: RequestContext, withdrawing: Bool = false, making make: @escaping @Sendable (JWSAlgorithm) throws -> SigningKey,
        decide: @escaping @Sendable ([SigningKeyRing.Entry], KeyRotation, Date) throws -> LineStep
    ) async throws -> [KeyChange] {
        let report = try await transact(context) { (reading: Reading<[JWSAlgorithm: SigningKey]>) in
            let snapshot = try reading.snapshot
            // Clients may have cached a key set without the first key of an added algorithm: RS256 signs until the cache has expired.
            let isFresh = snapshot.keyRing.lines.isEmpty
            let firstSignsFrom = isFresh ? context.now : context.now.addingTimeInterval(TimeInterval(SigningKeyRing.cacheLifetime))
            let steps = try snapshot.signingAlgorithms.map { algorithm in
                (algorithm, try decide(snapshot.keyRing.lines[algorithm] ?? [], snapshot.keyRotation, firstSignsFrom))
            }
            return KeyState(snapshot: snapshot, steps: steps)
        } check: { state in
            let missing = state.missing
            return missing.isEmpty ? nil : Check(of: missing) { try await Self.keys(missing, making: make) }
        } decide: { state, made in
            var writes = Writes()
            var report: [KeyChange] = []
            for (algorithm, step) in state.steps {
                switch step {
                case .keep: continue
                case .advance(let key):
                    writes += [.put(key.record)]
                    report.append(KeyChange(keyID: key.id, action: .advanced))
                case .make(let predecessor, let signsFrom):
                    guard let key = made?[algorithm] else { continue }
                    let sealed = try newKey(
                        key, after: predecessor, signsFrom: signsFrom, rotation: state.snapshot.keyRotation,
                        sealingKey: state.snapshot.sealingKey, now: context.now)
                    writes += [.put(sealed.record)]
                    report.append(KeyChange(keyID: sealed.id, action: .published(signsFrom: signsFrom)))
                }
            }
            for entry in state.snapshot.keyRing.lines.values.joined() {
                let isOver = entry.publishedUntil.map { $0 <= context.now } ?? false
                // Withdraws the keys that have begun to sign, not the next keys, which sign from now on.
                guard isOver || (withdrawing && entry.sealed.signsFrom <= context.now) else { continue }
                writes += [.remove(.signingKey, id: entry.sealed.id, version: entry.sealed.version)]
                report.append(KeyChange(keyID: entry.sealed.id, action: .removed))
            }
            for change in report { writes.log(change.logType, .success, reason: change.keyID) }
            return Plan(report, writes)
        }
        if !report.isEmpty { await readAgain() }
        return report
    }

    private static func keys(
        _ algorithms: [JWSAlgorithm], making make: @escaping @Sendable (JWSAlgorithm) throws -> SigningKey
    ) async throws -> [JWSAlgorithm: SigningKey] {
        try await withThrowingTaskGroup(of: (JWSAlgorithm, SigningKey).self) { group in
            for algorithm in algorithms { group.addTask { (algorithm, try make(algorithm)) } }
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
    }

    /// Creates the first key of a line, which signs at once.
    func firstKey(_ key: SigningKey, rotation: KeyRotation, now: Date) throws -> SealedSigningKey {
        try newKey(key, after: nil, signsFrom: now, rotation: rotation, now: now)
    }

    private func newKey(
        _ key: SigningKey, after predecessor: SigningKeyRing.Entry?, signsFrom: Date, rotation: KeyRotation, sealingKey: Int = 0, now: Date
    ) throws -> SealedSigningKey {
        try SealedSigningKey(
            key, ordinal: (predecessor?.sealed.ordinal ?? 0) + 1, createdAt: now, signsFrom: signsFrom,
            publishedAfter: rotation.publishedDaysAfter * 86400, environment: environment.sealing(with: sealingKey))
    }
}

extension KeyChange {
    fileprivate var logType: String {
        switch action {
        case .published: "signing_key.published"
        case .advanced: "signing_key.advanced"
        case .removed: "signing_key.removed"
        }
    }
}

extension OrgSnapshot {
    /// The algorithms that need keys: RS256 always, others if a server or a client uses them.
    fileprivate var signingAlgorithms: [JWSAlgorithm] {
        [JWSAlgorithm].needed(for: servers.map(\.accessTokenAlgorithm) + applications.map(\.idTokenAlgorithm))
    }
}

extension OrganizationDefinition {
    /// The algorithms that need keys, as in ``OrgSnapshot``.
    var signingAlgorithms: [JWSAlgorithm] {
        .needed(for: authorizationServers.map(\.accessTokenAlgorithm) + applications.map(\.idTokenAlgorithm))
    }
}

extension [JWSAlgorithm] {
    fileprivate static func needed(for asked: [JWSAlgorithm]) -> [JWSAlgorithm] {
        [.rs256] + Set(asked).subtracting([.rs256]).sorted { $0.rawValue < $1.rawValue }
    }
}

extension Date {
    fileprivate func addingTimeInterval(days: Int) -> Date { addingTimeInterval(TimeInterval(days) * 86400) }
}
