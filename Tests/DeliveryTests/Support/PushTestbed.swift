import CountersignSandbox
import Delivery
import Foundation
import JOSE
import Logging
import NIOConcurrencyHelpers
import Testing

/// A gateway with one registered device, a sender that trusts it, and a fixed clock for both.
struct PushTestbed: Sendable {
    static let topic = "com.example.app"
    static let teamID = "TEAM123456"
    static let keyID = "KEY1234567"
    static let deviceToken = "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0"
    static let start = Date(timeIntervalSince1970: 1_800_000_000)

    let clock: SandboxClock
    let gateway: PushGateway
    let sender: APNsSender
    let credentials: APNsCredentials
    let signingKey: SigningKey
    /// The pushes that the device received.
    let deliveries = NIOLockedValueBox<[ReceivedPush]>([])
    /// The pauses of the sender. Each pause only advanced the clock.
    let pauses: NIOLockedValueBox<[Duration]>
    let logs: RecordedLogs

    /// Runs a test with a new testbed, and shuts it down afterwards.
    ///
    /// - Parameters:
    ///   - configure: Changes the sender's configuration.
    ///   - jitter: The random factor of the sender's pauses.
    ///   - body: The test.
    static func run(
        configure: (inout APNsSender.Configuration) -> Void = { _ in }, jitter: Double = 1,
        _ body: @Sendable (PushTestbed) async throws -> Void
    ) async throws {
        let clock = SandboxClock(.standing, startingAt: start)
        let gateway = try await PushGateway.start(clock: clock, certificateDate: Date())
        let pauses = NIOLockedValueBox<[Duration]>([])
        let logs = RecordedLogs()
        var configuration = APNsSender.Configuration(
            productionOrigin: gateway.productionOrigin, developmentOrigin: gateway.developmentOrigin,
            additionalTrustRootsPEM: gateway.certificatePEM, attemptTimeout: .seconds(60), connectTimeout: .seconds(60))
        configure(&configuration)
        let timing = PushTiming(
            now: { clock.now },
            sleep: { pause in
                try Task.checkCancellation()
                pauses.withLockedValue { $0.append(pause) }
                clock.advance(by: pause / .seconds(1))
            }, jitter: { jitter })
        let sender = try APNsSender(configuration, timing: timing, logger: logs.logger)
        let key = try SigningKey.generate(.es256, keyID: keyID)
        let bed = PushTestbed(
            clock: clock, gateway: gateway, sender: sender,
            credentials: try APNsCredentials(teamID: teamID, keyID: keyID, privateKeyPEM: try #require(key.privatePEM)), signingKey: key,
            pauses: pauses, logs: logs)
        try gateway.trust(teamID: teamID, keyID: keyID, publicKey: try #require(key.publicKey), topics: [topic])
        bed.register()
        let result: Result<Void, any Error>
        do {
            try await body(bed)
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await sender.shutdown()
        await gateway.stop()
        try result.get()
    }

    /// Registers a device that records its pushes in ``deliveries``.
    func register(_ deviceToken: String = deviceToken, topic: String = topic, environment: PushEnvironment = .development) {
        gateway.register(deviceToken: deviceToken, topic: topic, environment: environment) { [deliveries] push in
            deliveries.withLockedValue { $0.append(push) }
        }
    }

    /// Returns a push to the registered device.
    func push(
        to deviceToken: String = deviceToken, topic: String = topic, environment: PushEnvironment = .development,
        payload: String = #"{"aps":{"alert":"hello"}}"#, expiresIn seconds: TimeInterval = 300, collapseID: String? = nil,
        credentials: APNsCredentials? = nil
    ) -> PushNotification {
        PushNotification(
            deviceToken: deviceToken, topic: topic, environment: environment, payload: Array(payload.utf8),
            expiresAt: clock.now.addingTimeInterval(seconds), id: UUID().uuidString.lowercased(), collapseID: collapseID,
            credentials: credentials ?? self.credentials)
    }

    /// The pauses so far.
    var pausesTaken: [Duration] { pauses.withLockedValue { $0 } }
}

extension PushTestbed {
    /// The payloads that the device received.
    var delivered: [String] { deliveries.withLockedValue { $0.map { String(decoding: $0.payload, as: UTF8.self) } } }

    /// The provider tokens in the order of the responses.
    var tokens: [String] {
        gateway.received.compactMap { $0.headers["authorization"].map { String($0.dropFirst("bearer ".count)) } }
    }

    /// Sends this number of pushes at the same time.
    @discardableResult
    func sendAtOnce(_ count: Int) async -> [PushOutcome] {
        await withTaskGroup(of: PushOutcome.self) { group in
            for _ in 0..<count { group.addTask { await sender.send(push()) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    /// Returns credentials with another key, which the gateway accepts from now on.
    func trust(teamID: String, keyID: String) throws -> APNsCredentials {
        let key = try SigningKey.generate(.es256, keyID: keyID)
        try gateway.trust(teamID: teamID, keyID: keyID, publicKey: try #require(key.publicKey), topics: [Self.topic])
        return try APNsCredentials(teamID: teamID, keyID: keyID, privateKeyPEM: try #require(key.privatePEM))
    }

    /// Runs an action with a second sender to the same gateway, and shuts that sender down.
    func withSender<Value: Sendable>(timing: PushTiming, _ body: (APNsSender) async -> Value) async throws -> Value {
        let sender = try APNsSender(
            .init(
                productionOrigin: gateway.productionOrigin, developmentOrigin: gateway.developmentOrigin,
                additionalTrustRootsPEM: gateway.certificatePEM, attemptTimeout: .seconds(60), connectTimeout: .seconds(60)),
            timing: timing, logger: logs.logger)
        let value = await body(sender)
        await sender.shutdown()
        return value
    }
}

extension PushOutcome {
    var isDelivered: Bool { if case .delivered = self { true } else { false } }
}
