internal import AuthFoundation
internal import Foundation

/// Something that the resolution of a challenge needs the app for, or tells it. Safe from any thread.
///
/// Invariant that makes `@unchecked Sendable` true here and below: all properties are immutable and `Sendable`; the class is not final
/// only so that its subclasses can be told apart, and none is made outside this module.
public class RemediationStep: @unchecked Sendable {
    init() {}

    /// Does what is safe without the app: denies a consent step, does nothing for others. Call it for steps that you do not know.
    public func defaultProcess() {}
}

/// Asks whether the person approves. Answer it once, with ``provide(_:)`` or ``provide(_:selectedNumber:reportSuspicious:)``; only the first answer counts.
///
/// What the challenge shows was verified before. If the step is given up without an answer, nothing is sent, and the resolution fails with
/// ``DeviceAuthenticatorError/Reason/notAnswered``. Nothing else limits the wait: an answer that comes too late is refused.
///
/// Invariant: as ``RemediationStep``.
public class RemediationStepUserConsent: RemediationStep, @unchecked Sendable {
    /// What the person is asked about.
    public let challenge: any ChallengeProtocol
    /// Whose account it is.
    public let enrollment: any AuthenticatorEnrollmentProtocol
    private let answer: ConsentAnswer

    init(challenge: any ChallengeProtocol, enrollment: any AuthenticatorEnrollmentProtocol, answer: ConsentAnswer) {
        self.challenge = challenge
        self.enrollment = enrollment
        self.answer = answer
    }

    deinit { answer.give(.failure(DeviceAuthenticatorError.genericError(LocalFailure.notAnswered))) }

    /// The numbers to pick from, as they are shown; nil if none has to be picked. The sign-in shows the right one.
    public var numberChoices: [String]? { (challenge as? PushChallenge)?.numberChoices }

    /// Gives the person's answer.
    ///
    /// - Parameter response: The answer; ``UserConsentResponse/none`` counts as a denial. An approval without a number, where one has to be
    ///   picked, is not sent: the resolution fails with ``DeviceAuthenticatorError/Reason/numberNotPicked``.
    public func provide(_ response: UserConsentResponse) { provide(response, selectedNumber: nil) }

    /// Gives the person's answer, with the number that they picked.
    ///
    /// - Parameters:
    ///   - response: The answer.
    ///   - selectedNumber: One of ``numberChoices``.
    ///   - reportSuspicious: Whether to tell the server, with a denial, that the person did not start the sign-in.
    public func provide(_ response: UserConsentResponse, selectedNumber: String?, reportSuspicious: Bool = false) {
        answer.give(.success(Consent(response: response, selectedNumber: selectedNumber, isReportedSuspicious: reportSuspicious)))
    }

    /// Gives the person's answer, and tells the server whether the person took the request for an attack.
    ///
    /// - Parameters:
    ///   - response: The answer.
    ///   - reportSuspicious: Whether to tell the server, with a denial, that the person did not start the sign-in.
    public func provide(_ response: UserConsentResponse, reportSuspicious: Bool) {
        provide(response, selectedNumber: nil, reportSuspicious: reportSuspicious)
    }

    /// Denies.
    public override func defaultProcess() { provide(.none) }
}

/// The answer to a consent step.
public enum UserConsentResponse: Int, Sendable {
    /// Yes.
    case approved
    /// No.
    case denied
    /// No answer, which is sent as a denial.
    case none
}

/// Tells of something that went wrong, and that the resolution goes on in spite of. Nothing has to be called.
///
/// Invariant: as ``RemediationStep``.
public class RemediationStepMessage: RemediationStep, @unchecked Sendable {
    /// How bad it is: always `nonFatalError`.
    public let messageType: RemediationStepMessageType
    /// What went wrong.
    public let reasonType: RemediationStepMessageReasonType
    /// What went wrong, for the log.
    public let message: String?
    /// What is being resolved.
    public let challenge: (any ChallengeProtocol)?
    /// Why it went wrong.
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

/// How bad it is.
public enum RemediationStepMessageType: Int, Sendable {
    /// Not bad.
    case information
    /// The resolution goes on.
    case nonFatalError
}

/// What went wrong with user verification.
public enum RemediationStepMessageReasonType: Int, Sendable {
    /// There is no key for it.
    case userVerificationKeyNotEnrolled
    /// The person cancelled.
    case userVerificationCancelledByUser
    /// The key is damaged or gone.
    case userVerificationKeyCorruptedOrMissing
    /// The person could not be verified.
    case userVerificationFailed
}

/// What a consent step was answered with.
struct Consent: Sendable, Equatable {
    var response: UserConsentResponse
    var selectedNumber: String?
    var isReportedSuspicious = false
}

/// An answer that is given once and waited for once. Safe from any thread.
final class ConsentAnswer: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<Consent, any Error>)
        case given(Result<Consent, any Error>)
        case done
    }

    private let state = Locked(State.open)

    /// Takes the first answer; later ones are of no effect.
    func give(_ answer: Result<Consent, any Error>) {
        let waiting: CheckedContinuation<Consent, any Error>? = state.withLock { state in
            switch state {
            case .open:
                state = .given(answer)
                return nil
            case .awaited(let continuation):
                state = .done
                return continuation
            case .given, .done: return nil
            }
        }
        waiting?.resume(with: answer)
    }

    /// Waits for the answer.
    ///
    /// - Throws: What was given instead of an answer; `CancellationError`.
    func value() async throws -> Consent {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let given: Result<Consent, any Error>? = state.withLock { state in
                    if case .given(let answer) = state {
                        state = .done
                        return answer
                    }
                    state = .awaited(continuation)
                    return nil
                }
                if let given { continuation.resume(with: given) }
            }
        } onCancel: {
            give(.failure(CancellationError()))
        }
    }
}
