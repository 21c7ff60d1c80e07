internal import AuthFoundation
internal import CountersignUI
internal import DeviceAuthenticator
internal import Foundation

/// A function that is called while a sign-in waits for a phone. `number` is the number to pick on the phone; `nil` for none.
typealias WaitingForApproval = @MainActor @Sendable (_ number: String?) -> Void

/// The service for the accounts of this device. It uses `DeviceAuthenticator`, which stores accounts and keys. All errors have texts for
/// users.
actor AuthenticatorService {
    private let device: any DeviceAuthenticatorProtocol
    private let authenticator: DeviceAuthenticatorConfig
    private let signIn: OrganizationSignIn
    /// The maintenance tokens by enrollment. A token is reused until the organization rejects it, and is never stored on disk.
    private var maintenanceTokens: [String: AuthToken] = [:]
    private var pushToken = DeviceToken.empty

    /// Creates the service; see `AuthenticatorViewModel`.
    init(
        device: any DeviceAuthenticatorProtocol, authenticator: DeviceAuthenticatorConfig, session: (any URLSessionProtocol)?,
        clock: any OAuth2Clock
    ) {
        self.device = device
        self.authenticator = authenticator
        signIn = OrganizationSignIn(authenticator: authenticator, session: session, clock: clock)
    }

    // MARK: - Accounts

    /// Reads the stored accounts.
    nonisolated func accounts() throws -> [Account] { try device.enrollments().map(Account.init) }

    /// Signs in and enrolls this device. The new account replaces an older account of the same user.
    func enroll(_ form: SignInForm, userVerification: Bool, waiting: @escaping WaitingForApproval) async throws -> Account {
        let parameters = parameters(userVerification)
        return try await signIn.token(form, waiting: waiting) { [device, authenticator] token in
            Account(
                try await device.enroll(
                    authenticationToken: token, authenticatorConfig: authenticator, enrollmentParameters: parameters))
        }
    }

    /// Enrolls this device with the QR code of a sign-in page. The sign-in on the page then continues with a request to this device.
    func enroll(link: String, userVerification: Bool) async throws -> Account {
        Account(try await device.enroll(try EnrollmentLink(link), enrollmentParameters: parameters(userVerification)))
    }

    private func parameters(_ userVerification: Bool) -> EnrollmentParameters {
        var parameters = EnrollmentParameters(deviceToken: pushToken)
        parameters.enableUserVerification(enable: userVerification)
        return parameters
    }

    /// Turns user verification on or off. The change needs a fresh sign-in, because it affects how easily the user can approve.
    func setUserVerification(
        _ isOn: Bool, of id: Account.ID, _ form: SignInForm, waiting: @escaping WaitingForApproval
    ) async throws {
        let enrollment = try enrollment(id)
        try await signIn.token(form, waiting: waiting) { try await enrollment.setUserVerification(authenticationToken: $0, enable: isOn) }
    }

    /// Turns requests without a sign-in on or off, with a token that the account's own key obtains.
    func setCIBA(_ isOn: Bool, of id: Account.ID) async throws {
        let enrollment = try enrollment(id)
        try await maintaining(enrollment) { try await enrollment.enableCIBATransactions(authenticationToken: $0, enable: isOn) }
    }

    /// Removes an account at the organization, then on this device. The removal needs a fresh sign-in.
    func remove(_ id: Account.ID, _ form: SignInForm, waiting: @escaping WaitingForApproval) async throws {
        let enrollment = try enrollment(id)
        try await signIn.token(form, waiting: waiting) { [device] token in
            try await device.delete(enrollment: enrollment, authenticationToken: token)
        }
    }

    /// Removes an account from this device only. The organization continues to send requests for the account; prefer
    /// ``remove(_:_:waiting:)``.
    func removeFromDevice(_ id: Account.ID) throws {
        try enrollment(id).deleteFromDevice()
    }

    private func enrollment(_ id: Account.ID) throws -> any AuthenticatorEnrollmentProtocol {
        guard let enrollment = try device.enrollments().first(where: { $0.enrollmentId == id }) else { throw SignInTrouble.noSuchAccount }
        return enrollment
    }

    // MARK: - Maintenance, without the user

    /// Sends the push token to each organization, and uses it for accounts that are added later. Throws the first failure after all
    /// requests have been sent.
    func updatePushToken(_ token: Data) async throws {
        pushToken = .tokenData(token)
        var failure: (any Error)?
        for enrollment in device.allEnrollments() {
            do {
                try await maintaining(enrollment) { try await enrollment.updateDeviceToken(token, authenticationToken: $0) }
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }

    /// Runs an action with a token that the account's own key obtains. If the organization rejects the token, runs the action again with a
    /// new token.
    private func maintaining(
        _ enrollment: any AuthenticatorEnrollmentProtocol, _ work: @Sendable (AuthToken) async throws -> Void
    ) async throws {
        if let token = maintenanceTokens[enrollment.enrollmentId] {
            do {
                return try await work(token)
            } catch let error as DeviceAuthenticatorError where error.reason == .tokenRefused || error.reason == .notPermitted {
                maintenanceTokens[enrollment.enrollmentId] = nil
            }
        }
        let token = AuthToken.bearer(try await enrollment.retrieveMaintenanceToken().access_token)
        maintenanceTokens[enrollment.enrollmentId] = token
        try await work(token)
    }

    /// Waits until the requests of cancelled sign-ins are withdrawn.
    nonisolated func settled() async { await signIn.settled() }
}
