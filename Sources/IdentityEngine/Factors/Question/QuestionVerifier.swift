/// Checks answers to security questions, on the threads that hash passwords.
struct QuestionVerifier: FactorVerifier {
    let environment: EngineEnvironment
    /// The person's enrolments; those of other factors do not matter.
    let enrollments: [Enrollment]
    /// The origin of the request, which decides its place in the hashing queue.
    let origin: RequestOrigin

    var kind: FactorKind { .question }
    var factorClass: FactorClass { .recollection }
    var methods: [String] { ["kba"] }

    func verify(_ response: FactorResponse, of user: User?, policy: PasswordPolicy) async throws -> FactorVerdict {
        guard case .answer(let typed) = response else { return .failed }
        let share = HashingShare(origin, of: user)
        let own = enrollments.first { $0.question != nil && $0.userID == user?.id }
        guard let own, let question = own.question, let answer = SecurityAnswer.normalized(typed) else {
            try await environment.passwordHasher.verifyNobody(
                PasswordVerifier.beginning(of: typed), logN: policy.scryptLogN, for: share)
            return .failed
        }
        let isRight = try await environment.passwordHasher.verify(
            answer, against: question.answerHash, spending: policy.scryptLogN, for: share)
        return isRight ? .proved(passwordHash: nil, enrollment: own) : .failed
    }
}
