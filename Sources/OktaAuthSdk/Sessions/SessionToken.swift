public import Foundation
public import JOSE

/// What a session token is good for, once: a session of the organization. For tokens of OAuth 2.0 there is `SessionTokenFlow` in OAuth2Auth.
extension OktaAPI {
    /// Trades a session token for a session: `POST /api/v1/sessions`.
    ///
    /// - Parameters:
    ///   - sessionToken: The token of ``OktaAuthStatusSuccess``, good once and for five minutes.
    ///   - onCompletion: Is called with the session, on the main queue.
    ///   - onError: Is called with what went wrong, on the main queue.
    /// - Returns: The request, which is on its way.
    @discardableResult
    public func createSession(
        sessionToken: String, onCompletion: @escaping (OktaSession) -> Void, onError: @escaping (OktaError) -> Void
    ) -> OktaAPIRequest {
        let request = dataRequest(to: .path("/api/v1/sessions"), onError) { _, data in
            do {
                onCompletion(try JSONDecoder().decode(OktaSession.self, from: data))
            } catch {
                onError(.responseSerializationError(error, data))
            }
        }
        request.bodyParams = ["sessionToken": sessionToken]
        return run(request)
    }

    /// The page that trades a session token for the session's cookie in a browser or a web view, and leads on from there.
    ///
    /// - Parameters:
    ///   - sessionToken: The token of ``OktaAuthStatusSuccess``, good once and for five minutes.
    ///   - redirectURL: Where to lead to; the organization has to trust its origin.
    /// - Returns: The page's URL, which signs in who has it: open it, and keep it out of logs. nil if ``oktaDomain`` is no URL of a host.
    public func sessionCookieRedirect(sessionToken: String, redirectURL: URL) -> URL? {
        guard var parts = URLComponents(url: oktaDomain, resolvingAgainstBaseURL: true) else { return nil }
        parts.percentEncodedPath = Organization.path(of: parts.percentEncodedPath) + "/login/sessionCookieRedirect"
        parts.percentEncodedQuery = [("token", sessionToken), ("redirectUrl", redirectURL.absoluteString)]
            .map { "\($0)=\($1.addingPercentEncoding(withAllowedCharacters: Self.unreserved) ?? "")" }.joined(separator: "&")
        return parts.url
    }

    /// RFC 3986, 2.3: all else is escaped, since a plus and an ampersand mean something in a query.
    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

    /// Trades a session token for a session.
    ///
    /// - Parameter sessionToken: The token of ``OktaAuthStatusSuccess``, good once and for five minutes.
    /// - Returns: The session.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled.
    @MainActor
    public func createSession(sessionToken: String) async throws -> OktaSession {
        try await MainQueue.value { createSession(sessionToken: sessionToken, onCompletion: $0, onError: $1) }
    }
}

/// A session of the organization (authn reference, 4.16).
public struct OktaSession: Codable, Hashable, Sendable {
    /// The session's id. With it anybody is this person: keep it out of logs.
    public let id: String?
    /// The name that the person signed in with.
    public let login: String?
    /// The user's id.
    public let userId: String?
    /// When it ends, as the server wrote it.
    public let expiresAt: String?
    /// `ACTIVE`, or why it is not.
    public let status: String?
    /// How the person proved who they are (RFC 8176).
    public let amr: [String]?
}

extension OktaSession: Redacted {
    /// Whose session it is, without its id.
    public var description: String { "OktaSession(\(login ?? "nobody"))" }
}
