public import Foundation

/// An enrollment: a user whose sign-ins this installation can approve.
///
/// Each call with a completion handler has an asynchronous form without it, which does the same and throws ``DeviceAuthenticatorError``, or
/// `CancellationError` if its task was cancelled. Completion handlers are called once, not on the main queue. Safe from any thread.
public protocol AuthenticatorEnrollmentProtocol: Sendable {
    /// The enrollment's id.
    var enrollmentId: String { get }
    /// The org.
    var organization: Organization { get }
    /// The user.
    var user: User { get }
    /// Whether there is a user verification key.
    var userVerificationEnabled: Bool { get }
    /// Whether the server may send CIBA challenges.
    var isCIBAEnabled: Bool { get }

    /// Turns user verification on or off.
    ///
    /// Turning it on registers the key that there is, or makes one. If it fails, nothing changes.
    ///
    /// - Parameters:
    ///   - authenticationToken: An access token with the scope `okta.myAccount.appAuthenticator.manage`.
    ///   - enable: Whether it shall be on.
    ///   - completion: Gets nil, or why it failed.
    @preconcurrency
    func setUserVerification(
        authenticationToken: AuthToken, enable: Bool, completion: @escaping @Sendable (DeviceAuthenticatorError?) -> Void)

    /// Turns user verification on or off.
    func setUserVerification(authenticationToken: AuthToken, enable: Bool) async throws

    /// Lets the server send CIBA challenges, or not.
    ///
    /// - Parameters:
    ///   - authenticationToken: An access token; one of ``retrieveMaintenanceToken(scopes:completion:)`` suffices.
    ///   - enable: Whether it may.
    ///   - completion: Gets nil, or why it failed.
    @preconcurrency
    func enableCIBATransactions(
        authenticationToken: AuthToken, enable: Bool, completion: @escaping @Sendable (DeviceAuthenticatorError?) -> Void)

    /// Lets the server send CIBA challenges, or not.
    func enableCIBATransactions(authenticationToken: AuthToken, enable: Bool) async throws

    /// Tells the server a new push token, for this enrollment. Call it for each enrollment whenever the system gives the app a new one.
    ///
    /// - Parameters:
    ///   - token: The token as the system gives it.
    ///   - authenticationToken: An access token; one of ``retrieveMaintenanceToken(scopes:completion:)`` suffices.
    ///   - completion: Gets nil, or why it failed.
    @preconcurrency
    func updateDeviceToken(
        _ token: Data, authenticationToken: AuthToken, completion: @escaping @Sendable (DeviceAuthenticatorError?) -> Void)

    /// Tells the server a new push token, for this enrollment.
    func updateDeviceToken(_ token: Data, authenticationToken: AuthToken) async throws

    /// Asks the server for the challenges that wait for this enrollment.
    ///
    /// A challenge that is not acceptable, or not signed by the org, is left out.
    ///
    /// - Parameters:
    ///   - authenticationToken: An access token; one of ``retrieveMaintenanceToken(scopes:completion:)`` suffices.
    ///   - allowedClockSkewInSeconds: How far this device's clock may differ from the server's, in seconds.
    ///   - completion: Gets the challenges, or why there are none.
    @preconcurrency
    func retrievePushChallenges(
        authenticationToken: AuthToken, allowedClockSkewInSeconds: Int,
        completion: @escaping @Sendable (Result<[any PushChallengeProtocol], DeviceAuthenticatorError>) -> Void)

    /// Asks the server for the challenges that wait for this enrollment.
    func retrievePushChallenges(authenticationToken: AuthToken, allowedClockSkewInSeconds: Int) async throws
        -> [any PushChallengeProtocol]

    /// Deletes the enrollment and its keys on this device alone, without the network.
    ///
    /// The server still believes in it and goes on sending challenges that nobody can answer: prefer
    /// ``DeviceAuthenticatorProtocol/delete(enrollment:authenticationToken:completion:)``.
    ///
    /// - Throws: ``DeviceAuthenticatorError/storageError(_:)``.
    func deleteFromDevice() throws

