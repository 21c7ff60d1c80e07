public import AuthFoundation
public import DeviceAuthenticator
public import Foundation
internal import Wording

/// The service of the app itself, on `DeviceAuthenticator`, which keeps accounts and keys.
public actor AuthenticatorService: AuthenticatorServicing {
    private let device: any DeviceAuthenticatorProtocol
    private let authenticator: DeviceAuthenticatorConfig
    private let signIn: OrganizationSignIn
    /// The challenges that may still be answered, by their ids.
    private var challenges: [String: PushChallenge] = [:]
    /// By enrollment, until the organization refuses them. Never stored.
    private var maintenanceTokens: [String: AuthToken] = [:]
    private var pushToken = DeviceToken.empty

    /// Takes what the app has made.
    ///
    /// - Parameters:
    ///   - device: This device.
    ///   - authenticator: The organization and the client that new accounts are enrolled with.
    ///   - session: What sign-ins go through; nil for the usual session.
    ///   - clock: The clock that sign-ins wait on.
    public init(
        device: any DeviceAuthenticatorProtocol, authenticator: DeviceAuthenticatorConfig, session: (any URLSessionProtocol)? = nil,
        clock: any OAuth2Clock = DeviceClock()
    ) {
        self.device = device
        self.authenticator = authenticator
        signIn = OrganizationSignIn(authenticator: authenticator, session: session, clock: clock)
    }

    // MARK: - Accounts

    /// As they are stored.
    nonisolated public func accounts() throws -> [Account] { try device.enrollments().map(Account.init) }

    /// Enrolling again takes the place of the same person's older account.
    public func enroll(_ form: SignInForm, userVerification: Bool, waiting: @escaping WaitingForApproval) async throws -> Account {
        let parameters = parameters(userVerification)
        return try await signIn.token(form, waiting: waiting) { [device, authenticator] token in
            Account(
                try await device.enroll(
                    authenticationToken: token, authenticatorConfig: authenticator, enrollmentParameters: parameters))
        }
    }

    /// The sign-in on the page then goes on with a request to this device.
    public func enroll(link: String, userVerification: Bool) async throws -> Account {
        Account(try await device.enroll(try EnrollmentLink(link), enrollmentParameters: parameters(userVerification)))
    }

    private func parameters(_ userVerification: Bool) -> EnrollmentParameters {
        var parameters = EnrollmentParameters(deviceToken: pushToken)
        parameters.enableUserVerification(enable: userVerification)
        return parameters
    }

    /// A change that needs a fresh sign-in, for it decides how hard it is to approve for the person.
    public func setUserVerification(
        _ isOn: Bool, of id: Account.ID, _ form: SignInForm, waiting: @escaping WaitingForApproval
    ) async throws {
        let enrollment = try enrollment(id)
        try await signIn.token(form, waiting: waiting) { try await enrollment.setUserVerification(authenticationToken: $0, enable: isOn) }
    }

    /// By a token that the account's own key gets.
    public func setCIBA(_ isOn: Bool, of id: Account.ID) async throws {
        let enrollment = try enrollment(id)
        try await maintaining(enrollment) { try await enrollment.enableCIBATransactions(authenticationToken: $0, enable: isOn) }
    }

    /// A change that needs a fresh sign-in.
    public func remove(_ id: Account.ID, _ form: SignInForm, waiting: @escaping WaitingForApproval) async throws {
        let enrollment = try enrollment(id)
        try await signIn.token(form, waiting: waiting) { [device] token in
            try await device.delete(enrollment: enrollment, authenticationToken: token)
        }
        forget(id)
    }

    /// The organization continues to send requests to the removed account; prefer ``remove(_:_:waiting:)``.
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

    /// Accounts that are made later get it too.
    public func updatePushToken(_ token: Data) async throws {
        pushToken = .tokenData(token)
        try await forEach { enrollment, authorization in
            try await enrollment.updateDeviceToken(token, authenticationToken: authorization)
        }
    }

    /// What was known before and is not listed any more is over, but for accounts that could not be asked for; what a push brings meanwhile
    /// stays.
    public func retrieve() async -> Retrieved {
        let known = Set(challenges.keys)
        let (found, failures) = await collect { try await $0.retrievePushChallenges(authenticationToken: $1) }
        let listed = Dictionary(found.flatMap { $0 }.compactMap { $0 as? PushChallenge }.map { ($0.transactionId, $0) }) { first, _ in first
        }
        let unasked = Set(failures.map(\.account))
        challenges = challenges.filter { id, challenge in
            !known.contains(id) || listed[id] != nil || unasked.contains(challenge.enrollmentId)
        }
        // What was answered since it was listed waits no more.
        for (id, challenge) in listed where !known.contains(id) || challenges[id] != nil { challenges[id] = challenge }
        return Retrieved(challenges.values.map(ApprovalRequest.init), failure: failures.first?.error)
    }

    private func forEach(_ work: @Sendable (any AuthenticatorEnrollmentProtocol, AuthToken) async throws -> Void) async throws {
        if let failure = await collect(work).failures.first { throw failure.error }
    }

    /// Does something for each account, also if it fails for one.
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

    /// Does something with a token for upkeep, and once more with a fresh one if it is refused.
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

    /// What the push says is checked before anything of it is shown.
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

    /// Signed by the account's key; where the request wants it, by the one that the person unlocks.
    public func answer(_ id: ApprovalRequest.ID, _ answer: Answer) async throws -> String? {
        guard let challenge = challenges[id] else { throw SignInTrouble.noSuchRequest }
        // As if it was never asked, so that a person may think again after a failure of the network.
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

    /// Waits for what is told to organizations, not for answers.
    nonisolated public func settled() async { await signIn.settled() }

    private static func text(of reason: RemediationStepMessageReasonType) -> String {
        switch reason {
        case .userVerificationKeyNotEnrolled: words("This device answers without verifying you.")
        case .userVerificationCancelledByUser: words("You were not verified, for you gave up.")
        case .userVerificationKeyCorruptedOrMissing: words("The key that verifies you is gone. Remove the account, and add it again.")
        case .userVerificationFailed: words("You could not be verified, and the organization was told so.")
        }
    }
}
