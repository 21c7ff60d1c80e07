import Foundation
import TestSupport
import Testing

@testable import AuthFoundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sessions that are bound to a DPoP key in the Keychain.
extension KeychainDPoPKeyStorageTests {
    /// Answers token requests with new tokens, and refuses requests without a proof.
    private func answer(_ session: ScriptedIssuer) {
        session.on("/v1/keys") { _, _ in .json(#"{"keys":[]}"#) }
        session.on("/v1/token") { request, count in
            guard request.value(forHTTPHeaderField: "DPoP") != nil else { return .refusal("invalid_dpop_proof") }
            return BoundClient.tokens("access-\(count + 1)", refresh: "refresh-\(count + 1)")
        }
    }

    private func bound(_ storage: KeychainDPoPKeyStorage) throws -> BoundClient {
        let bound = try BoundClient(keys: storage)
        answer(bound.session)
        return bound
    }

    @Test("While the device is locked, a refresh of a bound session throws, and after the unlock the session continues with its key")
    func lockedRefresh() async throws {
        let bound = try bound(storage())
        let token = try await bound.signIn()
        let restarted = try bound.restarted()
        let credential = try await Credential(token: token, oauth2: restarted)
        device.lock = .beforeFirstUnlock
        await #expect { try await credential.refresh() } throws: { isLocked(RefreshFailure($0).error) }
        guard case .active = credential.sessionState else { throw InvalidFixture() }
        // A sign-in does not replace the key either.
        await #expect { try await bound.signIn(try bound.restarted()) } throws: { isLocked(RefreshFailure($0).error) }
        #expect(bound.session.requests("/v1/token").count == 1)
        device.lock = .unlocked
        try await credential.refresh()
        #expect(credential.token.context.dpopThumbprint == token.context.dpopThumbprint)
        #expect(Set(try bound.proofs("/v1/token").map(\.thumbprint)) == [token.context.dpopThumbprint])
    }

    @Test(
        "After the move to a new phone, a bound session ends with its next refresh, and the next sign-in binds a new key",
        arguments: ["absent", "foreign", "cannot sign"])
    func newPhone(key: String) async throws {
        let old = try bound(storage())
        let token = try await old.signIn()
        if key == "absent" { device.moveToNewDevice() }
        let phone = try bound(storage(enclave: EnclaveDouble(opensForeignKeys: key == "cannot sign")))
        try await Credential.withStorage(MemoryTokenStorage(), session: phone.session, clock: phone.clock) {
            let credential = try await Credential(token: token, oauth2: phone.client)
            let events = Credential.events
            for _ in 0..<2 { await #expect(throws: DPoPError.keyLost) { try await credential.refresh() } }
            guard case .ended(let ending) = credential.sessionState else { throw InvalidFixture() }
            #expect(ending.code == .other(code: "invalid_dpop_proof"))
            // The session ends once, and the client sends nothing without the key.
            #expect(
                await events.first(3)
                    == ["refreshFailed session-1", "ended session-1", "refreshFailed session-1"].map {
                        $0.replacing("session-1", with: token.id)
                    })
            #expect(phone.session.requests("/v1/token").isEmpty)
            let new = try await phone.signIn()
            #expect(new.context.dpopThumbprint != nil && new.context.dpopThumbprint != token.context.dpopThumbprint)
            let refreshed = try await phone.restarted().refresh(new)
            #expect(refreshed.context.dpopThumbprint == new.context.dpopThumbprint)
            #expect(records.count == 1)
        }
    }

    @Test("If the Secure Enclave fails temporarily, a bound session does not end, and a sign-in fails without replacing the key")
    func failingEnclaveRefresh() async throws {
        let bound = try bound(storage())
        let token = try await bound.signIn()
        let credential = try await Credential(token: token, oauth2: try bound.restarted())
        enclave.isWorking = false
        await #expect(throws: (any Error).self) { try await credential.refresh() }
        guard case .active = credential.sessionState else { throw InvalidFixture() }
        await #expect(throws: (any Error).self) { try await bound.signIn() }
        enclave.isWorking = true
        try await credential.refresh()
        #expect(credential.token.context.dpopThumbprint == token.context.dpopThumbprint)
    }

    @Test("A sign-in does not bind tokens to a key in memory that another process has deleted")
    func deletedKey() async throws {
        let bound = try bound(storage())
        let first = try await bound.signIn()
        try storage().removeKey(named: try #require(records.first).account)
        let second = try await bound.signIn()
        #expect(second.context.dpopThumbprint != first.context.dpopThumbprint)
        _ = try await bound.restarted().refresh(second)
    }

    @Test("An extension that shares a bound session of the app finds the session's key")
    func sharedSession() async throws {
        let bound = try bound(storage(["app", "shared"]))
        let token = try await bound.signIn()
        let foreign = try bound.restarted(keys: storage(["extension", "shared"]))
        await #expect(throws: DPoPError.keyLost) { try await foreign.refresh(token) }
        let tokens = KeychainTokenStorage(app(["app", "shared"]), clock: bound.clock)
        try CredentialActor.synchronously {
            try tokens.add(token: token, metadata: nil, options: KeychainOptions(accessGroup: "shared"))
        }
        let refreshed = try await bound.restarted(keys: storage(["extension", "shared"])).refresh(token)
        #expect(refreshed.context.dpopThumbprint == token.context.dpopThumbprint)
    }

    @Test("If the key cannot be copied to the access group of a new session, the session is not stored")
    func unsharedKey() async throws {
        let bound = try bound(storage())
        let token = try await bound.signIn()
        let tokens = KeychainTokenStorage(app(), clock: bound.clock)
        CredentialActor.synchronously {
            #expect(throws: KeychainError.cannotSave(code: KeychainDouble.Status.missingEntitlement)) {
                try tokens.add(token: token, metadata: nil, options: KeychainOptions(accessGroup: "of another team"))
            }
            #expect(tokens.allIDs.isEmpty)
        }
    }

    @Test("If an extension's refresh binds a shared session for the first time, the app finds the session's key")
    func boundByExtension() async throws {
        let bound = try bound(storage(["extension", "shared"]))
        let tokens = KeychainTokenStorage(app(["extension", "shared"]), clock: bound.clock)
        let unbound = try Token.fixture()
        try CredentialActor.synchronously {
            try tokens.add(token: unbound, metadata: nil, options: KeychainOptions(accessGroup: "shared"))
        }
        let token = try await bound.client.refresh(unbound)
        #expect(token.context.dpopThumbprint != nil)
        try CredentialActor.synchronously { try tokens.replace(token: token.id, with: token, security: nil) }
        _ = try await bound.restarted(keys: storage(["app", "shared"])).refresh(token)
    }

    @Test("If the key of a refreshed session cannot be copied, the new token is still stored, and the failure is reported")
    func unsharedRefresh() async throws {
        let bound = try bound(storage(["extension", "shared"]))
        let token = try await bound.client.refresh(.fixture())
        let failures = Locked(0)
        let tokens = KeychainTokenStorage(UnreadableKeys(app: app(["extension", "shared"])), clock: bound.clock)
        try CredentialActor.synchronously {
            tokens.onFailure = { _ in failures.withLock { $0 += 1 } }
            try tokens.add(token: .fixture(), metadata: nil, options: KeychainOptions(accessGroup: "shared"))
            try tokens.replace(token: token.id, with: token, security: nil)
            #expect(try tokens.storedToken(id: token.id) == token)
        }
        #expect(failures.withLock { $0 } == 1)
    }
}

/// A Keychain whose DPoP keys cannot be listed.
private struct UnreadableKeys: KeychainAccess {
    let app: KeychainDouble.App

    func add(_ item: KeychainRecord, context: (any TokenAuthenticationContext)?) -> OSStatus { app.add(item, context: context) }

    func list(_ query: KeychainQuery) -> Result<[KeychainRecord], KeychainStatus> {
        query.service == KeychainDPoPKeyItem.service ? .failure(KeychainStatus(KeychainStatus.interactionNotAllowed)) : app.list(query)
    }

    func read(
        _ query: KeychainQuery, prompt: String?, context: (any TokenAuthenticationContext)?
    ) -> Result<KeychainRecord, KeychainStatus> { app.read(query, prompt: prompt, context: context) }

    func update(_ query: KeychainQuery, _ changes: KeychainChanges, context: (any TokenAuthenticationContext)?) -> OSStatus {
        app.update(query, changes, context: context)
    }

    func delete(_ query: KeychainQuery) -> OSStatus { app.delete(query) }
}
