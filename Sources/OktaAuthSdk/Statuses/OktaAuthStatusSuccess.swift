public import Foundation

/// The status of a complete transaction.
open class OktaAuthStatusSuccess: OktaAuthStatus {
    /// The purpose of the completed recovery; `nil` for a sign-in.
    open var recoveryType: OktaAPISuccessResponse.RecoveryType? { model.recoveryType }

    /// The one-time token for a session, valid for five minutes; `nil` after an account was unlocked. The user must then sign in again.
    public var sessionToken: String?

    /// Creates the status of a response.
    public override init(currentState: OktaAuthStatus, model: OktaAPISuccessResponse) throws {
        sessionToken = model.sessionToken
        try super.init(currentState: currentState, model: model)
        statusType = .success
    }
}

extension OktaAuthStatusSuccess {
    /// Exchanges the session token for a session of the organization.
    /// - Throws: `OktaError`, such as `.wrongStatus` if there is no session token; `CancellationError` if the task was cancelled.
    @MainActor
    public func createSession() async throws -> OktaSession {
        guard let sessionToken else { throw OktaError.wrongStatus("there is no session token") }
        return try await restApi.createSession(sessionToken: sessionToken)
    }

    /// Returns the URL of a page that exchanges the session token for a session cookie in a browser, and then redirects to another page.
    /// - Parameter redirectURL: The page to which the browser is redirected. The organization must trust its origin.
    /// - Returns: The URL; `nil` if there is no session token. Do not log it: anyone with this URL can sign in as the user.
    public func sessionCookieRedirect(to redirectURL: URL) -> URL? {
        sessionToken.flatMap { restApi.sessionCookieRedirect(sessionToken: $0, redirectURL: redirectURL) }
    }
}
