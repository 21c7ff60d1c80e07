import Foundation

extension Credential {
    /// Whether the credential refreshes its token automatically before expiry. The default is false; the setting is not stored.
    ///
    /// The refresh runs ``refreshGraceInterval`` before expiry, or at half the lifetime of a short-lived token. Automatic refresh stops
    /// when the session ends, the credential is removed, or no reference to the credential remains. It also stops if a token has no expiry.
    /// While the credential is locked, it pauses.
    ///
    /// Each failure sends a ``Event/refreshFailed(_:_:)``. Retries start after 5 seconds, with increasing delays up to 5 minutes. Enabling
    /// automatic refresh for a credential that was removed, is locked, or has no refresh token, sends the same event.
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

    /// Enables ``automaticRefresh``. A throwing variant of its setter.
    /// - Throws: ``CredentialError/missingCoordinator`` if the credential was removed; ``CredentialLockedError`` if it is locked;
    ///   ``OAuth2Error/missingToken(type:)`` if it has no refresh token.
    public func startAutomaticRefresh() throws {
        try state.withLock { state in
            if state.isRemoved { throw CredentialError.missingCoordinator }
            guard state.automaticRefresh == nil else { return }
            if state.lock.isLocked { throw CredentialLockedError() }
            if state.token.refreshToken == nil { throw OAuth2Error.missingToken(type: .refreshToken) }
            state.automaticRefresh = automaticRefreshes()
        }
    }

    /// Continues the automatic refresh that paused because the credential was locked.
    func resumeAutomaticRefresh() {
        let paused = state.withLock { state -> Task<Void, Never>? in
            guard let paused = state.automaticRefresh else { return nil }
            state.automaticRefresh = automaticRefreshes()
            return paused
        }
        // After a short lock, the paused task is still waiting. Its cancellation handlers, such as those of an app's clock, may use the
        // credential, so the state must not be locked here.
        paused?.cancel()
    }

    private func automaticRefreshes() -> Task<Void, Never> {
        let clock = oauth2.clock
        return Task.detached { [weak self] in
            var schedule = RefreshSchedule()
            // The task retains the credential during a refresh, not during a wait.
            while let delay = self?.nextAutomaticRefresh(&schedule) {
                do { try await clock.sleep(for: delay) } catch { return }
                await self?.refreshAutomatically(&schedule)
            }
        }
    }

    /// Returns the delay in seconds until the next refresh, or `nil` to stop.
    private func nextAutomaticRefresh(_ schedule: inout RefreshSchedule) -> TimeInterval? {
        // Automatic refresh was disabled, and possibly enabled again with a new task. A locked credential has no refresh token: the unlock
        // starts a new task.
        guard !Task.isCancelled, !isLocked else { return nil }
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
        // Another caller may have refreshed the token during the wait. Then wait again.
        guard schedule.isDue(for: token, now: oauth2.now, graceInterval: Credential.refreshGraceInterval) else {
            schedule.failures = 0
            return
        }
        guard !isLocked else { return }
        do {
            try await refresh()
            schedule.failures = 0
        } catch {
            // The refresh has sent its failure as an event.
            schedule.failures += 1
        }
    }
}

/// The schedule of automatic refreshes.
struct RefreshSchedule {
    /// The shortest delay in seconds. It prevents a busy loop if the server issues tokens that are already expired.
    static let minimumDelay: TimeInterval = 1
    private static let firstRetry: TimeInterval = 5
    private static let longestRetry: TimeInterval = 300

    var failures = 0

    /// Returns the delay in seconds, or `nil` if the expiry is unknown. After failures, returns the delay of the next retry.
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
