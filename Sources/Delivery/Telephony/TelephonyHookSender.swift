internal import AsyncHTTPClient
internal import Crypto
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
/// Retries have the same `eventId`, so that the receiver can recognize duplicates. The sender follows no redirects, so that a response
/// cannot send a code to another address. Safe from any task. Call ``shutdown()`` before releasing the sender.
package final class TelephonyHookSender: MessageSender, Redacted {
    /// The hook's address and the server's credentials for it.
    package struct Configuration: Sendable, Redacted {
        /// The address of the hook: `https://…`, or `http://…` on this machine.
        package var url: String
        /// The name of the header that contains ``secret``.
        package var headerName: String
        /// The value of the header ``headerName``; `nil` sends no such header.
        package var secret: String?
        /// The key of the signature in the header `X-Countersign-Signature`; `nil` for no signature.
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

        /// Checks the configuration without connecting. Throws if the address or the header is invalid, or if both ``secret`` and
        /// ``signingKey`` are missing.
        package func validate() throws(MessageConfigurationError) {
            guard let parts = URL(string: url), let host = parts.host(), parts.user == nil, parts.fragment == nil,
                parts.scheme == "https" || (parts.scheme == "http" && ["localhost", "127.0.0.1", "::1", "[::1]"].contains(host))
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

    /// Creates a sender, which connects at the first message.
    /// - Parameters:
    ///   - trust: The trusted roots for the hook's certificate.
    ///   - timing: The clock and the random source.
    ///   - logger: The logger. It never receives a code or a phone number.
    /// - Throws: The error of ``Configuration/validate()``.
    package init(
        _ configuration: Configuration, trust: NIOSSLTrustRoots = .default, timing: PushTiming = .system, logger: Logger
    ) throws(MessageConfigurationError) {
        try configuration.validate()
        (self.configuration, self.timing, self.logger) = (configuration, timing, logger)
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = trust
        let limit = TimeAmount(configuration.timeout)
        client = .discreet(tls: tls, connect: limit, read: limit)
    }

    /// Sends one text or call, and refuses mails. Retries after connection errors, status 429 and server errors.
    package func send(_ message: Message) async -> MessageOutcome {
        guard case .telephone(let message) = message else { return .refused(reason: "a telephony hook sends no mail") }
        return await RepeatedTries(retry: configuration.retry, timing: timing).run(until: message.expiresAt) {
            await attempt(message)
        }
    }

    /// Closes the connections. Sends in progress fail.
    package func shutdown() async {
        // `shutdown()` fails only after an earlier shutdown.
        try? await client.shutdown()
    }

    private func attempt(_ message: TelephoneMessage) async -> SendTry<MessageOutcome> {
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

/// The request and response of a telephony inline hook, version 1.0, in Okta's published format. Existing hooks for Okta work unchanged.
struct TelephonyHook: Sendable, Redacted {
    /// The maximum size of a response, in bytes.
    static let maximumAnswer = 64 << 10

    let body: [UInt8]

    /// Builds the request body. `source` is the organization's origin.
    init(_ message: TelephoneMessage, source: String, now: Date) {
        var person: [String: JSONValue] = [
            "login": .string(message.recipient.login), "userId": .string(message.recipient.userID),
        ]
        person["firstName"] = message.recipient.firstName.map(JSONValue.string)
        person["lastName"] = message.recipient.lastName.map(JSONValue.string)
        var profile: [String: JSONValue] = [
            "msgTemplate": .string(message.text), "phoneNumber": .string(message.phoneNumber),
            "otpExpires": .string(Self.time(message.expiresAt)), "deliveryChannel": .string(message.channel.rawValue),
            "locale": .string(message.language),
        ]
        profile["otpCode"] = message.code.map(JSONValue.string)
        profile["phoneExtension"] = message.phoneExtension.map(JSONValue.string)
        var request: [String: JSONValue] = ["id": .string(message.requestID), "method": "POST"]
        request["ipAddress"] = message.address.map(JSONValue.string)
        let event: JSONValue = [
            "eventId": .string(message.id), "eventTime": .string(Self.time(now)), "eventType": "com.okta.telephony.provider",
            "eventTypeVersion": "1.0", "contentType": "application/json", "cloudEventVersion": "0.1", "source": .string(source),
            "requestType": .string(message.purpose.rawValue),
            "data": [
                "context": ["request": .object(request)], "userProfile": .object(person), "messageProfile": .object(profile),
            ],
        ]
        body = event.serialized()
    }

    /// Returns the value of the signature header: `t=…,v1=…`. By it, the receiver checks that the event is authentic and fresh. `t` is the
    /// time in seconds since 1970. `v1` is the HMAC-SHA-256 of the time, a dot and the body, in lower-case hexadecimal.
    func signature(key: String, now: Date) -> String {
        let time = now.numericDate
        let code = HMAC<SHA256>.authenticationCode(
            for: Data("\(time).".utf8) + Data(body), using: SymmetricKey(data: Data(key.utf8)))
        return "t=\(time),v1=\(code.hexadecimal)"
    }

    /// Returns the outcome of a response with status 200.
    static func outcome(ofAnswer body: [UInt8], messageID: String) -> MessageOutcome {
        guard let json = try? JSONValue(parsing: body), json.objectValue != nil else {
            return .refused(reason: "the hook's answer is no JSON object")
        }
        // The error text is not repeated, because it may contain the phone number.
        if json["error"]?.objectValue != nil { return .refused(reason: "the hook answered with an error") }
        guard let command = json["commands"]?.arrayValue?.first(where: { $0["type"]?.stringValue == "com.okta.telephony.action" }),
            let value = command["value"]?.arrayValue?.first
        else { return .refused(reason: "the hook's answer has no telephony action") }
        switch value["status"]?.stringValue {
        case "SUCCESSFUL", "PENDING": return .delivered(id: value["transactionId"]?.stringValue ?? messageID)
        default: return .refused(reason: "the hook could not send it")
        }
    }

    private static func time(_ date: Date) -> String {
        date.formatted(.iso8601.year().month().day().time(includingFractionalSeconds: true).timeZone(separator: .omitted))
    }
}
