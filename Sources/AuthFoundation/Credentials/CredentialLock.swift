public import Foundation

#if canImport(LocalAuthentication) && !os(tvOS)
internal import LocalAuthentication
#endif

extension Credential {
    /// The condition under which the user must unlock a credential again.
    public struct LockPolicy: Sendable, Hashable {
        /// The time in seconds that the app may spend in the background before the credential is locked. With 0, the credential is locked
        /// as soon as the app enters the background. With infinity, time in the background never locks it.
        public var backgroundLimit: TimeInterval
        /// The reason that the system shows to the user who unlocks the credential; `nil` for a general text.
        public var prompt: String?

        /// - Parameter backgroundLimit: A time in seconds; negative values and NaN count as 0.
        public init(backgroundLimit: TimeInterval = 300, prompt: String? = nil) {
            (self.backgroundLimit, self.prompt) = (max(0, backgroundLimit), prompt)
        }
    }

    /// The condition under which the credential is locked; `nil` for none, the default. It applies to stored credentials and is not stored:
    /// set it after each launch of the app, and call ``lock()`` then unless the token has access control (``Security``), which asks the user
    /// anyway.
    ///
    /// The background is that of the app. On macOS, a hidden app is in the background. Where the system has no such notifications, and in
    /// extensions, only ``lock()`` locks a credential.
    public var lockPolicy: LockPolicy? {
        get { state.withLock { $0.lock.policy } }
        set {
            state.withLock { $0.lock.policy = newValue }
            if newValue != nil { AppBackground.shared.watch(self) }
        }
    }

    /// Whether the user must unlock the credential. A locked credential is still signed in, but its ``token`` contains no access token, no
    /// refresh token and no device secret, in this process' memory either. ``authorizing(_:)``, ``refresh()``, ``revoke(type:)``,
    /// ``userInfo()`` and ``introspect(_:)`` throw ``CredentialLockedError``. ``remove()`` still works.
    public var isLocked: Bool {
        lockIfAbsent()
        return state.withLock { $0.lock.isLocked }
    }

    /// Locks the credential until ``unlock(prompt:verifying:)``. Posts
    /// `Notification.Name.credentialLockChanged` on the main actor. A refresh that is underway still stores its token, and a sign-out that
    /// is underway still revokes the tokens; both keep them in memory until they end. A refreshed token that could not be stored stays in
    /// memory, because the session would be lost with it.
    /// - Returns: Whether the credential is locked. A credential that is not stored cannot be locked, because its tokens would be lost.
    @discardableResult
    public func lock() -> Bool {
        let (isLocked, isNew) = state.withLock { state -> (Bool, Bool) in
            guard state.isStored, !state.isRemoved else { return (false, false) }
            state.lock.count += 1
            guard !state.lock.isLocked else { return (true, false) }
            state.lock.isLocked = true
            state.token = state.token.withoutSecrets
            state.userInfo = nil
            return (true, true)
        }
        guard isNew else { return isLocked }
        forgetTokenIfLocked()
        postOnMainActor(.credentialLockChanged, self)
        return true
    }

    /// Unlocks the credential after the user was verified. If the system asks the user for authentication to read the stored
    /// token, that verifies the user. Otherwise `verify` does, even if the token has an access control that requires nothing of the user.
    /// No-op if the credential is not locked.
    /// - Parameters:
    ///   - prompt: The reason that the user sees; `nil` for that of the policy, or for a general text.
    ///   - verify: Verifies the user, and throws if that fails. By default the device's biometrics or passcode. tvOS and Linux have no
    ///     default.
    /// - Throws: The error of `verify` (by default `LAError`); ``KeychainError`` if the user does not unlock the token or the device is
    ///   locked; ``CredentialLockedError`` if the platform has no default and `verify` is `nil`, or if the credential was locked again
    ///   meanwhile; ``CredentialError/missingCoordinator`` if the credential was removed.
    public func unlock(prompt: String? = nil, verifying verify: (@Sendable (_ prompt: String) async throws -> Void)? = nil) async throws {
        guard isLocked else { return }
        guard let coordinator else { throw CredentialError.missingCoordinator }
        let (count, policy) = state.withLock { ($0.lock.count, $0.lock.policy) }
        let prompt = prompt ?? policy?.prompt ?? Self.generalPrompt.text
        if try await !Self.asksUser(id, in: coordinator) { try await (verify ?? Self.verifyDeviceOwner)(prompt) }
        // If the credential stays locked, the storage must not keep the token in memory.
        defer { forgetTokenIfLocked() }
        guard try await unlock(after: count, prompt: prompt, from: coordinator) else { throw CredentialLockedError() }
        resumeAutomaticRefresh()
        postOnMainActor(.credentialLockChanged, self)
    }

