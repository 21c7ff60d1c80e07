#if canImport(UserNotifications)
public import UserNotifications
#endif

/// This installation of an app as a push authenticator: what ``DeviceAuthenticatorBuilder/create()`` makes.
///
/// Each call with a completion handler has an asynchronous form without it, which does the same and throws ``DeviceAuthenticatorError``, or
/// `CancellationError` if its task was cancelled. Completion handlers are called once, not on the main queue. Safe from any thread.
public protocol DeviceAuthenticatorProtocol: Sendable {
    /// Reads what the policy of an authenticator asks for, to offer user verification before enrolling. Nothing is stored.
    ///
    /// - Parameters:
    ///   - authenticationToken: An access token of the user.
    ///   - authenticatorConfig: The authenticator.
    ///   - completion: Gets the policy, or why there is none.
    @preconcurrency
    func downloadPolicy(
        authenticationToken: AuthToken, authenticatorConfig: DeviceAuthenticatorConfig,
        completion: @escaping @Sendable (Result<any AuthenticatorPolicyProtocol, DeviceAuthenticatorError>) -> Void)

    /// Reads what the policy of an authenticator asks for. Nothing is stored.
    func downloadPolicy(authenticationToken: AuthToken, authenticatorConfig: DeviceAuthenticatorConfig) async throws
        -> any AuthenticatorPolicyProtocol

    /// Makes this installation an authenticator of a user: makes keys, registers them with the org, and stores the enrollment.
    ///
    /// Enrolling again with the same user, org and client takes the place of the older enrollment. If it fails, the keys made for it are
    /// deleted. Needs a fresh sign-in; the token is not kept.
    ///
    /// - Parameters:
    ///   - authenticationToken: An access token with the scope `okta.myAccount.appAuthenticator.manage`.
    ///   - authenticatorConfig: The authenticator.
    ///   - enrollmentParameters: What the enrollment shall have.
    ///   - completion: Gets the enrollment, or why there is none.
    @preconcurrency
    func enroll(
        authenticationToken: AuthToken, authenticatorConfig: DeviceAuthenticatorConfig, enrollmentParameters: EnrollmentParameters,
        completion: @escaping @Sendable (Result<any AuthenticatorEnrollmentProtocol, DeviceAuthenticatorError>) -> Void)

    /// Makes this installation an authenticator of a user.
    ///
    /// Cancelling the task before the org is asked to enroll leaves nothing. From then on the enrollment is seen through to its end: the call
    /// throws `CancellationError`, and an enrollment that the org has made is among ``allEnrollments()``.
    func enroll(
        authenticationToken: AuthToken, authenticatorConfig: DeviceAuthenticatorConfig, enrollmentParameters: EnrollmentParameters
    ) async throws -> any AuthenticatorEnrollmentProtocol

    /// The enrollments on this device, oldest first. One that can't be read is left out and logged, and stays stored: see ``enrollments()``.
    func allEnrollments() -> [any AuthenticatorEnrollmentProtocol]

    /// The enrollments on this device, oldest first.
    ///
    /// - Throws: ``DeviceAuthenticatorError/storageError(_:)`` that names an enrollment that can't be read.
    func enrollments() throws -> [any AuthenticatorEnrollmentProtocol]

    /// Deletes an enrollment on the server, and then on this device.
    ///
    /// It is deleted here too if the server says that enrollment, device or user are deleted or suspended (the device-authenticator reference
    /// 2.7); after any other failure it is kept, and the app decides: see ``AuthenticatorEnrollmentProtocol/deleteFromDevice()``.
    ///
    /// - Parameters:
    ///   - enrollment: The enrollment.
    ///   - authenticationToken: An access token with the scope `okta.myAccount.appAuthenticator.manage`.
    ///   - completion: Gets nil, or why it failed.
    @preconcurrency
    func delete(
        enrollment: any AuthenticatorEnrollmentProtocol, authenticationToken: AuthToken,
        completion: @escaping @Sendable (DeviceAuthenticatorError?) -> Void)

    /// Deletes an enrollment on the server, and then on this device.
    func delete(enrollment: any AuthenticatorEnrollmentProtocol, authenticationToken: AuthToken) async throws

    #if canImport(UserNotifications)
    /// Reads a challenge from a notification that arrives while the app is in the foreground.
    ///
    /// - Parameters:
    ///   - notification: The notification.
    ///   - allowedClockSkewInSeconds: How far this device's clock may differ from the server's, in seconds.
    /// - Returns: The challenge.
    /// - Throws: As ``parsePushNotification(userInfo:actionIdentifier:allowedClockSkewInSeconds:)``.
    func parsePushNotification(_ notification: UNNotification, allowedClockSkewInSeconds: Int) throws -> any PushChallengeProtocol

