import Crypto
import Foundation
import JOSE
import Synchronization
import TestSupport

@testable import IdentityCore
@testable import OAuthEndpoints
@testable import OAuthWire
@testable import Store

/// A generator that returns the same sequence of bytes in each run, so that tests can be repeated.
final class SeededRandom: RandomSource {
    private let state: Mutex<UInt64>

    init(seed: UInt64 = 1) { state = Mutex(seed) }

    func bytes(_ count: Int) -> [UInt8] {
        state.withLock { state in
            (0..<count).map { _ in
                // SplitMix64.
                state &+= 0x9E37_79B9_7F4A_7C15
                var z = state
                z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
                z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
                return UInt8(truncatingIfNeeded: z ^ (z >> 31))
            }
        }
    }
}

/// An in-memory organization with a few applications, users and policies, and functions that call its endpoints.
struct TestOrganization {
    static let start = Date(timeIntervalSince1970: 1_700_000_000.25)
    static let origin = "https://id.test"
    static let jane = OrganizationBuilder.jane
    static let janesPassword = OrganizationBuilder.janesPassword
    static let longSecret = "a-secret-of-more-than-thirty-two-bytes-for-hs256"

    let store: InMemoryStore
    let engine: Engine

    /// The signing keys. All tests share them, because key generation is slow.
    static let signingKeys: [JWSAlgorithm: SigningKey] = {
        var keys: [JWSAlgorithm: SigningKey] = [:]
        for algorithm in [JWSAlgorithm.rs256, .es256] { keys[algorithm] = try? SigningKey.generate(algorithm) }
        return keys
    }()
    static let clientKey = try? SigningKey.generate(.es256, keyID: "client-key")

    struct NoKey: Error {}

    static func key(_ algorithm: JWSAlgorithm) throws -> SigningKey {
        guard let key = signingKeys[algorithm] else { throw NoKey() }
        return key
    }

    init(seed: UInt64 = 1, tokenService: (any TokenService)? = nil, _ change: (inout OrganizationDefinition) -> Void = { _ in })
        async throws
    {
        var definition = Self.definition
        change(&definition)
        store = InMemoryStore()
        engine = Engine(
            store: store,
            environment: EngineEnvironment(
                random: SeededRandom(seed: seed), masterKey: SymmetricKey(data: [UInt8](repeating: 7, count: 32)),
                passwordHasher: PasswordHasher(), tokenService: tokenService))
        engine.courier = TestOutbox()
        _ = try await engine.apply(definition, context: Self.context(Self.start.addingTimeInterval(-3600)))
        try await engine.maintainKeys(Self.context(Self.start.addingTimeInterval(-3600)), making: Self.key)
    }

    static func context(_ now: Date) -> RequestContext {
        RequestContext(now: now, requestID: "request", address: "127.0.0.1")
    }

    static func time(_ seconds: TimeInterval) -> Date { start.addingTimeInterval(seconds) }

    // MARK: - Requests

    static func tokenURL(_ server: String?) -> String { origin + "/oauth2/" + (server.map { $0 + "/" } ?? "") + "v1/token" }

    func token(
        _ parameters: [String: String], client: ClientCredentials? = nil, server: String? = "default", at seconds: TimeInterval = 0
    ) async throws -> Result<TokenResponse, Refusal> {
        let client = client ?? ClientCredentials(clientID: parameters["client_id"], endpoint: Self.tokenURL(server))
        return try await engine.token(
            TokenRequest(server: server, client: client, parameters: parameters), context: Self.context(Self.time(seconds)))
    }

    func signIn(
        _ scope: String? = "openid profile email offline_access", client: String = "password-app", server: String? = "default",
        at seconds: TimeInterval = 0, _ more: [String: String] = [:]
    ) async throws -> Result<TokenResponse, Refusal> {
        var parameters = ["grant_type": "password", "client_id": client, "username": Self.jane, "password": Self.janesPassword]
        parameters["scope"] = scope
        return try await token(parameters.merging(more) { $1 }, server: server, at: seconds)
    }

    func refresh(
        _ token: String?, client: String = "password-app", scope: String? = nil, server: String? = "default", at seconds: TimeInterval
    ) async throws -> Result<TokenResponse, Refusal> {
        var parameters = ["grant_type": "refresh_token", "client_id": client, "refresh_token": token ?? ""]
        parameters["scope"] = scope
        return try await self.token(parameters, server: server, at: seconds)
    }

    func service(_ scope: String? = "messages.read", at seconds: TimeInterval = 0) async throws -> Result<TokenResponse, Refusal> {
        var parameters = ["grant_type": "client_credentials"]
        parameters["scope"] = scope
        return try await token(parameters, client: Self.service, at: seconds)
    }

