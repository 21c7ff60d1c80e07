internal import AuthFoundation
public import Foundation
public import JOSE

/// The challenge type that this module's functions return. Cast to it for members beyond the protocols of Okta's SDK. Safe from any thread.
///
/// The push service is not part of the org. The details of a challenge (``appInstanceName``, ``clientLocation``, ``clientOS``, ``isCIBA``,
/// ``cibaBindingMessage``, ``numberChoices``) are therefore `nil` or `false` until its signature is verified with the org's keys. A pushed
/// challenge is verified when it is parsed, if the key is already known: keys are fetched at enrollment, at pulls and at changes. A pulled
/// challenge is verified unless the keys cannot be fetched. Any other challenge is verified before the consent step, so show the details in
/// the consent step. To show the details earlier, call ``verify()``.
public final class PushChallenge: CIBAChallengeProtocol {
    private struct State {
        var isVerified = false
        var response: PushChallengeUserResponse
        var selectedNumber: String?
        var isReportedSuspicious = false
        var isResolving = false
    }

    let claims: ChallengeClaims
    let skew: Int
    let device: PushDevice
    /// The enrollment that the challenge is for; `nil` if it is not on this device.
    let enrollment: AuthenticatorEnrollment?
    private let state: Locked<State>

    init(
        claims: ChallengeClaims, enrollment: AuthenticatorEnrollment?, device: PushDevice, skew: Int,
        response: PushChallengeUserResponse = .userNotResponded
    ) {
        self.claims = claims
        self.enrollment = enrollment
        self.device = device
        self.skew = skew
        state = Locked(State(response: response))
    }

    /// The id of the request. Until ``isVerified`` is true, use it only to find duplicates.
    public var transactionId: String { claims.transactionID }

    /// The URL of the issuer that sent the request: the org, or one of its authorization servers; `nil` if the enrollment is not on this
    /// device.
    public var originURL: URL? { enrollment == nil ? nil : URL(string: claims.issuer) }

    /// The time at which the request was created, by the server's clock.
    public var transactionTime: Date { Date(clampingNumericDate: Double(claims.issuedAt)) }

    /// The time at which the request expires, by the server's clock.
    public var expirationTime: Date { Date(clampingNumericDate: Double(claims.expiresAt)) }

    /// Whether the request has expired, by the org's time. Until the org has responded, the device's clock decides, with the allowed
    /// difference. `false` if the device's clock is more than a day off: the answer then fails with the reason `clockWrong`.
    package var isExpired: Bool {
        guard let org = enrollment?.record.organizationURL, device.clock.offset(of: org) != nil else {
            return claims.isExpired(at: device.clock.device.now, skew: skew)
        }
        guard !device.clock.isTooWrong(for: org) else { return false }
        return claims.isExpired(at: device.clock.now(at: org), skew: 0)
    }

    /// The id of the enrollment that the request is for.
    public var enrollmentId: String { claims.enrollmentID }

    /// The request's requirement for user verification.
    public var userVerification: UserVerificationChallengeRequirement { claims.userVerification }

    /// Whether the signature was verified with the org's keys.
    public var isVerified: Bool { state.withLock { $0.isVerified } }

    /// The name of the app that the user signs in to; `nil` if unknown or until the challenge is verified.
    public var appInstanceName: String? { isVerified ? claims.appInstanceName : nil }

    /// The location where the sign-in was started; `nil` if unknown or until the challenge is verified.
    public var clientLocation: String? { isVerified ? claims.clientLocation : nil }

    /// The operating system on which the sign-in was started; `nil` if unknown or until the challenge is verified.
    public var clientOS: String? { isVerified ? claims.clientOS : nil }

    /// Whether the challenge is a backchannel request (CIBA) and not a sign-in; `false` until the challenge is verified.
    public var isCIBA: Bool { isVerified && claims.isCIBA }

    /// The id of the requesting client; `nil` until the challenge is verified.
    package var clientID: String? { isVerified ? claims.audience : nil }

    /// The message of a backchannel request; `nil` for a sign-in, without a message, or until the challenge is verified.
    public var cibaBindingMessage: String? { isVerified && claims.isCIBA ? claims.bindingMessage : nil }

    /// The numbers to choose from for an approval; `nil` if no number is needed or until the challenge is verified. The sign-in shows the
    /// right number.
    public var numberChoices: [String]? { isVerified ? claims.numberChoices : nil }

