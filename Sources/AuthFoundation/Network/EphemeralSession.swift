package import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// The default session of clients.
/// - It keeps no cookies and writes nothing to disk.
/// - It stops reading a response at the first byte beyond the size limit, and rejects a larger `Content-Length` at once.
/// - It requests no compression and rejects a compressed response, because a few kilobytes can expand to gigabytes.
/// - A request, with its redirects and its whole response, must complete within the request's `timeoutInterval`.
/// - It follows redirects only as ``RedirectRule`` allows.
package final class EphemeralSession: URLSessionProtocol {
    /// The session that clients share. It keeps no state between requests.
    package static let shared = EphemeralSession()

    package let configuration: URLSessionConfiguration
    private let clock: any OAuth2Clock
    #if canImport(FoundationNetworking)
    private let isBrowserless: Bool
    private let maximumResponseSize: Int
    #else
    private let session: BoundedURLSession
    #endif

    /// Creates a session.
    /// - Parameters:
    ///   - isBrowserless: Whether redirects are returned to the caller, which handles them like a browser.
    ///   - keepsCookies: Whether cookies are kept in memory; `nil` keeps them if `isBrowserless` is set. On Linux, cookies from responses
    ///     to requests with a body are not kept.
    ///   - maximumResponseSize: The maximum size of a response body in bytes; `nil` for 4 MiB.
    ///   - clock: Measures the time limit of requests.
    package init(
        isBrowserless: Bool = false, keepsCookies: Bool? = nil, maximumResponseSize: Int? = nil,
        clock: any OAuth2Clock = DeviceClock()
    ) {
        self.clock = clock
        configuration = Self.configuration(keepsCookies: keepsCookies ?? isBrowserless)
        let maximumResponseSize = maximumResponseSize ?? RequestSender.maximumResponseSize
        #if canImport(FoundationNetworking)
        self.isBrowserless = isBrowserless
        self.maximumResponseSize = maximumResponseSize
        #else
        session = BoundedURLSession(configuration, followsRedirects: !isBrowserless, maximumResponseSize: maximumResponseSize)
        #endif
    }

    /// Sends a request and waits for the whole response.
    /// - Throws: `URLError.dataLengthExceedsMaximum` if the response is too large, `URLError.cannotDecodeContentData` if it is compressed
    ///   without a request for compression, `URLError.timedOut` if it is not complete in time, or another `URLError`.
    package func data(for request: URLRequest) async throws -> (Data, URLResponse) {
        try await data(for: request, staysOnHost: false)
    }

    /// Sends a request like ``data(for:)``. If `staysOnHost` is true, a redirect to another host is returned and not followed.
    package func data(for request: URLRequest, staysOnHost: Bool) async throws -> (Data, URLResponse) {
        var request = request
        if request.value(forHTTPHeaderField: "Accept-Encoding") == nil {
            request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        }
        return try await session(for: request).data(for: request, clock: clock, staysOnHost: staysOnHost)
    }

    /// Returns the session that sends a request. On Linux each request has its own session. A hostile response can block a session's only
    /// thread, which must not delay other requests. If a kept connection breaks, Foundation would also resend a request without its body,
    /// and then wait for the timeout.
    private func session(for request: URLRequest) -> BoundedURLSession {
        #if canImport(FoundationNetworking)
        BoundedURLSession(
            request.httpBody == nil ? configuration : Self.configuration(keepsCookies: false), followsRedirects: !isBrowserless,
            maximumResponseSize: maximumResponseSize)
        #else
        session
        #endif
    }

    private static func configuration(keepsCookies: Bool) -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        if !keepsCookies {
            configuration.httpCookieStorage = nil
            configuration.httpShouldSetCookies = false
            configuration.httpCookieAcceptPolicy = .never
        }
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        return configuration
    }
}
