internal import Foundation

/// The reason why a security question is not enrolled. Each endpoint encodes the reason in its protocol.
package enum QuestionRefusal: Error, Sendable, Equatable {
    case unknownQuestion
    /// The answer violates a rule; the sentence says which.
    case unacceptableAnswer(String)
}

/// Enrolls security questions. The caller checks that the user's proofs permit the enrollment.
extension Engine {
    /// Creates the factor, which is not stored yet. Hashes the answer like a password, so call it before the read for the commit. Throws
    /// ``PasswordHasher/Overloaded``.
    package func makeQuestion(
        _ key: String, answer: String, userID: String, policy: PasswordPolicy, context: RequestContext
    ) async throws -> Result<Enrollment, QuestionRefusal> {
        guard let question = SecurityQuestion.named(key) else { return .failure(.unknownQuestion) }
        if let problem = SecurityAnswer.problem(answer, to: question) { return .failure(.unacceptableAnswer(problem)) }
        let hash = try await environment.passwordHasher.hash(
            SecurityAnswer.normalized(answer) ?? "", logN: policy.scryptLogN, salt: environment.random.bytes(16))
        let enrollment = Enrollment(
            id: try environment.random.identifier(prefix: "ufs"), userID: userID,
            method: .question(QuestionMethod(key: key, answerHash: hash)), status: .active, createdAt: context.now)
        return .success(enrollment)
    }

    /// Returns the writes that enroll a question in place of the user's earlier question. `enrollments` must contain all enrollments of the
    /// user.
    package func questionEnrollment(
        _ enrollment: Enrollment, user: StoredUser, holding enrollments: [Enrollment]
    ) throws -> Writes {
        let others = enrollments.filter { $0.question != nil }
        return try user.enrolling(enrollment, replacing: others, reason: others.isEmpty ? "question" : "question, replaced")
    }

    /// Gives a user a security question without verification; for tests and the sandbox. Returns the enrollment's id; `nil` if there is no
    /// such user, or the question or the answer is not acceptable. Throws ``PasswordHasher/Overloaded``.
    package func grantQuestion(_ key: String, answer: String, userID: String, context: RequestContext) async throws -> String? {
        let policy = try await snapshot().passwordPolicy
        guard case .success(let made) = try await makeQuestion(key, answer: answer, userID: userID, policy: policy, context: context)
        else { return nil }
        return try await grantFactor(userID: userID, context: context) { user, own in
            try questionEnrollment(made, user: user, holding: own)
        }.map { _ in made.id }
    }
}
