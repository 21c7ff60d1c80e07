internal import Crypto
internal import Delivery
internal import DeviceAuthenticator
internal import Foundation
internal import IdentityCore
internal import JOSE
internal import Logging
internal import NIOConcurrencyHelpers

/// The push delivery from the sandbox's server to its phones. It works as in production, but with a gateway on this machine instead of
/// Apple's. The service owns the gateway and the connections to it until ``stop()``.
final class PhonePushService: Sendable {
    /// The default bundle ID of the phones' app.
    private static let topic = "dev.countersign.phone"

    let gateway: PushGateway
    let sender: APNsSender

    private init(gateway: PushGateway, sender: APNsSender) {
        self.gateway = gateway
        self.sender = sender
    }

    /// Creates credentials that are valid at the sandbox's own gateway.
    static func makeCredentials() -> PushAuthenticator.Credentials {
        PushAuthenticator.Credentials(
            teamID: "SANDBOX001", keyID: "PHONEKEY01", privateKey: P256.Signing.PrivateKey().pemRepresentation, topic: topic)
    }

    /// Starts the gateway for pushes of these authenticators. `clock` is the clock of both sides; `certificateDate` is the real time, for
    /// the gateway's certificate. Throws if the gateway cannot listen or an authenticator's key is invalid.
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

    /// Closes the connections, then the gateway. Idempotent.
    func stop() async {
        await sender.shutdown()
        await gateway.stop()
    }
}

/// A logger that forwards the log of a phone's SDK to the sandbox's log.
struct PhoneLogger: DeviceAuthenticatorLogger {
    let logger: Logger
    let login: String

    func debug(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String) {
        write(.debug, eventName, message)
    }
    func info(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String) {
        write(.info, eventName, message)
    }
    func warning(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String) {
        write(.warning, eventName, message)
    }
    func uiEvent(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String) {
        write(.info, eventName, message)
    }
    func error(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String) {
        write(.error, eventName, message)
    }

    func write(_ level: Logger.Level, _ event: String, _ message: String?) {
        logger.log(level: level, "phone", metadata: ["phone": "\(login)", "event": "\(event)", "detail": "\(message ?? "")"])
    }
}

extension VirtualPhone {
    /// The result when a phone asks the user to unlock it.
    public enum Verification: String, Sendable, CaseIterable {
        /// The user types the correct PIN.
        case succeeds
        /// The verification fails.
        case fails
        /// The user cancels.
        case cancels
    }
}

/// The simulated user, whom the phone asks to unlock it.
final class PhoneOwner: UserVerifier {
    /// The PIN of every virtual phone. Only the simulated user enters it.
    private static let pin = Data("2580".utf8)

    private let behaviour = NIOLockedValueBox(VirtualPhone.Verification.succeeds)

    var verification: VirtualPhone.Verification {
        get { behaviour.withLockedValue { $0 } }
        set { behaviour.withLockedValue { $0 = newValue } }
    }

    func verify(_ request: UserVerificationRequest) async throws(UserVerificationFailure) -> UserVerification {
        switch verification {
        case .succeeds: UserVerification(method: .pin, secret: Self.pin)
        case .fails: throw .failed
        case .cancels: throw .cancelled
        }
    }
}
