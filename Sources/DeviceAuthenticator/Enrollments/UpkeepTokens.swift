/// The access tokens for upkeep of a phone's enrollments, each used until the organization refuses it. In memory only.
package actor UpkeepTokens {
    private var tokens: [String: AuthToken] = [:]

    package init() {}

    /// Does something with a token, and once more with a fresh one if the organization refuses it.
    ///
    /// - Parameters:
    ///   - enrollment: Whose token.
    ///   - body: What the token is for.
    /// - Returns: What came of it.
    /// - Throws: What getting the token or the body throws.
    package func use<Result: Sendable>(
        for enrollment: any AuthenticatorEnrollmentProtocol, _ body: @Sendable (AuthToken) async throws -> Result
    ) async throws -> Result {
        if let token = tokens[enrollment.enrollmentId] {
            do {
                return try await body(token)
            } catch let error as DeviceAuthenticatorError where error.reason == .tokenRefused || error.reason == .notPermitted {
                tokens[enrollment.enrollmentId] = nil
            }
        }
        let token = AuthToken.bearer(try await enrollment.retrieveMaintenanceToken().access_token)
        tokens[enrollment.enrollmentId] = token
        return try await body(token)
    }
}
