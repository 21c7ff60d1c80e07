package import AuthFoundation
package import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A navigation without a browser: follows the server's redirects until one leads to the client.
package struct SilentNavigation: Sendable {
    /// The maximum number of redirects, more than any real server sends. It stops a redirect loop.
    private static let maximumRedirects = 10

    private let client: OAuth2Client

    package init(client: OAuth2Client) {
        self.client = client
    }

    /// Follows redirects from `start`, and returns the URL that leads to `target`, or `nil` if the server shows a page instead.
    /// - Throws: `OAuth2Error.redirectUri(_:reason:)` for a redirect to another server; `OAuth2Error.missingLocationHeader` for a redirect
    ///   without a location or for too many redirects; `APIClientError` if the server returns an error or is unreachable;
    ///   `CancellationError`.
    package func redirect(from start: URL, to target: URL) async throws -> URL? {
        // Each navigation has its own session, and so its own cookies, unless the app supplied a session.
        let session = client.session is EphemeralSession ? EphemeralSession(isBrowserless: true) : client.session
        var next = start
        for _ in 0..<Self.maximumRedirects {
            let answer = try await answer(to: next, session)
            // A session that follows redirects itself has already arrived.
            if let arrived = answer.url, arrived.leads(to: target) { return arrived }
            guard (300..<400).contains(answer.statusCode) else { return nil }
            guard let location = answer.value(forHTTPHeaderField: "Location"),
                let url = URL(string: location, relativeTo: next)?.absoluteURL
            else { throw OAuth2Error.missingLocationHeader }
            if url.leads(to: target) { return url }
            guard url.scheme == start.scheme, url.host() == start.host(), url.port == start.port else {
                throw OAuth2Error.redirectUri(url.withoutQuery, reason: .hostOrPath)
            }
            next = url
        }
        throw OAuth2Error.missingLocationHeader
    }

    private func answer(to url: URL, _ session: any URLSessionProtocol) async throws -> HTTPURLResponse {
        var request = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalAndRemoteCacheData)
        request.setValue(client.userAgent, forHTTPHeaderField: "User-Agent")
        do {
            guard let answer = try await session.data(for: request).1 as? HTTPURLResponse else {
                throw APIClientError.missingResponse(request: nil)
            }
            if answer.statusCode >= 400 { throw APIClientError.statusCode(answer.statusCode) }
            return answer
        } catch let error as URLError {
            if Task.isCancelled { throw CancellationError() }
            // Replaces the error, because it names the URL. The URL's query contains the session token or the ID token, and errors are
            // logged.
            throw APIClientError.httpError(
                URLError(error.code, userInfo: [NSURLErrorFailingURLErrorKey: url.withoutQuery]))
        }
    }
}

extension URL {
    /// Whether the URL equals the redirect URI, except for the query.
    fileprivate func leads(to target: URL) -> Bool {
        (try? AuthorizationResponse.check(self, against: target)) != nil
    }
}
