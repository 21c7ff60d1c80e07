import Foundation
import TestSupport
import Testing

@testable import AuthFoundation

@Suite("Sessions in the Keychain")
struct KeychainTokenStorageTests {
    let clock = ManualClock()
    let device: KeychainDouble
    let folder = TemporaryFolder()

    init() { device = KeychainDouble(clock: clock) }

    var marker: URL { folder.file("installation/marker") }

    static let tokens = "com.countersign.tokens"

    func storage(
        groups: [String] = ["app"], earlier: EarlierInstallation = .keep, program: String = "app"
    ) -> KeychainTokenStorage {
        KeychainTokenStorage(
            KeychainDouble.App(device: device, groups: groups), earlierInstallation: earlier, program: program, clock: clock)
    }

    func on<T: Sendable>(_ storage: KeychainTokenStorage, _ body: @CredentialActor (KeychainTokenStorage) throws -> T) rethrows -> T {
        try CredentialActor.synchronously { try body(storage) }
    }

    func isLocked(_ error: any Error) -> Bool { (error as? KeychainError)?.isLocked == true }

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

    @Test("While the device is locked, a session that needs an unlocked device makes reads throw, and no session looks missing")
    func needsUnlockedDevice() throws {
        try on(storage()) { storage in
            try storage.add(token: .fixture(), metadata: nil, options: KeychainOptions(accessibility: .unlocked))
            device.lock = .locked
            #expect { try storage.readAllIDs() } throws: { isLocked($0) }
            #expect { try storage.readDefaultTokenID() } throws: { isLocked($0) }
            #expect { try storage.get(token: "session-1", prompt: nil, authenticationContext: nil) } throws: { isLocked($0) }
            #expect { try storage.replace(token: "session-1", with: .fixture(access: "new"), security: nil) } throws: { isLocked($0) }
            device.lock = .unlocked
            #expect(try storage.get(token: "session-1", prompt: nil, authenticationContext: nil).accessToken == "access-1")
        }
    }

    // MARK: - Access control

    let protection = KeychainOptions(accessControl: .flags(1))

    @Test("Each read of a protected token asks the user, unless the user has already authenticated or the token is needed for a refresh")
    func prompts() throws {
        try on(storage()) { storage in
            try storage.add(token: .fixture(), metadata: nil, options: protection)
            #expect(try storage.metadata(for: "session-1").id == "session-1")
            #expect(device.prompts.isEmpty)
            _ = try storage.get(token: "session-1", prompt: "Sign in to Shop", authenticationContext: nil)
            _ = try storage.storedToken(id: "session-1")
            _ = try storage.get(token: "session-1", prompt: nil, authenticationContext: KeychainDouble.Context())
            #expect(device.prompts == ["Sign in to Shop"])
            _ = try storage.get(token: "session-1", prompt: "Again", authenticationContext: nil)
            #expect(device.prompts == ["Sign in to Shop", "Again"])
        }
    }

    @Test("A refreshed token replaces a protected one without a prompt, also in the background, and stays protected")
    func replacesProtected() throws {
        try on(storage()) { storage in
            try storage.add(token: .fixture(), metadata: Token.Metadata(token: .fixture(), tags: ["role": "work"]), options: protection)
            device.canAsk = false
            for access in ["second", "third"] {
                try storage.replace(token: "session-1", with: .fixture(access: access), security: nil)
                #expect(try storage.storedToken(id: "session-1").accessToken == access)
                #expect(storage.allIDs == ["session-1"] && storage.defaultTokenID == "session-1")
            }
            #expect(device.prompts.isEmpty)
            device.canAsk = true
            #expect(try storage.get(token: "session-1", prompt: "Sign in", authenticationContext: nil).accessToken == "third")
            #expect(try storage.metadata(for: "session-1").tags == ["role": "work"])
            #expect(device.prompts == ["Sign in"])
            try storage.remove(id: "session-1")
            #expect(storage.allIDs.isEmpty && device.records(of: Self.tokens).isEmpty)
        }
    }

    @Test("If the process ends between the two steps of a replacement, the new token counts and no session is lost")
    func interruptedReplacement() throws {
        try on(storage()) { storage in
            try storage.add(token: .fixture(), metadata: nil, options: protection)
            // The first step of a replacement: the new token in the other place.
            var new = try #require(device.records(of: Self.tokens).first)
            new.service = "com.countersign.tokens.other"
            new.value = try JSONEncoder().encode(Token.fixture(access: "new"))
            #expect(KeychainDouble.App(device: device).add(new, context: nil) == KeychainStatus.success)
            #expect(storage.allIDs == ["session-1"])
            #expect(try storage.get(token: "session-1", prompt: "Sign in", authenticationContext: nil).accessToken == "new")
            try storage.replace(token: "session-1", with: .fixture(access: "newer"), security: nil)
            #expect(try storage.get(token: "session-1", prompt: "Sign in", authenticationContext: nil).accessToken == "newer")
            try storage.remove(id: "session-1")
            #expect(storage.allIDs.isEmpty)
        }
    }

