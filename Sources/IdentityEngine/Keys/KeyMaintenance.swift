public import Foundation
public import JOSE

/// What maintenance did to the keys.
public struct KeyChange: Sendable, Equatable {
    /// What happened to a key.
    public enum Action: Sendable, Equatable {
        /// It was made and published; it signs from a date on.
        case published(signsFrom: Date)
        /// It signs earlier than planned.
        case advanced
        /// It was removed: no token that it signed can be alive, or is to be.
        case removed
    }

    /// The key's id.
    public var keyID: String
    /// What happened to it.
    public var action: Action
}

/// The time when the next signing keys begin to sign, and the treatment of the present keys.
public enum KeyHandover: Sendable {
    /// They sign after the organization's days ahead, so that clients that read the key set once know them by then.
    case scheduled
    /// They sign at once, if they have been published for as long as a copy of the key set may be cached
    /// (``SigningKeyRing/cacheLifetime``).
    case immediate
    /// They sign at once. A client that cached the key set rejects new tokens until it reads the set again.
    case forced
    /// They sign at once, and the present keys are withdrawn because a key was disclosed. Withdrawn keys are no longer published, and every
    /// token that they signed is rejected. Refresh tokens stay valid.
    case withdrawing
}

/// The next signing key can't sign yet, because clients may have cached a key set without it.
public struct KeyHandoverError: Error, Sendable, Equatable {
    /// The time when every cached copy of the key set contains the next key; `nil` if no next key is published.
    public let knownFrom: Date?
}

extension IdentityEngine {
    /// Creates missing signing keys, publishes successors ahead of time, and removes keys whose tokens have all expired. The key of an
    /// algorithm that was added later is published for ``SigningKeyRing/cacheLifetime`` before it signs; RS256 signs until then.
    ///
    /// Call it at start, after the organization was applied, and about every hour. Calling it again changes nothing. Two
    /// processes may call it at the same time: they meet at the key's place in its line, and the second adopts what the
    /// first made.
    ///
    /// - Parameters:
    ///   - context: The wall clock and the request's id.
    ///   - make: Makes a private key for an algorithm. The default takes the system's generator; making an RSA key takes a
    ///     tenth of a second or so.
    /// - Returns: What was changed; empty when nothing was due.
    /// - Throws: ``StoreError``, or what `make` throws.
    @discardableResult
    public func maintainKeys(
        _ context: RequestContext, making make: @Sendable (JWSAlgorithm) throws -> SigningKey = { try SigningKey.generate($0) }
    ) async throws -> [KeyChange] {
        try await changeKeys(context) { line, algorithm, rotation, firstSignsFrom in
            guard let newest = line.last else {
                return try self.newKey(make(algorithm), after: nil, signsFrom: firstSignsFrom, rotation: rotation, now: context.now)
            }
            let handover = newest.sealed.signsFrom.addingTimeInterval(days: rotation.signsForDays)
            guard context.now >= handover.addingTimeInterval(days: -rotation.publishedDaysAhead) else { return nil }
            // A server that slept through the date still publishes the next key long enough before it signs.
            let signsFrom = max(handover, context.now.addingTimeInterval(days: rotation.publishedDaysAhead))
            return try self.newKey(make(algorithm), after: newest, signsFrom: signsFrom, rotation: rotation, now: context.now)
        }
    }

    /// Rotates the signing keys now rather than on schedule.
    ///
    /// - Parameters:
    ///   - handover: The time when the next keys begin to sign, and the treatment of the present keys.
    ///   - context: The wall clock and the request's id.
    ///   - make: Makes a private key for an algorithm.
    /// - Returns: The changes; empty if the next keys are published already and the handover is ``KeyHandover/scheduled``.
    /// - Throws: ``KeyHandoverError`` if clients may not know a next key yet (nothing is changed then); ``StoreError``; errors of `make`.
    @discardableResult
    public func rotateKeys(
        _ handover: KeyHandover, context: RequestContext,
        making make: @Sendable (JWSAlgorithm) throws -> SigningKey = { try SigningKey.generate($0) }
    ) async throws -> [KeyChange] {
        try await changeKeys(context, withdrawing: handover == .withdrawing) { line, algorithm, rotation, firstSignsFrom in
            let now = context.now
            if let newest = line.last, newest.sealed.signsFrom > now {
                if handover == .scheduled { return nil }
                let knownFrom = newest.sealed.createdAt.addingTimeInterval(TimeInterval(SigningKeyRing.cacheLifetime))
                if handover == .immediate, now < knownFrom { throw KeyHandoverError(knownFrom: knownFrom) }
                var advanced = newest.sealed
                advanced.signsFrom = now
                return (advanced, KeyChange(keyID: advanced.id, action: .advanced))
            }
            if handover == .immediate, !line.isEmpty { throw KeyHandoverError(knownFrom: nil) }
            let signsFrom =
                switch handover {
                case .scheduled where !line.isEmpty: now.addingTimeInterval(days: rotation.publishedDaysAhead)
                case .scheduled, .immediate: firstSignsFrom
                case .forced, .withdrawing: now
                }
            return try self.newKey(make(algorithm), after: line.last, signsFrom: signsFrom, rotation: rotation, now: now)
        }
    }

