internal import AsyncHTTPClient
internal import Foundation
package import Logging
internal import NIOCore
internal import NIOHTTP1

/// Posts logout tokens to applications (OpenID Connect Back-Channel Logout 1.0 section 2.5).
///
/// ```swift
/// let sender = HTTPLogoutSender(logger: logger)
/// let outcome = await sender.send(notification)
/// await sender.shutdown()
/// ```
/// It follows no redirects, so that a response cannot send the token to another address. It reads only the status of a response. Safe from
/// any task. Call ``shutdown()`` before releasing the sender.
package final class HTTPLogoutSender: LogoutSender {
    /// The timeout of one attempt, in seconds.
    private static let attemptTimeout: Int64 = 10

    private let client: HTTPClient
    private let retry: RetryPolicy
    private let timing: PushTiming
    private let logger: Logger

    /// Creates a sender, which connects at the first notification.
    /// - Parameters:
    ///   - retry: The retries; by default 5 attempts with pauses of 7.5 to 15 seconds in total.
    ///   - timing: The clock and the random source.
    ///   - logger: The logger. It never receives a token.
    package init(
        retry: RetryPolicy = RetryPolicy(base: .seconds(1), cap: .seconds(10), attempts: 5), timing: PushTiming = .system, logger: Logger
    ) {
        (self.retry, self.timing, self.logger) = (retry, timing, logger)
        client = .discreet(connect: .seconds(5), read: .seconds(Self.attemptTimeout))
    }

    /// Sends one notification. Retries after connection errors, status 429 and server errors, until the token expires or the attempts run
    /// out.
    package func send(_ notification: LogoutNotification) async -> LogoutOutcome {
        let outcome = await tryUntilDone(notification)
        logger.log(
            level: outcome == .delivered ? .debug : .warning, "back-channel logout ended",
            metadata: [
                "logout": .string(notification.id), "client": .string(notification.clientID), "outcome": .string("\(outcome)"),
            ])
        return outcome
    }

    /// Closes the connections. Sends in progress fail.
    package func shutdown() async {
        // `shutdown()` fails only after an earlier shutdown.
        try? await client.shutdown()
    }

    private func tryUntilDone(_ notification: LogoutNotification) async -> LogoutOutcome {
        var tries = 0
        while !Task.isCancelled {
            guard timing.now() < notification.expiresAt else { return .gaveUp(reason: "expired") }
            tries += 1
            let reason: String
            switch await attempt(notification) {
            case .success(let status) where status == 200 || status == 204: return .delivered
            case .success(let status) where status < 500 && status != 429: return .refused(status: status)
            case .success(let status): reason = "status \(status)"
            case .failure(let failure): reason = failure.reason
            }
            guard let pause = retry.pause(afterTries: tries, retryAfter: nil, jitter: timing.jitter()) else {
                return .gaveUp(reason: "too many tries, after \(reason)")
            }
            do {
                try await timing.sleep(pause)
            } catch {
                return .interrupted
            }
        }
        return .interrupted
    }

    private struct Failure: Error {
        var reason: String
    }

    private func attempt(_ notification: LogoutNotification) async -> Result<Int, Failure> {
        var request = HTTPClientRequest(url: notification.uri)
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/x-www-form-urlencoded")
        // A JWT contains no characters that need form encoding.
        request.body = .bytes(ByteBuffer(string: "logout_token=\(notification.token)"))
        do {
            let response = try await client.execute(request, timeout: .seconds(Self.attemptTimeout))
            return .success(Int(response.status.code))
        } catch {
            // TLS errors can be very long.
            return .failure(Failure(reason: String("\(error)".prefix(200))))
        }
    }
}
