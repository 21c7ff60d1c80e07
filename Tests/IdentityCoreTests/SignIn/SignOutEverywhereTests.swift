import Testing

@testable import AuthnAPI
@testable import IdentityCore
@testable import OAuthEndpoints
@testable import SignInPages
@testable import Store

/// Tests sign-outs everywhere that a store fault or a sign-in interrupts, and sign-ins that overlap with one.
@Suite("Sign-out everywhere under faults and races")
struct SignOutEverywhereTests {
    private struct Fault: Error {}

    private let store = InterruptedStore(InMemoryStore())
    private let app: AppFixture
    private let visitor: PageVisitor
    /// The engine of another process over the same store. Its requests are not interrupted.
    private let other: Engine

    init() async throws {
        app = try await AppFixture(store: store) { definition in
            PageVisitor.prepare(&definition)
            definition.classic = ClassicPolicy(signOnPolicy: "one factor", factors: [.totp: .optional])
        }
        visitor = PageVisitor(app.engine)
        other = PushFixture.engine(store.store, seed: 7)
    }

    private func signIn(_ visitor: PageVisitor) async throws -> HostedAnswer {
        _ = try await visitor.authorize()
        return try await enterPassword(visitor, on: visitor.form())
    }

    private func enterPassword(_ visitor: PageVisitor, on page: HostedPage) async throws -> HostedAnswer {
        _ = try await visitor.submit(.password(login: PushFixture.jane, password: TestOrganization.janesPassword), on: page)
        return try await visitor.load()
    }

    @Test("If a sign-out everywhere fails after its first two commits, the user's refresh token is rejected")
    func fault() async throws {
        _ = try PageVisitor.code(try await signIn(visitor))
        let org = app.organization
        let tokens = try await org.signIn(scope: "openid offline_access", client: "one-factor-app").get()
        let id = try await org.userID()
        store.beforeNextCommit { [store] in
            store.beforeNextCommit { store.beforeNextCommit { throw Fault() } }
        }
        await #expect(throws: Fault.self) { try await app.engine.signOutEverywhere(userID: id, context: PushFixture.context(20)) }
        let refreshed = try await org.token(
            ["grant_type": "refresh_token", "refresh_token": tokens.refreshToken ?? ""], client: "one-factor-app", at: 21)
        #expect(refreshed.refused == .invalidGrant)
    }

    @Test("A session that starts after the first commit of a sign-out everywhere stays open")
    func laterSession() async throws {
        _ = try PageVisitor.code(try await signIn(visitor))
        let id = try await app.organization.userID()
        store.beforeNextCommit { [store, other] in
            store.beforeNextCommit {
                let later = PageVisitor(other, at: 30)
                _ = try await later.authorize()
                _ = try await later.submit(
                    .password(login: PushFixture.jane, password: TestOrganization.janesPassword), on: try await later.form())
                _ = try PageVisitor.code(try await later.load())
            }
        }
        try await app.engine.signOutEverywhere(userID: id, context: PushFixture.context(20))
        let kept = try await app.engine.sessions(ofUser: id, now: PushFixture.context(30).now)
        #expect(kept.map(\.createdAt) == [PushFixture.context(30).now])
    }

    @Test("A sign-in on the pages is refused if the user was signed out everywhere after the password check")
    func page() async throws {
        let id = try await app.organization.userID()
        _ = try await visitor.authorize()
        let form = try await visitor.form()
        store.beforeSecondRead { [other] in try await other.signOutEverywhere(userID: id, context: PushFixture.context(20)) }
        let answer = try await enterPassword(visitor, on: form)
        guard case .page(let page) = answer.outcome else { throw NoSuchThing("page: \(answer.outcome)") }
        #expect(page.notice == .wrongCredentials)
    }

    @Test("A sign-in of the classic API is refused if the user was signed out everywhere after the password check")
    func classic() async throws {
        let id = try await app.organization.userID()
        store.beforeSecondRead { [other] in try await other.signOutEverywhere(userID: id, context: PushFixture.context(20)) }
        let request = ClassicRequest(username: PushFixture.jane, password: TestOrganization.janesPassword)
        let answer = try await app.engine.classicSignIn(request, caller: ClassicCaller(), context: PushFixture.context(19))
        #expect(answer.refusal == "E0000004")
    }
}
