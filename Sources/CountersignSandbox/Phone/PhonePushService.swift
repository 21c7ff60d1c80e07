internal import Crypto
internal import Delivery
internal import Foundation
internal import IdentityEngine
internal import JOSE
internal import Logging

/// How pushes get from the sandbox's server to its phones: the way of production, with a gateway on this machine instead of Apple's.
///
/// It owns the gateway and the connections to it until ``stop()``.
final class PhonePushService: Sendable {
    /// Until somebody tells another one, the bundle id of the phones' app.
    private static let topic = "dev.countersign.phone"

    let gateway: PushGateway
    let sender: APNsSender

    private init(gateway: PushGateway, sender: APNsSender) {
        self.gateway = gateway
        self.sender = sender
    }

    /// Makes credentials that are good for the sandbox's own gateway.
    static func makeCredentials() -> PushAuthenticator.Credentials {
        PushAuthenticator.Credentials(
            teamID: "SANDBOX001", keyID: "PHONEKEY01", privateKey: P256.Signing.PrivateKey().pemRepresentation, topic: topic)
    }

    /// Starts the gateway.
    ///
    /// - Parameters:
    ///   - authenticators: Whose pushes it takes.
    ///   - clock: The clock of both sides.
    ///   - certificateDate: The real time, by which the gateway's certificate is judged.
    ///   - logger: Where the sender logs.
    /// - Returns: The service, ready.
    /// - Throws: If the gateway can't listen, or an authenticator's key can't be read.
    static func start(
        for authenticators: [PushAuthenticator], clock: SandboxClock, certificateDate: Date, logger: Logger
    ) async throws -> PhonePushService {
        let gateway = try await PushGateway.start(clock: clock, certificateDate: certificateDate)
        do {
            for (keyID, credentials) in Dictionary(grouping: authenticators.compactMap(\.credentials), by: \.keyID) {
                guard let first = credentials.first,
                    let publicKey = try SigningKey(pem: first.privateKey ?? "", algorithm: .es256).publicKey
                else { continue }
                try gateway.trust(
                    teamID: first.teamID, keyID: keyID, publicKey: publicKey,
                    topics: Set(credentials.flatMap { [$0.topic, $0.developmentTopic ?? $0.topic] }))
            }
            let sender = try APNsSender(
                .init(
                    productionOrigin: gateway.productionOrigin, developmentOrigin: gateway.developmentOrigin,
                    additionalTrustRootsPEM: gateway.certificatePEM),
                timing: PushTiming(now: { clock.now }, sleep: { try await clock.sleep(for: $0) }), logger: logger)
            return PhonePushService(gateway: gateway, sender: sender)
        } catch {
            await gateway.stop()
            throw error
        }
    }

    /// Ends the connections, and then the gateway. Later calls change nothing.
    func stop() async {
        await sender.shutdown()
        await gateway.stop()
    }
}
