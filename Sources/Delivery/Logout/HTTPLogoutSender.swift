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
///
/// It calls the registered URI and follows no redirect, so that no answer leads it elsewhere; of an answer it reads the status only.
/// `Sendable`; safe from any task. Call ``shutdown()`` before letting it go.
package final class HTTPLogoutSender: LogoutSender {
    /// Seconds that one try may take.
    private static let attemptTimeout: Int64 = 10

    private let client: HTTPClient
    private let retry: RetryPolicy
    private let timing: PushTiming
    private let logger: Logger

    /// Makes a sender; it connects when there is something to send.
    ///
    /// - Parameters:
    ///   - retry: How often it tries; by default five times in some fifteen seconds.
    ///   - timing: Time and chance; by default the system's.
    ///   - logger: Where it logs; never a token.
    package init(
        retry: RetryPolicy = RetryPolicy(base: .seconds(1), cap: .seconds(10), attempts: 5), timing: PushTiming = .system, logger: Logger
    ) {
        self.retry = retry
        self.timing = timing
        self.logger = logger
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: .init(connect: .seconds(5), read: .seconds(Self.attemptTimeout)),
            connectionPool: .init(idleTimeout: .seconds(30)))
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.tracing.tracer = nil
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// Sends one notification: tries again while nobody answers or the server has a problem of its own, until the token is over.
    ///
    /// - Parameter notification: What to send, and where.
    /// - Returns: How it ended.
    package func send(_ notification: LogoutNotification) async -> LogoutOutcome {
        let outcome = await tryUntilDone(notification)
        logger.log(
            level: outcome == .delivered ? .debug : .warning, "back-channel logout ended",
            metadata: [
                "logout": .string(notification.id), "client": .string(notification.clientID), "outcome": .string("\(outcome)"),
            ])
        return outcome
    }

    /// Ends the connections. What is being sent gives up.
    package func shutdown() async {
        // It fails only where it was shut down before.
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
                return .gaveUp(reason: "cancelled, after \(reason)")
            }
        }
        return .gaveUp(reason: "cancelled")
    }

    private struct Failure: Error {
        var reason: String
    }

    private func attempt(_ notification: LogoutNotification) async -> Result<Int, Failure> {
        var request = HTTPClientRequest(url: notification.uri)
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/x-www-form-urlencoded")
        // A token is of characters that no form escapes.
        request.body = .bytes(ByteBuffer(string: "logout_token=\(notification.token)"))
        do {
            let response = try await client.execute(request, timeout: .seconds(Self.attemptTimeout))
            return .success(Int(response.status.code))
        } catch {
            // What TLS has to say may fill a page.
            return .failure(Failure(reason: String("\(error)".prefix(200))))
        }
    }
}
