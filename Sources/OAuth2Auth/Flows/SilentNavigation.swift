package import AuthFoundation
package import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Walks the server's redirects up to the one that leads back to the client, as a browser would, and shows nobody anything.
package struct SilentNavigation: Sendable {
    /// More than any server has, and few enough to end a circle.
    private static let maximumRedirects = 10

    private let client: OAuth2Client

    package init(client: OAuth2Client) {
        self.client = client
    }

    /// - Parameters:
    ///   - start: The server's page.
    ///   - target: Where the browser would be sent at the end, without the parameters that the server adds.
    /// - Returns: Where it would be sent; nil if the server shows a page instead.
    /// - Throws: `OAuth2Error.redirectUri(_:reason:)` if it redirects elsewhere, `OAuth2Error.missingLocationHeader` if nowhere or in a
    ///   circle, `APIClientError` if it refuses or is not reached, `CancellationError`.
    package func redirect(from start: URL, to target: URL) async throws -> URL? {
        // A session of its own for the cookies of this walk; an app's own session is taken as it is.
        let session = client.session is EphemeralSession ? EphemeralSession(isBrowserless: true) : client.session
        var next = start
        for _ in 0..<Self.maximumRedirects {
            let answer = try await answer(to: next, session)
            // A session that follows redirects by itself has arrived already.
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
            // Not the error itself: it names the URL, whose query has the session token or the ID token, and errors go to logs.
            throw APIClientError.httpError(
                URLError(error.code, userInfo: [NSURLErrorFailingURLErrorKey: url.withoutQuery]))
        }
    }
}

extension URL {
    /// Whether it is that redirect URI, with whatever query.
    fileprivate func leads(to target: URL) -> Bool {
        (try? AuthorizationResponse.check(self, against: target)) != nil
    }
}
