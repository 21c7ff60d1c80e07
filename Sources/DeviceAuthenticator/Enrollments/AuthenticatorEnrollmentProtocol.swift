public import Foundation

/// An enrollment: a user whose sign-ins this installation can approve. Safe from any thread. Each call with a completion handler has an
/// `async` form, which throws ``DeviceAuthenticatorError``, or `CancellationError` if its task was cancelled. Completion handlers are
/// called once, not on the main queue.
public protocol AuthenticatorEnrollmentProtocol: Sendable {
    /// The enrollment's id.
    var enrollmentId: String { get }
    /// The org of the enrollment.
    var organization: Organization { get }
    /// The enrolled user.
    var user: User { get }
    /// Whether the enrollment has a user verification key.
    var userVerificationEnabled: Bool { get }
    /// Whether the server may send CIBA challenges.
    var isCIBAEnabled: Bool { get }

    /// Turns user verification on or off. Turning it on registers the existing key, or creates a key. If the server rejects the change,
    /// nothing changes.
    /// - Parameters:
    ///   - authenticationToken: An access token with the scope `okta.myAccount.appAuthenticator.manage`.
    ///   - enable: Whether to turn user verification on.
    ///   - completion: Called with `nil` on success.
    @preconcurrency
    func setUserVerification(
        authenticationToken: AuthToken, enable: Bool, completion: @escaping @Sendable (DeviceAuthenticatorError?) -> Void)

    /// Turns user verification on or off.
    func setUserVerification(authenticationToken: AuthToken, enable: Bool) async throws

    /// Sets whether the server may send CIBA challenges.
    /// - Parameters:
    ///   - authenticationToken: An access token; a token of ``retrieveMaintenanceToken(scopes:completion:)`` suffices.
    ///   - completion: Called with `nil` on success.
    @preconcurrency
    func enableCIBATransactions(
        authenticationToken: AuthToken, enable: Bool, completion: @escaping @Sendable (DeviceAuthenticatorError?) -> Void)

    /// Sets whether the server may send CIBA challenges.
    func enableCIBATransactions(authenticationToken: AuthToken, enable: Bool) async throws

    /// Sends a new push token for this enrollment to the server. Call it for each enrollment when the system provides a new token.
    /// - Parameters:
    ///   - token: The bytes that the system provides.
    ///   - authenticationToken: An access token; a token of ``retrieveMaintenanceToken(scopes:completion:)`` suffices.
    ///   - completion: Called with `nil` on success.
    @preconcurrency
    func updateDeviceToken(
        _ token: Data, authenticationToken: AuthToken, completion: @escaping @Sendable (DeviceAuthenticatorError?) -> Void)

    /// Sends a new push token for this enrollment to the server.
    func updateDeviceToken(_ token: Data, authenticationToken: AuthToken) async throws

    /// Pulls the pending challenges of this enrollment from the server. Challenges that are invalid or not signed by the org are omitted.
    /// - Parameters:
    ///   - authenticationToken: An access token; a token of ``retrieveMaintenanceToken(scopes:completion:)`` suffices.
    ///   - allowedClockSkewInSeconds: The allowed difference between this device's clock and the server's, in seconds.
    @preconcurrency
    func retrievePushChallenges(
        authenticationToken: AuthToken, allowedClockSkewInSeconds: Int,
        completion: @escaping @Sendable (Result<[any PushChallengeProtocol], DeviceAuthenticatorError>) -> Void)

    /// Pulls the pending challenges of this enrollment from the server.
    func retrievePushChallenges(authenticationToken: AuthToken, allowedClockSkewInSeconds: Int) async throws
        -> [any PushChallengeProtocol]

    /// Deletes the enrollment and its keys on this device only, without network access. The server keeps the enrollment and continues to
    /// send challenges for it. Prefer ``DeviceAuthenticatorProtocol/delete(enrollment:authenticationToken:completion:)``.
    /// - Throws: ``DeviceAuthenticatorError/storageError(_:)`` if the stored data cannot be changed.
    func deleteFromDevice() throws

    /// Gets an access token for maintenance with the enrollment's key, without user interaction. The token permits changes of the push
    /// token and of the CIBA setting, and pulls of challenges. It is not stored.
    /// - Parameter scopes: The scopes of the token.
    @preconcurrency
    func retrieveMaintenanceToken(
        scopes: [String], completion: @escaping @Sendable (Result<Oauth2Credential, DeviceAuthenticatorError>) -> Void)

    /// Gets an access token for maintenance with the enrollment's key, without user interaction.
    func retrieveMaintenanceToken(scopes: [String]) async throws -> Oauth2Credential
}

