internal import AsyncHTTPClient
internal import Foundation
internal import JOSE
internal import NIOConcurrencyHelpers
internal import NIOCore
internal import NIOHTTP1

/// The request for one attempt of a push (Documentation/Protocol/Devices.md §9.2).
struct APNsRequest {
    let notification: PushNotification

    /// The outcome of a push with invalid values; `nil` for a valid push. It is the outcome that the gateway's refusal would have.
    var refusal: PushOutcome? {
        // These checks prevent values that change the path or add a header.
        guard Self.isHexadecimal(notification.deviceToken) else { return .tokenDead(since: nil) }
        guard Self.isHeader(notification.topic) else { return .refused(reason: "BadTopic", status: 400) }
        guard Self.isHeader(notification.id) else { return .refused(reason: "BadMessageId", status: 400) }
        guard notification.collapseID.map(Self.isHeader) ?? true else { return .refused(reason: "BadCollapseId", status: 400) }
        return nil
    }

    func request(origin: String, providerToken: String) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: "\(origin)/3/device/\(notification.deviceToken.lowercased())")
        request.method = .POST
        request.headers = headers(providerToken: providerToken)
        request.body = .bytes(ByteBuffer(bytes: notification.payload))
        return request
    }

    private func headers(providerToken: String) -> HTTPHeaders {
        // The value is at least 1, because 0 means a single delivery attempt. It is rounded down, so that no push outlives its expiry.
        let expiration = min(max(notification.expiresAt.numericDate, 1), Int64(UInt32.max))
        var headers: HTTPHeaders = [
            "authorization": "bearer \(providerToken)",
            "apns-topic": notification.topic,
            "apns-push-type": notification.pushType.rawValue,
            "apns-priority": "\(notification.priority.rawValue)",
            "apns-expiration": "\(expiration)",
            "apns-id": notification.id,
        ]
        if let collapseID = notification.collapseID { headers.add(name: "apns-collapse-id", value: collapseID) }
        return headers
    }

    private static func isHexadecimal(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 512 && text.utf8.allSatisfy { Character(UnicodeScalar($0)).isHexDigit }
    }

    private static func isHeader(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 512 && text.utf8.allSatisfy { 0x21...0x7E ~= $0 }
    }
}

/// The gateway's response to one attempt (Documentation/Protocol/Devices.md §9.3).
struct GatewayAnswer: Sendable, Equatable {
    var status: Int
    /// A name such as `BadDeviceToken`, or `status` and the number if the body contains no name.
    var reason: String
    /// The time since which the device token is invalid, for status 410; otherwise `nil`.
    var timestamp: Date?
    /// The ID that the gateway gave the push; `nil` if unknown.
    var id: String?
    /// The minimum pause that the gateway demands; `nil` for none.
    var retryAfter: Duration?

    enum Verdict: Sendable, Equatable {
        case ended(PushOutcome)
        /// The provider token has expired: renew it and try once more.
        case renewToken
        /// A temporary failure: try again after a pause.
        case retry(reason: String, after: Duration?)
    }

    /// Parses a response. Only the reason and the timestamp of the body are used; an invalid body is ignored. A `retryAfter` that is not in
    /// seconds, such as a date, is ignored.
    init(status: Int, body: [UInt8], id: String?, retryAfter: String?) {
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

    /// Creates a policy. The pauses of the default policy take one to two minutes in total.
    package init(base: Duration = .milliseconds(500), cap: Duration = .seconds(30), attempts: Int = 10) {
        self.base = base
        self.cap = cap
        self.attempts = max(attempts, 1)
    }

    /// Returns the pause after a number of failed attempts; `nil` after the last one. `jitter` is a number from 0 up to 1.
    func pause(afterTries tries: Int, retryAfter: Duration?, jitter: Double) -> Duration? {
        guard tries < attempts else { return nil }
        // The limit of 30 prevents an overflow.
        let whole = min(base * (1 << min(tries - 1, 30)), cap)
        let pause = whole / 2 + whole / 2 * min(max(jitter, 0), 1)
        return max(pause, retryAfter ?? .zero)
    }
}

/// The current provider tokens, one for each set of credentials (Documentation/Protocol/Devices.md §9.2). The service refuses tokens that
/// are older than an hour. It also refuses providers that create tokens more often than every 20 minutes. Safe from any thread or task.
final class ProviderTokens: Sendable {
    private struct Entry {
        let token: String
        let issuedAt: Date
        /// The last time at which a token was replaced because the service called it expired; `nil` for never.
        let forcedAt: Date?
    }

    /// The age at which a token is replaced, in seconds. The service refuses tokens after one hour.
    static let lifetime: TimeInterval = 50 * 60
    /// The minimum time between two renewals because of a refusal, in seconds. If the service refuses the new token too, the clocks differ,
    /// and another token would not help.
    static let shortestRenewal: TimeInterval = 20 * 60
    /// The maximum time by which the issue time of a token may be in the future, in seconds. After the clock was set back, the service
    /// would refuse such a token.
    static let toleratedFuture: TimeInterval = 60

    private let entries = NIOLockedValueBox<[APNsCredentials: Entry]>([:])

    /// Returns the current token; throws `JOSEError` if the key cannot sign.
    func token(for credentials: APNsCredentials, now: Date) throws -> String {
        // Signing takes less than a millisecond. Under the lock, concurrent pushes with an old token sign only once.
        try entries.withLockedValue { entries in
            if let entry = entries[credentials], -Self.toleratedFuture..<Self.lifetime ~= now.timeIntervalSince(entry.issuedAt) {
                return entry.token
            }
            return try Self.renew(&entries, for: credentials, now: now, forcedAt: entries[credentials]?.forcedAt)
        }
    }

    /// Replaces a token that the service called expired. Returns `true` if this call created the new token, and `false` if another push
    /// created it. Returns `nil` if the last such renewal was less than ``shortestRenewal`` seconds ago. Throws `JOSEError` if the key
    /// cannot sign.
    func renewal(of refused: String, for credentials: APNsCredentials, now: Date) throws -> Bool? {
        try entries.withLockedValue { entries in
            if let entry = entries[credentials] {
                if entry.token != refused { return false }
                if let forcedAt = entry.forcedAt, abs(now.timeIntervalSince(forcedAt)) < Self.shortestRenewal { return nil }
            }
            _ = try Self.renew(&entries, for: credentials, now: now, forcedAt: now)
            return true
        }
    }

    private static func renew(
        _ entries: inout [APNsCredentials: Entry], for credentials: APNsCredentials, now: Date, forcedAt: Date?
    ) throws -> String {
        // Remove tokens of credentials that are no longer used.
        entries = entries.filter { abs(now.timeIntervalSince($0.value.issuedAt)) < 2 * lifetime }
        let claims: JSONValue = ["iss": .string(credentials.teamID), "iat": .integer(now.numericDate)]
        let token = try credentials.signingKey.sign(claims)
        entries[credentials] = Entry(token: token, issuedAt: now, forcedAt: forcedAt)
        return token
    }
}
