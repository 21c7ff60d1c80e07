import Foundation
import TestSupport
import Testing

@testable import AuthFoundation

@Suite("Sessions in the Keychain")
struct KeychainTokenStorageTests {
    private let device = KeychainDouble()
    private let clock = ManualClock()
    private let folder = TemporaryFolder()
    private var marker: URL { folder.file("installation/marker") }

    private static let tokens = "com.countersign.tokens"

    private func storage(
        groups: [String] = ["app"], earlier: EarlierInstallation = .keep
    ) -> KeychainTokenStorage {
        KeychainTokenStorage(KeychainDouble.App(device: device, groups: groups), earlierInstallation: earlier, clock: clock)
    }

    private func on<T: Sendable>(_ storage: KeychainTokenStorage, _ body: @CredentialActor (KeychainTokenStorage) throws -> T) rethrows -> T
    {
        try CredentialActor.synchronously { try body(storage) }
    }

    private func isLocked(_ error: any Error) -> Bool { (error as? KeychainError)?.isLocked == true }

    // MARK: - Locked devices

    @Test("Before the first unlock of the device, reads report a locked Keychain, and the user is still signed in afterwards")
    func beforeFirstUnlock() async throws {
        let storage = storage()
        try await Credential.withStorage(storage, session: ScriptedIssuer()) {
            try Credential.store(.fixture())
            device.lock = .beforeFirstUnlock
            #expect(Credential.allIDs.isEmpty)
            #expect(Credential.default == nil)
            #expect { try Credential.loadDefault() } throws: { isLocked($0) }
            #expect { try Credential.find(where: { _ in true }) } throws: { isLocked($0) }
            #expect { try Credential.store(.fixture(id: "other")) } throws: { isLocked($0) }
            device.lock = .locked
            #expect(try Credential.loadDefault()?.id == "session-1")
            #expect(Credential.allIDs == ["session-1"])
        }
    }

    @Test("A failure of a read that cannot throw is reported as an event")
    func reportsFailures() throws {
        let failures = Locked<[any Error]>([])
        try on(storage()) { storage in
            storage.onFailure = { error in failures.withLock { $0.append(error) } }
            try storage.add(token: .fixture(), metadata: nil, security: [])
            device.lock = .beforeFirstUnlock
            #expect(storage.allIDs.isEmpty && storage.defaultTokenID == nil)
        }
        #expect(failures.withLock { $0 }.count == 2)
        #expect(failures.withLock { $0 }.allSatisfy { isLocked($0) })
    }

    @Test("While the device is locked, a token that needs an unlocked device cannot be read, but its metadata can")
    func needsUnlockedDevice() throws {
        try on(storage()) { storage in
            let options = KeychainOptions(accessibility: .unlocked)
            try storage.add(token: .fixture(), metadata: nil, options: options)
            device.lock = .locked
            #expect(storage.allIDs == ["session-1"] && storage.defaultTokenID == "session-1")
            #expect(try storage.metadata(for: "session-1").id == "session-1")
            #expect { try storage.get(token: "session-1", prompt: nil, authenticationContext: nil) } throws: { isLocked($0) }
            #expect { try storage.replace(token: "session-1", with: .fixture(access: "new"), security: nil) } throws: { isLocked($0) }
            device.lock = .unlocked
            #expect(try storage.get(token: "session-1", prompt: nil, authenticationContext: nil).accessToken == "access-1")
        }
    }

    // MARK: - Access control

