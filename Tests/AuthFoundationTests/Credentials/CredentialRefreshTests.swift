import Foundation
import TestSupport
import Testing

@testable import AuthFoundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Refreshing a credential")
struct CredentialRefreshTests {
    private let folder = TemporaryFolder()
    private let session = ScriptedIssuer()
    private let clock = ManualClock()

    private func with(_ kind: StorageKind = .memory, _ body: () async throws -> Void) async throws {
        try await Credential.withStorage(kind.make(in: folder), session: session, clock: clock, operation: body)
    }

    private func stored(_ kind: StorageKind) throws -> Token? {
        // A new storage for the same folder reads the token as another process would.
        try CredentialActor.synchronously {
            try FileTokenStorage(directory: folder.url).get(token: "session-1", prompt: nil, authenticationContext: nil)
        }
    }

    @Test("A refresh replaces the credential's token, and the credential keeps its ID and default status", arguments: StorageKind.allCases)
    func replaces(_ kind: StorageKind) async throws {
        session.on("/v1/token") { _, _ in .tokens("access-2", refresh: "refresh-2") }
        try await with(kind) {
            let credential = try Credential.store(.fixture())
            try await credential.refresh()
            #expect(session.forms("/v1/token") == [["grant_type": "refresh_token", "refresh_token": "refresh-1", "client_id": "app"]])
            #expect(credential.id == "session-1")
            #expect(credential.token.id == "session-1")
            #expect(credential.token.accessToken == "access-2")
            #expect(credential.token.refreshToken == "refresh-2")
            #expect(Credential.default === credential)
            #expect(Credential.allIDs == ["session-1"])
        }
    }

