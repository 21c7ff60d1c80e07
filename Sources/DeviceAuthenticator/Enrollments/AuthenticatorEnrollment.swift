internal import AuthFoundation
public import Foundation

/// The enrollment that this module's functions return, with what it offers beyond the published protocol: cast to it.
///
/// What it shows is as of its last call; a new call of ``DeviceAuthenticatorProtocol/allEnrollments()`` reads what is stored.
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
    /// The org.
    public var organization: Organization { Organization(id: record.organizationID, url: record.organizationURL) }
    /// The user.
    public var user: User { User(id: record.userID, name: record.userName) }
    /// Whether there is a user verification key.
    public var userVerificationEnabled: Bool { record.verificationKeyTag != nil }
    /// Whether the server may send CIBA challenges.
    public var isCIBAEnabled: Bool { TransactionType(rawValue: record.transactionTypes).supportsCIBA }

    /// The client id that the enrollment belongs to.
    public var oidcClientId: String { record.clientID }
    /// When the enrollment was made.
    public var creationDate: Date { record.createdAt }
    /// What the server's last answer to a change said about the enrollment. It is never removed because of it: the app decides.
    public var enrollmentState: EnrollmentState { record.serverErrorCode.map { ServerErrorCode(raw: $0).enrollmentState } ?? .active }
    /// What the authenticator's policy asked for when the enrollment was made; nil if it is not stored.
    public var userVerificationPolicy: UserVerificationPolicySetting? {
        let record = record
        return ((try? device.store.policy(of: record.organizationID, clientID: record.clientID)) ?? nil)?.userVerification
    }

    // MARK: - Changes

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
    ///
    /// - Parameters:
    ///   - authenticationToken: An access token with the scope `okta.myAccount.appAuthenticator.manage`.
    ///   - enable: Whether it shall be on.
    ///   - userVerificationSettings: What guards a key that is made.
    /// - Throws: ``DeviceAuthenticatorError``; `CancellationError`.
    public func setUserVerification(
        authenticationToken: AuthToken, enable: Bool, userVerificationSettings: BiometricEnrollmentSettings
    ) async throws {
        let change = EnrollmentChange(enrollment: self, token: authenticationToken)
        try await reporting { try await change.setUserVerification(enable, settings: userVerificationSettings) }
    }

    /// Lets the server send CIBA challenges, or not.
    public func enableCIBATransactions(
        authenticationToken: AuthToken, enable: Bool, completion: @escaping @Sendable (DeviceAuthenticatorError?) -> Void
    ) {
        Callback.run(completion) { try await self.enableCIBATransactions(authenticationToken: authenticationToken, enable: enable) }
    }

    /// Lets the server send CIBA challenges, or not.
    public func enableCIBATransactions(authenticationToken: AuthToken, enable: Bool) async throws {
        let change = EnrollmentChange(enrollment: self, token: authenticationToken)
        try await reporting { try await change.setCIBA(enable) }
    }

    /// Tells the server a new push token, for this enrollment.
    public func updateDeviceToken(
        _ token: Data, authenticationToken: AuthToken, completion: @escaping @Sendable (DeviceAuthenticatorError?) -> Void
    ) {
        Callback.run(completion) { try await self.updateDeviceToken(token, authenticationToken: authenticationToken) }
    }

    /// Tells the server a new push token, for this enrollment.
    public func updateDeviceToken(_ token: Data, authenticationToken: AuthToken) async throws {
        let change = EnrollmentChange(enrollment: self, token: authenticationToken)
        try await reporting { try await change.setPushToken(.tokenData(token)) }
    }

    // MARK: - Challenges and upkeep

    /// Asks the server for the challenges that wait for this enrollment.
    public func retrievePushChallenges(
        authenticationToken: AuthToken, allowedClockSkewInSeconds: Int,
        completion: @escaping @Sendable (Result<[any PushChallengeProtocol], DeviceAuthenticatorError>) -> Void
    ) {
        Callback.run(completion) {
            try await self.retrievePushChallenges(
                authenticationToken: authenticationToken, allowedClockSkewInSeconds: allowedClockSkewInSeconds)
        }
    }

    /// Asks the server for the challenges that wait for this enrollment.
    public func retrievePushChallenges(authenticationToken: AuthToken, allowedClockSkewInSeconds: Int) async throws
        -> [any PushChallengeProtocol]
    {
        let pull = PendingChallenges(enrollment: self, token: authenticationToken, skew: allowedClockSkewInSeconds)
        return try await reporting { try await pull.challenges() }
    }

    /// Gets an access token for upkeep without asking the person, by the enrollment's key.
    public func retrieveMaintenanceToken(
        scopes: [String], completion: @escaping @Sendable (Result<Oauth2Credential, DeviceAuthenticatorError>) -> Void
    ) {
        Callback.run(completion) { try await self.retrieveMaintenanceToken(scopes: scopes) }
    }

    /// Gets an access token for upkeep without asking the person, by the enrollment's key.
    public func retrieveMaintenanceToken(scopes: [String]) async throws -> Oauth2Credential {
        let request = MaintenanceToken(record: record, device: device)
        return try await reporting { try await request.retrieve(scopes: scopes) }
    }

    // MARK: - Deleting

    /// Deletes the enrollment and its keys on this device alone, without the network.
    public func deleteFromDevice() throws {
        do { try device.store.remove(record.id) } catch { throw DeviceAuthenticatorError.reporting(error) }
    }

    /// Deletes the enrollment on the server, and then on this device.
    ///
    /// - Parameter authenticationToken: An access token with the scope `okta.myAccount.appAuthenticator.manage`.
    /// - Throws: ``DeviceAuthenticatorError``; `CancellationError`. Then the enrollment is kept.
    public func delete(authenticationToken: AuthToken) async throws {
        try await reporting { try await self.deleteOnServer(authenticationToken) }
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

    private func reporting<Result>(_ operation: () async throws -> Result) async throws -> Result {
        do { return try await operation() } catch { throw DeviceAuthenticatorError.reporting(error) }
    }
}

extension AuthenticatorEnrollment: CustomStringConvertible {
    /// Ids; nothing of the keys.
    public var description: String {
        "AuthenticatorEnrollment(\(enrollmentId), user: \(record.userID), org: \(record.organizationURL.absoluteString))"
    }
}
