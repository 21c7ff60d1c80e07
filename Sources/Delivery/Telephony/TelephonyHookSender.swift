internal import AsyncHTTPClient
internal import Foundation
internal import JOSE
package import Logging
internal import NIOCore
internal import NIOHTTP1
package import NIOSSL

/// Sends texts and calls through a telephony inline hook: an HTTPS endpoint of the telephony provider.
///
/// ```swift
/// let sender = try TelephonyHookSender(.init(url: "https://hooks.example.com/telephony", signingKey: key), logger: logger)
/// let outcome = await sender.send(.telephone(message))
/// await sender.shutdown()
/// ```
/// Retries have the same `eventId`, so that the receiver can recognize duplicates. It follows no redirects, so that a response cannot send
/// a code to another address. Safe from any task. Call ``shutdown()`` before releasing it.
package final class TelephonyHookSender: MessageSender, Redacted {
    /// The hook's address and the server's credentials for it.
    package struct Configuration: Sendable, Redacted {
        /// `https://…`; `http://` only on this machine.
        package var url: String
        /// The name of the header that carries ``secret``.
        package var headerName: String
        /// The value of that header; `nil` sends none.
        package var secret: String?
        /// The key that signs request bodies, in the header `X-Countersign-Signature`; `nil` for no signature.
        package var signingKey: String?
        /// The `source` of events: the organization's origin.
        package var source: String
        /// The timeout of one attempt.
        package var timeout: Duration
        package var retry: RetryPolicy

        /// Creates a configuration. By default, the timeout is 3 seconds, as published hooks expect, and there are 3 attempts.
        package init(
            url: String, headerName: String = "Authorization", secret: String? = nil, signingKey: String? = nil, source: String = "",
            timeout: Duration = .seconds(3), retry: RetryPolicy = RetryPolicy(base: .seconds(1), cap: .seconds(5), attempts: 3)
        ) {
            (self.url, self.headerName, self.secret, self.signingKey, self.source) = (url, headerName, secret, signingKey, source)
            (self.timeout, self.retry) = (timeout, retry)
        }

        /// Checks the configuration without connecting. It throws if the address or header is invalid, or if both secret and signing key
        /// are missing.
        package func validate() throws(MessageConfigurationError) {
            guard let parts = URL(string: url), let host = parts.host(), parts.user == nil, parts.fragment == nil,
                parts.scheme == "https" || (parts.scheme == "http" && ["localhost", "127.0.0.1", "::1"].contains(host))
            else {
                throw MessageConfigurationError("The telephony hook needs an https address, or an http address of this machine.")
            }
            guard secret?.isEmpty == false || signingKey?.isEmpty == false else {
                throw MessageConfigurationError("The telephony hook needs a secret or a signing key, by which it knows this server.")
            }
            let texts = [headerName, secret ?? ""]
            guard !headerName.isEmpty, texts.allSatisfy({ $0.utf8.allSatisfy { (0x20...0x7E).contains($0) } }) else {
                throw MessageConfigurationError("The telephony hook's header and secret must be of printable ASCII.")
            }
        }
    }

    private let configuration: Configuration
    private let timing: PushTiming
    private let logger: Logger
    private let client: HTTPClient

    /// Creates a sender; it connects at the first message.
    /// - Parameters:
    ///   - trust: The trusted roots for the hook's certificate.
    ///   - timing: The clock and the random source.
    ///   - logger: Never receives a code or a phone number.
    /// - Throws: The error of ``Configuration/validate()``.
    package init(
        _ configuration: Configuration, trust: NIOSSLTrustRoots = .default, timing: PushTiming = .system, logger: Logger
    ) throws(MessageConfigurationError) {
        try configuration.validate()
        (self.configuration, self.timing, self.logger) = (configuration, timing, logger)
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = trust
        let limit = TimeAmount(configuration.timeout)
        var settings = HTTPClient.Configuration(
            tlsConfiguration: tls, redirectConfiguration: .disallow, timeout: .init(connect: limit, read: limit),
            connectionPool: .init(idleTimeout: .seconds(30)))
        settings.connectionPool.retryConnectionEstablishment = false
        settings.tracing.tracer = nil
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: settings)
    }

    /// Sends one text or call, and refuses mails. It retries connection errors, status 429 and server errors.
    package func send(_ message: Message) async -> MessageOutcome {
        guard case .telephone(let message) = message else { return .refused(reason: "a telephony hook sends no mail") }
        return await RepeatedTries(retry: configuration.retry, timing: timing).run(until: message.expiresAt) {
            await attempt(message)
        }
    }

    /// Closes the connections; sends in progress give up.
    package func shutdown() async {
        // Fails only after an earlier shutdown.
        try? await client.shutdown()
    }

    private func attempt(_ message: TelephoneMessage) async -> MessageTry {
        let now = timing.now()
        let hook = TelephonyHook(message, source: configuration.source, now: now)
        var request = HTTPClientRequest(url: configuration.url)
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/json")
        request.headers.add(name: "accept", value: "application/json")
        if let secret = configuration.secret { request.headers.add(name: configuration.headerName, value: secret) }
        if let key = configuration.signingKey {
            request.headers.add(name: "x-countersign-signature", value: hook.signature(key: key, now: now))
        }
        request.body = .bytes(ByteBuffer(bytes: hook.body))
        do {
            let response = try await client.execute(request, timeout: TimeAmount(configuration.timeout))
            let status = Int(response.status.code)
            switch status {
            case 200:
                let body = try await response.body.collect(upTo: TelephonyHook.maximumAnswer)
                return .ended(TelephonyHook.outcome(ofAnswer: Array(body.readableBytesView), messageID: message.id))
            case 429, 500...599:
                let after = response.headers.first(name: "retry-after").flatMap(Int.init).map { Duration.seconds(min(max($0, 0), 300)) }
                return .retry(reason: "status \(status)", after: after)
            default: return .ended(.refused(reason: "status \(status)"))
            }
        } catch is NIOTooManyBytesError {
            return .ended(.refused(reason: "the hook's answer is too large"))
        } catch {
            // TLS errors can be very long.
            return .retry(reason: String("\(error)".prefix(200)), after: nil)
        }
    }
}