    @Test("A protected token is unlocked by a prompt, and reads without a prompt use the unlocked token")
    func prompts() throws {
        try on(storage()) { storage in
            try storage.add(token: .fixture(), metadata: nil, options: KeychainOptions(accessControl: .flags(1)))
            #expect(try storage.metadata(for: "session-1").id == "session-1")
            #expect(device.prompts.isEmpty)
            _ = try storage.get(token: "session-1", prompt: "Sign in to Shop", authenticationContext: nil)
            _ = try storage.get(token: "session-1", prompt: nil, authenticationContext: nil)
            #expect(device.prompts == ["Sign in to Shop"])
            _ = try storage.get(token: "session-1", prompt: nil, authenticationContext: KeychainDouble.Context())
            #expect(device.prompts == ["Sign in to Shop"])
            _ = try storage.get(token: "session-1", prompt: "Again", authenticationContext: nil)
            #expect(device.prompts == ["Sign in to Shop", "Again"])
        }
    }

    @Test("After another process changed a protected token, the next read unlocks the new token")
    func changedByOther() throws {
        let other = storage()
        try on(storage()) { storage in
            try storage.add(token: .fixture(), metadata: nil, options: KeychainOptions(accessControl: .flags(1)))
            _ = try storage.get(token: "session-1", prompt: "One", authenticationContext: nil)
            try other.replace(token: "session-1", with: .fixture(access: "new"), security: nil)
            #expect(try storage.get(token: "session-1", prompt: nil, authenticationContext: nil).accessToken == "new")
            #expect(device.prompts.count == 2)
        }
    }

