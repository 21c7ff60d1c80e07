internal import AsyncHTTPClient
internal import Foundation
internal import JOSE
package import Logging
internal import NIOCore
internal import NIOHTTP1

/// Sends pushes to Apple's push service, or to a gateway with the same protocol: HTTP/2 over TLS (Documentation/Protocol/Devices.md §9).
///
/// ```swift
/// let sender = try APNsSender(logger: logger)
/// let outcome = await sender.send(notification)
/// await sender.shutdown()
/// ```
/// All pushes of one signing key to one environment share a connection. The caller creates the payload and handles dead device tokens. Safe
/// from any task. Call ``shutdown()`` before releasing the sender.
package final class APNsSender: PushSender, Redacted {
    private let configuration: Configuration
    private let origins: [PushEnvironment: String]
    private let connections: APNsConnections
    private let tokens = ProviderTokens()
    private let timing: PushTiming
    private let log: PushLog

    /// Creates a sender, which connects at the first push.
    /// - Parameters:
    ///   - configuration: The service; by default Apple's.
    ///   - timing: The clock and the random source.
    ///   - logger: The logger. It never receives device tokens, payloads or provider tokens.
    /// - Throws: ``APNsConfigurationError`` for an invalid origin or invalid trust roots.
    package init(_ configuration: Configuration = Configuration(), timing: PushTiming = .system, logger: Logger)
        throws(APNsConfigurationError)
    {
        self.configuration = configuration
        self.timing = timing
        log = PushLog(logger: logger)
        origins = try configuration.checkedOrigins()
        connections = APNsConnections(configuration, tls: try configuration.checkedTLS())
    }

    package func send(_ notification: PushNotification) async -> PushOutcome {
        let outcome = await tryUntilDone(APNsRequest(notification: notification))
        log.ended(notification, outcome)
        return outcome
    }

    /// Closes the connections. Sends in progress and later sends return ``PushOutcome/gaveUp(reason:)``.
    package func shutdown() async {
        await connections.shutdown()
    }

    private func tryUntilDone(_ request: APNsRequest) async -> PushOutcome {
        let notification = request.notification
        if let refusal = request.refusal { return refusal }
        var hasRenewed = false
        let tries = RepeatedTries(retry: configuration.retry, timing: timing) { [log] in
            log.willRetry(notification, reason: $0, pause: $1)
        }
        return await tries.run(until: notification.expiresAt) {
            guard let token = currentToken(for: notification.credentials) else {
                return .ended(.gaveUp(reason: "the key can't sign the provider token"))
            }
            switch await attempt(request, token: token) {
            case .ended(let outcome): return .ended(outcome)
            case .retry(let reason, let after): return .retry(reason: reason, after: after)
            case .renewToken:
                guard !hasRenewed, renewToken(token, of: notification.credentials) else {
                    return .ended(.refused(reason: "ExpiredProviderToken", status: 403))
                }
                hasRenewed = true
                return .again
            }
        }
    }

    private func attempt(_ request: APNsRequest, token: String) async -> GatewayAnswer.Verdict {
        let notification = request.notification
        guard let client = connections.client(for: notification.credentials) else { return Self.wasShutDown }
        guard let origin = origins[notification.environment] else { return .ended(.refused(reason: "BadPath", status: 404)) }
        do {
            // No logger is passed, because the client would log the URL with the device token.
            let response = try await client.execute(
                request.request(origin: origin, providerToken: token), timeout: TimeAmount(configuration.attemptTimeout))
            let answer = GatewayAnswer(
                status: Int(response.status.code), body: try await body(of: response), id: response.headers.first(name: "apns-id"),
                retryAfter: response.headers.first(name: "retry-after"))
            if answer.status != 200 { log.refused(notification, answer) }
            return answer.verdict(for: notification)
        } catch {
            guard !connections.isShutDown else { return Self.wasShutDown }
            guard !Task.isCancelled else { return .ended(.gaveUp(reason: "cancelled")) }
            // TLS errors can be very long.
            return .retry(reason: String("\(error)".prefix(200)), after: nil)
        }
    }

    private func body(of response: HTTPClientResponse) async throws -> [UInt8] {
        do {
            return Array(try await response.body.collect(upTo: GatewayAnswer.maximumBodySize).readableBytesView)
        } catch is NIOTooManyBytesError {
            // Ignore the oversized body; the status is enough.
            return []
        } catch  where response.status == .ok {
            // The gateway accepted the push; a retry would deliver it twice.
            return []
        }
    }

    private static let wasShutDown = GatewayAnswer.Verdict.ended(.gaveUp(reason: "the sender was shut down"))

    private func currentToken(for credentials: APNsCredentials) -> String? {
        // Signing should not fail, because the key was validated. If it fails, the outcome reports it.
        try? tokens.token(for: credentials, now: timing.now())
    }

    /// Replaces a refused token, and returns whether another token is now available.
    private func renewToken(_ refused: String, of credentials: APNsCredentials) -> Bool {
        guard let renewed = try? tokens.renewal(of: refused, for: credentials, now: timing.now()) else { return false }
        if renewed { log.didRenewToken(credentials) }
        return true
    }
}