    private static let generalPrompt = LocalizedText("Unlock your account", de: "Konto entsperren")

    @CredentialActor
    private static func asksUser(_ id: String, in coordinator: any CredentialCoordinator) throws -> Bool {
        try (coordinator.tokenStorage as? any SharedTokenStorage)?.asksUser(forToken: id) == true
    }

    /// Reads the stored token and unlocks the credential with it. Returns `false` if the credential was removed, or locked again after the
    /// first `count` times.
    @CredentialActor
    private func unlock(after count: Int, prompt: String, from coordinator: any CredentialCoordinator) async throws -> Bool {
        while true {
            let changes = state.withLock { $0.lock.changes }
            let stored =
                if let shared = coordinator.tokenStorage as? any SharedTokenStorage {
                    try await shared.readToken(id: id, prompt: prompt)
                } else {
                    try coordinator.tokenStorage.get(token: id, prompt: prompt, authenticationContext: nil)
                }
            // A refresh that was underway may have stored a newer token during the read. Then read again. After this check, the actor is not
            // free before the credential has the token.
            guard state.withLock({ $0.lock.changes }) == changes else { continue }
            let token = (coordinator as? CredentialStore)?.tokenAfterRead(stored) ?? stored
            return state.withLock { state in
                guard !state.isRemoved, state.lock.count == count else { return false }
                state.lock.isLocked = false
                state.token = token
                return true
            }
        }
    }

    private static func verifyDeviceOwner(_ prompt: String) async throws {
        #if canImport(LocalAuthentication) && !os(tvOS)
        let isOwner = try await LAContext().evaluatePolicy(.deviceOwnerAuthentication, localizedReason: prompt)
        guard isOwner else { throw CredentialLockedError() }
        #else
        throw CredentialLockedError()
        #endif
    }

    /// Throws ``CredentialLockedError`` if the credential is locked.
    func requireUnlocked() throws { _ = try unlockedToken() }

    /// Returns the tokens. Throws ``CredentialLockedError`` if the credential is locked.
    package func unlockedToken() throws -> Token {
        lockIfAbsent()
        return try state.withLock { state in
            if state.lock.isLocked { throw CredentialLockedError() }
            return state.token
        }
    }

    /// Removes the token that a refresh stored while the credential was locked from the storage's memory.
    func forgetTokenIfLocked() {
        guard isLocked else { return }
        CredentialActor.synchronously { (coordinator?.tokenStorage as? any SharedTokenStorage)?.forgetToken(id: id) }
    }

    /// Locks the credential if the app has been in the background for too long.
    func lockIfAbsent() {
        guard let policy = state.withLock({ $0.lock.isLocked ? nil : $0.lock.policy }), let absence = AppBackground.shared.absence else {
            return
        }
        // Compared as numbers, because a duration cannot be infinite. The negation makes NaN lock the credential.
        if !(absence / .seconds(1) < policy.backgroundLimit) { lock() }
    }

    /// Invalidates an unlock that began before the app entered the background.
    func abandonUnlock() { state.withLock { $0.lock.count += 1 } }
}

/// The lock of a credential.
struct CredentialLockState: Sendable {
    var policy: Credential.LockPolicy?
    var isLocked = false
    /// The number of locks, and of times that the app has entered the background.
    var count = 0
    /// The number of tokens that the credential, while it was locked, was to take over from the storage.
    var changes = 0
}