    @Test(
        "If the user cancels or fails the authentication, or cannot be asked, the read throws the reason and the session stays",
        arguments: [
            (KeychainDouble.Answer.cancels, true, KeychainDouble.Status.userCanceled),
            (.fails, true, KeychainDouble.Status.authFailed), (.approves, false, KeychainStatus.interactionNotAllowed),
        ])
    func refusals(_ answer: KeychainDouble.Answer, _ canAsk: Bool, _ code: OSStatus) throws {
        try on(storage()) { storage in
            try storage.add(token: .fixture(), metadata: nil, options: KeychainOptions(accessControl: .flags(1)))
            (device.answer, device.canAsk) = (answer, canAsk)
            #expect(throws: KeychainError.cannotGet(code: code)) {
                try storage.get(token: "session-1", prompt: "Sign in", authenticationContext: nil)
            }
            #expect(storage.defaultTokenID == "session-1")
        }
    }

    @Test("A token that requires a passcode disappears with the passcode, and the storage then has no default")
    func passcode() throws {
        try on(storage()) { storage in
            try storage.add(token: .fixture(), metadata: nil, options: KeychainOptions(accessibility: .whenPasswordSetThisDeviceOnly))
            device.removePasscode()
            #expect(storage.allIDs.isEmpty && storage.defaultTokenID == nil)
            #expect(throws: KeychainError.notFound) { try storage.get(token: "session-1", prompt: nil, authenticationContext: nil) }
        }
    }

    // MARK: - Apps and extensions

    @Test("An extension finds the default session of the app, because the default has the access group of the session")
    func sharedDefault() throws {
        let (app, other) = (storage(groups: ["app", "shared"]), storage(groups: ["extension", "shared"]))
        try on(app) { app in
            try app.add(token: .fixture(id: "private"), metadata: nil, options: KeychainOptions())
            #expect(other.defaultTokenID == nil && other.allIDs.isEmpty)
            try app.add(token: .fixture(id: "a"), metadata: nil, options: KeychainOptions(accessGroup: "shared"))
            try app.setDefaultTokenID("a")
            #expect(other.defaultTokenID == "a" && app.defaultTokenID == "a")
            #expect(device.groups(of: "com.countersign.default") == ["shared"])
            try app.setDefaultTokenID(nil)
            #expect(other.defaultTokenID == nil)
        }
    }

    @Test("An access group without an entitlement is refused, and nothing is stored")
    func missingEntitlement() throws {
        on(storage()) { storage in
            #expect(throws: KeychainError.cannotSave(code: KeychainDouble.Status.missingEntitlement)) {
                try storage.add(token: .fixture(), metadata: nil, options: KeychainOptions(accessGroup: "of another team"))
            }
            #expect(storage.allIDs.isEmpty && device.records(of: Self.tokens).isEmpty)
        }
    }

    @Test("A token that another process stores at the same moment is not overwritten")
    func duplicateRace() throws {
        let other = storage()
        try on(storage()) { storage in
            try storage.add(token: .fixture(id: "first"), metadata: nil, security: [])
            device.beforeNextChange {
                CredentialActor.synchronously {
                    _ = try? other.add(token: .fixture(access: "of the other"), metadata: nil, security: [])
                }
            }
            #expect(throws: TokenError.duplicateTokenAdded) { try storage.add(token: .fixture(), metadata: nil, security: []) }
            #expect(try storage.get(token: "session-1", prompt: nil, authenticationContext: nil).accessToken == "of the other")
        }
    }

    // MARK: - One refresh at a time

    private func lease(_ now: Date? = nil) throws -> KeychainRefreshLease? {
        try KeychainRefreshLease.take(
            "session-1", accessGroup: nil, in: KeychainDouble.App(device: device), now: now ?? clock.now, randomness: .system)
    }

    @Test("Only one process has the lease of a token, until it releases the lease")
    func exclusive() throws {
        let first = try #require(try lease())
        #expect(try lease() == nil)
        first.release()
        #expect(try lease() != nil)
    }

    @Test("A lease ends after its lifetime, and its former owner does not release the next one")
    func expired() throws {
        let first = try #require(try lease())
        clock.advance(by: KeychainRefreshLease.lifetime)
        let second = try #require(try lease())
        first.release()
        #expect(try lease() == nil)
        second.release()
        #expect(try lease() != nil)
    }

    @Test("Of two processes that find an expired lease, one takes it over")
    func takeoverRace() throws {
        _ = try #require(try lease())
        clock.advance(by: KeychainRefreshLease.lifetime)
        let taken = Locked(0)
        let now = clock.now
        // The other process takes the lease over after this one has read it. The first change is the failing addition.
        device.beforeNextChange { [device] in
            device.beforeNextChange {
                let other = try? KeychainRefreshLease.take(
                    "session-1", accessGroup: nil, in: KeychainDouble.App(device: device), now: now, randomness: .system)
                if other != nil { taken.withLock { $0 += 1 } }
            }
        }
        #expect(try lease() == nil)
        #expect(taken.withLock { $0 } == 1)
    }

    @Test("A lease of a clock that was set back does not block refreshes")
    func clockSetBack() throws {
        _ = try #require(try lease(clock.now.addingTimeInterval(86_400)))
        #expect(try lease() != nil)
    }

    @Test("If an extension is refreshing a token, the app waits and then uses the extension's new token without a request")
    func takesOverRefresh() async throws {
        let (app, other) = (WaitingKeychain(device: device), storage())
        let storage = KeychainTokenStorage(app, clock: clock)
        try await Credential.withStorage(storage, session: ScriptedIssuer()) {
            let credential = try Credential.store(.fixture())
            let held = try #require(try other.lockForRefresh(of: credential.id))
            async let refreshed: Void = credential.refresh()
            await app.hasWaited.wait()
            try on(other) {
                try $0.replace(token: "session-1", with: .fixture(access: "of the extension", refresh: "refresh-2"), security: nil)
            }
            held.release()
            // The refresh sends no request: the script contains no response.
            try await refreshed
            #expect(credential.token.accessToken == "of the extension")
        }
    }

    @Test("A refresh releases the lease after success and after a failure")
    func releases() async throws {
        let session = ScriptedIssuer()
        session.on("/v1/token") { _, count in count == 0 ? .invalidGrant : .tokens("access-2", refresh: "refresh-2") }
        try await Credential.withStorage(storage(), session: session) {
            let credential = try Credential.store(.fixture())
            await #expect(throws: (any Error).self) { try await credential.refresh() }
            #expect(device.records(of: KeychainRefreshLease.service).isEmpty)
            try await credential.refresh()
            #expect(device.records(of: KeychainRefreshLease.service).isEmpty)
            #expect(credential.token.accessToken == "access-2")
        }
    }

    // MARK: - Installations

    @Test("After a new installation, the sessions of the deleted app stay or are removed, as the app chose", arguments: [true, false])
    func reinstalled(removes: Bool) throws {
        let policy = removes ? EarlierInstallation.remove(marker: marker) : .keep
        try on(storage(earlier: policy)) { try $0.add(token: .fixture(), metadata: nil, security: []) }
        // The next start of the same installation.
        #expect(on(storage(earlier: policy)) { $0.allIDs } == ["session-1"])
        try? FileManager.default.removeItem(at: marker)
        let after = storage(earlier: policy)
        #expect(on(after) { $0.allIDs } == (removes ? [] : ["session-1"]))
        #expect(on(after) { $0.defaultTokenID } == (removes ? nil : "session-1"))
        #expect(FileManager.default.fileExists(atPath: marker.path) == removes)
    }

    @Test("An app that begins to remove the sessions of earlier installations keeps those of the current one")
    func policyIntroduced() throws {
        try on(storage()) { try $0.add(token: .fixture(), metadata: nil, security: []) }
        #expect(on(storage(earlier: .remove(marker: marker))) { $0.allIDs } == ["session-1"])
        #expect(on(storage(earlier: .remove(marker: marker))) { $0.allIDs } == ["session-1"])
    }

    @Test("Before the first unlock of the device, no session counts as one of an earlier installation")
    func lockedInstallation() throws {
        try on(storage(earlier: .remove(marker: marker))) { try $0.add(token: .fixture(), metadata: nil, security: []) }
        device.lock = .beforeFirstUnlock
        #expect { try on(storage(earlier: .remove(marker: marker))) { try $0.readAllIDs() } } throws: { isLocked($0) }
        device.lock = .unlocked
        #expect(on(storage(earlier: .remove(marker: marker))) { $0.allIDs } == ["session-1"])
    }

    @Test("If the marker of the installation cannot be written, the read fails and no session is lost at the next start")
    func unwritableMarker() throws {
        // A file stands where the marker's folder should be.
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        try Data().write(to: folder.file("installation"))
        let broken = storage(earlier: .remove(marker: marker))
        #expect(throws: (any Error).self) { try on(broken) { try $0.add(token: .fixture(), metadata: nil, security: []) } }
        try FileManager.default.removeItem(at: folder.file("installation"))
        try on(broken) { try $0.add(token: .fixture(), metadata: nil, security: []) }
        #expect(on(storage(earlier: .remove(marker: marker))) { $0.allIDs } == ["session-1"])
    }
}

/// The Keychain of an app, which signals that a lease was refused.
private struct WaitingKeychain: KeychainAccess {
    let hasWaited = Gate()
    private let app: KeychainDouble.App

    init(device: KeychainDouble) { app = KeychainDouble.App(device: device) }

    func add(_ item: KeychainRecord, context: (any TokenAuthenticationContext)?) -> OSStatus {
        let status = app.add(item, context: context)
        if item.service == KeychainRefreshLease.service, status == KeychainStatus.duplicateItem { hasWaited.open() }
        return status
    }

    func list(_ query: KeychainQuery) -> Result<[KeychainRecord], KeychainStatus> { app.list(query) }

    func read(
        _ query: KeychainQuery, prompt: String?, context: (any TokenAuthenticationContext)?
    ) -> Result<KeychainRecord, KeychainStatus> { app.read(query, prompt: prompt, context: context) }

    func update(_ query: KeychainQuery, _ changes: KeychainChanges, context: (any TokenAuthenticationContext)?) -> OSStatus {
        app.update(query, changes, context: context)
    }

    func delete(_ query: KeychainQuery) -> OSStatus { app.delete(query) }
}
