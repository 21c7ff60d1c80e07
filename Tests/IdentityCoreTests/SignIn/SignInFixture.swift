import Crypto
import Foundation
import JOSE
import TestSupport
import Testing

@testable import IdentityCore
@testable import OAuthEndpoints
@testable import Store

/// An in-memory organization without keys, for tests of sign-ins alone.
struct SignInFixture {
    static let start = Date(timeIntervalSince1970: 1_700_000_000)
    static let jane = OrganizationBuilder.jane
    static let janesPassword = OrganizationBuilder.janesPassword

    let store = InMemoryStore()
    let engine: Engine

    init(_ change: (inout OrganizationDefinition) -> Void = { _ in }) async throws {
        engine = Engine(store: store, environment: Self.environment())
        var definition = Self.definition
        change(&definition)
        _ = try await engine.apply(definition, context: Self.context())
    }

    static func environment(seed: UInt64 = 1, masterKey: UInt8 = 7) -> EngineEnvironment {
        EngineEnvironment(
            random: SeededRandom(seed: seed), masterKey: SymmetricKey(data: [UInt8](repeating: masterKey, count: 32)),
            passwordHasher: PasswordHasher(width: 2, queueLimit: 1_000))
    }

    static func context(at seconds: TimeInterval = 0) -> RequestContext {
        RequestContext(now: start.addingTimeInterval(seconds), requestID: "request", address: "127.0.0.1")
    }

    static var definition: OrganizationDefinition {
        OrganizationBuilder.definition(
            applications: [
                .app("one", name: "One", ["password"]),
                .app(
                    "two", name: "Two",
                    ["password", "http://auth0.com/oauth/grant-type/mfa-oob", "http://auth0.com/oauth/grant-type/mfa-otp"],
                    policy: "two factors"),
                .app("staff", name: "Staff", ["password"], groups: ["Staff"]),
                .app("closed", name: "Closed", ["password"]) { $0.isActive = false },
                .service("service", name: "Service", secret: "a-secret-for-tests", by: .clientSecretBasic),
            ]
        ) {
            $0.passwordPolicy = PasswordPolicy(lockoutAttempts: 3, lockoutMinutes: 15, scryptLogN: 10)
            $0.rateLimits = RateLimits(perAddressSignIns: 10_000, perUser: 10_000)
            $0.users += [OrganizationBuilder.suspended, UserDefinition(login: "new@example.com")]
        }
    }

    func signIn(
        _ username: String = jane, _ password: String = janesPassword, to application: String = "one", at seconds: TimeInterval = 0,
        grants: [String]? = nil, contextClasses: [String] = []
    ) async throws -> SignInOutcome {
        let snapshot = try await engine.snapshot()
        let application = try #require(snapshot.application(application))
        return try await engine.authenticate(
            username: username, password: password,
            for: SignInRequest(
                application: application, server: nil, scopes: ["openid"], contextClasses: contextClasses,
                presentable: application.secondFactors(supported: grants)),
            snapshot: snapshot, context: Self.context(at: seconds))
    }

    func stored(_ login: String = jane) async throws -> StoredUser {
        let found: StoredUser? = try await store.read { [engine] view in try engine.user(login: login, in: view) }
        return try #require(found)
    }

    func lock() async throws {
        for _ in 0..<3 { _ = try await signIn(Self.jane, "wrong-password") }
    }

    func log() async throws -> [LogEvent] {
        try await engine.systemLog(SystemLogQuery(since: .distantPast, limit: 1_000)).events
    }

    func enroll(_ factor: FactorKind, of login: String = jane) async throws {
        let id = try await stored(login).value.id
        try await store.enroll(factor, of: id, at: Self.context().now)
    }
}

/// The outcome of a sign-in with a password.
enum SignInOutcome: Sendable {
    case authenticated(User, AuthenticationContext)
    case refused(Refusal)
}

extension Engine {
    /// Signs a user in with a password, without a call of an endpoint and without tokens.
    func authenticate(
        username: String, password: String, for request: SignInRequest, snapshot: OrgSnapshot, context: RequestContext
    ) async throws -> SignInOutcome {
        let environment = self.environment
        return try await transact(context) { (reading: Reading<Result<FactorVerdict, Refusal>>) in
            let transaction = SignInTransaction(
                id: try environment.random.identifier(prefix: "txn"), request: request, now: context.now,
                lifetime: TimeInterval(snapshot.mfaTokenLifetime))
            let first = try FirstFactor(
                username, by: .password, of: transaction, after: try? reading.verdict?.get(), view: reading.view,
                snapshot: snapshot, context: context, engine: self)
            return (first, reading.isRepeated)
        } check: { (first: FirstFactor, isRepeated: Bool) in
            if !isRepeated {
                let status = countFirstAttempt(
                    login: username, of: first.account.user?.value, from: first.origin, snapshot: snapshot, context: context)
                guard status.isAdmitted else {
                    let refusal = Refusal.tooManyRequests(status, reason: "sign-in attempts")
                    return Check(of: refusal) { .failure(refusal) }
                }
            }
            let verifier = PasswordVerifier(environment: environment, origin: first.origin)
            return first.check(.password(password), by: verifier).map { @Sendable judge in
                do { return .success(try await judge()) } catch is PasswordHasher.Overloaded {
                    let busy = RateLimitStatus(limit: 0, remaining: 0, reset: context.now, isAdmitted: false)
                    return .failure(.tooManyRequests(busy, reason: "too many passwords wait to be hashed"))
                }
            }
        } needsMore: { state, verdict in
            if case .success(let verdict) = verdict { state.0.needsMore(verdict) } else { false }
        } decide: { state, verdict in
            let first = state.0
            let verifier = PasswordVerifier(environment: environment, origin: first.origin)
            if case .failure(let refusal)? = verdict { return Plan(.refused(refusal)) }
            let (next, outcome, writes, user) = try first.step(verdict?.get() ?? .failed, by: verifier, now: context.now)
            switch outcome {
            case .authenticated(let proved):
                guard let user else { throw NoSuchThing("user") }
                return Plan(.authenticated(user, proved), writes)
            case .factorRequired(let grants):
                let token = try environment.random.secret(prefix: "mfa_")
                return Plan(
                    .refused(.factorRequired(grants, token: token)),
                    writes + [.put(try next.record()), .issue(next.mfaTicket(token))])
            case .refused(let refusal): return Plan(.refused(refusal), writes)
            default: throw NoSuchThing("outcome")
            }
        }
    }
}

extension SignInOutcome {
    var refusal: Refusal? { if case .refused(let refusal) = self { refusal } else { nil } }
    var context: AuthenticationContext? { if case .authenticated(_, let context) = self { context } else { nil } }
}
