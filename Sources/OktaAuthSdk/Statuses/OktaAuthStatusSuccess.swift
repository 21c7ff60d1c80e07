public import Foundation

/// The transaction is complete.
open class OktaAuthStatusSuccess: OktaAuthStatus {
    /// What the recovery was for that this ends; nil for a sign-in.
    open var recoveryType: OktaAPISuccessResponse.RecoveryType? { model.recoveryType }

    /// Is good for one session, within five minutes; nil after an account was unlocked: sign in again.
    public var sessionToken: String?

    /// Takes the place of another status after an answer.
    ///
    /// - Parameters:
    ///   - currentState: The status so far.
    ///   - model: The answer.
    /// - Throws: `OktaError.invalidResponse` if the answer lacks something that this status needs.
    public override init(currentState: OktaAuthStatus, model: OktaAPISuccessResponse) throws {
        sessionToken = model.sessionToken
        try super.init(currentState: currentState, model: model)
        statusType = .success
    }
}

extension OktaAuthStatusSuccess {
    /// Trades the session token for a session of the organization.
    ///
    /// - Returns: The session.
    /// - Throws: `OktaError`, such as `.wrongStatus` if there is no session token; `CancellationError` if the task was cancelled.
    @MainActor
    public func createSession() async throws -> OktaSession {
        guard let sessionToken else { throw OktaError.wrongStatus("there is no session token") }
        return try await restApi.createSession(sessionToken: sessionToken)
    }

    /// The page that trades the session token for the session's cookie in a browser, and leads on from there.
    ///
    /// - Parameter redirectURL: Where to lead to; the organization has to trust its origin.
    /// - Returns: The page's URL, which signs in who has it; nil if there is no session token.
    public func sessionCookieRedirect(to redirectURL: URL) -> URL? {
        sessionToken.flatMap { restApi.sessionCookieRedirect(sessionToken: $0, redirectURL: redirectURL) }
    }
}
