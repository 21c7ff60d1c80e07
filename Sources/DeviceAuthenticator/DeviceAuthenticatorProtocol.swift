#if canImport(UserNotifications) && !os(tvOS)
public import UserNotifications
#endif

/// A push authenticator for this installation of an app, created by ``DeviceAuthenticatorBuilder/create()``. Safe from any thread. Each
/// call with a completion handler has an `async` form, which throws ``DeviceAuthenticatorError``, or `CancellationError` if its task was
/// cancelled. Completion handlers are called once, not on the main queue.
public protocol DeviceAuthenticatorProtocol: Sendable {
    /// Downloads the policy of an authenticator, so that the app can offer user verification before it enrolls. Stores nothing.
    /// - Parameter authenticationToken: An access token of the user.
    @preconcurrency
    func downloadPolicy(
        authenticationToken: AuthToken, authenticatorConfig: DeviceAuthenticatorConfig,
        completion: @escaping @Sendable (Result<any AuthenticatorPolicyProtocol, DeviceAuthenticatorError>) -> Void)

    /// Downloads the policy of an authenticator. Stores nothing.
    func downloadPolicy(authenticationToken: AuthToken, authenticatorConfig: DeviceAuthenticatorConfig) async throws
        -> any AuthenticatorPolicyProtocol

    /// Enrolls this installation for a user: creates keys, registers them with the org, and stores the enrollment. The enrollment replaces
    /// an older enrollment of the same user, org and client. If the call fails, the new keys are deleted. The token is not stored.
    /// - Parameters:
    ///   - authenticationToken: An access token of a recent sign-in with the scope `okta.myAccount.appAuthenticator.manage`.
    ///   - authenticatorConfig: The authenticator to enroll in.
    ///   - enrollmentParameters: The push token and options of the enrollment.
    @preconcurrency
    func enroll(
        authenticationToken: AuthToken, authenticatorConfig: DeviceAuthenticatorConfig, enrollmentParameters: EnrollmentParameters,
        completion: @escaping @Sendable (Result<any AuthenticatorEnrollmentProtocol, DeviceAuthenticatorError>) -> Void)

    /// Enrolls this installation for a user. If the task is cancelled before the enrollment request, nothing is stored. If the task is
    /// cancelled later, the call throws `CancellationError`, but the enrollment is completed: an enrollment that the org has created is in
    /// ``allEnrollments()``.
    func enroll(
        authenticationToken: AuthToken, authenticatorConfig: DeviceAuthenticatorConfig, enrollmentParameters: EnrollmentParameters
    ) async throws -> any AuthenticatorEnrollmentProtocol

    /// Returns the enrollments on this device, oldest first. Enrollments that cannot be read are omitted and logged, but not deleted; see
    /// ``enrollments()``.
    func allEnrollments() -> [any AuthenticatorEnrollmentProtocol]

    /// Returns the enrollments on this device, oldest first.
    /// - Throws: ``DeviceAuthenticatorError/storageError(_:)`` if an enrollment cannot be read. The error names the enrollment, except in
    ///   these cases:
    ///   - ``DeviceAuthenticatorError/Reason/deviceLocked``: the device has not been unlocked since it started. Retry after the unlock.
    ///   - ``DeviceAuthenticatorError/Reason/enrollmentUnknown`` (``StorageError/itemNotFound``): the enrollments came from a backup of
    ///     another device and can never be read on this one. The user must enroll again, which removes them.
    func enrollments() throws -> [any AuthenticatorEnrollmentProtocol]

    /// Deletes an enrollment on the server, then on this device. The enrollment is also deleted on this device if the server reports that
    /// the enrollment, device or user is deleted or suspended (Documentation/Protocol/Devices.md §2.7). After any other error the
    /// enrollment is kept; the app can call ``AuthenticatorEnrollmentProtocol/deleteFromDevice()``.
    /// - Parameters:
    ///   - authenticationToken: An access token with the scope `okta.myAccount.appAuthenticator.manage`.
    ///   - completion: Called with `nil` on success.
    @preconcurrency
    func delete(
        enrollment: any AuthenticatorEnrollmentProtocol, authenticationToken: AuthToken,
        completion: @escaping @Sendable (DeviceAuthenticatorError?) -> Void)

    /// Deletes an enrollment on the server, then on this device.
    func delete(enrollment: any AuthenticatorEnrollmentProtocol, authenticationToken: AuthToken) async throws

    #if canImport(UserNotifications) && !os(tvOS)
    /// Parses a challenge from a notification that arrives while the app is in the foreground. Throws the same errors as
    /// ``parsePushNotification(userInfo:actionIdentifier:allowedClockSkewInSeconds:)``.
    /// - Parameter allowedClockSkewInSeconds: The allowed difference between this device's clock and the server's, in seconds.
    func parsePushNotification(_ notification: UNNotification, allowedClockSkewInSeconds: Int) throws -> any PushChallengeProtocol

