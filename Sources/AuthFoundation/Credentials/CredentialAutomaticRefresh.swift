import Foundation

extension Credential {
    /// Whether the credential refreshes its token by itself, some time before it ends; false at first.
    ///
    /// That is ``refreshGraceInterval`` before the end, or at half its life if it lives too short for that. Failures become
    /// ``Event/refreshFailed(_:_:)`` and are tried again, first after 5 seconds, then ever more seldom, up to 5 minutes. It stops when the
    /// session has ended, when the credential is removed, and when nobody holds it any more. The setting is not stored.
    ///
    /// Setting it for a credential that is removed or has no refresh token becomes a ``Event/refreshFailed(_:_:)``.
    public var automaticRefresh: Bool {
        get { state.withLock { $0.automaticRefresh != nil } }
        set {
            guard newValue else {
                let task = state.withLock { state in
                    defer { state.automaticRefresh = nil }
                    return state.automaticRefresh
                }
                task?.cancel()
                return
            }
            do { try startAutomaticRefresh() } catch { send(.refreshFailed(self, error)) }
        }
    }

    /// Turns ``automaticRefresh`` on; its setter as a function that throws.
    ///
    /// - Throws: ``CredentialError/missingCoordinator`` if the credential was removed; ``OAuth2Error/missingToken(type:)`` without a refresh
    ///   token.
    public func startAutomaticRefresh() throws {
        try state.withLock { state in
            if state.isRemoved { throw CredentialError.missingCoordinator }
            if state.token.refreshToken == nil { throw OAuth2Error.missingToken(type: .refreshToken) }
            guard state.automaticRefresh == nil else { return }
            let clock = oauth2.clock
            state.automaticRefresh = Task.detached { [weak self] in
                var schedule = RefreshSchedule()
                // The credential is held while it works, not while it waits.
                while let delay = self?.nextAutomaticRefresh(&schedule) {
                    do { try await clock.sleep(for: delay) } catch { return }
                    await self?.refreshAutomatically(&schedule)
                }
            }
        }
    }

    /// - Returns: In how many seconds to refresh; nil to stop.
    private func nextAutomaticRefresh(_ schedule: inout RefreshSchedule) -> TimeInterval? {
        // Turned off, and perhaps on again with a task of its own.
        guard !Task.isCancelled else { return nil }
        let (token, isStopped) = state.withLock { state in
            if case .ended = state.session { return (state.token, true) }
            return (state.token, state.isRemoved)
        }
        guard !isStopped, let delay = schedule.delay(for: token, now: oauth2.now, graceInterval: Credential.refreshGraceInterval) else {
            state.withLock { $0.automaticRefresh = nil }
            return nil
        }
        return delay
    }

    private func refreshAutomatically(_ schedule: inout RefreshSchedule) async {
        // Somebody else may have refreshed while this one waited; then the next wait begins.
        guard schedule.isDue(for: token, now: oauth2.now, graceInterval: Credential.refreshGraceInterval) else {
            schedule.failures = 0
            return
        }
        do {
            try await refresh()
            schedule.failures = 0
        } catch {
            // Told as an event by the refresh itself.
            schedule.failures += 1
        }
    }
}

/// When to refresh next.
struct RefreshSchedule {
    /// The shortest wait, so that an answer with a token that has ended already makes no loop without pause.
    static let minimumDelay: TimeInterval = 1
    private static let firstRetry: TimeInterval = 5
    private static let longestRetry: TimeInterval = 300

    /// How many refreshes have failed in a row.
    var failures = 0

    /// - Returns: The wait in seconds; nil if the end of the token is not known.
    func delay(for token: some Expires, now: Date, graceInterval: TimeInterval) -> TimeInterval? {
        if failures > 0 { return min(Self.firstRetry * pow(2, Double(min(failures, 16) - 1)), Self.longestRetry) }
        guard let due = Self.due(for: token, graceInterval: graceInterval) else { return nil }
        return max(Self.minimumDelay, due.timeIntervalSince(now))
    }

    func isDue(for token: some Expires, now: Date, graceInterval: TimeInterval) -> Bool {
        guard let due = Self.due(for: token, graceInterval: graceInterval) else { return false }
        return due <= now
    }

    private static func due(for token: some Expires, graceInterval: TimeInterval) -> Date? {
        guard let expiresAt = token.expiresAt else { return nil }
        return expiresAt.addingTimeInterval(-min(max(0, graceInterval), max(0, token.expiresIn) / 2))
    }
}
