import Foundation
import TestSupport
import Testing

@testable import AuthFoundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Refreshed tokens that cannot be stored")
struct UnwrittenTokenTests {
    private let clock = ManualClock(sleeps: .skipped)
    private let session: ScriptedIssuer
    private let device: KeychainDouble
    private let keychain: FailingKeychain

    init() {
        session = ScriptedIssuer(clock: clock)
        device = KeychainDouble(clock: clock)
        keychain = FailingKeychain(app: KeychainDouble.App(device: device))
        session.on("/v1/token") { _, count in .tokens("access-\(count + 2)", refresh: "refresh-\(count + 2)") }
    }

    /// The storage of another process.
    private func other() -> KeychainTokenStorage { KeychainTokenStorage(KeychainDouble.App(device: device), clock: clock) }

    private func stored() throws -> Token {
        let other = other()
        return try CredentialActor.synchronously { try other.storedToken(id: "session-1") }
    }

    /// The refresh tokens that the client has sent.
    private var sent: [String?] { session.forms("/v1/token").map { $0["refresh_token"] } }
    private var revoked: Set<String> { Set(session.forms("/v1/revoke").compactMap { $0["token"] }) }

    /// Runs a test in the app, with a stored credential.
    private func inApp(_ options: KeychainOptions = KeychainOptions(), _ body: (Credential) async throws -> Void) async throws {
        let storage = KeychainTokenStorage(keychain, clock: clock)
        try await Credential.withStorage(storage, session: session, clock: clock) {
            let token = try Token.fixture(issuedAt: clock.now)
            try CredentialActor.synchronously { try storage.add(token: token, metadata: nil, options: options) }
            try await body(try #require(try Credential.loadDefault()))
        }
    }

    /// Refreshes the credential while no token can be stored.
    private func refreshWithoutWriting(_ credential: Credential) async throws {
        keychain.failures = .max
        await #expect(throws: KeychainError.cannotUpdate(code: FailingKeychain.ioError)) { try await credential.refresh() }
        #expect(credential.token.accessToken == "access-1" && sent == ["refresh-1"])
        #expect(try stored().accessToken == "access-1")
        keychain.failures = 0
    }

    private func expectActive(_ credential: Credential) {
        guard case .active = credential.sessionState else {
            Issue.record("\(credential.sessionState)")
            return
        }
    }

    // MARK: - The next chance

    @Test("A refreshed token that cannot be stored is stored by a later refresh without a request, and the old refresh token is sent once")
    func laterRefresh() async throws {
        try await inApp { credential in
            let events = Credential.events
            // The client's observer and the refresh try to write, and later refreshes try once.
            keychain.failures = 4
            for _ in 0..<3 {
                await #expect(throws: KeychainError.cannotUpdate(code: FailingKeychain.ioError)) { try await credential.refresh() }
                #expect(credential.token.accessToken == "access-1")
                expectActive(credential)
            }
            #expect(try stored().accessToken == "access-1")
            try await credential.refresh()
            #expect(credential.token.accessToken == "access-2" && sent == ["refresh-1"])
            #expect(try stored() == credential.token)
            #expect(await events.first(4) == Array(repeating: "refreshFailed session-1", count: 3) + ["refreshed session-1"])
            try await credential.refresh()
            #expect(credential.token.accessToken == "access-3" && sent == ["refresh-1", "refresh-2"])
        }
    }

    @Test(
        "A refreshed token that cannot be stored is stored by the next read of the credential",
        arguments: ["default", "id", "search", "refresh if needed"])
    func nextRead(read: String) async throws {
        try await inApp { credential in
            // The stored token expires soon, and the kept one does not.
            clock.advance(by: 3400)
            try await refreshWithoutWriting(credential)
            let events = Credential.events
            switch read {
            case "default": #expect(try Credential.loadDefault()?.token.accessToken == "access-2")
            case "id": #expect(try Credential.with(id: credential.id)?.token.accessToken == "access-2")
            case "search": #expect(try Credential.find(where: { _ in true }).map(\.token.accessToken) == ["access-2"])
            default: try await credential.refreshIfNeeded()
            }
            #expect(credential.token.accessToken == "access-2" && sent == ["refresh-1"])
            #expect(try stored() == credential.token)
            #expect(await events.first(1) == ["refreshed session-1"])
        }
    }

    @Test("If the storage still fails at the next read, the read returns the stored token, and the new token is kept")
    func failingRead() async throws {
        try await inApp { credential in
            try await refreshWithoutWriting(credential)
            keychain.failures = 1
            #expect(try Credential.loadDefault()?.token.accessToken == "access-1")
            #expect(try Credential.loadDefault()?.token.accessToken == "access-2")
        }
    }

    @Test("If the device is locked during a refresh, the new token is stored after the unlock")
    func deviceUnlock() async throws {
        try await inApp(KeychainOptions(accessibility: .unlocked)) { credential in
            session.atRequest("/v1/token") { [device] in device.lock = .locked }
            await #expect { try await credential.refresh() } throws: { ($0 as? KeychainError)?.isLocked == true }
            expectActive(credential)
            let store = try #require(credential.store)
            await store.writeAllUnwritten()
            device.lock = .unlocked
            #expect(try stored().accessToken == "access-1")
            await store.writeAllUnwritten()
            #expect(try stored().accessToken == "access-2" && credential.token.accessToken == "access-2")
        }
    }

    @Test("The unlock of the device does not ask the user for a token with access control, and the next refresh stores the new token")
    func protected() async throws {
        try await inApp(KeychainOptions(accessControl: .flags(1))) { credential in
            let prompts = device.prompts.count
            keychain.failures = 2
            await #expect(throws: KeychainError.cannotSave(code: FailingKeychain.ioError)) { try await credential.refresh() }
            await credential.store?.writeAllUnwritten()
            #expect(credential.token.accessToken == "access-1")
            try await credential.refresh()
            #expect(credential.token.accessToken == "access-2" && sent == ["refresh-1"])
            #expect(device.prompts.count == prompts)
        }
    }

    @Test("A locked credential gets the new token when the user unlocks it")
    func lockedCredential() async throws {
        try await inApp { credential in
            try await refreshWithoutWriting(credential)
            credential.lock()
            #expect(credential.token.refreshToken == nil)
            try await credential.unlock { _ in }
            #expect(credential.token.accessToken == "access-2" && sent == ["refresh-1"])
        }
    }

    @Test("A kept token that has expired meanwhile is stored and then refreshed with its own refresh token")
    func expired() async throws {
        try await inApp { credential in
            try await refreshWithoutWriting(credential)
            clock.advance(by: 4000)
            try await credential.refresh()
            #expect(credential.token.accessToken == "access-3" && sent == ["refresh-1", "refresh-2"])
            #expect(try stored() == credential.token)
        }
    }

    @Test("If the app replaces the stored token by the old one, such as to change its protection, the new token is kept and stored later")
    func replacedByApp() async throws {
        try await inApp { credential in
            try await refreshWithoutWriting(credential)
            try await Credential.tokenStorage.replace(token: credential.id, with: credential.token, security: nil)
            #expect(try stored().accessToken == "access-1")
            try await credential.refresh()
            #expect(credential.token.accessToken == "access-2" && sent == ["refresh-1"])
            #expect(try stored() == credential.token)
        }
    }

    @Test("A token that the app refreshed through OAuth2Client and that cannot be stored is stored at the next chance")
    func clientRefresh() async throws {
        try await inApp { credential in
            let events = Credential.events
            keychain.failures = 1
            let new = try await credential.oauth2.refresh(credential.token)
            #expect(new.accessToken == "access-2" && credential.token.accessToken == "access-1")
            #expect(await events.first(1) == ["storageFailed"])
            try await credential.refresh()
            #expect(try credential.token == new && stored() == new && sent == ["refresh-1"])
        }
    }

    @Test("A storage of the app that fails once loses no refreshed token")
    func appStorage() async throws {
        let storage = await FailingStorage()
        try await Credential.withStorage(storage, session: session, clock: clock) {
            let credential = try Credential.store(.fixture(issuedAt: clock.now))
            CredentialActor.synchronously { storage.failures = 2 }
            await #expect(throws: FailingStorage.Failure.self) { try await credential.refresh() }
            #expect(credential.token.accessToken == "access-1")
            try await credential.refresh()
            #expect(credential.token.accessToken == "access-2" && sent == ["refresh-1"])
            #expect(Credential.default?.token.accessToken == "access-2")
        }
    }

    // MARK: - Other processes

    @Test(
        "If another process has refreshed the token meanwhile, its newer token counts, and no token is revoked", arguments: [true, false])
    func newerElsewhere(byRead: Bool) async throws {
        try await inApp { credential in
            try await refreshWithoutWriting(credential)
            let other = other()
            clock.advance(by: 1)
            try CredentialActor.synchronously {
                try other.replace(
                    token: "session-1", with: .fixture(access: "elsewhere", refresh: "refresh-9", issuedAt: clock.now), security: nil)
            }
            if byRead { _ = try Credential.loadDefault() }
            try await credential.refresh()
            #expect(sent == ["refresh-1", "refresh-9"] && credential.token.accessToken == "access-3")
            #expect(try stored() == credential.token)
            #expect(revoked.isEmpty)
        }
    }

    @Test("While another process refreshes the token, a read does not store the kept token")
    func refreshElsewhere() async throws {
        try await inApp { credential in
            try await refreshWithoutWriting(credential)
            let held = try #require(try other().lockForRefresh(of: "session-1"))
            #expect(try Credential.loadDefault()?.token.accessToken == "access-1")
            held.release()
            #expect(try Credential.loadDefault()?.token.accessToken == "access-2")
            #expect(device.records(of: KeychainRefreshLease.service).isEmpty)
        }
    }

    // MARK: - Sign-out

    /// Waits until these tokens are revoked. Some requests are sent in the background.
    private func expectRevoked(_ tokens: Set<String>) async {
        await session.awaits("/v1/revoke", tokens.count)
        #expect(revoked == tokens)
    }

    @Test("A sign-out revokes the kept token and the stored one", .timeLimit(.minutes(1)))
    func signOut() async throws {
        try await inApp { credential in
            try await refreshWithoutWriting(credential)
            try await credential.revoke()
            // The sign-out waits for the token that is still valid.
            #expect(revoked.isSuperset(of: ["access-2", "refresh-2"]))
            await expectRevoked(["access-1", "refresh-1", "access-2", "refresh-2"])
            #expect(Credential.allIDs.isEmpty)
        }
    }

    @Test(
        "If the session was removed meanwhile, here or by another process, the kept token is revoked and not stored",
        .timeLimit(.minutes(1)),
        arguments: ["here", "elsewhere, then a read", "elsewhere, then a refresh"])
    func removed(place: String) async throws {
        try await inApp { credential in
            try await refreshWithoutWriting(credential)
            if place == "here" {
                try credential.remove()
            } else {
                let other = other()
                try CredentialActor.synchronously { try other.remove(id: "session-1") }
            }
            if place == "elsewhere, then a read" { #expect(try Credential.with(id: "session-1") == nil) }
            await #expect(throws: (any Error).self) { try await credential.refresh() }
            await expectRevoked(["access-2", "refresh-2"])
            #expect(Credential.allIDs.isEmpty && sent == ["refresh-1"])
        }
    }
}

/// A Keychain in which no token can be changed a number of times.
private final class FailingKeychain: KeychainAccess {
    /// `errSecIO`.
    static let ioError: OSStatus = -36

    private let app: KeychainDouble.App
    private let count = Locked(0)

    init(app: KeychainDouble.App) { self.app = app }

    /// The number of changes that still fail.
    var failures: Int {
        get { count.withLock { $0 } }
        set { count.withLock { $0 = newValue } }
    }

    private func fails(_ service: String) -> Bool {
        count.withLock { count in
            guard service.hasPrefix(KeychainTokenStorageTests.tokens), count > 0 else { return false }
            count -= 1
            return true
        }
    }

    func add(_ item: KeychainRecord, context: (any TokenAuthenticationContext)?) -> OSStatus {
        fails(item.service) ? Self.ioError : app.add(item, context: context)
    }

    func list(_ query: KeychainQuery) -> Result<[KeychainRecord], KeychainStatus> { app.list(query) }

    func read(
        _ query: KeychainQuery, prompt: String?, context: (any TokenAuthenticationContext)?
    ) -> Result<KeychainRecord, KeychainStatus> { app.read(query, prompt: prompt, context: context) }

    func update(_ query: KeychainQuery, _ changes: KeychainChanges, context: (any TokenAuthenticationContext)?) -> OSStatus {
        fails(query.service ?? "") ? Self.ioError : app.update(query, changes, context: context)
    }

    func delete(_ query: KeychainQuery) -> OSStatus { app.delete(query) }
}

/// A storage of the app that cannot replace a token a number of times.
private final class FailingStorage: TokenStorage {
    struct Failure: Error {}

    var failures = 0
    private let storage = MemoryTokenStorage()

    init() {}

    var delegate: (any TokenStorageDelegate)? {
        get { storage.delegate }
        set { storage.delegate = newValue }
    }

    var defaultTokenID: String? { storage.defaultTokenID }
    var allIDs: [String] { storage.allIDs }
    func setDefaultTokenID(_ id: String?) throws { try storage.setDefaultTokenID(id) }
    func setMetadata(_ metadata: Token.Metadata) throws { try storage.setMetadata(metadata) }
    func metadata(for id: String) throws -> Token.Metadata { try storage.metadata(for: id) }
    func remove(id: String) throws { try storage.remove(id: id) }

    func add(token: Token, metadata: Token.Metadata?, security: [Credential.Security]) throws {
        try storage.add(token: token, metadata: metadata, security: security)
    }

    func replace(token id: String, with token: Token, security: [Credential.Security]?) throws {
        if failures > 0 {
            failures -= 1
            throw Failure()
        }
        try storage.replace(token: id, with: token, security: security)
    }

    func get(token id: String, prompt: String?, authenticationContext: (any TokenAuthenticationContext)?) throws -> Token {
        try storage.get(token: id, prompt: prompt, authenticationContext: authenticationContext)
    }
}
