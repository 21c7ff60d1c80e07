internal import AuthFoundation
public import Foundation
public import JOSE

/// The challenge that this module's functions return, with what it offers beyond the published protocols: cast to it.
///
/// A challenge comes through the push service, which is not the org. So what people see of it (``appInstanceName``, ``clientLocation``,
/// ``clientOS``, ``isCIBA``, ``cibaBindingMessage``, ``numberChoices``) is nil until its signature was checked against the org's keys. That is so when it
/// is parsed if the key is known (keys are read at enrollment, and again with pulls and changes); for a pulled challenge almost always; and
/// for any other before the consent step, which is the place to show it. To show it earlier, call ``verify()``.
///
/// Safe from any thread.
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
    /// nil if the challenge is for an enrollment that is not on this device.
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

    // MARK: - What is known at once

    /// The id of the request. Not verified before ``isVerified`` is true, but good for finding duplicates.
    public var transactionId: String { claims.transactionID }

    /// The org that asks; nil if the challenge is for no enrollment on this device.
    public var originURL: URL? { enrollment == nil ? nil : URL(string: claims.issuer) }

    /// When the request was made, by the server's clock.
    public var transactionTime: Date { Date(clampingNumericDate: Double(claims.issuedAt)) }

    /// Until when the request can be answered, by the server's clock.
    public var expirationTime: Date { Date(clampingNumericDate: Double(claims.expiresAt)) }

    /// Which enrollment the request is for.
    public var enrollmentId: String { claims.enrollmentID }

    /// Whether the request asks for user verification.
    public var userVerification: UserVerificationChallengeRequirement { claims.userVerification }

    // MARK: - What is known once it was verified

    /// Whether the signature was checked against the org's keys.
    public var isVerified: Bool { state.withLock { $0.isVerified } }

    /// The app that is being signed in to.
    public var appInstanceName: String? { isVerified ? claims.appInstanceName : nil }

    /// Where the sign-in was started.
    public var clientLocation: String? { isVerified ? claims.clientLocation : nil }

    /// What system the sign-in was started on.
    public var clientOS: String? { isVerified ? claims.clientOS : nil }

    /// Whether it is a backchannel request (CIBA), with or without a message, and not a sign-in; false until it was verified.
    public var isCIBA: Bool { isVerified && claims.isCIBA }

    /// The client that asks, by its id; nil until it was verified.
    package var clientID: String? { isVerified ? claims.audience : nil }

    /// The text of a backchannel request; nil for a sign-in, or if there is none.
    public var cibaBindingMessage: String? { isVerified && claims.isCIBA ? claims.bindingMessage : nil }

    /// The numbers of which the right one, which the sign-in shows, has to be picked to approve; nil if none has to be.
    public var numberChoices: [String]? { isVerified ? claims.numberChoices : nil }

    /// Checks the signature against the org's keys, which are read if the key is not known. Does nothing for a challenge that was verified.
    ///
    /// - Throws: ``DeviceAuthenticatorError`` with the reason `untrustedChallenge`, `network` or `enrollmentUnknown`; `CancellationError`.
    public func verify() async throws {
        guard !isVerified else { return }
        guard let record = enrollment?.record else { throw DeviceAuthenticatorError.accountNotFoundForChallenge(self) }
        do {
            try claims.check(against: record)
            let issuer = try claims.keyIssuer(of: record.organizationURL)
            let key = try await device.challengeKeys.key(claims.keyID, issuer: issuer, organizationID: record.organizationID)
            try claims.verify(with: key)
        } catch {
            throw DeviceAuthenticatorError.reporting(error)
        }
        state.withLock { $0.isVerified = true }
    }

    /// Checks the signature with a key that is known already.
    ///
    /// - Throws: If the key is known and the signature is not its own.
    func verifyIfKeyIsKnown(_ record: EnrollmentRecord) throws {
        let issuer = try claims.keyIssuer(of: record.organizationURL)
        // A key that can't be read now may be read later: `resolve` asks the org.
        guard let key = (try? device.challengeKeys.known(claims.keyID, issuer: issuer, organizationID: record.organizationID)) ?? nil else {
            return
        }
        try claims.verify(with: key)
        state.withLock { $0.isVerified = true }
    }

    // MARK: - The answer

    /// The person's answer. If it is set before the challenge is resolved, the consent step is left out; but not if a number has to be
    /// picked to approve, and ``selectedNumber`` has none.
    public var userResponse: PushChallengeUserResponse {
        get { state.withLock { $0.response } }
        set { state.withLock { $0.response = newValue } }
    }

    /// The number that the person picked, if ``numberChoices`` has some.
    public var selectedNumber: String? {
        get { state.withLock { $0.selectedNumber } }
        set { state.withLock { $0.selectedNumber = newValue } }
    }

    /// Whether a denial tells the server that the person did not start the sign-in.
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

    /// Forgets an approval that can't be sent, so that the next resolution asks again.
    func forgetAnswer() {
        state.withLock { $0.response = .userNotResponded }
    }

    // MARK: - Resolving

    /// Verifies the challenge, asks the app what it needs to know, and sends the answer.
    ///
    /// - Parameters:
    ///   - onRemediation: Is called with each ``RemediationStep``, not on the main queue.
    ///   - onCompletion: Is called once, not on the main queue: with nil if an answer was delivered, be it approval or denial.
    public func resolve(
        onRemediation: @escaping @Sendable (RemediationStep) -> Void, onCompletion: @escaping @Sendable (DeviceAuthenticatorError?) -> Void
    ) {
        Callback.run(onCompletion) { try await self.resolve(onRemediation: onRemediation) }
    }

    /// Verifies the challenge, asks the app what it needs to know, and sends the answer.
    ///
    /// After a failure of the network it can be called again, and asks nothing again that was answered.
    ///
    /// - Parameter onRemediation: Is called with each ``RemediationStep``, not on the main queue.
    /// - Throws: ``DeviceAuthenticatorError``, whose reason tells whether the challenge has expired, was answered or cancelled;
    ///   `CancellationError` if the task was cancelled, which ends the wait for the consent step too.
    public func resolve(onRemediation: @escaping @Sendable (RemediationStep) -> Void) async throws {
        let isFirst = state.withLock { state in
            defer { state.isResolving = true }
            return !state.isResolving
        }
        guard isFirst else { throw DeviceAuthenticatorError.genericError("The challenge is being resolved already. Wait for that to end.") }
        defer { state.withLock { $0.isResolving = false } }
        do {
            try await ChallengeResolution(challenge: self, device: device, tell: onRemediation).run()
        } catch {
            throw DeviceAuthenticatorError.reporting(error)
        }
    }
}

extension PushChallenge: Redacted {
    /// Ids and whether it is verified; nothing of the token.
    public var description: String { "PushChallenge(\(transactionId), enrollment: \(enrollmentId), verified: \(isVerified))" }
}
