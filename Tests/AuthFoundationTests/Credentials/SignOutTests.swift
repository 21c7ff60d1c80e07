import Foundation
import TestSupport
import Testing

@testable import AuthFoundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Sign-out")
struct SignOutTests {
    private let folder = TemporaryFolder()
    private let session = ScriptedIssuer()

    private func with(_ kind: StorageKind = .memory, _ body: () async throws -> Void) async throws {
        try await Credential.withStorage(kind.make(in: folder), session: session, clock: ManualClock(sleeps: .skipped), operation: body)
    }

    private var revoked: [String] { session.forms("/v1/revoke").map { $0["token"] ?? "-" }.sorted() }

    @Test("revoke() revokes all tokens of a credential and removes the credential", arguments: StorageKind.allCases)
    func revokesAll(_ kind: StorageKind) async throws {
        session.on("/v1/revoke") { _, _ in .empty }
        try await with(kind) {
            let credential = try Credential.store(.fixture(deviceSecret: "device-1"))
            try await credential.revoke()
            #expect(revoked == ["access-1", "device-1", "refresh-1"])
            #expect(Credential.default == nil)
            #expect(Credential.allIDs.isEmpty)
            #expect(try await Credential.deliverPendingRevocations() == 0)
        }
    }

    @Test(
        "A revocation removes the credential only if the revocation ends the session",
        arguments: [
            (Token.RevokeType.all, true, true), (.all, false, true), (.refreshToken, true, true), (.accessToken, false, true),
            (.accessToken, true, false), (.deviceSecret, true, false),
        ])
    func removesByType(_ type: Token.RevokeType, _ hasRefreshToken: Bool, _ removes: Bool) async throws {
        session.on("/v1/revoke") { _, _ in .empty }
        try await with {
            let credential = try Credential.store(.fixture(refresh: hasRefreshToken ? "refresh-1" : nil, deviceSecret: "device-1"))
            try await credential.revoke(type: type)
            #expect((Credential.default == nil) == removes)
            #expect(Credential.allIDs.isEmpty == removes)
        }
    }

    @Test("Revoking a token type that the credential does not have throws an error and keeps the credential")
    func refusesMissing() async throws {
        try await with {
            let credential = try Credential.store(.fixture(refresh: nil))
            await #expect(throws: OAuth2Error.missingToken(type: .refreshToken)) { try await credential.revoke(type: .refreshToken) }
            await #expect(throws: OAuth2Error.missingToken(type: .deviceSecret)) { try await credential.revoke(type: .deviceSecret) }
            #expect(Credential.default === credential)
        }
    }

    @Test(
        "An offline sign-out throws an error but removes the credential, and the next stored credential becomes the default",
        arguments: StorageKind.allCases)
    func signsOutOffline(_ kind: StorageKind) async throws {
        session.on("/v1/revoke") { _, _ in throw URLError(.notConnectedToInternet) }
        session.on("/.well-known/openid-configuration") { _, _ in throw URLError(.notConnectedToInternet) }
        try await with(kind) {
            let credential = try Credential.store(.fixture())
            await #expect(throws: (any Error).self) { try await credential.revoke() }
            #expect(Credential.default == nil)
            #expect(Credential.allIDs.isEmpty)
            #expect(try Credential.with(id: credential.id) == nil)
            Credential.default = nil
            let next = try Credential.store(.fixture(id: "session-2"))
            #expect(Credential.default === next)
        }
    }

    @Test(
        "After an offline sign-out of one app, the next credential that another app stores in the same storage becomes the default",
        arguments: StorageKind.allCases)
    func runsPushAppThenBrowserApp(_ kind: StorageKind) async throws {
        session.on("/v1/revoke") { _, _ in throw URLError(.notConnectedToInternet) }
        let clock = ManualClock(sleeps: .skipped)
        // The first app stores a credential, makes it the default, and signs out without a network.
        let storage = kind.make(in: folder)
        try await Credential.withStorage(storage, session: session, clock: clock) {
            let credential = try Credential.store(.fixture(id: "push"))
            Credential.default = credential
            if let credential = Credential.default { try? await credential.revoke() }
            Credential.default = nil
        }
        // The second app stores a credential and never sets the default. A persistent storage is opened again, as after a restart.
        let later = kind == .memory ? storage : kind.make(in: folder)
        try await Credential.withStorage(later, session: session, clock: clock) {
            _ = try Credential.store(.fixture(id: "browser"))
            #expect(Credential.default?.id == "browser")
        }
    }

    @Test("Setting the default credential to nil keeps the token and sends no revocation")
    func defaultNilKeepsTokens() async throws {
        try await with {
            try Credential.store(.fixture())
            Credential.default = nil
            #expect(Credential.allIDs == ["session-1"])
            #expect(session.requests("/v1/revoke").isEmpty)
        }
    }

