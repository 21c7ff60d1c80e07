internal import Crypto
internal import JOSE
internal import Logging

/// Logs the IDs, topics and outcomes of pushes. Device tokens are logged only as fingerprints.
struct PushLog: Sendable {
    let logger: Logger

    func ended(_ notification: PushNotification, _ outcome: PushOutcome) {
        let level: Logger.Level =
            switch outcome {
            case .delivered: .debug
            case .tokenDead: .notice
            case .refused: .error
            case .gaveUp, .dropped: .warning
            }
        logger.log(level: level, "push ended", metadata: metadata(notification, details(outcome)))
    }

    /// Logs a refusal by the gateway, temporary or permanent.
    func refused(_ notification: PushNotification, _ answer: GatewayAnswer) {
        logger.info(
            "push refused",
            metadata: metadata(notification, ["reason": .string(answer.reason), "status": .stringConvertible(answer.status)]))
    }

    func willRetry(_ notification: PushNotification, reason: String, pause: Duration) {
        logger.info(
            "push is tried again",
            metadata: metadata(notification, ["reason": .string(reason), "pause": .string("\(pause)")]))
    }

    /// Logs that a provider token was replaced because the gateway called it expired.
    func didRenewToken(_ credentials: APNsCredentials) {
        logger.notice(
            "the push service called the provider token expired; if this repeats, check this machine's clock",
            metadata: ["team": .string(credentials.teamID), "key": .string(credentials.keyID)])
    }

    private func metadata(_ notification: PushNotification, _ details: Logger.Metadata) -> Logger.Metadata {
        let common: Logger.Metadata = [
            "push": .string(notification.id), "topic": .string(notification.topic),
            "environment": .string(notification.environment.rawValue), "device": .string(Self.fingerprint(notification.deviceToken)),
        ]
        return common.merging(details) { $1 }
    }

    private func details(_ outcome: PushOutcome) -> Logger.Metadata {
        var details: Logger.Metadata = ["outcome": .string(outcome.word)]
        switch outcome {
        case .refused(let reason, let status):
            details["reason"] = .string(reason)
            details["status"] = .stringConvertible(status)
        case .gaveUp(let reason): details["reason"] = .string(reason)
        case .delivered, .tokenDead, .dropped: break
        }
        return details
    }

    /// Returns eight digits of a hash: equal for the same device, and not reversible.
    static func fingerprint(_ deviceToken: String) -> String {
        SHA256.hash(data: Array(deviceToken.lowercased().utf8)).prefix(4).hexadecimal
    }
}