    static let service = ClientCredentials(basic: ("service-app", "service-app-secret"), endpoint: tokenURL("default"))

    /// Introspects a token as this client, or by default as each client that may: the service for access tokens, and apps for their own
    /// tokens.
    func introspect(
        _ token: String?, client: ClientCredentials? = nil, server: String? = "default", at seconds: TimeInterval = 1
    ) async throws -> Introspection {
        let apps = ["password-app", "static-app"].map { ClientCredentials(clientID: $0, endpoint: Self.origin) }
        var answer = Introspection.inactive
        for client in client.map({ [$0] }) ?? [Self.service] + apps where !answer.isActive {
            answer = try await engine.introspect(
                TokenRequest(server: server, client: client, parameters: ["token": token ?? ""]), context: Self.context(Self.time(seconds))
            ).get()
        }
        return answer
    }

    func revoke(_ token: String?, client: String = "password-app", server: String? = "default", at seconds: TimeInterval = 1) async throws {
        let client = ClientCredentials(clientID: client, endpoint: Self.origin)
        try await engine.revoke(
            TokenRequest(server: server, client: client, parameters: ["token": token ?? ""]), context: Self.context(Self.time(seconds))
        ).get()
    }

    func userInfo(
        _ token: String?, server: String? = "default", at seconds: TimeInterval = 1
    ) async throws -> Result<[String: JSONValue], Refusal> {
        try await engine.userInfo(accessToken: token, server: server, context: Self.context(Self.time(seconds)))
    }

    /// Returns the events of the system log, oldest first.
    func log() async throws -> [LogEvent] {
        try await store.read { view in
            try view.records(.logEvent, after: nil, limit: 1000).map { try RecordCoding.decode(LogEvent.self, from: $0) }
        }
    }

    func lastReason() async throws -> String? { try await log().last?.reason }

    func grants() async throws -> [Grant] {
        try await store.read { try $0.records(.grant, after: nil, limit: 1000).map(Grant.init) }
    }

    func janesID() async throws -> String? { try await engine.user(login: Self.jane)?.id }

    // MARK: - Definition

    static var definition: OrganizationDefinition {
        let passwordGrants = ["password", "refresh_token"]
        func service(_ id: String, _ method: Application.Authentication, _ change: (inout Application) -> Void = { _ in }) -> Application {
            .service(id, secret: longSecret, by: method) {
                $0.assignment = Application.Assignment(everyone: true)
                $0.grantedAPIScopes = ["okta.users.read"]
                change(&$0)
            }
        }
        let rule = AccessRule(name: "any", refreshTokenLifetime: 30 * 86400)
        let servers = [
            OrganizationBuilder.server("default", scopes: ["messages.read", "messages.write"], rule: rule),
            OrganizationBuilder.server("other") { $0.accessPolicies = [] },
        ]
        let applications: [Application] = [
            .app("password-app", passwordGrants), .app("static-app", passwordGrants) { $0.refreshTokenRotation = .static },
            .app("other-app", passwordGrants), .app("no-refresh-app", ["password"]),
            service("service-app", .clientSecretBasic) { $0.secret = "service-app-secret" },
            service("post-app", .clientSecretPost), service("jwt-app", .clientSecretJWT),
            service("key-app", .privateKeyJWT) {
                $0.secret = nil
                $0.keys = JSONWebKeySet([clientKey?.publicKey].compactMap { $0 })
            }, service("inactive-app", .clientSecretBasic) { $0.isActive = false }, .app("public-service", ["client_credentials"]),
        ]
        return OrganizationBuilder.definition(origin: origin, servers: servers, applications: applications) {
            $0.id = "00o0000000000000test"
            $0.groups = [Group(name: "staff")]
            $0.passwordPolicy = PasswordPolicy(scryptLogN: 10)
            $0.users[0].groups = ["staff"]
            $0.users[0].profile = [
                "given_name": "Jane", "family_name": "Doe", "name": "Jane Doe", "email": "jane.doe@example.com", "email_verified": true,
                "zoneinfo": "Europe/London", "phone_number": "+44 1", "nickname": .null,
            ]
        }
    }
}

extension Result where Failure == Refusal {
    /// The error code of a refusal; `nil` for a success.
    var refused: Refusal.Code? { if case .failure(let refusal) = self { refusal.code } else { nil } }
    /// The reason of a refusal; `nil` for a success.
    var reason: String? { if case .failure(let refusal) = self { refusal.reason } else { nil } }
}

/// Returns the claims and the header of a token without verifying it.
func claims(of token: String?) throws -> [String: JSONValue] {
    try JSONWebSignature(parsing: token ?? "").unverifiedClaims().json.objectValue ?? [:]
}
