import Foundation
import TestSupport
import Testing

@testable import AuthFoundation

@Suite("Processes that share the vault")
struct VaultSharingTests {
    private let folder = TemporaryFolder()

    /// Starts a process that holds a lock of the vault until the process is killed.
    private func holder(of lock: URL) async throws -> ChildProcess {
        let process = try ChildProcess(
            URL(filePath: "/usr/bin/flock"), ["--no-fork", lock.path, "/bin/sh", "-c", "echo held; exec sleep 600"])
        try await process.waitFor("held")
        return process
    }

    @Test("If another process holds the vault's lock, a write waits up to the timeout and throws a busy error, but reads succeed")
    func boundsTheWait() async throws {
        let storage = FileTokenStorage(directory: folder.url, lockTimeout: .milliseconds(50))
        try CredentialActor.synchronously { try storage.add(token: .fixture(id: "a"), metadata: nil, security: []) }
        let holder = try await holder(of: folder.file("lock"))
        let began = ContinuousClock.now
        #expect(throws: VaultError(.busy, entry: "lock", "")) {
            try CredentialActor.synchronously { try storage.add(token: .fixture(id: "b"), metadata: nil, security: []) }
        }
        #expect(ContinuousClock.now - began < .seconds(2))
        // Reading needs no lock.
        #expect(
            try CredentialActor.synchronously { try storage.get(token: "a", prompt: nil, authenticationContext: nil) } == .fixture(id: "a"))
        holder.kill()
        _ = await holder.end()
        #expect(throws: Never.self) {
            try CredentialActor.synchronously { try storage.add(token: .fixture(id: "b"), metadata: nil, security: []) }
        }
    }

    @Test("If another process is refreshing a token, a refresh waits and then uses that process's new token without a request")
    func takesOverRefresh() async throws {
        let storage = WatchedStorage(FileTokenStorage(directory: folder.url))
        try await Credential.withStorage(storage, session: ScriptedIssuer()) {
            let credential = try Credential.store(.fixture())
            let holder = try await holder(of: folder.file(try VaultFileName.refreshLock(credential.id)))
            async let refreshed: Void = credential.refresh()
            await storage.hasWaited.wait()
            let other = FileTokenStorage(directory: folder.url)
            try CredentialActor.synchronously {
                try other.replace(token: "session-1", with: .fixture(access: "access-of-other", refresh: "refresh-2"), security: nil)
            }
            holder.kill()
            _ = await holder.end()
            // The refresh sends no request: the script contains no response.
            try await refreshed
            #expect(credential.token.accessToken == "access-of-other")
        }
    }

    @Test("A refresh sends the refresh token that another process stored last")
    func beginsWithNewest() async throws {
        let session = ScriptedIssuer()
        session.on("/v1/token") { _, _ in .tokens("access-3", refresh: "refresh-3") }
        try await Credential.withStorage(FileTokenStorage(directory: folder.url), session: session) {
            let credential = try Credential.store(.fixture())
            let other = FileTokenStorage(directory: folder.url)
            try CredentialActor.synchronously {
                try other.replace(token: "session-1", with: .fixture(access: "access-2", refresh: "refresh-2"), security: nil)
            }
            try await credential.refresh()
            #expect(session.forms("/v1/token").map { $0["refresh_token"] } == ["refresh-2"])
            #expect(credential.token.accessToken == "access-3")
        }
    }

    @Test("refreshIfNeeded sends no request if another process has already refreshed the token")
    func takesOverIfNeeded() async throws {
        let clock = ManualClock()
        try await Credential.withStorage(FileTokenStorage(directory: folder.url), session: ScriptedIssuer(), clock: clock) {
            let credential = try Credential.store(.fixture())
            clock.advance(by: 4000)
            let other = FileTokenStorage(directory: folder.url)
            try CredentialActor.synchronously {
                try other.replace(
                    token: "session-1", with: .fixture(access: "access-2", refresh: "refresh-2", issuedAt: clock.now), security: nil)
            }
            // The script contains no response to a refresh.
            try await credential.refreshIfNeeded()
            #expect(credential.token.accessToken == "access-2")
        }
    }

    @Test("A credential that another process removed from the vault can be neither found nor refreshed")
    func seesSignOut() async throws {
        try await Credential.withStorage(FileTokenStorage(directory: folder.url), session: ScriptedIssuer()) {
            let credential = try Credential.store(.fixture())
            let other = FileTokenStorage(directory: folder.url)
            try CredentialActor.synchronously { try other.remove(id: "session-1") }
            #expect(Credential.default == nil)
            #expect(try Credential.with(id: "session-1") == nil)
            await #expect(throws: (any Error).self) { try await credential.refresh() }
        }
    }

    @Test(
        "The vault's default folder comes from COUNTERSIGN_VAULT or an absolute XDG_DATA_HOME, and is otherwise in the home folder",
        arguments: [
            (["COUNTERSIGN_VAULT": "/srv/vault", "XDG_DATA_HOME": "/data"], "/srv/vault"),
            (["XDG_DATA_HOME": "/data"], "/data/countersign/shop/credentials"),
            (["XDG_DATA_HOME": "data"], "/home/jane/.local/share/countersign/shop/credentials"),
            (["COUNTERSIGN_VAULT": ""], "/home/jane/.local/share/countersign/shop/credentials"),
        ])
    func findsFolder(_ environment: [String: String], _ path: String) {
        #expect(VaultLocation.folder(environment: environment, home: "/home/jane", program: "shop").path == path)
    }
}

/// A storage that signals when a refresh must wait for another process.
private final class WatchedStorage: SharedTokenStorage {
    let hasWaited = Gate()
    private let vault: FileTokenStorage

    nonisolated init(_ vault: FileTokenStorage) {
        self.vault = vault
    }

    nonisolated func lockForRefresh(of id: String) throws -> (any RefreshLock)? {
        let lock = try vault.lockForRefresh(of: id)
        if lock == nil { hasWaited.open() }
        return lock
    }

    func readDefaultTokenID() throws -> String? { try vault.readDefaultTokenID() }
    func readAllIDs() throws -> [String] { try vault.readAllIDs() }
    func storedToken(id: String, mayAsk: Bool) throws -> Token { try vault.storedToken(id: id, mayAsk: mayAsk) }
    func forgetToken(id: String) { vault.forgetToken(id: id) }

    var onFailure: (@Sendable (any Error) -> Void)? {
        get { vault.onFailure }
        set { vault.onFailure = newValue }
    }

    var delegate: (any TokenStorageDelegate)? {
        get { vault.delegate }
        set { vault.delegate = newValue }
    }

    var defaultTokenID: String? { vault.defaultTokenID }
    var allIDs: [String] { vault.allIDs }
    func setDefaultTokenID(_ id: String?) throws { try vault.setDefaultTokenID(id) }
    func setMetadata(_ metadata: Token.Metadata) throws { try vault.setMetadata(metadata) }
    func metadata(for id: String) throws -> Token.Metadata { try vault.metadata(for: id) }
    func remove(id: String) throws { try vault.remove(id: id) }

    func add(token: Token, metadata: Token.Metadata?, security: [Credential.Security]) throws {
        try vault.add(token: token, metadata: metadata, security: security)
    }

    func replace(token id: String, with token: Token, security: [Credential.Security]?) throws {
        try vault.replace(token: id, with: token, security: security)
    }

    func get(token id: String, prompt: String?, authenticationContext: (any TokenAuthenticationContext)?) throws -> Token {
        try vault.get(token: id, prompt: prompt, authenticationContext: authenticationContext)
    }
}