    /// Verifies the signature with the org's keys. If the key is not stored, fetches the keys. A no-op if the challenge is already
    /// verified.
    /// - Throws: ``DeviceAuthenticatorError``: with the reason `untrustedChallenge` if the challenge is not from the org,
    ///   `enrollmentUnknown` if the enrollment is not on this device, or another reason if the keys cannot be fetched; `CancellationError`.
    public func verify() async throws {
        guard !isVerified else { return }
        guard let record = enrollment?.record else { throw DeviceAuthenticatorError.accountNotFoundForChallenge(self) }
        try await DeviceAuthenticatorError.reported {
            try claims.check(against: record)
            let issuer = try claims.keyIssuer(of: record.organizationURL)
            let key = try await device.challengeKeys.key(claims.keyID, issuer: issuer, organizationID: record.organizationID)
            try claims.verify(with: key)
        }
        state.withLock { $0.isVerified = true }
    }

    /// Verifies the signature if the key is stored. Throws if the signature is invalid.
    func verifyIfKeyIsKnown(_ record: EnrollmentRecord) throws {
        let issuer = try claims.keyIssuer(of: record.organizationURL)
        // If the stored keys cannot be read, `resolve` fetches them.
        guard let key = (try? device.challengeKeys.known(claims.keyID, issuer: issuer, organizationID: record.organizationID)) ?? nil else {
            return
        }
        try claims.verify(with: key)
        state.withLock { $0.isVerified = true }
    }

    /// The user's answer. If it is set before the challenge is resolved, the consent step is skipped, unless an approval needs a number and
    /// ``selectedNumber`` is `nil`.
    public var userResponse: PushChallengeUserResponse {
        get { state.withLock { $0.response } }
        set { state.withLock { $0.response = newValue } }
    }

    /// The number that the user picked from ``numberChoices``; `nil` without an answer.
    public var selectedNumber: String? {
        get { state.withLock { $0.selectedNumber } }
        set { state.withLock { $0.selectedNumber = newValue } }
    }

    /// Whether a denial reports to the server that the user did not start the sign-in.
    public var isReportedSuspicious: Bool {
        get { state.withLock { $0.isReportedSuspicious } }
        set { state.withLock { $0.isReportedSuspicious = newValue } }
    }

    func take(_ consent: Consent) {
        state.withLock { state in
            state.response = consent.response == .approved ? .userApproved : .userDenied
            state.selectedNumber = consent.selectedNumber
            state.isReportedSuspicious = consent.isReportedSuspicious
        }
    }

    /// Clears an approval that cannot be sent, so that the next resolution asks the user again.
    func forgetAnswer() {
        state.withLock { $0.response = .userNotResponded }
    }

    /// Verifies the challenge, asks the app for the user's answer if needed, and sends the answer. Calls neither handler on the main queue.
    /// - Parameters:
    ///   - onRemediation: Called with each ``RemediationStep``.
    ///   - onCompletion: Called once, with `nil` if the answer was delivered, whether approval or denial.
    public func resolve(
        onRemediation: @escaping @Sendable (RemediationStep) -> Void, onCompletion: @escaping @Sendable (DeviceAuthenticatorError?) -> Void
    ) {
        Callback.run(onCompletion) { try await self.resolve(onRemediation: onRemediation) }
    }

    /// Verifies the challenge, asks the app for the user's answer if needed, and sends the answer. After a network error, the app can call
    /// this function again; an answered consent step is not repeated.
    /// - Parameter onRemediation: Called with each ``RemediationStep``, not on the main queue.
    /// - Throws: ``DeviceAuthenticatorError``, whose reason tells whether the challenge has expired, was answered or was cancelled;
    ///   `CancellationError` if the task was cancelled, which also ends the wait for the consent step.
    public func resolve(onRemediation: @escaping @Sendable (RemediationStep) -> Void) async throws {
        let isFirst = state.withLock { state in
            defer { state.isResolving = true }
            return !state.isResolving
        }
        guard isFirst else { throw DeviceAuthenticatorError.genericError("The challenge is being resolved already. Wait for that to end.") }
        defer { state.withLock { $0.isResolving = false } }
        let resolution = ChallengeResolution(challenge: self, device: device, tell: onRemediation)
        try await DeviceAuthenticatorError.reported { try await resolution.run() }
    }
}

extension PushChallenge: Redacted {
    /// The ids and the verification state, without the token.
    public var description: String { "PushChallenge(\(transactionId), enrollment: \(enrollmentId), verified: \(isVerified))" }
}