    /// Reads a challenge from a notification that the person acted upon.
    ///
    /// - Parameters:
    ///   - response: The notification and the action: `APPROVE_BUTTON` and `DENY_BUTTON` set the challenge's `userResponse`.
    ///   - allowedClockSkewInSeconds: How far this device's clock may differ from the server's, in seconds.
    /// - Returns: The challenge.
    /// - Throws: As ``parsePushNotification(userInfo:actionIdentifier:allowedClockSkewInSeconds:)``.
    func parsePushNotificationResponse(_ response: UNNotificationResponse, allowedClockSkewInSeconds: Int) throws
        -> any PushChallengeProtocol
    #endif

    /// Reads a challenge from the payload of a push: for background handlers, and for systems without UserNotifications.
    ///
    /// The challenge's signature is checked now if the org's key is known, else when it is resolved; see ``PushChallenge``. Nothing is sent.
    ///
    /// - Parameters:
    ///   - userInfo: The payload.
    ///   - actionIdentifier: What the person chose; nil if nothing.
    ///   - allowedClockSkewInSeconds: How far this device's clock may differ from the server's, in seconds.
    /// - Returns: The challenge.
    /// - Throws: ``DeviceAuthenticatorError/pushNotRecognized`` if the push is not the org's;
    ///   ``DeviceAuthenticatorError/accountNotFoundForChallenge(_:)`` if the enrollment is not on this device; ``SecurityError/jwtError(_:)``, as
    ///   published not wrapped, if the challenge is not acceptable; ``DeviceAuthenticatorError/storageError(_:)``.
    func parsePushNotification(userInfo: [AnyHashable: Any], actionIdentifier: String?, allowedClockSkewInSeconds: Int) throws
        -> any PushChallengeProtocol
}

extension DeviceAuthenticatorProtocol {
    #if canImport(UserNotifications)
    /// Reads a challenge from a notification that arrives while the app is in the foreground, with a skew of 300 seconds.
    public func parsePushNotification(_ notification: UNNotification) throws -> any PushChallengeProtocol {
        try parsePushNotification(notification, allowedClockSkewInSeconds: PushPayload.defaultSkew)
    }

    /// Reads a challenge from a notification that the person acted upon, with a skew of 300 seconds.
    public func parsePushNotificationResponse(_ response: UNNotificationResponse) throws -> any PushChallengeProtocol {
        try parsePushNotificationResponse(response, allowedClockSkewInSeconds: PushPayload.defaultSkew)
    }
    #endif

    /// Reads a challenge from the payload of a push, with a skew of 300 seconds.
    public func parsePushNotification(userInfo: [AnyHashable: Any]) throws -> any PushChallengeProtocol {
        try parsePushNotification(userInfo: userInfo, actionIdentifier: nil, allowedClockSkewInSeconds: PushPayload.defaultSkew)
    }

    /// Reads a challenge from the payload of a push that the person acted upon, with a skew of 300 seconds.
    public func parsePushNotification(userInfo: [AnyHashable: Any], actionIdentifier: String?) throws -> any PushChallengeProtocol {
        try parsePushNotification(
            userInfo: userInfo, actionIdentifier: actionIdentifier, allowedClockSkewInSeconds: PushPayload.defaultSkew)
    }
}

/// For types of the app's own, such as test doubles, that have the published members only.
extension DeviceAuthenticatorProtocol {
    /// Waits for the callback form.
    public func downloadPolicy(authenticationToken: AuthToken, authenticatorConfig: DeviceAuthenticatorConfig) async throws
        -> any AuthenticatorPolicyProtocol
    {
        try await Callback.value {
            downloadPolicy(authenticationToken: authenticationToken, authenticatorConfig: authenticatorConfig, completion: $0)
        }
    }

    /// Waits for the callback form.
    public func enroll(
        authenticationToken: AuthToken, authenticatorConfig: DeviceAuthenticatorConfig, enrollmentParameters: EnrollmentParameters
    ) async throws -> any AuthenticatorEnrollmentProtocol {
        try await Callback.value {
            enroll(
                authenticationToken: authenticationToken, authenticatorConfig: authenticatorConfig,
                enrollmentParameters: enrollmentParameters, completion: $0)
        }
    }

    /// The same as ``allEnrollments()``.
    public func enrollments() throws -> [any AuthenticatorEnrollmentProtocol] { allEnrollments() }

    /// Waits for the callback form.
    public func delete(enrollment: any AuthenticatorEnrollmentProtocol, authenticationToken: AuthToken) async throws {
        try await Callback.value { completion in
            delete(enrollment: enrollment, authenticationToken: authenticationToken) { completion($0.map(Result.failure) ?? .success(())) }
        }
    }

    /// Recognises nothing.
    public func parsePushNotification(userInfo: [AnyHashable: Any], actionIdentifier: String?, allowedClockSkewInSeconds: Int) throws
        -> any PushChallengeProtocol
    {
        throw DeviceAuthenticatorError.pushNotRecognized
    }
}
