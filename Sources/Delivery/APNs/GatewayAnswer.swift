internal import Foundation
internal import JOSE

/// The gateway's response to one attempt (device-authenticator reference 9.3).
struct GatewayAnswer: Sendable, Equatable {
    var status: Int
    /// A name such as `BadDeviceToken`; `status` and the number if the body contains none.
    var reason: String
    /// The time since which the device token is invalid; with status 410.
    var timestamp: Date?
    /// The push's ID at the gateway.
    var id: String?
    /// The minimum pause that the gateway demands.
    var retryAfter: Duration?

    /// The next step after a response.
    enum Verdict: Sendable, Equatable {
        case ended(PushOutcome)
        /// The provider token has expired: renew it and try once more.
        case renewToken
        /// A temporary failure: try again after a pause.
        case retry(reason: String, after: Duration?)
    }

    /// Parses a response. From the body, it takes only a reason and a timestamp; an invalid body is ignored. `retryAfter` must be in
    /// seconds, not a date.
    init(status: Int, body: [UInt8], id: String?, retryAfter: String?) {
        // An unreadable body is treated as a body without a reason.
        let json = try? JSONValue(parsing: body, limits: .init(maximumSize: Self.maximumBodySize, maximumDepth: 4))
        self.status = status
        reason = json?["reason"]?.stringValue.flatMap(Self.name) ?? "status \(status)"
        timestamp = json?["timestamp"]?.doubleValue.flatMap { milliseconds in
            Date(numericDate: milliseconds / 1000)
        }
        self.id = id
        self.retryAfter = retryAfter.flatMap { UInt32($0) }.map { .seconds($0) }
    }

    /// The maximum length of a body, in bytes.
    static let maximumBodySize = 4096

    /// Returns the text if it is a plain name, so that no other text of the gateway gets into logs and outcomes.
    private static func name(_ text: String) -> String? {
        1...64 ~= text.utf8.count && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) } ? text : nil
    }

    func verdict(for notification: PushNotification) -> Verdict {
        switch (status, reason) {
        case (200, _): .ended(.delivered(id: id ?? notification.id))
        case (400, "BadDeviceToken"), (400, "DeviceTokenNotForTopic"): .ended(.tokenDead(since: nil))
        case (410, _): .ended(.tokenDead(since: timestamp))
        case (403, "ExpiredProviderToken"): .renewToken
        case (429, _), (500...599, _): .retry(reason: reason, after: retryAfter)
        default: .ended(.refused(reason: reason, status: status))
        }
    }
}

/// The number of attempts and the pauses between them. The n-th pause is between half and the whole of `base` times 2ⁿ⁻¹. It is at most
/// `cap`, but never shorter than the gateway's `Retry-After`.
package struct RetryPolicy: Sendable, Hashable {
    /// The longest first pause.
    package var base: Duration
    /// The longest pause.
    package var cap: Duration
    /// The maximum number of attempts, including the first; at least 1.
    package var attempts: Int

    /// Creates a policy. The default of 10 attempts takes about two minutes.
    package init(base: Duration = .milliseconds(500), cap: Duration = .seconds(30), attempts: Int = 10) {
        self.base = base
        self.cap = cap
        self.attempts = max(attempts, 1)
    }

    /// Returns the pause after a number of failed attempts; `nil` after the last one. `jitter` is a number from 0 up to 1.
    func pause(afterTries tries: Int, retryAfter: Duration?, jitter: Double) -> Duration? {
        guard tries < attempts else { return nil }
        // Prevents an overflow; no cap is that long.
        let whole = min(base * (1 << min(tries - 1, 30)), cap)
        let pause = whole / 2 + whole / 2 * min(max(jitter, 0), 1)
        return max(pause, retryAfter ?? .zero)
    }
}
