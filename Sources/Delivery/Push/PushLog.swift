internal import Crypto
internal import Logging

/// Logs pushes: IDs, app and outcome. Device tokens are logged only as fingerprints.
struct PushLog: Sendable {
    let logger: Logger

    /// Logs the final outcome of a push.
    func ended(_ notification: PushNotification, _ outcome: PushOutcome) {
        let level: Logger.Level =
            switch outcome {
            case .delivered: .debug
            case .tokenDead: .notice
            case .refused: .error
            case .gaveUp, .dropped: .warning
            }
        logger.log(level: level, "push ended", metadata: metadata(notification).merging(details(outcome)) { $1 })
    }

    /// Logs a refusal by the gateway, temporary or permanent.
    func refused(_ notification: PushNotification, _ answer: GatewayAnswer) {
        logger.info(
            "push refused",
            metadata: metadata(notification).merging(["reason": .string(answer.reason), "status": .stringConvertible(answer.status)]) { $1 }
        )
    }

    func willRetry(_ notification: PushNotification, reason: String, pause: Duration) {
        logger.info(
            "push is tried again",
            metadata: metadata(notification).merging(["reason": .string(reason), "pause": .string("\(pause)")]) { $1 })
    }

    /// Logs that a provider token was replaced because the gateway called it expired.
    func didRenewToken(_ credentials: APNsCredentials) {
        logger.notice(
            "the push service called the provider token expired; if that goes on, this machine's clock is wrong",
            metadata: ["team": .string(credentials.teamID), "key": .string(credentials.keyID)])
    }

    private func metadata(_ notification: PushNotification) -> Logger.Metadata {
        [
            "push": .string(notification.id), "topic": .string(notification.topic),
            "environment": .string(notification.environment.rawValue), "device": .string(Self.fingerprint(notification.deviceToken)),
        ]
    }

    private func details(_ outcome: PushOutcome) -> Logger.Metadata {
        switch outcome {
        case .delivered: ["outcome": "delivered"]
        case .tokenDead: ["outcome": "token dead"]
        case .refused(let reason, let status):
            ["outcome": "refused", "reason": .string(reason), "status": .stringConvertible(status)]
        case .gaveUp(let reason): ["outcome": "gave up", "reason": .string(reason)]
        case .dropped: ["outcome": "dropped"]
        }
    }

    /// Returns eight digits of a hash: equal for the same device, and not reversible.
    static func fingerprint(_ deviceToken: String) -> String {
        let digits = Array("0123456789abcdef")
        return String(
            SHA256.hash(data: Array(deviceToken.lowercased().utf8)).prefix(4).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }
}
