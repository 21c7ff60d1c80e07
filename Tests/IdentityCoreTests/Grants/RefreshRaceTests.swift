import Foundation
import Synchronization
import Testing

@testable import IdentityCore
@testable import OAuthEndpoints
@testable import OAuthWire
@testable import Store

/// A store that counts its reads and commits, and can run an action before its next commit.
private final class WatchedStore: Store {
    private struct State: Sendable {
        var reads = 0
        var commits = 0
        var beforeCommit: (@Sendable () async throws -> Void)?
    }

    private let store: InMemoryStore
    private let state = Mutex(State())

    init(_ store: InMemoryStore) { self.store = store }

    /// Returns the numbers of reads and commits since the last call.
    func counts() -> [Int] {
        state.withLock { state in
            defer { (state.reads, state.commits) = (0, 0) }
            return [state.reads, state.commits]
        }
    }

    func beforeNextCommit(_ body: @escaping @Sendable () async throws -> Void) {
        state.withLock { $0.beforeCommit = body }
    }

    func read<Result: Sendable>(
        _ lookup: @escaping @Sendable () -> Lookup, _ body: @escaping @Sendable (any StoreView) throws -> Result
    ) async throws -> Result {
        state.withLock { $0.reads += 1 }
        return try await store.read(lookup, body)
    }

    func commit(_ changes: [Change]) async throws -> CommitOutcome {
        let before = state.withLock { state in
            defer { state.beforeCommit = nil }
            state.commits += 1
            return state.beforeCommit
        }
        try await before?()
        return try await store.commit(changes)
    }

    func preparingCommit<Result>(_ work: () async throws -> Result) async rethrows -> Result { try await work() }
    func removeExpired(now: Date, limit: Int) async throws -> Int { try await store.removeExpired(now: now, limit: limit) }
    func close() async throws { try await store.close() }
}

@Suite("Concurrent changes during a request")
struct RefreshRaceTests {
    private let organization: TestOrganization
    private let store: WatchedStore
    private let slow: Engine

    init() async throws {
        organization = try await TestOrganization()
        store = WatchedStore(organization.store)
        var environment = organization.engine.environment
        environment.random = SeededRandom(seed: 3)
        slow = Engine(store: store, environment: environment)
        _ = try await slow.snapshot()
        _ = store.counts()
    }

    private func refresh(_ token: String?, client: String = "password-app", at seconds: Double) async throws -> Result<
        TokenResponse, Refusal
    > {
        try await slow.token(
            TokenRequest(
                server: "default", client: ClientCredentials(clientID: client, endpoint: ""),
                parameters: ["grant_type": "refresh_token", "refresh_token": token ?? ""]),
            context: TestOrganization.context(TestOrganization.time(seconds)))
    }

    @Test("A refresh makes one store read and one commit", arguments: ["password-app", "static-app"])
    func costs(client: String) async throws {
        let token = try await organization.signIn(client: client).get().refreshToken
        let next = try await refresh(token, client: client, at: 100).get().refreshToken
        #expect(store.counts() == [1, 1])
        _ = try await refresh(next, client: client, at: 7 * 86400).get()
        #expect(store.counts() == [1, 1])
    }

    @Test("With a cached configuration, client_credentials makes one commit and no read; introspection and userinfo make one read each")
    func otherCosts() async throws {
        let context = TestOrganization.context(TestOrganization.time(1))
        let request = TokenRequest(
            server: "default", client: TestOrganization.service, parameters: ["grant_type": "client_credentials", "scope": "messages.read"])
        let response = try await slow.token(request, context: context).get()
        #expect(store.counts() == [0, 1])
        let token = TokenRequest(server: "default", client: TestOrganization.service, parameters: ["token": response.accessToken])
        #expect(try await slow.introspect(token, context: context).get().isActive)
        #expect(store.counts() == [1, 0])
        let tokens = try await organization.signIn().get()
        _ = try await slow.userInfo(accessToken: tokens.accessToken, server: "default", context: context).get()
        #expect(store.counts() == [1, 0])
    }