    /// Reads the lines, decides about each, and commits the result. Retries if another process committed first. `decide` gets a line, its
    /// algorithm, the rules and the time when the first key of a line begins to sign.
    private func changeKeys(
        _ context: RequestContext, withdrawing: Bool = false,
        decide: ([SigningKeyRing.Entry], JWSAlgorithm, KeyRotation, Date) throws -> (SealedSigningKey, KeyChange)?
    ) async throws -> [KeyChange] {
        for _ in 0..<4 {
            let snapshot = try await store.read { try self.snapshot($0) }
            var changes: [Change] = []
            var report: [KeyChange] = []
            // Clients may have cached a key set without the first key of an added algorithm: RS256 signs until the cache has expired.
            let isFresh = snapshot.keyRing.lines.isEmpty
            let firstSignsFrom = isFresh ? context.now : context.now.addingTimeInterval(TimeInterval(SigningKeyRing.cacheLifetime))
            for algorithm in snapshot.signingAlgorithms {
                let line = snapshot.keyRing.lines[algorithm] ?? []
                if let (key, change) = try decide(line, algorithm, snapshot.keyRotation, firstSignsFrom) {
                    changes.append(.put(key.record))
                    report.append(change)
                }
            }
            for entry in snapshot.keyRing.lines.values.joined() {
                let isOver = entry.publishedUntil.map { $0 <= context.now } ?? false
                // What has begun to sign is what the keys of this commit succeed.
                guard isOver || (withdrawing && entry.sealed.signsFrom <= context.now) else { continue }
                changes.append(.remove(.signingKey, id: entry.sealed.id, version: entry.sealed.version))
                report.append(KeyChange(keyID: entry.sealed.id, action: .removed))
            }
            if changes.isEmpty { return [] }
            for change in report {
                changes.append(try logChange(of: change, context))
            }
            if try await store.commit(changes) == .committed {
                await readAgain()
                return report
            }
        }
        throw StoreError(.unavailable, "The signing keys changed four times while they were being maintained. Try again.")
    }

    /// Creates the first key of a line, which signs at once.
    func firstKey(_ key: SigningKey, rotation: KeyRotation, now: Date) throws -> SealedSigningKey {
        try newKey(key, after: nil, signsFrom: now, rotation: rotation, now: now).0
    }

    private func newKey(
        _ key: SigningKey, after predecessor: SigningKeyRing.Entry?, signsFrom: Date, rotation: KeyRotation, now: Date
    ) throws -> (SealedSigningKey, KeyChange) {
        let sealed = try SealedSigningKey(
            key, ordinal: (predecessor?.sealed.ordinal ?? 0) + 1, createdAt: now, signsFrom: signsFrom,
            publishedAfter: rotation.publishedDaysAfter * 86400, environment: environment)
        return (sealed, KeyChange(keyID: sealed.id, action: .published(signsFrom: signsFrom)))
    }

    private func logChange(of change: KeyChange, _ context: RequestContext) throws -> Change {
        let type =
            switch change.action {
            case .published: "signing_key.published"
            case .advanced: "signing_key.advanced"
            case .removed: "signing_key.removed"
            }
        return try logEntry(type, .success, reason: change.keyID, context: context)
    }
}

extension OrgSnapshot {
    /// The algorithms that keys are needed for: RS256 always, others when a server or a client asks for them.
    fileprivate var signingAlgorithms: [JWSAlgorithm] {
        [JWSAlgorithm].needed(for: servers.map(\.accessTokenAlgorithm) + applications.map(\.idTokenAlgorithm))
    }
}

extension OrganizationDefinition {
    /// The algorithms that keys are needed for, as ``OrgSnapshot`` has them.
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
