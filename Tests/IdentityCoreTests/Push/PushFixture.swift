import Crypto
import Foundation
import JOSE
import Testing

@testable import IdentityCore
@testable import OAuthEndpoints
@testable import OAuthWire
@testable import Store

/// An organization whose users sign in with their phones, and functions that call its endpoints.
struct PushFixture {
    static let secondFactor = "http://auth0.com/oauth/grant-type/mfa-oob"
    static let firstFactor = "urn:okta:params:oauth:grant-type:oob"
    static let ciba = "urn:openid:params:grant-type:ciba"
    static let jane = TestOrganization.jane
    static let john = DeviceFixture.john
    static let passwords = [jane: TestOrganization.janesPassword, john: "Battery-Staple-9"]

    let store: any Store
    let engine: Engine
    var outbox: TestOutbox { engine.outbox }

    init(store: any Store = InMemoryStore(), _ change: (inout OrganizationDefinition) -> Void = { _ in }) async throws {
        self.store = store
        engine = Self.engine(store)
        var definition = Self.definition
        change(&definition)
        _ = try await engine.apply(definition, context: Self.context(-3_600))
        try await engine.maintainKeys(Self.context(-3_600), making: TestOrganization.key)
    }

    /// Returns an engine for the store. Like each server process, it shares the store with other engines, but not its memory.
    static func engine(_ store: any Store, seed: UInt64 = 1) -> Engine {
        let engine = Engine(
            store: store,
            environment: EngineEnvironment(
                random: SeededRandom(seed: seed), masterKey: SymmetricKey(data: [UInt8](repeating: 7, count: 32)),
                passwordHasher: PasswordHasher()))
        engine.courier = TestOutbox()
        return engine
    }

    /// Returns the same organization after a restart: a new engine over the same store.
    func restarted(over store: any Store) -> PushFixture { PushFixture(store: store, engine: Self.engine(store, seed: 99)) }

    private init(store: any Store, engine: Engine) {
        self.store = store
        self.engine = engine
    }

    static var definition: OrganizationDefinition {
        var definition = TestOrganization.definition
        DeviceFixture.prepare(&definition)
        func app(_ id: String, policy: String = "two factors", _ change: (inout Application) -> Void = { _ in }) {
            var application = Application(
                id: id, name: id, kind: .native, grantTypes: ["password", "refresh_token", secondFactor, firstFactor, GrantType.webAuthn],
                assignment: .init(everyone: true), signOnPolicy: policy, grantedAPIScopes: DeviceFixture.allScopes)
            change(&application)
            definition.applications.append(application)
        }
        app("direct-app")
        app("thief-app")
        app("one-factor-app", policy: "one factor")
        app("closed-app") { $0.assignment = .init(groups: ["staff"]) }
        app("no-push-app") { $0.grantTypes = ["password"] }
        for (id, policy) in [("bank", "one factor"), ("vault", "two factors")] {
            app(id, policy: policy) {
                $0.kind = .web
                $0.authentication = .clientSecretBasic
                $0.secret = "\(id)-secret-of-some-length"
                $0.grantTypes = [ciba, "refresh_token"]
            }
        }
        definition.authenticators[0].numberChallenge = .never
        definition.users.append(UserDefinition(login: "closed@example.com", password: "Battery-Staple-9", status: .suspended))
        return definition
    }

    static func context(_ seconds: TimeInterval) -> RequestContext { TestOrganization.context(TestOrganization.time(seconds)) }

    // MARK: - Requests of clients

    private func request(_ parameters: [String: String], _ client: String, _ server: String?) -> TokenRequest {
        let secrets = ["bank": "bank-secret-of-some-length", "vault": "vault-secret-of-some-length"]
        let endpoint = TestOrganization.tokenURL(server)
        let credentials =
            secrets[client].map { ClientCredentials(basic: (client, $0), endpoint: endpoint) }
            ?? ClientCredentials(clientID: client, endpoint: endpoint)
        return TokenRequest(server: server, client: credentials, parameters: parameters)
    }

    func token(
        _ parameters: [String: String], client: String = "direct-app", server: String? = "default", at seconds: TimeInterval
    ) async throws -> Result<TokenResponse, Refusal> {
        try await engine.token(request(parameters, client, server), context: Self.context(seconds))
    }

    func signIn(
        _ login: String = jane, scope: String = "openid offline_access", client: String = "direct-app", server: String? = "default",
        at seconds: TimeInterval = 10, _ more: [String: String] = [:]
    ) async throws -> Result<TokenResponse, Refusal> {
        let parameters = ["grant_type": "password", "username": login, "password": Self.passwords[login] ?? "", "scope": scope]
        return try await token(parameters.merging(more) { $1 }, client: client, server: server, at: seconds)
    }