/// The credential is locked, and the user must unlock it (``Credential/unlock(prompt:verifying:)``). The user is still signed in.
public struct CredentialLockedError: Error, Sendable, Hashable {
    /// Creates an error.
    public init() {}
}

extension CredentialLockedError: LocalizedError, CustomDebugStringConvertible, ClientError {
    /// A sentence for the user, in the user's language.
    public var errorDescription: String? { userText.description.text }

    /// The next step for the user, in the user's language.
    public var recoverySuggestion: String? { userText.suggestion?.text }

    package var userText: ErrorText {
        ErrorText(
            "Your account is locked on this device.", de: "Ihr Konto ist auf diesem Gerät gesperrt.",
            next: LocalizedText(
                "Unlock it with your face, fingerprint or passcode.", de: "Entsperren Sie es mit Gesicht, Fingerabdruck oder Code."))
    }

    /// The reason and a remedy, for developers.
    public var debugDescription: String { "The credential is locked. Call unlock(prompt:verifying:)." }
}

extension Notification.Name {
    /// A credential was locked or unlocked. The object is the ``Credential``.
    public static let credentialLockChanged = Notification.Name("com.countersign.credential.lock")
}

/// The time that the app spends in the background. It is measured by a clock that users cannot set, and that runs while the device sleeps.
/// Safe from any thread.
package final class AppBackground: Sendable {
    private struct Weak {
        weak var credential: Credential?
    }

    private struct State {
        var since: ContinuousClock.Instant?
        var watched: [ObjectIdentifier: Weak] = [:]
        var isObserving = false
    }

    package static let process = AppBackground()
    /// The app of a test.
    @TaskLocal package static var ofTask: AppBackground?
    static var shared: AppBackground { ofTask ?? process }

    private let state = Locked(State())
    private let now: @Sendable () -> ContinuousClock.Instant

    package init(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) { self.now = now }

    /// The time that the app has been in the background; `nil` in the foreground.
    var absence: Duration? { state.withLock { $0.since }.map { $0.duration(to: now()) } }

    func watch(_ credential: Credential) {
        let isFirst = state.withLock { state in
            state.watched = state.watched.filter { $0.value.credential != nil }
            state.watched[ObjectIdentifier(credential)] = Weak(credential: credential)
            defer { state.isObserving = true }
            return !state.isObserving
        }
        if isFirst { observe() }
    }

    private func observe() {
        #if os(iOS) || os(tvOS) || os(visionOS)
        let (enter, leave) = ("UIApplicationDidEnterBackgroundNotification", "UIApplicationWillEnterForegroundNotification")
        #elseif os(watchOS)
        let (enter, leave) = ("WKApplicationDidEnterBackgroundNotification", "WKApplicationWillEnterForegroundNotification")
        #elseif os(macOS)
        let (enter, leave) = ("NSApplicationDidHideNotification", "NSApplicationWillUnhideNotification")
        #endif
        #if canImport(Darwin)
        // By name, because the module does not depend on UIKit. The observers last as long as the process.
        _ = NotificationCenter.default.addObserver(forName: Notification.Name(enter), object: nil, queue: nil) { [weak self] _ in
            self?.enter()
        }
        _ = NotificationCenter.default.addObserver(forName: Notification.Name(leave), object: nil, queue: nil) { [weak self] _ in
            self?.leave()
        }
        #endif
    }

    /// The app has entered the background.
    package func enter() {
        let now = now()
        state.withLock { $0.since = $0.since ?? now }
        for credential in credentials {
            credential.abandonUnlock()
            credential.lockIfAbsent()
        }
    }

    /// The app is about to enter the foreground.
    package func leave() {
        for credential in credentials { credential.lockIfAbsent() }
        state.withLock { $0.since = nil }
    }

    private var credentials: [Credential] { state.withLock { $0.watched.values.compactMap(\.credential) } }
}
