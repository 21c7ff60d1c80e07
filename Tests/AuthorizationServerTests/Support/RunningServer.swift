import AuthorizationServer
import Crypto
import Foundation
import IdentityCore
import JOSE
import Logging
import Store
import TestSupport
import Testing

/// A server that listens on a free port, with a store in memory; or several servers, see ``Instances``.
struct RunningServer: Sendable {
    /// The public origin. It differs from the real address, so that a test detects a URL that is derived from the port.
    static let origin = "https://id.example.com"

    let instances: Instances
    /// The engine of the first server.
    let engine: Engine
    let clock: ManualClock
    let wire: WireClient

    var server: AuthorizationServer { instances.servers[0] }

    /// The shared server of all tests that neither advance the clock nor count rate limits. It runs until the process ends.
    private static let shared = Task {
        let server = try await make(
            rateLimits: RateLimits(perClient: 100_000, perAddress: 100_000, perAddressSignIns: 100_000, perUser: 100_000))
        Task { try await server.server.run() }
        return server.listening(on: try await server.server.boundPort)
    }

    /// Runs a test against the shared server.
    static func with<Result: Sendable>(_ body: @Sendable (RunningServer) async throws -> Result) async throws -> Result {
        try await body(shared.value)
    }

    /// Runs a test against a new server and stops the server afterwards.
    static func fresh<Result: Sendable>(
        configuration: AuthorizationServer.Configuration = .init(port: 0),
        rateLimits: RateLimits = RateLimits(perClient: 600, perAddress: 500),
        logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, interceptor: AuthorizationServer.Interceptor? = nil,
        _ body: @Sendable (RunningServer) async throws -> Result
    ) async throws -> Result {
        let fresh = try await make(configuration: configuration, rateLimits: rateLimits, logger: logger, interceptor: interceptor)
        return try await fresh.instances.run { try await body(fresh.listening(on: $0)) }
    }

    private static func make(
        configuration: AuthorizationServer.Configuration = .init(port: 0), rateLimits: RateLimits,
        logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, interceptor: AuthorizationServer.Interceptor? = nil
    ) async throws -> RunningServer {
        let clock = ManualClock(sleeps: .untilCancelled)
        let environment = EngineEnvironment(
            random: SystemRandomSource(), masterKey: SymmetricKey(size: .bits256), passwordHasher: PasswordHasher(width: 2))
        let context = RequestContext(now: clock.now, requestID: "start")
        // Tests of the configuration have their own address or certificate.
        let isPlain = configuration.host == "127.0.0.1" && configuration.tls == nil
        var first: Engine?
        let instances = try await Instances(on: isPlain ? nil : InMemoryStore()) { store, isFirst in
            let engine = Engine(store: store, environment: environment, configurationAge: Instances.configurationAge)
            if isFirst {
                first = engine
                _ = try await engine.apply(TestOrganization.definition(origin: origin, rateLimits: rateLimits), context: context)
                _ = try await engine.maintainKeys(context) { $0 == .rs256 ? try TestKeys.rsa() : try SigningKey.generate($0) }
            }
            return AuthorizationServer(
                engine: engine, configuration: configuration, clock: clock, logger: logger, interceptor: interceptor)
        }
        return RunningServer(instances: instances, engine: try #require(first), clock: clock, wire: WireClient(port: 0))
    }

    func listening(on port: Int) -> RunningServer {
        RunningServer(instances: instances, engine: engine, clock: clock, wire: WireClient(port: port))
    }

    /// Signs Jane in and returns the token response.
    func signIn(scope: String = "openid profile email offline_access", path: String = "/oauth2/default/v1/token") async throws -> JSONValue
    {
        let form =
            "client_id=password-app&grant_type=password&username=jane.doe@example.com&password=Correct-Horse-7&scope="
            + scope.replacingOccurrences(of: " ", with: "+")
        return try await wire.post(path, form).json
    }
}