    /// Parses a challenge from a notification that the user responded to. The actions `APPROVE_BUTTON` and `DENY_BUTTON` set the
    /// challenge's `userResponse`. Throws the same errors as
    /// ``parsePushNotification(userInfo:actionIdentifier:allowedClockSkewInSeconds:)``.
    /// - Parameter allowedClockSkewInSeconds: The allowed difference between this device's clock and the server's, in seconds.
    func parsePushNotificationResponse(_ response: UNNotificationResponse, allowedClockSkewInSeconds: Int) throws
        -> any PushChallengeProtocol
    #endif

    /// Parses a challenge from the payload of a push, for background handlers and for systems without UserNotifications. Sends no request.
    /// The signature is verified now if the org's key is known, otherwise when the challenge is resolved; see ``PushChallenge``.
    /// - Parameters:
    ///   - userInfo: The payload.
    ///   - actionIdentifier: The notification action that the user chose; `nil` if none.
    ///   - allowedClockSkewInSeconds: The allowed difference between this device's clock and the server's, in seconds.
    /// - Throws:
    ///   - ``DeviceAuthenticatorError/pushNotRecognized`` if the push is not a challenge.
    ///   - ``DeviceAuthenticatorError/accountNotFoundForChallenge(_:)`` if the enrollment is not on this device.
    ///   - ``SecurityError/jwtError(_:)`` if the challenge is invalid. As in Okta's SDK, this error is not wrapped.
    ///   - ``DeviceAuthenticatorError/storageError(_:)`` if the stored enrollment cannot be read.
    func parsePushNotification(userInfo: [AnyHashable: Any], actionIdentifier: String?, allowedClockSkewInSeconds: Int) throws
        -> any PushChallengeProtocol
}

extension DeviceAuthenticatorProtocol {
    #if canImport(UserNotifications) && !os(tvOS)
    /// Parses a challenge from a notification that arrives while the app is in the foreground. The allowed clock skew is 300 seconds.
    public func parsePushNotification(_ notification: UNNotification) throws -> any PushChallengeProtocol {
        try parsePushNotification(notification, allowedClockSkewInSeconds: PushPayload.defaultSkew)
    }

    /// Parses a challenge from a notification that the user responded to. The allowed clock skew is 300 seconds.
    public func parsePushNotificationResponse(_ response: UNNotificationResponse) throws -> any PushChallengeProtocol {
        try parsePushNotificationResponse(response, allowedClockSkewInSeconds: PushPayload.defaultSkew)
    }
    #endif

    /// Parses a challenge from the payload of a push. The allowed clock skew is 300 seconds.
    public func parsePushNotification(userInfo: [AnyHashable: Any]) throws -> any PushChallengeProtocol {
        try parsePushNotification(userInfo: userInfo, actionIdentifier: nil, allowedClockSkewInSeconds: PushPayload.defaultSkew)
    }

    /// Parses a challenge from the payload of a push that the user responded to. The allowed clock skew is 300 seconds.
    public func parsePushNotification(userInfo: [AnyHashable: Any], actionIdentifier: String?) throws -> any PushChallengeProtocol {
        try parsePushNotification(
            userInfo: userInfo, actionIdentifier: actionIdentifier, allowedClockSkewInSeconds: PushPayload.defaultSkew)
    }
}

/// Default implementations for an app's own types, such as test doubles, that implement only the members of Okta's SDK.
extension DeviceAuthenticatorProtocol {
    /// Calls the callback form and waits for its result.
    public func downloadPolicy(authenticationToken: AuthToken, authenticatorConfig: DeviceAuthenticatorConfig) async throws
        -> any AuthenticatorPolicyProtocol
    {
        try await Callback.value {
            downloadPolicy(authenticationToken: authenticationToken, authenticatorConfig: authenticatorConfig, completion: $0)
        }
    }

    /// Calls the callback form and waits for its result.
    public func enroll(
        authenticationToken: AuthToken, authenticatorConfig: DeviceAuthenticatorConfig, enrollmentParameters: EnrollmentParameters
    ) async throws -> any AuthenticatorEnrollmentProtocol {
        try await Callback.value {
            enroll(
                authenticationToken: authenticationToken, authenticatorConfig: authenticatorConfig,
                enrollmentParameters: enrollmentParameters, completion: $0)
        }
    }

    /// Returns the result of ``allEnrollments()``. Never throws.
    public func enrollments() throws -> [any AuthenticatorEnrollmentProtocol] { allEnrollments() }

    /// Calls the callback form and waits for its result.
    public func delete(enrollment: any AuthenticatorEnrollmentProtocol, authenticationToken: AuthToken) async throws {
        try await Callback.value { completion in
            delete(enrollment: enrollment, authenticationToken: authenticationToken) { completion($0.map(Result.failure) ?? .success(())) }
        }
    }

    /// Always throws ``DeviceAuthenticatorError/pushNotRecognized``.
    public func parsePushNotification(userInfo: [AnyHashable: Any], actionIdentifier: String?, allowedClockSkewInSeconds: Int) throws
        -> any PushChallengeProtocol
    {
        throw DeviceAuthenticatorError.pushNotRecognized
    }
}
