#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

#if canImport(os)
import os
#endif

/// An observer that logs the requests and responses of clients, for developers. The log contains no secrets; see ``RedactedRequest``. Safe
/// from any thread.
public final class DebugAPIRequestObserver: OAuth2ClientDelegate {
    /// The shared observer.
    public static let shared = DebugAPIRequestObserver()

    private struct Settings {
        var showHeaders = false
        var registration: (any NSObjectProtocol)?
    }

    private let settings = Locked(Settings())
    private let write: @Sendable (String) -> Void

    init(write: @escaping @Sendable (String) -> Void = DebugAPIRequestObserver.log) {
        self.write = write
    }

    /// Whether headers are logged too.
    public var showHeaders: Bool {
        get { settings.withLock { $0.showHeaders } }
        set { settings.withLock { $0.showHeaders = newValue } }
    }

    /// Whether all clients that are created later are observed.
    public var observeAllOAuth2Clients: Bool {
        get { settings.withLock { $0.registration != nil } }
        set {
            if newValue {
                guard !observeAllOAuth2Clients else { return }
                let registration = NotificationCenter.default.addObserver(forName: .oauth2ClientCreated, object: nil, queue: nil) {
                    [weak self] notification in
                    if let client = notification.object as? OAuth2Client { self?.startObserving(client: client) }
                }
                settings.withLock { $0.registration = registration }
            } else if let registration = settings.withLock({ settings in
                defer { settings.registration = nil }
                return settings.registration
            }) {
                NotificationCenter.default.removeObserver(registration)
            }
        }
    }

    /// Starts to observe a client.
    public func startObserving(client: OAuth2Client) { client.add(delegate: self) }

    /// Stops observing a client.
    public func stopObserving(client: OAuth2Client) { client.remove(delegate: self) }

    /// Logs the request.
    public func api(client: any APIClient, willSend request: inout URLRequest) {
        write("→ \(RedactedRequest(request, showsHeaders: showHeaders))")
    }

    /// Logs the error.
    public func api(
        client: any APIClient, didSend request: URLRequest, received error: APIClientError, requestId: String?, rateLimit: APIRateLimit?
    ) {
        write("✗ \(request.url?.path() ?? "") \(requestId ?? ""): \(error.debugDescription)")
    }

    /// Logs the status.
    public func api(client: any APIClient, didSend request: URLRequest, received response: HTTPURLResponse) {
        write("← \(response.statusCode) \(request.url?.path() ?? "")")
    }

    private static func log(_ message: String) {
        #if canImport(os)
        Logger(subsystem: "countersign", category: "network").debug("\(message, privacy: .public)")
        #else
        FileHandle.standardError.write(Data("\(message)\n".utf8))
        #endif
    }
}

/// A description of a request without the values of parameters and headers that can be secret.
public struct RedactedRequest: CustomStringConvertible, Sendable {
    /// The description.
    public let description: String

    private static let harmlessParameters: Set<String> = [
        "grant_type", "scope", "client_id", "token_type_hint", "grant_types_supported", "channel_hint", "challenge_hint",
        "challenge_types_supported", "acr_values", "intent",
    ]
    private static let harmlessHeaders: Set<String> = [
        "accept", "content-type", "user-agent", "x-okta-retry-for", "x-okta-retry-count", "content-length",
    ]

    /// Describes a request.
    /// - Parameter showsHeaders: Whether the description includes the headers.
    public init(_ request: URLRequest, showsHeaders: Bool) {
        var url = request.url.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: true) }
        let query = url?.percentEncodedQuery.map(Self.redact)
        // A URL's query must not contain the "…" of the description.
        url?.percentEncodedQuery = nil
        url?.fragment = nil
        var text = "\(request.httpMethod ?? "GET") \(url?.string ?? "")\(query.map { "?\($0)" } ?? "")"
        if showsHeaders {
            for (name, value) in (request.allHTTPHeaderFields ?? [:]).sorted(by: { $0.key < $1.key }) {
                text += "\n\(name): \(Self.harmlessHeaders.contains(name.lowercased()) ? value : "…")"
            }
        }
        // Only the fields of a form are known to be harmless. A "&" or "=" in another body is part of a value.
        if let body = request.httpBody { text += "\n\(Self.isForm(request) ? Self.redact(String(decoding: body, as: UTF8.self)) : "…")" }
        description = text
    }

    private static func isForm(_ request: URLRequest) -> Bool {
        let type = request.value(forHTTPHeaderField: "Content-Type")?.split(separator: ";").first ?? ""
        return type.trimmingCharacters(in: .whitespaces).lowercased() == "application/x-www-form-urlencoded"
    }

    private static func redact(_ form: String) -> String {
        form.split(separator: "&").map { field in
            let name = field.split(separator: "=", maxSplits: 1).first.map(String.init) ?? ""
            guard field.contains("=") else { return "…" }
            return harmlessParameters.contains(name) ? String(field) : "\(name)=…"
        }
        .joined(separator: "&")
    }
}
