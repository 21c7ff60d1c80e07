public import Foundation
public import JOSE

/// Functions that exchange a one-time session token for a session of the organization. For OAuth 2.0 tokens, use `SessionTokenFlow` in
/// OAuth2Auth.
extension OktaAPI {
    /// Exchanges a session token for a session: `POST /api/v1/sessions`.
    /// - Parameter sessionToken: The token of ``OktaAuthStatusSuccess``. It can be used once, within five minutes.
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

    /// Returns the URL of a page that exchanges a session token for a session cookie in a browser or web view, and then redirects to
    /// another page.
    /// - Parameters:
    ///   - sessionToken: The token of ``OktaAuthStatusSuccess``. It can be used once, within five minutes.
    ///   - redirectURL: The page to which the browser is redirected. The organization must trust its origin.
    /// - Returns: The URL; `nil` if ``oktaDomain`` is invalid. Do not log it: anyone with this URL can sign in as the user.
    public func sessionCookieRedirect(sessionToken: String, redirectURL: URL) -> URL? {
        guard var parts = URLComponents(url: oktaDomain, resolvingAgainstBaseURL: true) else { return nil }
        parts.percentEncodedPath = Organization.path(of: parts.percentEncodedPath) + "/login/sessionCookieRedirect"
        parts.percentEncodedQuery = [("token", sessionToken), ("redirectUrl", redirectURL.absoluteString)]
            .map { "\($0)=\($1.addingPercentEncoding(withAllowedCharacters: Self.unreserved) ?? "")" }.joined(separator: "&")
        return parts.url
    }

    /// Unreserved characters (RFC 3986 §2.3). All other characters are escaped, because `+` and `&` have a meaning in a query.
    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

    /// Exchanges a session token for a session.
    /// - Parameter sessionToken: The token of ``OktaAuthStatusSuccess``. It can be used once, within five minutes.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled.
    @MainActor
    public func createSession(sessionToken: String) async throws -> OktaSession {
        try await MainQueue.value { createSession(sessionToken: sessionToken, onCompletion: $0, onError: $1) }
    }
}

/// A session of the organization (Documentation/Protocol/Authn.md §4.16). A member is `nil` if the response does not contain it.
public struct OktaSession: Codable, Hashable, Sendable {
    /// The session ID. Do not log it: anyone with this ID can act as the user.
    public let id: String?
    /// The username.
    public let login: String?
    /// The user's ID.
    public let userId: String?
    /// The expiration time, as the server formats it.
    public let expiresAt: String?
    /// `ACTIVE`, or the reason why the session is not active.
    public let status: String?
    /// The authentication methods of the session (RFC 8176).
    public let amr: [String]?
}

extension OktaSession: Redacted {
    /// The username, without the session ID.
    public var description: String { "OktaSession(\(login ?? "unknown user"))" }
}