    @Test("A refreshed token is on disk when the tokenRefreshed notification is posted")
    func isDurable() async throws {
        session.on("/v1/token") { _, _ in .tokens("access-durable", refresh: "refresh-durable") }
        let seen = Locked<[String?]>([])
        let observer = NotificationCenter.default.addObserver(forName: .tokenRefreshed, object: nil, queue: nil) { [self] notification in
            guard (notification.object as? Token)?.accessToken == "access-durable" else { return }
            let token = try? stored(.vault)
            seen.withLock { $0.append(token?.refreshToken) }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        try await with(.vault) { try await Credential.store(.fixture()).refresh() }
        #expect(try stored(.vault)?.refreshToken == "refresh-durable")
        #expect(seen.withLock { $0 }.first == "refresh-durable")
        try await with(.vault) { #expect(Credential.default?.token.accessToken == "access-durable") }
    }

    @Test("200 concurrent refreshes of a credential send one request", .timeLimit(.minutes(1)), arguments: StorageKind.allCases)
    func sharesOne(_ kind: StorageKind) async throws {
        let gate = Gate()
        session.on("/v1/token") { _, _ in
            await gate.wait()
            return .tokens("access-2", refresh: "refresh-2")
        }
        try await with(kind) {
            let credential = try Credential.store(.fixture())
            try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<200 {
                    group.addTask {
                        try await credential.refresh()
                        return credential.token.accessToken
                    }
                }
                group.addTask {
                    while credential.refreshes.waiters(for: credential.id) < 200 { await Task.yield() }
                    gate.open()
                    return "access-2"
                }
                for try await token in group { #expect(token == "access-2") }
            }
        }
        #expect(session.requests("/v1/token").count == 1)
    }

    @Test("Cancelling one caller of a credential's refresh does not affect the request or another caller")
    func survivesCancellation() async throws {
        let gate = Gate()
        session.on("/v1/token") { _, _ in
            await gate.wait()
            return .tokens("access-2")
        }
        try await with {
            let credential = try Credential.store(.fixture())
            let cancelled = Task { try await credential.refresh() }
            while !credential.isRefreshing { await Task.yield() }
            let patient = Task { try await credential.refresh() }
            cancelled.cancel()
            await #expect(throws: CancellationError.self) { try await cancelled.value }
            gate.open()
            try await patient.value
            #expect(credential.token.accessToken == "access-2")
        }
        #expect(session.requests("/v1/token").count == 1)
    }

    @Test("A refresh that fails with invalid_grant ends the session, and the credential keeps its token")
    func endsSession() async throws {
        session.on("/v1/token") { _, _ in .invalidGrant }
        try await with {
            let credential = try Credential.store(.fixture())
            let events = Credential.events
            await #expect(throws: (any Error).self) { try await credential.refresh() }
            guard case .ended(let error) = credential.sessionState else {
                Issue.record("\(credential.sessionState)")
                return
            }
            #expect(error.code == .invalidGrant)
            #expect(Credential.default === credential)
            #expect(try credential.token == .fixture())
            #expect(await events.first(2) == ["refreshFailed session-1", "ended session-1"])
        }
    }

    @Test(
        "A refresh that fails with a server error, a rate limit or invalid_client does not end the session, and can be retried",
        arguments: [
            .init(status: 500), .init(status: 503), .json(#"{"error":"server_error"}"#, status: 400),
            .json(#"{"error":"invalid_grant"}"#, status: 503), .json(#"{"error":"invalid_client"}"#, status: 401),
            .init(status: 429), .json("<html>", status: 200),
        ] as [ScriptedIssuer.Reply])
    func staysSignedIn(_ reply: ScriptedIssuer.Reply) async throws {
        session.on("/v1/token") { _, _ in reply }
        try await with {
            let credential = try Credential.store(.fixture())
            await #expect(throws: (any Error).self) { try await credential.refresh() }
            guard case .unreachable = credential.sessionState else {
                Issue.record("\(credential.sessionState)")
                return
            }
            #expect(Credential.default === credential)
            session.on("/v1/token") { _, _ in .tokens("access-2") }
            try await credential.refresh()
            guard case .active = credential.sessionState else {
                Issue.record("\(credential.sessionState)")
                return
            }
        }
    }

    @Test(
        "If the device is offline, a refresh makes the credential unreachable and keeps the token",
        arguments: [URLError.Code.notConnectedToInternet, .cannotFindHost, .cannotConnectToHost])
    func staysSignedInOffline(_ code: URLError.Code) async throws {
        session.on("/v1/token") { _, _ in throw URLError(code) }
        try await with {
            let credential = try Credential.store(.fixture())
            await #expect(throws: (any Error).self) { try await credential.refresh() }
            guard case .unreachable = credential.sessionState else {
                Issue.record("\(credential.sessionState)")
                return
            }
            #expect(try credential.token == .fixture())
        }
        #expect(session.requests("/v1/token").count == 1)
    }

    @Test(
        "A refresh whose response is lost is retried once with the same refresh token",
        arguments: [URLError.Code.networkConnectionLost, .timedOut])
    func repeatsLost(_ code: URLError.Code) async throws {
        session.on("/v1/token") { _, count in
            if count == 0 { throw URLError(code) }
            return .tokens("access-2", refresh: "refresh-2")
        }
        try await with {
            let credential = try Credential.store(.fixture())
            try await credential.refresh()
            #expect(credential.token.accessToken == "access-2")
        }
        #expect(session.forms("/v1/token").map { $0["refresh_token"] } == ["refresh-1", "refresh-1"])
        session.on("/v1/token") { _, _ in throw URLError(code) }
        try await with {
            let credential = try Credential.store(.fixture())
            await #expect(throws: (any Error).self) { try await credential.refresh() }
        }
        #expect(session.requests("/v1/token").count == 4)
    }

    @Test("Refreshing a credential without a refresh token throws missingToken and does not end the session")
    func needsRefreshToken() async throws {
        try await with {
            let credential = try Credential.store(.fixture(refresh: nil))
            await #expect(throws: OAuth2Error.missingToken(type: .refreshToken)) { try await credential.refresh() }
            guard case .active = credential.sessionState else {
                Issue.record("\(credential.sessionState)")
                return
            }
        }
    }

    @Test("A credential that is not stored is refreshed only in memory")
    func refreshesUnstored() async throws {
        session.on("/v1/token") { _, _ in .tokens("access-2") }
        try await with {
            let credential = try await Credential(token: .fixture())
            try await credential.refresh()
            #expect(credential.token.accessToken == "access-2")
            #expect(Credential.allIDs.isEmpty)
        }
    }

    @Test("If a credential is removed during a refresh, the refreshed tokens are revoked and not stored")
    func neverResurrects() async throws {
        let gate = Gate()
        session.on("/v1/token") { _, _ in
            await gate.wait()
            return .tokens("access-2", refresh: "refresh-2")
        }
        session.on("/v1/revoke") { _, _ in .empty }
        try await with {
            let credential = try Credential.store(.fixture())
            let events = Credential.events
            let refreshed = Task { try await credential.refresh() }
            while session.requests("/v1/token").isEmpty { await Task.yield() }
            try credential.remove()
            gate.open()
            await #expect(throws: CredentialError.missingCoordinator) { try await refreshed.value }
            #expect(Credential.allIDs.isEmpty)
            for await event in events { if case .revocationDelivered = event { break } }
            #expect(session.forms("/v1/revoke").map { $0["token"] ?? "" }.sorted() == ["access-2", "refresh-2"])
        }
    }

    @Test("A token that the app refreshes through OAuth2Client is also replaced in the stored credential", arguments: StorageKind.allCases)
    func hearsClient(_ kind: StorageKind) async throws {
        session.on("/v1/token") { _, _ in .tokens("access-2", refresh: "refresh-2") }
        try await with(kind) {
            let credential = try Credential.store(.fixture())
            _ = try await credential.oauth2.refresh(credential.token)
            #expect(credential.token.accessToken == "access-2")
            #expect(Credential.default?.token.refreshToken == "refresh-2")
        }
    }

    @Test(
        "refreshIfNeeded sends a request only if the token expires within the grace interval",
        arguments: [(3300.0, 0), (3299.0, 0), (3301.0, 1), (3600.0, 1), (9000.0, 1)])
    func refreshesIfNeeded(_ elapsed: TimeInterval, _ requests: Int) async throws {
        session.on("/v1/token") { _, _ in .tokens("access-2") }
        try await with {
            let credential = try Credential.store(.fixture())
            clock.advance(by: elapsed - 0.5)
            try await credential.refreshIfNeeded()
            #expect(session.requests("/v1/token").count == requests)
        }
    }

    @Test("authorize refreshes an expired token first, and uses the old token if the refresh fails")
    func authorizes() async throws {
        session.on("/v1/token") { _, count in
            if count == 0 { return .init(status: 503) }
            return .tokens("access-2")
        }
        try await with {
            let credential = try Credential.store(.fixture())
            let events = Credential.events
            var request = URLRequest(url: try url("https://api.example.com"))
            await credential.authorize(&request)
            #expect(request.value(forHTTPHeaderField: "Authorization") == "Bearer access-1")
            clock.advance(by: 4000)
            await credential.authorize(&request)
            #expect(request.value(forHTTPHeaderField: "Authorization") == "Bearer access-1")
            #expect(await events.first(1) == ["refreshFailed session-1"])
            let authorized = try await credential.authorizing(request)
            #expect(authorized.value(forHTTPHeaderField: "Authorization") == "Bearer access-2")
        }
    }

    @Test("authorize replaces an expired token in the request with the refreshed token")
    func authorizesWithNewToken() async throws {
        session.on("/v1/token") { _, _ in .tokens("access-2") }
        try await with {
            let credential = try Credential.store(.fixture())
            clock.advance(by: 4000)
            var request = URLRequest(url: try url("https://api.example.com"))
            request.setValue("Bearer access-1", forHTTPHeaderField: "Authorization")
            await credential.authorize(&request)
            #expect(request.value(forHTTPHeaderField: "Authorization") == "Bearer access-2")
            await credential.authorize(&request)
            #expect(session.requests("/v1/token").count == 1)
        }
    }

    @Test("If the refresh fails, the throwing variant of authorize throws")
    func authorizingThrows() async throws {
        session.on("/v1/token") { _, _ in .invalidGrant }
        try await with {
            let credential = try Credential.store(.fixture())
            clock.advance(by: 4000)
            let request = URLRequest(url: try url("https://api.example.com"))
            await #expect(throws: (any Error).self) { try await credential.authorizing(request) }
        }
    }

    @Test("The completion handler of Credential.refresh receives success or the server's error")
    func completes() async throws {
        session.on("/v1/token") { _, count in count == 0 ? .tokens("access-2", refresh: "refresh-2") : .invalidGrant }
        try await with {
            let credential = try Credential.store(.fixture())
            let first = await withCheckedContinuation { continuation in credential.refresh { continuation.resume(returning: $0) } }
            #expect(throws: Never.self) { try first.get() }
            let second = await withCheckedContinuation { continuation in credential.refresh { continuation.resume(returning: $0) } }
            #expect { try second.get() } throws: { error in
                if case OAuth2Error.server(let error) = error { error.code == .invalidGrant } else { false }
            }
        }
    }
}