    /// Gets an access token for upkeep without asking the person, by the enrollment's key.
    ///
    /// It permits to change the push token and the CIBA setting, and to pull challenges. It is not stored.
    ///
    /// - Parameters:
    ///   - scopes: What it shall permit.
    ///   - completion: Gets the token, or why there is none.
    @preconcurrency
    func retrieveMaintenanceToken(
        scopes: [String], completion: @escaping @Sendable (Result<Oauth2Credential, DeviceAuthenticatorError>) -> Void)

    /// Gets an access token for upkeep without asking the person, by the enrollment's key.
    func retrieveMaintenanceToken(scopes: [String]) async throws -> Oauth2Credential
}

/// Shorter forms.
extension AuthenticatorEnrollmentProtocol {
    /// Asks the server for the challenges that wait, with a skew of 300 seconds.
    @preconcurrency
    public func retrievePushChallenges(
        authenticationToken: AuthToken,
        completion: @escaping @Sendable (Result<[any PushChallengeProtocol], DeviceAuthenticatorError>) -> Void
    ) {
        retrievePushChallenges(
            authenticationToken: authenticationToken, allowedClockSkewInSeconds: PushPayload.defaultSkew, completion: completion)
    }

    /// Asks the server for the challenges that wait, with a skew of 300 seconds.
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

    /// The spelling of the older documentation; see ``DeviceAuthenticatorProtocol/delete(enrollment:authenticationToken:completion:)``.
    @preconcurrency
    public func delete(
        enrollment: any AuthenticatorEnrollmentProtocol, authenticationToken: AuthToken,
        completion: @escaping @Sendable (DeviceAuthenticatorError?) -> Void
    ) {
        Callback.run(completion) { try await self.delete(enrollment: enrollment, authenticationToken: authenticationToken) }
    }

    /// The spelling of the older documentation; see ``DeviceAuthenticatorProtocol/delete(enrollment:authenticationToken:completion:)``.
    public func delete(enrollment: any AuthenticatorEnrollmentProtocol, authenticationToken: AuthToken) async throws {
        guard let enrollment = enrollment as? AuthenticatorEnrollment else {
            throw DeviceAuthenticatorError.internalError("The enrollment was not made by this module, so it can't be deleted by it.")
        }
        try await enrollment.delete(authenticationToken: authenticationToken)
    }

    /// Deletes this enrollment on the server, and then on this device.
    @preconcurrency
    public func delete(authenticationToken: AuthToken, completion: @escaping @Sendable (DeviceAuthenticatorError?) -> Void) {
        delete(enrollment: self, authenticationToken: authenticationToken, completion: completion)
    }
}

/// For types of the app's own, such as test doubles, that have the published members only.
extension AuthenticatorEnrollmentProtocol {
    /// Waits for the callback form.
    public func setUserVerification(authenticationToken: AuthToken, enable: Bool) async throws {
        try await Callback.value { completion in
            setUserVerification(authenticationToken: authenticationToken, enable: enable) {
                completion($0.map(Result.failure) ?? .success(()))
            }
        }
    }

    /// Waits for the callback form.
    public func enableCIBATransactions(authenticationToken: AuthToken, enable: Bool) async throws {
        try await Callback.value { completion in
            enableCIBATransactions(authenticationToken: authenticationToken, enable: enable) {
                completion($0.map(Result.failure) ?? .success(()))
            }
        }
    }

    /// Waits for the callback form.
    public func updateDeviceToken(_ token: Data, authenticationToken: AuthToken) async throws {
        try await Callback.value { completion in
            updateDeviceToken(token, authenticationToken: authenticationToken) { completion($0.map(Result.failure) ?? .success(())) }
        }
    }

    /// Waits for the callback form.
    public func retrievePushChallenges(authenticationToken: AuthToken, allowedClockSkewInSeconds: Int) async throws
        -> [any PushChallengeProtocol]
    {
        try await Callback.value {
            retrievePushChallenges(
                authenticationToken: authenticationToken, allowedClockSkewInSeconds: allowedClockSkewInSeconds, completion: $0)
        }
    }

    /// Waits for the callback form.
    public func retrieveMaintenanceToken(scopes: [String]) async throws -> Oauth2Credential {
        try await Callback.value { retrieveMaintenanceToken(scopes: scopes, completion: $0) }
    }
}
