internal import Foundation
internal import JOSE

/// What the gateway said to one try (device-authenticator reference 9.3).
struct GatewayAnswer: Sendable, Equatable {
    var status: Int
    /// A name such as `BadDeviceToken`; the status in words if the body names none.
    var reason: String
    /// Since when the device token is no longer good; with status 410.
    var timestamp: Date?
    /// The push's id at the gateway.
    var id: String?
    /// How long the gateway wants to be left alone.
    var retryAfter: Duration?

    /// What follows from it.
    enum Verdict: Sendable, Equatable {
        case ended(PushOutcome)
        /// The provider token is too old: take a new one and try once more.
        case renewToken
        /// Try again after a pause.
        case retry(reason: String, after: Duration?)
    }

    /// Reads an answer; a body that is not as expected costs the reason only.
    ///
    /// - Parameters:
    ///   - status: The HTTP status.
    ///   - body: The body, of which nothing is believed but its reason and timestamp.
    ///   - id: The header `apns-id`.
    ///   - retryAfter: The header `Retry-After`; understood in seconds, not as a date.
    init(status: Int, body: [UInt8], id: String?, retryAfter: String?) {
        // No answer of the gateway has more than two members, so an unreadable body is one without reason.
        let json = try? JSONValue(parsing: body, limits: .init(maximumSize: Self.maximumBodySize, maximumDepth: 4))
        self.status = status
        reason = json?["reason"]?.stringValue.flatMap(Self.name) ?? "status \(status)"
        timestamp = json?["timestamp"]?.doubleValue.flatMap { milliseconds in
            Date(numericDate: milliseconds / 1000)
        }
        self.id = id
        self.retryAfter = retryAfter.flatMap { UInt32($0) }.map { .seconds($0) }
    }

    /// The longest body that is read, in bytes.
    static let maximumBodySize = 4096

    /// Only a plain name goes to logs and outcomes, whatever the peer sends.
    private static func name(_ text: String) -> String? {
        1...64 ~= text.utf8.count && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) } ? text : nil
    }

    /// What follows for a push.
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

/// How often a push is tried, and how long the pauses are.
///
/// The n-th pause is between half and the whole of `base` times 2ⁿ⁻¹, `cap` at most, and never shorter than what the gateway asked for
/// (`Retry-After`).
package struct RetryPolicy: Sendable, Hashable {
    /// The longest first pause.
    package var base: Duration
    /// The longest pause.
    package var cap: Duration
    /// The most tries, the first one included; at least 1.
    package var attempts: Int

    /// Sets the policy.
    ///
    /// - Parameters:
    ///   - base: The longest first pause; by default half a second.
    ///   - cap: The longest pause; by default 30 seconds.
    ///   - attempts: The most tries, the first one included, at least 1; by default 10, which take some two minutes.
    package init(base: Duration = .milliseconds(500), cap: Duration = .seconds(30), attempts: Int = 10) {
        self.base = base
        self.cap = cap
        self.attempts = max(attempts, 1)
    }

    /// The pause after a failed try.
    ///
    /// - Parameters:
    ///   - tries: How many tries there were, from 1.
    ///   - retryAfter: What the gateway asked for.
    ///   - jitter: A number from 0 up to 1.
    /// - Returns: The pause; nil if that was the last try.
    func pause(afterTries tries: Int, retryAfter: Duration?, jitter: Double) -> Duration? {
        guard tries < attempts else { return nil }
        // Beyond 2³⁰ every cap is reached.
        let whole = min(base * (1 << min(tries - 1, 30)), cap)
        let pause = whole / 2 + whole / 2 * min(max(jitter, 0), 1)
        return max(pause, retryAfter ?? .zero)
    }
}
