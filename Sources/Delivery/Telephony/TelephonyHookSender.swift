internal import AsyncHTTPClient
internal import Foundation
internal import JOSE
package import Logging
internal import NIOCore
internal import NIOHTTP1
package import NIOSSL

/// Sends texts and calls through a telephony inline hook: an HTTPS address of whoever carries them.
///
/// ```swift
/// let sender = try TelephonyHookSender(.init(url: "https://hooks.example.com/telephony", signingKey: key), logger: logger)
/// let outcome = await sender.send(.telephone(message))
/// await sender.shutdown()
/// ```
///
/// A try that is repeated has the same `eventId`, by which the receiver knows it. It follows no redirect, so that no answer leads a code
/// elsewhere. `Sendable`; safe from any task. Call ``shutdown()`` before letting it go.
package final class TelephonyHookSender: MessageSender, Redacted {
    /// Where the hook is, and how it knows the server.
    package struct Configuration: Sendable, Redacted {
        /// `https://…`; `http://` only on this machine.
        package var url: String
        /// The name of the header that carries ``secret``.
        package var headerName: String
        /// What the header says; nil sends none.
        package var secret: String?
        /// What ``TelephonyHookSender`` signs bodies with, in the header `X-Countersign-Signature`; nil signs none.
        package var signingKey: String?
        /// What events are said to come from: the organization's origin.
        package var source: String
        /// How long one try may take.
        package var timeout: Duration
        /// How often it tries.
        package var retry: RetryPolicy

        /// Sets it.
        ///
        /// - Parameters:
        ///   - url: Where the hook is.
        ///   - headerName: The header that carries the secret.
        ///   - secret: What the header says.
        ///   - signingKey: What bodies are signed with.
        ///   - source: The organization's origin.
        ///   - timeout: How long one try may take; by default 3 seconds, which is what published hooks are made for.
        ///   - retry: How often it tries; by default three times.
        package init(
            url: String, headerName: String = "Authorization", secret: String? = nil, signingKey: String? = nil, source: String = "",
            timeout: Duration = .seconds(3), retry: RetryPolicy = RetryPolicy(base: .seconds(1), cap: .seconds(5), attempts: 3)
        ) {
            self.url = url
            self.headerName = headerName
            self.secret = secret
            self.signingKey = signingKey
            self.source = source
            self.timeout = timeout
            self.retry = retry
        }

        /// Checks what is set, without connecting.
        ///
        /// - Throws: ``MessageConfigurationError`` if the address will not do, or nothing would tell the hook who asks.
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

    /// Makes a sender; it connects when there is something to send.
    ///
    /// - Parameters:
    ///   - configuration: Where the hook is.
    ///   - trust: Whose certificates are trusted; by default the system's.
    ///   - timing: Time and chance; by default the system's.
    ///   - logger: Where it logs; never a code or a number.
    /// - Throws: ``MessageConfigurationError`` if the address will not do, or nothing would tell the hook who asks.
    package init(
        _ configuration: Configuration, trust: NIOSSLTrustRoots = .default, timing: PushTiming = .system, logger: Logger
    ) throws(MessageConfigurationError) {
        try configuration.validate()
        self.configuration = configuration
        self.timing = timing
        self.logger = logger
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

    /// Sends one text or call: tries again while nobody answers or the hook has a problem of its own.
    ///
    /// - Parameter message: What to send, and to whom.
    /// - Returns: How it ended; a mail is refused.
    package func send(_ message: Message) async -> MessageOutcome {
        guard case .telephone(let message) = message else { return .refused(reason: "a telephony hook sends no mail") }
        return await RepeatedTries(retry: configuration.retry, timing: timing).run(until: message.expiresAt) {
            await attempt(message)
        }
    }

    /// Ends the connections. What is being sent gives up.
    package func shutdown() async {
        // It fails only where it was shut down before.
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
            // What TLS has to say may fill a page.
            return .retry(reason: String("\(error)".prefix(200)), after: nil)
        }
    }
}
