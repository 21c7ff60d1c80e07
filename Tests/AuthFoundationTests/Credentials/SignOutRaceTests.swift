import Foundation
import TestSupport
import Testing

@testable import AuthFoundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Sign-out during a refresh")
struct SignOutRaceTests {
    private let folder = TemporaryFolder()
    private let session = ScriptedIssuer()

    private var revoked: Set<String> { Set(session.forms("/v1/revoke").compactMap { $0["token"] }) }

    /// Checks that these tokens are revoked. The requests are sent in the background, so the function waits for them.
    private func expectRevoked(_ tokens: Set<String>) async throws {
        for _ in 0..<20_000 where !revoked.isSuperset(of: tokens) { await Task.yield() }
        #expect(revoked.isSuperset(of: tokens), "revoked: \(revoked.sorted())")
    }

    @Test("If a refresh completes during a sign-out, the old and the new tokens are revoked")
    func revokesLateToken() async throws {
        let (answersRefresh, answersRevocation) = (Gate(), Gate())
        session.on("/v1/token") { _, _ in
            await answersRefresh.wait()
            return .tokens("access-2", refresh: "refresh-2")
        }
        session.on("/v1/revoke") { _, _ in
            await answersRevocation.wait()
            return .empty
        }
        try await Credential.withStorage(MemoryTokenStorage(), session: session, clock: ManualClock(sleeps: .skipped)) {
            let credential = try Credential.store(.fixture())
            let refresh = Task { try await credential.refresh() }
            while session.requests("/v1/token").isEmpty { await Task.yield() }
            // Simulates a refresh that began just after revoke() looked for one.
            let store = try #require(credential.store)
            let signOut = Task { try await store.signOut(credential, credential.token, type: .all) }
            while session.requests("/v1/revoke").isEmpty { await Task.yield() }
            answersRefresh.open()
            await #expect(throws: CredentialError.missingCoordinator) { try await refresh.value }
            answersRevocation.open()
            try await signOut.value
            _ = try await Credential.deliverPendingRevocations()
            try await expectRevoked(["access-1", "refresh-1", "access-2", "refresh-2"])
            #expect(Credential.allIDs.isEmpty)
        }
    }

    @Test("If a sign-out during a refresh is cancelled, the old and the new tokens are revoked later")
    func cancelledSignOut() async throws {
        let answersRefresh = Gate()
        session.on("/v1/token") { _, _ in
            await answersRefresh.wait()
            return .tokens("access-2", refresh: "refresh-2")
        }
        session.on("/v1/revoke") { _, _ in .empty }
        try await Credential.withStorage(MemoryTokenStorage(), session: session, clock: ManualClock(sleeps: .skipped)) {
            let credential = try Credential.store(.fixture())
            let refresh = Task { try await credential.refresh() }
            while session.requests("/v1/token").isEmpty { await Task.yield() }
            let signOut = Task { try await credential.revoke() }
            signOut.cancel()
            await #expect(throws: CancellationError.self) { try await signOut.value }
            #expect(Credential.allIDs.isEmpty)
            answersRefresh.open()
            await #expect(throws: CredentialError.missingCoordinator) { try await refresh.value }
            _ = try await Credential.deliverPendingRevocations()
            try await expectRevoked(["access-1", "refresh-1", "access-2", "refresh-2"])
        }
    }

    @Test("A sign-out revokes the newest tokens even if another process stored these tokens")
    func revokesStoredToken() async throws {
        session.on("/v1/revoke") { _, _ in .empty }
        let (mine, others) = (FileTokenStorage(directory: folder.url), FileTokenStorage(directory: folder.url))
        try await Credential.withStorage(mine, session: session, clock: ManualClock(sleeps: .skipped)) {
            let credential = try Credential.store(.fixture())
            try CredentialActor.synchronously {
                try others.replace(token: credential.id, with: .fixture(access: "access-2", refresh: "refresh-2"), security: nil)
            }
            try await credential.revoke()
            #expect(revoked == ["access-2", "refresh-2"])
            #expect(Credential.allIDs.isEmpty)
        }
    }

    @Test(
        "A sign-out whose credential is locked while it waits for a refresh revokes the refreshed tokens and removes the credential",
        .timeLimit(.minutes(1)), arguments: StorageKind.allCases)
    func lockedMeanwhile(_ kind: StorageKind) async throws {
        let answersRefresh = Gate()
        session.on("/v1/token") { _, _ in
            await answersRefresh.wait()
            return .tokens("access-2", refresh: "refresh-2")
        }
        try await Credential.withStorage(kind.make(in: folder), session: session, clock: ManualClock(sleeps: .skipped)) {
            let credential = try Credential.store(.fixture())
            let refresh = Task { try await credential.refresh() }
            await session.awaits("/v1/token", 1)
            let signOut = Task { try await credential.revoke() }
            while credential.refreshes.waiters(for: credential.id) < 2 { await Task.yield() }
            // As when the app enters the background.
            credential.lock()
            answersRefresh.open()
            _ = try await refresh.value
            try await signOut.value
            #expect(revoked == ["access-2", "refresh-2"])
            #expect(Credential.allIDs.isEmpty)
        }
    }
}
