internal import AuthFoundation
public import Foundation

/// The enrollment type that this module's functions return. Cast to it for members beyond the protocol of Okta's SDK. The properties show
/// the state after the last call on this object; ``DeviceAuthenticatorProtocol/allEnrollments()`` reads the stored state.
public final class AuthenticatorEnrollment: AuthenticatorEnrollmentProtocol {
    let device: PushDevice
    private let state: Locked<EnrollmentRecord>

    init(_ record: EnrollmentRecord, device: PushDevice) {
        state = Locked(record)
        self.device = device
    }

    var record: EnrollmentRecord { state.withLock { $0 } }

    func adopt(_ record: EnrollmentRecord) { state.withLock { $0 = record } }

    /// The enrollment's id.
    public var enrollmentId: String { record.id }
    /// The org of the enrollment.
    public var organization: Organization { Organization(id: record.organizationID, url: record.organizationURL) }
    /// The enrolled user.
    public var user: User { User(id: record.userID, name: record.userName) }
    /// Whether the enrollment has a user verification key.
    public var userVerificationEnabled: Bool { record.verificationKeyTag != nil }
    /// Whether the server may send CIBA challenges.
    public var isCIBAEnabled: Bool { TransactionType(rawValue: record.transactionTypes).supportsCIBA }

    /// The client id of the app that the enrollment belongs to.
    public var oidcClientId: String { record.clientID }
    /// The time at which the enrollment was created.
    public var creationDate: Date { record.createdAt }
    /// The state of the enrollment according to the server's last response to a change. The module never deletes an enrollment because of
    /// its state; the app decides.
    public var enrollmentState: EnrollmentState { record.serverErrorCode.map { ServerErrorCode(raw: $0).enrollmentState } ?? .active }
    /// The authenticator's policy for user verification at the time of the enrollment; `nil` if it is not stored.
    public var userVerificationPolicy: UserVerificationPolicySetting? {
        let record = record
        return ((try? device.store.policy(of: record.organizationID, clientID: record.clientID)) ?? nil)?.userVerification
    }

    /// Turns user verification on or off.
    public func setUserVerification(
        authenticationToken: AuthToken, enable: Bool, completion: @escaping @Sendable (DeviceAuthenticatorError?) -> Void
    ) {
        Callback.run(completion) { try await self.setUserVerification(authenticationToken: authenticationToken, enable: enable) }
    }

    /// Turns user verification on or off.
    public func setUserVerification(authenticationToken: AuthToken, enable: Bool) async throws {
        try await setUserVerification(authenticationToken: authenticationToken, enable: enable, userVerificationSettings: .default)
    }

    /// Turns user verification on or off.
    /// - Parameters:
    ///   - authenticationToken: An access token with the scope `okta.myAccount.appAuthenticator.manage`.
    ///   - enable: Whether to turn user verification on.
    ///   - userVerificationSettings: The protection of a new key.
    /// - Throws: ``DeviceAuthenticatorError``; `CancellationError`.
    public func setUserVerification(
        authenticationToken: AuthToken, enable: Bool, userVerificationSettings: BiometricEnrollmentSettings
    ) async throws {
        let change = EnrollmentChange(enrollment: self, token: authenticationToken)
        try await DeviceAuthenticatorError.reported { try await change.setUserVerification(enable, settings: userVerificationSettings) }
    }

    /// Sets whether the server may send CIBA challenges.
    public func enableCIBATransactions(
        authenticationToken: AuthToken, enable: Bool, completion: @escaping @Sendable (DeviceAuthenticatorError?) -> Void
    ) {
        Callback.run(completion) { try await self.enableCIBATransactions(authenticationToken: authenticationToken, enable: enable) }
    }

    /// Sets whether the server may send CIBA challenges.
    public func enableCIBATransactions(authenticationToken: AuthToken, enable: Bool) async throws {
        let change = EnrollmentChange(enrollment: self, token: authenticationToken)
        try await DeviceAuthenticatorError.reported { try await change.setCIBA(enable) }
    }