    /// Signs in with a correct password, and returns the `mfa_token` for the second factor.
    func mfaToken(
        _ login: String = jane, scope: String = "openid offline_access", client: String = "direct-app", server: String? = "default",
        at seconds: TimeInterval = 10, _ more: [String: String] = [:]
    ) async throws -> String {
        let answer = try await signIn(login, scope: scope, client: client, server: server, at: seconds, more)
        guard case .failure(let refusal) = answer else { throw NoSuchThing("mfa_required") }
        #expect(refusal.code == .mfaRequired)
        return try #require(refusal.members["mfa_token"]?.stringValue)
    }

    func challenge(
        _ mfaToken: String, client: String = "direct-app", server: String? = "default", at seconds: TimeInterval = 11,
        _ more: [String: String] = [:]
    ) async throws -> Result<StartedChallenge, Refusal> {
        let parameters = ["mfa_token": mfaToken, "challenge_types_supported": Self.secondFactor, "channel_hint": "push"]
        return try await engine.challenge(request(parameters.merging(more) { $1 }, client, server), context: Self.context(seconds))
    }

    func primary(
        _ login: String = jane, client: String = "one-factor-app", server: String? = "default", at seconds: TimeInterval = 11,
        from address: String? = nil, _ more: [String: String] = [:]
    ) async throws -> Result<StartedChallenge, Refusal> {
        var context = Self.context(seconds)
        context.address = address ?? context.address
        let parameters = ["login_hint": login, "challenge_hint": Self.firstFactor, "channel_hint": "push"]
        return try await engine.primaryAuthenticate(
            request(parameters.merging(more) { $1 }, client, server), context: context)
    }

    func backchannel(
        _ parameters: [String: String] = ["login_hint": jane, "scope": "openid"], client: String = "bank", server: String? = "default",
        at seconds: TimeInterval = 11
    ) async throws -> Result<StartedChallenge, Refusal> {
        try await engine.backchannelAuthorize(request(parameters, client, server), context: Self.context(seconds))
    }

    func poll(
        _ mfaToken: String, _ oobCode: String, client: String = "direct-app", server: String? = "default", at seconds: TimeInterval
    ) async throws -> Result<TokenResponse, Refusal> {
        try await token(
            ["grant_type": Self.secondFactor, "mfa_token": mfaToken, "oob_code": oobCode], client: client, server: server, at: seconds)
    }

    func pollFirst(
        _ oobCode: String, scope: String = "openid", client: String = "one-factor-app", server: String? = "default",
        at seconds: TimeInterval
    ) async throws -> Result<TokenResponse, Refusal> {
        try await token(
            ["grant_type": Self.firstFactor, "oob_code": oobCode, "scope": scope], client: client, server: server, at: seconds)
    }

    func pollBackchannel(
        _ id: String, client: String = "bank", server: String? = "default", at seconds: TimeInterval
    ) async throws -> Result<TokenResponse, Refusal> {
        try await token(["grant_type": Self.ciba, "auth_req_id": id], client: client, server: server, at: seconds)
    }

    func revoke(
        _ secret: String, client: String = "direct-app", server: String? = "default", at seconds: TimeInterval = 20
    ) async throws {
        try await engine.revoke(request(["token": secret], client, server), context: Self.context(seconds)).get()
    }

    /// A sign-in that waits for the answer of a phone.
    struct Waiting: Sendable {
        var mfaToken: String
        var oobCode: String
    }

    func waiting(_ login: String = jane, client: String = "direct-app", at seconds: TimeInterval = 10) async throws -> Waiting {
        let mfaToken = try await mfaToken(login, client: client, at: seconds)
        let started = try await challenge(mfaToken, client: client, at: seconds + 1).get()
        return Waiting(mfaToken: mfaToken, oobCode: try started.secret())
    }

    func poll(_ waiting: Waiting, at seconds: TimeInterval) async throws -> Result<TokenResponse, Refusal> {
        try await poll(waiting.mfaToken, waiting.oobCode, at: seconds)
    }

    // MARK: - State

    func log(_ type: String) async throws -> [LogEvent] {
        try await engine.systemLog(SystemLogQuery(since: .distantPast, limit: 1_000)).events.filter { $0.type == type }
    }

    func grants() async throws -> [Grant] {
        try await store.read { try $0.records(.grant, after: nil, limit: 1_000).map(Grant.init) }
    }

    func userID(_ login: String = jane) async throws -> String { try #require(try await engine.user(login: login)).id }
}

/// An error for a missing value in a test.
struct NoSuchThing: Error {
    var name: String
    init(_ name: String) { self.name = name }
}

extension StartedChallenge {
    /// Returns the secret with which the client polls: `oob_code` or `auth_req_id`.
    func secret() throws -> String { try #require((members["oob_code"] ?? members["auth_req_id"])?.stringValue) }
}