    @Test("If another process removes a protected session while its token is replaced, the session stays removed")
    func removedDuringReplacement() throws {
        try on(storage()) { storage in
            try storage.add(token: .fixture(), metadata: nil, options: protection)
            // The first change clears the other place, and the second one adds the new token there.
            device.beforeNextChange { [device] in
                device.beforeNextChange {
                    #expect(KeychainDouble.App(device: device).delete(KeychainQuery(service: Self.tokens)) == KeychainStatus.success)
                }
            }
            #expect(throws: TokenError.cannotReplaceToken) {
                try storage.replace(token: "session-1", with: .fixture(access: "new"), security: nil)
            }
            #expect(storage.allIDs.isEmpty && device.records(of: "com.countersign.tokens.other").isEmpty)
        }
    }

    @Test("Options without a protection keep the protection of a stored token")
    func keepsProtection() throws {
        try on(storage()) { storage in
            try storage.add(token: .fixture(), metadata: nil, options: protection)
            try storage.replace(token: "session-1", with: .fixture(access: "new"), options: KeychainOptions(accessGroup: "app"))
            _ = try storage.get(token: "session-1", prompt: "Sign in", authenticationContext: nil)
            #expect(device.prompts == ["Sign in"])
        }
    }

    @Test("After another process changed a protected token, a refresh unlocks the new token")
    func changedByOther() throws {
        let other = storage()
        try on(storage()) { storage in
            try storage.add(token: .fixture(), metadata: nil, options: protection)
            _ = try storage.storedToken(id: "session-1")
            try other.replace(token: "session-1", with: .fixture(access: "new"), security: nil)
            #expect(try storage.storedToken(id: "session-1").accessToken == "new")
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
            try storage.add(token: .fixture(), metadata: nil, options: protection)
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

    @Test("Of several defaults, the one that was set last counts, and a removed token takes only its own default along")
    func severalDefaults() throws {
        let (app, other) = (storage(groups: ["app", "shared"]), storage(groups: ["extension", "shared"]))
        try on(app) { app in
            try app.add(token: .fixture(id: "a"), metadata: nil, options: KeychainOptions(accessGroup: "shared"))
            try app.add(token: .fixture(id: "private"), metadata: nil, options: KeychainOptions())
            try app.setDefaultTokenID("private")
            try other.setDefaultTokenID("a")
            #expect(app.defaultTokenID == "a" && other.defaultTokenID == "a")
            try app.remove(id: "private")
            #expect(app.defaultTokenID == "a" && other.defaultTokenID == "a")
            try other.remove(id: "a")
            #expect(app.defaultTokenID == nil && other.defaultTokenID == nil)
        }
    }

    @Test("The default of an earlier version, in the app's own group, moves to the group of the session when it is set again")
    func movesDefault() throws {
        let (app, other) = (storage(groups: ["app", "shared"]), storage(groups: ["extension", "shared"]))
        try on(app) { app in
            try app.add(token: .fixture(id: "a"), metadata: nil, options: KeychainOptions(accessGroup: "shared"))
            let keychain = KeychainDouble.App(device: device, groups: ["app", "shared"])
            try keychain.remove(KeychainQuery(service: "com.countersign.default"))
            try keychain.save(
                KeychainRecord(
                    service: "com.countersign.default", account: "default",
                    protection: KeychainProtection(.afterFirstUnlockThisDeviceOnly), value: Data("a".utf8)))
            #expect(app.defaultTokenID == "a" && other.defaultTokenID == nil)
            try app.setDefaultTokenID("a")
            #expect(app.defaultTokenID == "a" && other.defaultTokenID == "a")
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

    // MARK: - Changes by other processes

    /// Another process refreshes a protected token, which moves the token to its other place.
    private func move(_ access: String) -> @Sendable () -> Void {
        let other = storage()
        return {
            CredentialActor.synchronously {
                do { try other.replace(token: "session-1", with: .fixture(access: access), security: nil) } catch { Issue.record(error) }
            }
        }
    }

    @Test("A protected token that another process refreshes while the user is asked for it is found, and the session stays")
    func movedDuringPrompt() async throws {
        let storage = storage()
        try await Credential.withStorage(storage, session: ScriptedIssuer()) {
            try on(storage) { try $0.add(token: .fixture(), metadata: nil, options: protection) }
            for access in ["second", "third"] {
                device.beforeNextRead(move(access))
                let credential = try #require(try Credential.with(id: "session-1"))
                #expect(credential.token.accessToken == access)
            }
            #expect(Credential.default != nil)
        }
    }

    @Test("A protected token that another process moves between two searches is found", arguments: ["token", "ids", "metadata"])
    func movedDuringSearch(call: String) throws {
        try on(storage()) { storage in
            try storage.add(token: .fixture(), metadata: nil, options: protection)
            move("second")()
            // The token is in the other place now, and moves back after the search of the first one.
            device.afterNextList(move("third"))
            switch call {
            case "token": #expect(try storage.storedToken(id: "session-1").accessToken == "third")
            case "ids": #expect(try storage.readAllIDs() == ["session-1"])
            default: #expect(try storage.metadata(for: "session-1").id == "session-1")
            }
        }
    }

    @Test("A protected token that another process moves during a sign-out is removed")
    func movedDuringRemoval() throws {
        try on(storage()) { storage in
            try storage.add(token: .fixture(), metadata: nil, options: protection)
            device.beforeNextChange(move("second"))
            try storage.remove(id: "session-1")
            #expect(storage.allIDs.isEmpty)
        }
    }

    @Test("A refreshed token replaces a token with unreadable metadata; the tags are lost, and the storage reports an error")
    func damagedMetadata() throws {
        let failures = Locked<[KeychainError?]>([])
        try on(storage()) { storage in
            storage.onFailure = { error in failures.withLock { $0.append(error as? KeychainError) } }
            try storage.add(token: .fixture(), metadata: Token.Metadata(token: .fixture(), tags: ["role": "work"]), security: [])
            let query = KeychainQuery(service: Self.tokens, account: "session-1")
            let keychain = KeychainDouble.App(device: device)
            #expect(keychain.update(query, KeychainChanges(generic: Data("?".utf8)), context: nil) == KeychainStatus.success)
            try storage.replace(token: "session-1", with: .fixture(access: "new"), security: nil)
            #expect(try storage.storedToken(id: "session-1").accessToken == "new")
            #expect(try storage.metadata(for: "session-1").tags.isEmpty)
        }
        #expect(failures.withLock { $0 } == [.invalidFormat])
    }

    // MARK: - Pending revocations

    @Test(
        "A pending revocation is as protected as its token, in the same group and on this device only, even after the token's removal",
        arguments: [
            (Keychain.Accessibility.unlocked, Keychain.Accessibility.unlockedThisDeviceOnly),
            (.whenPasswordSetThisDeviceOnly, .whenPasswordSetThisDeviceOnly), (.afterFirstUnlock, .afterFirstUnlockThisDeviceOnly),
        ])
    func protectsRevocations(_ accessibility: Keychain.Accessibility, _ expected: Keychain.Accessibility) throws {
        let service = "com.countersign.revocations"
        try on(storage(groups: ["app", "shared"])) { storage in
            let options = KeychainOptions(accessibility: accessibility, accessControl: .flags(1), accessGroup: "shared")
            try storage.add(token: .fixture(), metadata: nil, options: options)
            try storage.add(pendingRevocation: PendingRevocation(token: .fixture(), type: .all, queuedAt: clock.now))
            try storage.remove(id: "session-1")
            // A token that arrived after the sign-out.
            let late = try Token.fixture(id: "session-1.late")
            try storage.add(pendingRevocation: PendingRevocation(token: late, type: .all, queuedAt: clock.now))
            #expect(device.groups(of: service) == ["shared", "shared"])
            #expect(device.records(of: service).allSatisfy { $0.protection.accessibility == expected })
            #expect(try storage.pendingRevocations().map(\.id).sorted() == ["session-1", "session-1.late"])
            try storage.removePendingRevocation(id: "session-1")
            #expect(try storage.pendingRevocations().map(\.id) == ["session-1.late"])
            #expect(device.prompts.isEmpty)
        }
    }

    @Test("While the device is locked, the revocations that are readable then are listed, and the others afterwards")
    func revocationsOfLockedDevice() throws {
        try on(storage()) { storage in
            for (id, accessibility) in [
                ("a", Keychain.Accessibility.unlocked), ("b", .whenPasswordSetThisDeviceOnly), ("c", .afterFirstUnlock),
            ] {
                let token = try Token.fixture(id: id)
                try storage.add(token: token, metadata: nil, options: KeychainOptions(accessibility: accessibility))
                try storage.add(pendingRevocation: PendingRevocation(token: token, type: .all, queuedAt: clock.now))
                try storage.remove(id: id)
            }
            device.lock = .locked
            #expect(try storage.pendingRevocations().map(\.id) == ["c"])
            device.lock = .unlocked
            #expect(try storage.pendingRevocations().map(\.id).sorted() == ["a", "b", "c"])
            device.lock = .beforeFirstUnlock
            #expect { try storage.pendingRevocations() } throws: { isLocked($0) }
        }
    }
}
