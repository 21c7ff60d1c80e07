public import AuthFoundation
public import DeviceAuthenticator
public import Foundation
internal import Wording

/// The app's own service. It uses `DeviceAuthenticator`, which stores accounts and keys.
public actor AuthenticatorService: AuthenticatorServicing {
    private let device: any DeviceAuthenticatorProtocol
    private let authenticator: DeviceAuthenticatorConfig
    private let signIn: OrganizationSignIn
    /// The pending challenges by id.
    private var challenges: [String: PushChallenge] = [:]
    /// The maintenance tokens by enrollment. A token is reused until the organization rejects it, and is never stored on disk.
    private var maintenanceTokens: [String: AuthToken] = [:]
    private var pushToken = DeviceToken.empty

    /// Creates the service.
    ///
    /// - Parameters:
    ///   - device: The authenticator of this device.
    ///   - authenticator: The organization, and the client with which new accounts are enrolled.
    ///   - session: The network session of sign-ins; `nil` for the default session.
    ///   - clock: The clock of sign-ins.
    public init(
        device: any DeviceAuthenticatorProtocol, authenticator: DeviceAuthenticatorConfig, session: (any URLSessionProtocol)? = nil,
        clock: any OAuth2Clock = DeviceClock()
    ) {
        self.device = device
        self.authenticator = authenticator
        signIn = OrganizationSignIn(authenticator: authenticator, session: session, clock: clock)
    }

    // MARK: - Accounts

    /// Reads the stored accounts.
    nonisolated public func accounts() throws -> [Account] { try device.enrollments().map(Account.init) }

    /// Signs in and enrolls this device. The new account replaces an older account of the same user.
    public func enroll(_ form: SignInForm, userVerification: Bool, waiting: @escaping WaitingForApproval) async throws -> Account {
        let parameters = parameters(userVerification)
        return try await signIn.token(form, waiting: waiting) { [device, authenticator] token in
            Account(
                try await device.enroll(
                    authenticationToken: token, authenticatorConfig: authenticator, enrollmentParameters: parameters))
        }
    }

    /// Enrolls this device with the QR code of a sign-in page. The sign-in on the page then continues with a request to this device.
    public func enroll(link: String, userVerification: Bool) async throws -> Account {
        Account(try await device.enroll(try EnrollmentLink(link), enrollmentParameters: parameters(userVerification)))
    }

    private func parameters(_ userVerification: Bool) -> EnrollmentParameters {
        var parameters = EnrollmentParameters(deviceToken: pushToken)
        parameters.enableUserVerification(enable: userVerification)
        return parameters
    }

    /// Turns user verification on or off. The change needs a fresh sign-in, because it affects how easily the user can approve.
    public func setUserVerification(
        _ isOn: Bool, of id: Account.ID, _ form: SignInForm, waiting: @escaping WaitingForApproval
    ) async throws {
        let enrollment = try enrollment(id)
        try await signIn.token(form, waiting: waiting) { try await enrollment.setUserVerification(authenticationToken: $0, enable: isOn) }
    }

    /// Turns requests without a sign-in on or off, with a token that the account's own key obtains.
    public func setCIBA(_ isOn: Bool, of id: Account.ID) async throws {
        let enrollment = try enrollment(id)
        try await maintaining(enrollment) { try await enrollment.enableCIBATransactions(authenticationToken: $0, enable: isOn) }
    }

    /// Removes an account at the organization, then on this device. The removal needs a fresh sign-in.
    public func remove(_ id: Account.ID, _ form: SignInForm, waiting: @escaping WaitingForApproval) async throws {
        let enrollment = try enrollment(id)
        try await signIn.token(form, waiting: waiting) { [device] token in
            try await device.delete(enrollment: enrollment, authenticationToken: token)
        }
        forget(id)
    }

    /// Removes an account from this device only. The organization continues to send requests for the account; prefer
    /// ``remove(_:_:waiting:)``.
    public func removeFromDevice(_ id: Account.ID) throws {
        try enrollment(id).deleteFromDevice()
        forget(id)
    }

    private func forget(_ id: Account.ID) {
        maintenanceTokens[id] = nil
        challenges = challenges.filter { $0.value.enrollmentId != id }
    }

    private func enrollment(_ id: Account.ID) throws -> any AuthenticatorEnrollmentProtocol {
        guard let enrollment = try device.enrollments().first(where: { $0.enrollmentId == id }) else { throw SignInTrouble.noSuchAccount }
        return enrollment
    }

    // MARK: - Upkeep, without the person

    /// Sends the push token to each organization, and uses it for accounts that are added later.
    public func updatePushToken(_ token: Data) async throws {
        pushToken = .tokenData(token)
        try await forEach { enrollment, authorization in
            try await enrollment.updateDeviceToken(token, authenticationToken: authorization)
        }
    }

    /// Fetches the pending requests. Requests that are no longer listed are removed, except for requests of accounts that could not be
    /// fetched, and requests that a push delivered during the fetch.
    public func retrieve() async -> Retrieved {
        let known = Set(challenges.keys)
        let (found, failures) = await collect { try await $0.retrievePushChallenges(authenticationToken: $1) }
        let listed = Dictionary(found.flatMap { $0 }.compactMap { $0 as? PushChallenge }.map { ($0.transactionId, $0) }) { first, _ in first
        }
        let unasked = Set(failures.map(\.account))
        challenges = challenges.filter { id, challenge in
            !known.contains(id) || listed[id] != nil || unasked.contains(challenge.enrollmentId)
        }
        // A request that was answered since the fetch is no longer pending.
        for (id, challenge) in listed where !known.contains(id) || challenges[id] != nil { challenges[id] = challenge }
        return Retrieved(challenges.values.map(ApprovalRequest.init), failure: failures.first?.error)
    }

    private func forEach(_ work: @Sendable (any AuthenticatorEnrollmentProtocol, AuthToken) async throws -> Void) async throws {
        if let failure = await collect(work).failures.first { throw failure.error }
    }

    /// Runs an action for each account, even if the action fails for some accounts.
    private func collect<Result: Sendable>(
        _ work: @Sendable (any AuthenticatorEnrollmentProtocol, AuthToken) async throws -> Result
    ) async -> (results: [Result], failures: [(account: Account.ID, error: any Error)]) {
        var results: [Result] = []
        var failures: [(account: Account.ID, error: any Error)] = []
        for enrollment in device.allEnrollments() {
            do {
                results.append(try await maintaining(enrollment) { try await work(enrollment, $0) })
            } catch {
                failures.append((enrollment.enrollmentId, error))
            }
        }
        return (results, failures)
    }

    /// Runs an action with a maintenance token. If the organization rejects the token, runs the action again with a new token.
    private func maintaining<Result: Sendable>(
        _ enrollment: any AuthenticatorEnrollmentProtocol, _ work: @Sendable (AuthToken) async throws -> Result
    ) async throws -> Result {
        if let token = maintenanceTokens[enrollment.enrollmentId] {
            do {
                return try await work(token)
            } catch let error as DeviceAuthenticatorError where error.reason == .tokenRefused || error.reason == .notPermitted {
                maintenanceTokens[enrollment.enrollmentId] = nil
            }
        }
        let token = AuthToken.bearer(try await enrollment.retrieveMaintenanceToken().access_token)
        maintenanceTokens[enrollment.enrollmentId] = token
        return try await work(token)
    }

    // MARK: - Requests

    /// Reads the payload of a push, and verifies it before any of its content is shown.
    public func read(push: PushPayload) async throws -> ApprovalRequest? {
        do {
            let challenge = try device.parsePushNotification(userInfo: push.userInfo, actionIdentifier: push.action)
            guard let challenge = challenge as? PushChallenge else { return nil }
            try await challenge.verify()
            challenges[challenge.transactionId] = challenge
            return ApprovalRequest(challenge)
        } catch DeviceAuthenticatorError.pushNotRecognized {
            return nil
        }
    }

    /// Answers a request. The account's key signs the answer, or the user verification key if the request requires user verification.
    public func answer(_ id: ApprovalRequest.ID, _ answer: Answer) async throws -> String? {
        guard let challenge = challenges[id] else { throw SignInTrouble.noSuchRequest }
        // Resets an earlier answer, so that the user can answer again after a network failure.
        challenge.userResponse = .userNotResponded
        let (messages, entrance) = AsyncStream.makeStream(of: RemediationStepMessage.self)
        defer { entrance.finish() }
        try await challenge.resolve { step in
            switch (step, answer) {
            case (let step as RemediationStepUserConsent, .approve(let number)): step.provide(.approved, selectedNumber: number)
            case (let step as RemediationStepUserConsent, .deny(let isSuspicious)): step.provide(.denied, reportSuspicious: isSuspicious)
            case (let step as RemediationStepMessage, _): entrance.yield(step)
            default: step.defaultProcess()
            }
        }
        challenges[id] = nil
        entrance.finish()
        var trouble: String?
        for await message in messages { trouble = Self.text(of: message.reasonType) }
        return trouble
    }

    /// Waits until the requests of cancelled sign-ins are withdrawn. Does not wait for answers.
    nonisolated public func settled() async { await signIn.settled() }

    private static func text(of reason: RemediationStepMessageReasonType) -> String {
        switch reason {
        case .userVerificationKeyNotEnrolled: words("This device approves without verifying you.")
        case .userVerificationCancelledByUser: words("User verification was cancelled.")
        case .userVerificationKeyCorruptedOrMissing: words("The user verification key is missing. Remove the account and add it again.")
        case .userVerificationFailed: words("You could not be verified, and the organization was notified.")
        }
    }
}
