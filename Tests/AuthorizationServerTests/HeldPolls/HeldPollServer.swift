import Crypto
import Foundation
import IdentityCore
import JOSE
import Logging
import OAuthEndpoints
import ServiceLifecycle
import Store
import TestSupport
import Testing

@testable import AuthorizationServer

/// A running server that holds polls, with an organization that has a push authenticator.
struct HeldPollServer: Sendable {
    /// The store, limits and organization of the server.
    struct Options: Sendable {
        var store: any Store = InMemoryStore()
        var masterKey = SymmetricKey(size: .bits256)
        /// Whether the store is new; `false` for a second process with the store of a first one.
        var isFirst = true
        var limits = AuthorizationServer.Configuration.Limits()
        var organization = PushOrganization()
        /// Applications in addition to the organization's.
        var applications: [Application] = []
    }

    let push: PushServer
    let clock: ManualClock
    let polls: HeldPolls

    var wire: WireClient { push.wire }

    /// Runs a test with its own server, and stops the server afterwards.
    static func with<Result: Sendable>(
        _ options: Options = Options(), _ body: @Sendable (HeldPollServer) async throws -> Result
    ) async throws -> Result {
        let fresh = try await make(options)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await fresh.push.running.server.run() }
            let result = try await body(fresh.listening(on: try await fresh.push.running.server.boundPort))
            group.cancelAll()
            return result
        }
    }

    /// Runs a test with a server that its service group stops gracefully.
    static func withServiceGroup(_ body: @Sendable (HeldPollServer, ServiceGroup) async throws -> Void) async throws {
        let fresh = try await make(Options())
        let group = ServiceGroup(configuration: .init(services: [fresh.push.running.server], logger: silent))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            try await body(fresh.listening(on: try await fresh.push.running.server.boundPort), group)
            try await tasks.waitForAll()
        }
    }

    private static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private static func make(_ options: Options) async throws -> HeldPollServer {
        let clock = ManualClock()
        let engine = Engine(
            store: options.store,
            environment: EngineEnvironment(
                random: SystemRandomSource(), masterKey: options.masterKey, passwordHasher: PasswordHasher(width: 1)))
        let context = RequestContext(now: clock.now, requestID: "start")
        if options.isFirst {
            var definition = options.organization.definition(origin: RunningServer.origin)
            definition.applications += options.applications
            _ = try await engine.apply(definition, context: context)
            _ = try await engine.maintainKeys(context) { $0 == .rs256 ? try TestKeys.rsa() : try SigningKey.generate($0) }
        }
        let (pushes, logouts, messages) = (RecordingSender(), RecordingLogoutSender(), RecordingMessages())
        // The server has no logout sender, so the clock's only short sleep is that of the task that watches polls.
        let server = AuthorizationServer(
            engine: engine, configuration: .init(port: 0, limits: options.limits), clock: clock, logger: silent, pushSender: pushes,
            messageSender: messages, holdsPolls: true)
        let running = RunningServer(instances: Instances(only: server), engine: engine, clock: clock, wire: WireClient(port: 0))
        return HeldPollServer(
            push: PushServer(running: running, pushes: pushes, logouts: logouts, messages: messages), clock: clock,
            polls: try #require(server.polls))
    }

    private func listening(on port: Int) -> HeldPollServer {
        HeldPollServer(
            push: PushServer(
                running: push.running.listening(on: port), pushes: push.pushes, logouts: push.logouts, messages: push.messages),
            clock: clock,
            polls: polls)
    }

    /// Waits until exactly `count` polls are held.
    func holds(_ count: Int) async {
        while polls.count != count { await Task.yield() }
    }

    /// Polls for the second factor of `direct-app`.
    func poll(_ pending: DirectClient.Pending, _ headers: [(String, String)] = []) async throws -> WireResponse {
        try await wire.post("\(DirectClient.custom)/token", Self.form(pending), headers: headers)
    }

    static func form(_ pending: DirectClient.Pending) -> String {
        Form.encode([
            "client_id": "direct-app", "grant_type": PushOrganization.secondFactorOOB, "mfa_token": pending.mfaToken,
            "oob_code": pending.oobCode,
        ])
    }
}

/// A grant whose client polls until the user decides.
enum PollKind: String, CaseIterable, Sendable {
    case firstFactor, secondFactor, backchannel, device

    /// The poll of a client, and the two decisions of the user.
    struct Waiting: Sendable {
        let poll: @Sendable () async throws -> WireResponse
        let approve: @Sendable () async throws -> Void
        let deny: @Sendable () async throws -> Void
    }

    func begin(_ server: HeldPollServer) async throws -> Waiting {
        let push = server.push
        switch self {
        case .firstFactor:
            return try await asking(push) {
                let client = DirectClient(push, id: "easy-app")
                let code = try await client.primaryCode()
                return { try await client.pollPrimary(code) }
            }
        case .secondFactor:
            return try await asking(push) {
                let client = DirectClient(push)
                let pending = try await client.begin()
                return { try await client.poll(pending) }
            }
        case .backchannel:
            return try await asking(push) {
                let desk = BackchannelClient(push)
                let request = try await desk.begin()
                return { try await desk.poll(request) }
            }
        case .device: return try await device(push)
        }
    }

    /// Starts a sign-in that sends a challenge to Jane's phone.
    private func asking(
        _ push: PushServer, _ begin: () async throws -> @Sendable () async throws -> WireResponse
    ) async throws -> Waiting {
        let phone = try await push.enroll(.init(transactionTypes: ["LOGIN", "CIBA"]))
        return Waiting(poll: try await begin(), approve: { try await phone.approve() }, deny: { try await phone.deny() })
    }

    private func device(_ push: PushServer) async throws -> Waiting {
        let device = WireDevice(push.wire)
        let (code, userCode) = try await device.begin()
        let decide: @Sendable (String) async throws -> Void = { decision in
            let browser = WireBrowser(push.wire)
            _ = try await browser.submit(
                try await browser.signIn(try await browser.enter(userCode)), "device", ["decision": decision])
        }
        return Waiting(
            poll: { try await device.poll(code) }, approve: { try await decide("allow") }, deny: { try await decide("deny") })
    }
}