    @Test(
        "A client that another process removes during a request gets no token, even if the cached configuration still contains the client")
    func configurationInMemory() async throws {
        let context = TestOrganization.context(TestOrganization.time(1))
        let request = TokenRequest(
            server: "default", client: TestOrganization.service, parameters: ["grant_type": "client_credentials", "scope": "messages.read"])
        _ = try await slow.token(request, context: context).get()
        store.beforeNextCommit { [organization] in
            var definition = TestOrganization.definition
            definition.applications.removeAll { $0.id == "service-app" }
            _ = try await organization.engine.apply(definition, context: context)
        }
        await #expect(throws: Refusal.self) { try await slow.token(request, context: context).get() }
    }

    @Test(
        "If two refreshes with the same token overlap, the new token of the first commit becomes invalid, and the later new token is valid")
    func otherRefresh() async throws {
        let token = try await organization.signIn().get().refreshToken
        let first = Mutex<String?>(nil)
        store.beforeNextCommit { [organization] in
            let given = try await organization.refresh(token, at: 60).get().refreshToken
            first.withLock { $0 = given }
        }
        let second = try await refresh(token, at: 60).get().refreshToken
        let retired = first.withLock { $0 }
        #expect(retired != nil)
        #expect(try await organization.introspect(retired, at: 61).isActive == false)
        #expect(try await organization.introspect(second, at: 61).isActive)
    }

    @Test("A refresh retry is rejected if the successor token is used at the same time, and the newest token stays valid")
    func successorUsed() async throws {
        let token = try await organization.signIn().get().refreshToken
        let successor = try await organization.refresh(token, at: 60).get().refreshToken
        let last = Mutex<String?>(nil)
        store.beforeNextCommit { [organization] in
            let given = try await organization.refresh(successor, at: 61).get().refreshToken
            last.withLock { $0 = given }
        }
        #expect(try await refresh(token, at: 61).reason == "refresh.successor_used")
        #expect(try await organization.introspect(last.withLock { $0 }, at: 62).isActive)
    }

    @Test("A refresh gets no tokens if the refresh token is revoked before the refresh commits")
    func revocation() async throws {
        let token = try await organization.signIn().get().refreshToken
        store.beforeNextCommit { [organization] in try await organization.revoke(token, at: 60) }
        #expect(try await refresh(token, at: 60).reason == "refresh.revoked")
    }

    @Test("A refresh with a static token gets no tokens if the token is revoked before the refresh commits")
    func staticRevocation() async throws {
        let token = try await organization.signIn(client: "static-app").get().refreshToken
        store.beforeNextCommit { [organization] in try await organization.revoke(token, client: "static-app", at: 60) }
        #expect(try await refresh(token, client: "static-app", at: 60).reason == "refresh.revoked")
    }

    @Test("If the password changes during a refresh, the tokens of the refresh are invalid afterwards")
    func passwordChange() async throws {
        let token = try await organization.signIn().get().refreshToken
        let user = try #require(try await organization.janesID())
        store.beforeNextCommit { [organization] in
            _ = try await organization.engine.setPassword(
                userID: user, to: "Another-Horse-8", context: TestOrganization.context(TestOrganization.time(60)))
        }
        // The refresh read the account before the change, so it succeeds; its tokens belong to the old password.
        let late = try await refresh(token, at: 60).get()
        #expect(late.refreshToken != nil && late.idToken != nil)
        for token in [late.accessToken, late.refreshToken, late.idToken] {
            #expect(try await organization.introspect(token, at: 61).isActive == false)
        }
        #expect(try await organization.userInfo(late.accessToken, at: 61).refused == .invalidToken)
        #expect(try await organization.refresh(late.refreshToken, at: 61).refused == .invalidGrant)
        #expect(try await organization.refresh(token, at: 61).refused == .invalidGrant)
    }
}