    /// Sends a new push token for this enrollment to the server.
    public func updateDeviceToken(
        _ token: Data, authenticationToken: AuthToken, completion: @escaping @Sendable (DeviceAuthenticatorError?) -> Void
    ) {
        Callback.run(completion) { try await self.updateDeviceToken(token, authenticationToken: authenticationToken) }
    }

    /// Sends a new push token for this enrollment to the server.
    public func updateDeviceToken(_ token: Data, authenticationToken: AuthToken) async throws {
        let change = EnrollmentChange(enrollment: self, token: authenticationToken)
        try await DeviceAuthenticatorError.reported { try await change.setPushToken(.tokenData(token)) }
    }

    /// Pulls the pending challenges of this enrollment from the server.
    public func retrievePushChallenges(
        authenticationToken: AuthToken, allowedClockSkewInSeconds: Int,
        completion: @escaping @Sendable (Result<[any PushChallengeProtocol], DeviceAuthenticatorError>) -> Void
    ) {
        Callback.run(completion) {
            try await self.retrievePushChallenges(
                authenticationToken: authenticationToken, allowedClockSkewInSeconds: allowedClockSkewInSeconds)
        }
    }

    /// Pulls the pending challenges of this enrollment from the server.
    public func retrievePushChallenges(authenticationToken: AuthToken, allowedClockSkewInSeconds: Int) async throws
        -> [any PushChallengeProtocol]
    {
        let pull = PendingChallenges(enrollment: self, token: authenticationToken, skew: allowedClockSkewInSeconds)
        return try await DeviceAuthenticatorError.reported { try await pull.challenges() }
    }

    /// Gets an access token for maintenance with the enrollment's key, without user interaction.
    public func retrieveMaintenanceToken(
        scopes: [String], completion: @escaping @Sendable (Result<Oauth2Credential, DeviceAuthenticatorError>) -> Void
    ) {
        Callback.run(completion) { try await self.retrieveMaintenanceToken(scopes: scopes) }
    }

    /// Gets an access token for maintenance with the enrollment's key, without user interaction.
    public func retrieveMaintenanceToken(scopes: [String]) async throws -> Oauth2Credential {
        let request = MaintenanceToken(record: record, device: device)
        return try await DeviceAuthenticatorError.reported { try await request.retrieve(scopes: scopes) }
    }

    /// Deletes the enrollment and its keys on this device only, without network access.
    public func deleteFromDevice() throws {
        do { try device.store.remove(record.id) } catch { throw DeviceAuthenticatorError.reporting(error) }
    }

    /// Deletes the enrollment on the server, then on this device.
    /// - Parameter authenticationToken: An access token with the scope `okta.myAccount.appAuthenticator.manage`.
    /// - Throws: ``DeviceAuthenticatorError`` or `CancellationError`. If the deletion on the server failed, the enrollment is kept on this
    ///   device.
    public func delete(authenticationToken: AuthToken) async throws {
        try await DeviceAuthenticatorError.reported { try await self.deleteOnServer(authenticationToken) }
    }

    private func deleteOnServer(_ token: AuthToken) async throws {
        let record = record
        do {
            _ = try await device.transport.send(OrgRequests.delete(record.id, of: record.organizationURL, token: token))
        } catch DeviceAuthenticatorError.serverAPIError(_, let model?)
            where model.errorCode.map({ $0.isResourceDeleted || $0.isResourceSuspended }) == true
        {
            device.log.info("enrollmentDeleted", "The server does not serve the enrollment \(record.id) any more; it is deleted here")
        }
        try await device.store.run { try $0.remove(record.id) }
    }
}

extension AuthenticatorEnrollment: CustomStringConvertible {
    /// The ids and the org, without keys.
    public var description: String {
        "AuthenticatorEnrollment(\(enrollmentId), user: \(record.userID), org: \(record.organizationURL.absoluteString))"
    }
}
