internal import AuthFoundation
internal import Foundation

/// A question or a message to the app while a challenge is resolved. Safe from any thread. `@unchecked Sendable` is safe here and in the
/// subclasses because all properties are immutable and `Sendable`. The class is not final only so that it can have subclasses; only this
/// module creates instances.
public class RemediationStep: @unchecked Sendable {
    init() {}

    /// Applies the safe default: denies a consent step; does nothing for other steps. Call this function for unknown steps.
    public func defaultProcess() {}
}

/// The step that asks whether the user approves the challenge. Answer the step once, with ``provide(_:)`` or
/// ``provide(_:selectedNumber:reportSuspicious:)``; only the first answer counts. The details of ``challenge`` are already verified.
///
/// If the app releases the step without an answer, nothing is sent, and the resolution fails with
/// ``DeviceAuthenticatorError/Reason/notAnswered``. There is no other timeout, but the server rejects an answer that comes too late.
/// `@unchecked Sendable` is safe because of the invariant of ``RemediationStep``.
public class RemediationStepUserConsent: RemediationStep, @unchecked Sendable {
    /// The challenge to approve or deny.
    public let challenge: any ChallengeProtocol
    /// The enrollment of the account.
    public let enrollment: any AuthenticatorEnrollmentProtocol
    private let answer: Decision<Consent>

    init(challenge: any ChallengeProtocol, enrollment: any AuthenticatorEnrollmentProtocol, answer: Decision<Consent>) {
        self.challenge = challenge
        self.enrollment = enrollment
        self.answer = answer
    }

    deinit { answer.decide(.failure(DeviceAuthenticatorError.genericError(LocalFailure.notAnswered))) }

    /// The numbers to pick from, as they are displayed; `nil` if no number is needed. The sign-in shows the right number.
    public var numberChoices: [String]? { (challenge as? PushChallenge)?.numberChoices }

    /// Provides the user's answer without a number.
    /// - Parameter response: The answer; ``UserConsentResponse/none`` counts as a denial. If ``numberChoices`` is not `nil`, an approval is
    ///   not sent, and the resolution fails with ``DeviceAuthenticatorError/Reason/numberNotPicked``.
    public func provide(_ response: UserConsentResponse) { provide(response, selectedNumber: nil) }

    /// Provides the user's answer with the number that the user picked.
    /// - Parameters:
    ///   - response: The answer; ``UserConsentResponse/none`` counts as a denial.
    ///   - selectedNumber: One of ``numberChoices``; `nil` without a number.
    ///   - reportSuspicious: Whether a denial reports to the server that the user did not start the sign-in.
    public func provide(_ response: UserConsentResponse, selectedNumber: String?, reportSuspicious: Bool = false) {
        answer.decide(.success(Consent(response: response, selectedNumber: selectedNumber, isReportedSuspicious: reportSuspicious)))
    }

    /// Provides the user's answer without a number.
    /// - Parameter reportSuspicious: Whether a denial reports to the server that the user did not start the sign-in.
    public func provide(_ response: UserConsentResponse, reportSuspicious: Bool) {
        provide(response, selectedNumber: nil, reportSuspicious: reportSuspicious)
    }

    /// Denies the request.
    public override func defaultProcess() { provide(.none) }
}

/// An answer to a consent step.
public enum UserConsentResponse: Int, Sendable {
    /// The user approved the request.
    case approved
    /// The user denied the request.
    case denied
    /// The user gave no answer; sent as a denial.
    case none
}

/// The step that reports a problem, which does not stop the resolution. No answer is needed. `@unchecked Sendable` is safe because of the
/// invariant of ``RemediationStep``.
public class RemediationStepMessage: RemediationStep, @unchecked Sendable {
    /// The severity: always `nonFatalError`.
    public let messageType: RemediationStepMessageType
    /// The kind of problem.
    public let reasonType: RemediationStepMessageReasonType
    /// A description of the problem, for logs.
    public let message: String?
    /// The challenge that is being resolved.
    public let challenge: (any ChallengeProtocol)?
    /// The cause of the problem; `nil` if unknown.
    public let error: DeviceAuthenticatorError?

    init(
        reasonType: RemediationStepMessageReasonType, message: String, challenge: any ChallengeProtocol, error: DeviceAuthenticatorError?
    ) {
        messageType = .nonFatalError
        self.reasonType = reasonType
        self.message = message
        self.challenge = challenge
        self.error = error
    }
}

/// The severity of a message.
public enum RemediationStepMessageType: Int, Sendable {
    /// Information only.
    case information
    /// A problem that does not stop the resolution.
    case nonFatalError
}

/// A problem with user verification.
public enum RemediationStepMessageReasonType: Int, Sendable {
    /// There is no usable user verification key.
    case userVerificationKeyNotEnrolled
    /// The user cancelled.
    case userVerificationCancelledByUser
    /// The key is damaged or missing.
    case userVerificationKeyCorruptedOrMissing
    /// The user could not be verified.
    case userVerificationFailed
}

struct Consent: Sendable, Equatable {
    var response: UserConsentResponse
    var selectedNumber: String?
    var isReportedSuspicious = false
}
