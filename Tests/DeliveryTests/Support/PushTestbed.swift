import CountersignSandbox
import Delivery
import Foundation
import JOSE
import Logging
import NIOConcurrencyHelpers
import Testing

/// A gateway with one registered device, a sender that trusts it, and a clock that both follow and that stands.
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
    /// What the device was handed.
    let deliveries = NIOLockedValueBox<[ReceivedPush]>([])
    /// The pauses that the sender took; each moved the clock on.
    let pauses: NIOLockedValueBox<[Duration]>
    let logs: RecordedLogs

    /// Runs a test on a new one, and takes it down.
    ///
    /// - Parameters:
    ///   - configure: Changes the sender's configuration.
    ///   - jitter: The sender's chance.
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
            additionalTrustRootsPEM: gateway.certificatePEM)
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

    /// Registers a device whose pushes are kept in ``deliveries``.
    func register(_ deviceToken: String = deviceToken, topic: String = topic, environment: PushEnvironment = .development) {
        gateway.register(deviceToken: deviceToken, topic: topic, environment: environment) { [deliveries] push in
            deliveries.withLockedValue { $0.append(push) }
        }
    }

    /// A push to the registered device.
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
