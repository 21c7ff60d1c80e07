internal import Foundation
public import JOSE

/// What a client asks to set up (authn reference 4.5).
public struct ClassicEnrollmentRequest: Sendable {
    /// The factor's type.
    public var type: String
    /// Its provider.
    public var provider: String
    /// The telephone's number as it was typed; nil for one that is verified already.
    public var phoneNumber: String?
    /// What is dialled after a call is taken.
    public var phoneExtension: String?
    /// Whether a number that is verified may be replaced by another.
    public var replacesPhone = false
    /// The key of a security question.
    public var question: String?
    /// Its answer, as it was typed.
    public var answer: String?
    /// What another system knows a token by.
    public var credentialID: String?
    /// The code that a token shows.
    public var passCode: String?
    /// The code that it shows after that.
    public var nextPassCode: String?

    /// Describes a request.
    public init(type: String, provider: String) {
        self.type = type
        self.provider = provider
    }
}

extension ClassicEnrollmentRequest: Redacted {
    /// The type; never a number or an answer.
    public var description: String { "ClassicEnrollmentRequest(\(type.prefix(40)))" }
}

/// Setting up telephones, mailboxes and security questions in a classic sign-in.
extension IdentityEngine {
    /// Sends a code to a telephone or a mailbox, which comes back to set it up.
    func enroll(
        _ channel: CodeChannel, _ request: ClassicEnrollmentRequest, _ state: ClassicState, context: RequestContext
    ) async throws -> ClassicAnswer? {
        var code = CodeEnrollmentRequest(
            channel: channel, phoneNumber: request.phoneNumber, phoneExtension: request.phoneExtension, owner: state.transaction.id)
        code.replaces = request.replacesPhone
        do {
            let prepared = try beginCodeEnrollment(
                code, for: state.user.value, holding: state.allEnrollments, snapshot: state.snapshot, context: context)
            var next = state.transaction
            next.classic?.enrolling = prepared.enrollment.id
            next = next.extended(now: context.now) ?? next
            // The person's record as it was, so that of two that begin at one moment in two sign-ins the second counts what the first sent.
            let changes =
                try self.changes(of: prepared.writes, context: context) + [
                    .put(try state.user.record(holding: state.user.value)), try state.stored.writing(next),
                ]
            guard try await store.commit(changes) == .committed else { return nil }
            let after = try await classicState(state.token, context: context)
            var answer = try await show(after.transaction, of: after, context: context)
            answer?.messages = [prepared.message]
            return answer
        } catch let refusal as CodeRefusal {
            throw ClassicRefusal(refusal, context: context)
        }
    }

    /// Takes the code that came back.
    func confirm(
        _ pending: Enrollment, by code: String, _ state: ClassicState, context: RequestContext
    ) async throws -> ClassicAnswer? {
        let confirmation = try confirmCodeEnrollment(
            id: pending.id, code: code, owner: state.transaction.id, user: state.user, holding: state.allEnrollments, context: context)
        if let refusal = confirmation.refusal {
            guard try await store.commit(changes(of: confirmation.writes, context: context)) == .committed else { return nil }
            throw ClassicRefusal(refusal, context: context)
        }
        guard let channel = pending.code?.channel else { throw ClassicRefusal.unknownFactor }
        let verifier = CodeVerifier(environment: environment, channel: channel, enrollments: [], owner: "", now: context.now)
        guard let factor = ClassicPolicy.Factor.of(pending) else { throw ClassicRefusal.unknownFactor }
        return try await setUp(verifier, as: factor, state, writes: confirmation.writes, context: context)
    }

    /// Sets a security question up, which needs no confirmation.
    func enrollQuestion(_ request: ClassicEnrollmentRequest, _ state: ClassicState, context: RequestContext) async throws -> ClassicAnswer?
    {
        guard let key = request.question, let answer = request.answer else { throw ClassicRefusal.missing("answer") }
        do {
            let made = try await makeQuestion(
                key, answer: answer, userID: state.user.value.id, policy: state.snapshot.passwordPolicy, context: context)
            switch made {
            case .failure(.unknownQuestion):
                throw ClassicRefusal.invalid("factorEnrollRequest", ["question: There is no such question. Choose one of the list."])
            case .failure(.unacceptableAnswer(let problem)): throw ClassicRefusal.invalid("factorEnrollRequest", ["answer: \(problem)"])
            case .success(let enrollment):
                let writes = try questionEnrollment(
                    enrollment, user: state.user, holding: state.allEnrollments.filter { $0.status != .deleted })
                let verifier = QuestionVerifier(environment: environment, enrollments: [], origin: state.subject.origin)
                return try await setUp(verifier, as: .question, state, writes: writes, context: context)
            }
        } catch is PasswordHasher.Overloaded {
            throw ClassicRefusal.busy(context)
        }
    }

    /// Commits a factor that was set up, with the step that it is.
    func setUp(
        _ verifier: some FactorVerifier, as factor: ClassicPolicy.Factor, _ state: ClassicState, writes: Writes, context: RequestContext
    ) async throws -> ClassicAnswer? {
        var (next, outcome, effects) = state.transaction.step(
            .enrolled(
                verifier.kind, verifier.factorClass, methods: verifier.methods, state.subject, after: state.subject(having: factor)),
            now: context.now)
        next.classic?.enrolling = nil
        return try await conclude(
            next, outcome, effects, state, changes: changes(of: writes, context: context), wrong: .wrongCode, context: context)
    }

    /// Sends the code again by which a telephone or a mailbox is set up.
    ///
    /// - Parameters:
    ///   - factorID: The factor, from the path.
    ///   - stateToken: Leads to the sign-in.
    ///   - context: When and from where it came.
    /// - Returns: Where the sign-in stands; or a refusal: `E0000079` where no code is waited for, a limit of the channel.
    /// - Throws: ``StoreError`` if the store failed.
    public func classicResendActivation(
        factorID: String, stateToken: String, context: RequestContext
    ) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        try await classicStep(stateToken, context: context) { [self] state in
            guard state.status(of: state.transaction) == .factorEnrollActivate, let pending = state.pending?.enrollment,
                let method = pending.code
            else { throw ClassicRefusal.notAllowed(in: state.status(of: state.transaction)?.rawValue ?? "none") }
            guard pending.classicID == factorID else { throw ClassicRefusal.unknownFactor }
            var request = ClassicEnrollmentRequest(type: "", provider: "")
            request.phoneNumber = method.destination.phoneNumber?.e164
            request.phoneExtension = method.destination.phoneExtension
            request.replacesPhone = true
            return try await enroll(method.channel, request, state, context: context)
        }
    }
}