extension AuthenticatorEnrollmentProtocol {
    /// Pulls the pending challenges. The allowed clock skew is 300 seconds.
    @preconcurrency
    public func retrievePushChallenges(
        authenticationToken: AuthToken,
        completion: @escaping @Sendable (Result<[any PushChallengeProtocol], DeviceAuthenticatorError>) -> Void
    ) {
        retrievePushChallenges(
            authenticationToken: authenticationToken, allowedClockSkewInSeconds: PushPayload.defaultSkew, completion: completion)
    }

    /// Pulls the pending challenges. The allowed clock skew is 300 seconds.
    public func retrievePushChallenges(authenticationToken: AuthToken) async throws -> [any PushChallengeProtocol] {
        try await retrievePushChallenges(authenticationToken: authenticationToken, allowedClockSkewInSeconds: PushPayload.defaultSkew)
    }

    /// Gets an access token with the scope `okta.myAccount.appAuthenticator.maintenance.manage`.
    @preconcurrency
    public func retrieveMaintenanceToken(completion: @escaping @Sendable (Result<Oauth2Credential, DeviceAuthenticatorError>) -> Void) {
        retrieveMaintenanceToken(scopes: MaintenanceToken.defaultScopes, completion: completion)
    }

    /// Gets an access token with the scope `okta.myAccount.appAuthenticator.maintenance.manage`.
    public func retrieveMaintenanceToken() async throws -> Oauth2Credential {
        try await retrieveMaintenanceToken(scopes: MaintenanceToken.defaultScopes)
    }

    /// Deletes an enrollment, as ``DeviceAuthenticatorProtocol/delete(enrollment:authenticationToken:completion:)`` does. This form is from
    /// Okta's older documentation.
    @preconcurrency
    public func delete(
        enrollment: any AuthenticatorEnrollmentProtocol, authenticationToken: AuthToken,
        completion: @escaping @Sendable (DeviceAuthenticatorError?) -> Void
    ) {
        Callback.run(completion) { try await self.delete(enrollment: enrollment, authenticationToken: authenticationToken) }
    }

    /// Deletes an enrollment, as ``DeviceAuthenticatorProtocol/delete(enrollment:authenticationToken:completion:)`` does. This form is from
    /// Okta's older documentation.
    public func delete(enrollment: any AuthenticatorEnrollmentProtocol, authenticationToken: AuthToken) async throws {
        guard let enrollment = enrollment as? AuthenticatorEnrollment else {
            throw DeviceAuthenticatorError.internalError("The enrollment was not made by this module, so it can't be deleted by it.")
        }
        try await enrollment.delete(authenticationToken: authenticationToken)
    }

    /// Deletes this enrollment on the server, then on this device.
    @preconcurrency
    public func delete(authenticationToken: AuthToken, completion: @escaping @Sendable (DeviceAuthenticatorError?) -> Void) {
        delete(enrollment: self, authenticationToken: authenticationToken, completion: completion)
    }
}

/// Default implementations for an app's own types, such as test doubles, that implement only the members of Okta's SDK.
extension AuthenticatorEnrollmentProtocol {
    /// Calls the callback form and waits for its result.
    public func setUserVerification(authenticationToken: AuthToken, enable: Bool) async throws {
        try await Callback.value { completion in
            setUserVerification(authenticationToken: authenticationToken, enable: enable) {
                completion($0.map(Result.failure) ?? .success(()))
            }
        }
    }

    /// Calls the callback form and waits for its result.
    public func enableCIBATransactions(authenticationToken: AuthToken, enable: Bool) async throws {
        try await Callback.value { completion in
            enableCIBATransactions(authenticationToken: authenticationToken, enable: enable) {
                completion($0.map(Result.failure) ?? .success(()))
            }
        }
    }

    /// Calls the callback form and waits for its result.
    public func updateDeviceToken(_ token: Data, authenticationToken: AuthToken) async throws {
        try await Callback.value { completion in
            updateDeviceToken(token, authenticationToken: authenticationToken) { completion($0.map(Result.failure) ?? .success(())) }
        }
    }

    /// Calls the callback form and waits for its result.
    public func retrievePushChallenges(authenticationToken: AuthToken, allowedClockSkewInSeconds: Int) async throws
        -> [any PushChallengeProtocol]
    {
        try await Callback.value {
            retrievePushChallenges(
                authenticationToken: authenticationToken, allowedClockSkewInSeconds: allowedClockSkewInSeconds, completion: $0)
        }
    }

    /// Calls the callback form and waits for its result.
    public func retrieveMaintenanceToken(scopes: [String]) async throws -> Oauth2Credential {
        try await Callback.value { retrieveMaintenanceToken(scopes: scopes, completion: $0) }
    }
}