    @Test("An undelivered revocation remains stored after a restart, and deliverPendingRevocations delivers the revocation")
    func deliversLater() async throws {
        session.on("/v1/revoke") { _, _ in throw URLError(.notConnectedToInternet) }
        try await with(.vault) {
            let credential = try Credential.store(.fixture())
            await #expect(throws: (any Error).self) { try await credential.revoke() }
        }
        let failed = session.requests("/v1/revoke").count
        try await with(.vault) {
            await #expect(throws: (any Error).self) { try await Credential.deliverPendingRevocations() }
            session.on("/v1/revoke") { _, _ in .empty }
            let events = Credential.events
            let delivered = try await Credential.deliverPendingRevocations()
            #expect(delivered == 1)
            #expect(await events.first(1) == ["delivered session-1"])
            #expect(try await Credential.deliverPendingRevocations() == 0)
        }
        #expect(session.requests("/v1/revoke").count > failed)
        #expect(try !folder.names.contains { $0.hasPrefix("revocation-") })
    }

    @Test("Storing or refreshing another credential delivers pending revocations")
    func deliversOnOccasion() async throws {
        session.on("/v1/token") { _, _ in .tokens("access-2") }
        for occasion in ["store", "refresh"] {
            session.on("/v1/revoke") { _, _ in throw URLError(.notConnectedToInternet) }
            try await with {
                let other = try Credential.store(.fixture(id: "other \(occasion)"))
                try? await Credential.store(.fixture(id: occasion)).revoke()
                session.on("/v1/revoke") { _, _ in .empty }
                let events = Credential.events
                if occasion == "store" { try Credential.store(.fixture(id: "next")) } else { try await other.refresh() }
                for await event in events { if case .revocationDelivered(occasion) = event { break } }
            }
        }
    }

    @Test("A revocation that the server rejects with invalid_client is not retried")
    func dropsRefused() async throws {
        session.on("/v1/revoke") { _, _ in .json(#"{"error":"invalid_client"}"#, status: 401) }
        try await with {
            let credential = try Credential.store(.fixture())
            await #expect(throws: (any Error).self) { try await credential.revoke() }
            #expect(Credential.default == nil)
            #expect(try await Credential.deliverPendingRevocations() == 0)
        }
    }

    @Test("A pending revocation is discarded after 90 days")
    func givesUp() async throws {
        session.on("/v1/revoke") { _, _ in throw URLError(.notConnectedToInternet) }
        let clock = ManualClock(sleeps: .skipped)
        let storage = MemoryTokenStorage()
        try await Credential.withStorage(storage, session: session, clock: clock) {
            try? await Credential.store(.fixture()).revoke()
            clock.advance(by: 89 * 86_400)
            await #expect(throws: (any Error).self) { try await Credential.deliverPendingRevocations() }
            clock.advance(by: 2 * 86_400)
            let delivered = try await Credential.deliverPendingRevocations()
            #expect(delivered == 0)
            #expect(try CredentialActor.synchronously { try storage.pendingRevocations() }.isEmpty)
        }
    }

    @Test("If the vault's key is missing, a sign-out revokes the tokens, removes the credential and sends a storageFailed event")
    func signsOutWithoutKey() async throws {
        session.on("/v1/revoke") { _, _ in .empty }
        try await with(.vault) {
            let credential = try Credential.store(.fixture())
            try FileManager.default.removeItem(at: folder.file("key"))
            let events = Credential.events
            try await credential.revoke()
            #expect(Credential.allIDs.isEmpty)
            #expect(revoked == ["access-1", "refresh-1"])
            #expect(await events.first(2) == ["storageFailed", "removed session-1"])
        }
    }

    @Test("A cancelled sign-out removes the credential, and the revocation is delivered later")
    func survivesCancellation() async throws {
        let gate = Gate()
        session.on("/v1/revoke") { _, _ in
            await gate.wait()
            try Task.checkCancellation()
            return .empty
        }
        try await with {
            let credential = try Credential.store(.fixture())
            let signOut = Task { try await credential.revoke() }
            while session.requests("/v1/revoke").isEmpty { await Task.yield() }
            #expect(Credential.default == nil)
            signOut.cancel()
            gate.open()
            await #expect(throws: (any Error).self) { try await signOut.value }
            #expect(try await Credential.deliverPendingRevocations() == 1)
        }
    }

    @Test("A sign-out waits for a running refresh and revokes the refreshed tokens")
    func awaitsRefresh() async throws {
        let gate = Gate()
        session.on("/v1/token") { _, _ in
            await gate.wait()
            return .tokens("access-2", refresh: "refresh-2")
        }
        session.on("/v1/revoke") { _, _ in .empty }
        try await with {
            let credential = try Credential.store(.fixture())
            async let refreshed: Void = credential.refresh()
            while session.requests("/v1/token").isEmpty { await Task.yield() }
            async let signedOut: Void = credential.revoke()
            for _ in 0..<100 { await Task.yield() }
            gate.open()
            try await refreshed
            try await signedOut
            #expect(revoked == ["access-2", "refresh-2"])
            #expect(Credential.allIDs.isEmpty)
        }
    }
}
