internal import Foundation
package import IdentityCore
internal import JOSE
internal import Store

/// A request to enroll a factor (Documentation/Protocol/Authn.md §4.5).
package struct ClassicEnrollmentRequest: Sendable {
    package var type: String
    package var provider: String
    /// The phone number as typed; `nil` for the number that the user already verified.
    package var phoneNumber: String?
    /// The extension to dial after the call is answered; `nil` for none.
    package var phoneExtension: String?
    /// Whether the request may replace a verified number.
    package var replacesPhone = false
    package var question: String?
    package var answer: String?
    /// The id of the token in the external system; `nil` for other factors.
    package var credentialID: String?
    package var passCode: String?
    package var nextPassCode: String?

    package init(type: String, provider: String) {
        self.type = type
        self.provider = provider
    }
}

extension ClassicEnrollmentRequest: Redacted {
    package var description: String { "ClassicEnrollmentRequest(\(type.prefix(40)))" }
}

/// The enrollment of phones, mail addresses and security questions in a classic sign-in.
extension Engine {
    /// Plans a code that confirms a phone or a mail address.
    func enroll(_ channel: CodeChannel, _ request: ClassicEnrollmentRequest, _ state: ClassicState) throws -> ClassicPlan {
        var code = CodeEnrollmentRequest(
            channel: channel, phoneNumber: request.phoneNumber, phoneExtension: request.phoneExtension, owner: state.transaction.id)
        code.replaces = request.replacesPhone
        do {
            let prepared = try beginCodeEnrollment(
                code, for: state.user.value, holding: state.allEnrollments, snapshot: state.snapshot, context: state.context)
            // The user is rewritten unchanged, so that concurrent setups in two sign-ins conflict. After the conflict, the second setup
            // counts the message of the first one.
            let user = Change.put(try state.user.record(holding: state.user.value))
            return try state.begin(prepared.enrollment.id, prepared.writes + [user])
        } catch let refusal as CodeRefusal {
            throw ClassicRefusal(refusal, context: state.context)
        }
    }

    /// Plans the confirmation of a phone or a mail address by its code.
    func confirm(_ pending: Enrollment, by code: String, _ state: ClassicState) throws -> ClassicPlan {
        let confirmation = try confirmCodeEnrollment(
            id: pending.id, code: code, owner: state.transaction.id, user: state.user, holding: state.allEnrollments,
            context: state.context)
        if let refusal = confirmation.refusal {
            return Plan(.failure(ClassicRefusal(refusal, context: state.context)), confirmation.writes)
        }
        guard let channel = pending.sentCode?.channel, let factor = ClassicPolicy.Factor.of(pending) else {
            throw ClassicRefusal.unknownFactor
        }
        let verifier = CodeVerifier(
            environment: environment, channel: channel, enrollments: [], owner: "", now: state.context.now)
        return try state.setUp(verifier, as: factor, confirmation.writes)
    }

    /// Returns the check that hashes the answer to a new security question. Its verdict contains the enrollment.
    func questionCheck(_ key: String, answer: String, _ state: ClassicState) -> Check<Result<FactorVerdict, ClassicRefusal>> {
        let (userID, policy, context) = (state.user.value.id, state.snapshot.passwordPolicy, state.context)
        return Check(of: policy.scryptLogN) { [self] in
            try await makeQuestion(key, answer: answer, userID: userID, policy: policy, context: context)
        }.refusingOverload(context).map { judge in
            try await judge().flatMap { made in
                switch made {
                case .success(let enrollment): .success(.proved(passwordHash: nil, enrollment: enrollment))
                case .failure(.unknownQuestion):
                    .failure(.invalid("factorEnrollRequest", ["question: There is no such question. Choose one of the list."]))
                case .failure(.unacceptableAnswer(let problem)): .failure(.invalid("factorEnrollRequest", ["answer: \(problem)"]))
                }
            }
        }
    }

    /// Plans the enrollment of a security question, which needs no confirmation.
    func enrollQuestion(_ verdict: FactorVerdict?, _ state: ClassicState) throws -> ClassicPlan {
        guard case .proved(_, let enrollment?, _) = verdict else { throw ClassicRefusal.missing("answer") }
        let writes = try questionEnrollment(
            enrollment, user: state.user, holding: state.allEnrollments.filter { $0.status != .deleted })
        let verifier = QuestionVerifier(environment: environment, enrollments: [], origin: state.subject.origin)
        return try state.setUp(verifier, as: .question, writes)
    }

    /// Sends the confirmation code of a phone or mail address again.
    /// - Returns: The state; or a refusal: `E0000079` if the enrollment awaits no code, or a limit of the channel.
    package func classicResendActivation(
        factorID: String, stateToken: String, context: RequestContext
    ) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        try await classicStep(stateToken, context: context) { [self] state in
            try state.require(.factorEnrollActivate)
            guard let pending = state.pending?.enrollment, let method = pending.sentCode else {
                throw ClassicRefusal.notAllowed(in: ClassicTransaction.Status.factorEnrollActivate.rawValue)
            }
            guard pending.classicID == factorID else { throw ClassicRefusal.unknownFactor }
            var request = ClassicEnrollmentRequest(type: "", provider: "")
            request.phoneNumber = method.destination.phoneNumber?.e164
            request.phoneExtension = method.destination.phoneExtension
            request.replacesPhone = true
            return try enroll(method.channel, request, state)
        }
    }
}
