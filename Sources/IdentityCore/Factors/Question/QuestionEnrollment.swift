internal import Foundation

/// Why a security question is not set up. Front doors spell it.
package enum QuestionRefusal: Error, Sendable, Equatable {
    /// There is no question with that key.
    case unknownQuestion
    /// The answer will not do; the sentence says why.
    case unacceptableAnswer(String)
}

/// Setting up a security question. Whether the person may is for the caller to judge, by what was proved.
extension Engine {
    /// Makes the factor. Hashes the answer, which takes as long as a password; so it is called before the store is read for the commit.
    ///
    /// - Parameters:
    ///   - key: The question's key.
    ///   - answer: As it was typed.
    ///   - userID: For whom.
    ///   - policy: Says how much hashing costs.
    ///   - context: When.
    /// - Returns: The factor, which no store has seen; or why there is none.
    /// - Throws: ``PasswordHasher/Overloaded``; `CancellationError`; what the random source throws.
    package func makeQuestion(
        _ key: String, answer: String, userID: String, policy: PasswordPolicy, context: RequestContext
    ) async throws -> Result<Enrollment, QuestionRefusal> {
        guard let question = SecurityQuestion.named(key) else { return .failure(.unknownQuestion) }
        if let problem = SecurityAnswer.problem(answer, to: question) { return .failure(.unacceptableAnswer(problem)) }
        let hash = try await environment.passwordHasher.hash(
            SecurityAnswer.normalized(answer) ?? "", logN: policy.scryptLogN, salt: environment.random.bytes(16))
        var enrollment = Enrollment(
            id: try environment.random.identifier(prefix: "ufs"), userID: userID, factor: .question, status: .active,
            createdAt: context.now)
        enrollment.question = QuestionMethod(key: key, answerHash: hash)
        return .success(enrollment)
    }

    /// What setting a question up writes: it takes the place of the one that the person had.
    ///
    /// - Parameters:
    ///   - enrollment: What ``makeQuestion(_:answer:userID:policy:context:)`` made.
    ///   - user: The person, as they were read.
    ///   - enrollments: All that they have, as they were read.
    /// - Returns: The writes.
    /// - Throws: What encoding throws.
    package func questionEnrollment(
        _ enrollment: Enrollment, user: StoredUser, holding enrollments: [Enrollment]
    ) throws -> Writes {
        let others = enrollments.filter { $0.question != nil }
        return try user.enrolling(enrollment, replacing: others, reason: others.isEmpty ? "question" : "question, replaced")
    }

    /// Gives a user a security question without the ceremony that sets it up: for tests and the sandbox.
    ///
    /// - Parameters:
    ///   - key: The question's key.
    ///   - answer: The answer.
    ///   - userID: The user.
    ///   - context: The request.
    /// - Returns: The enrolment's id; nil if there is no such user, or if the question or the answer will not do.
    /// - Throws: ``StoreError`` if the store failed; ``PasswordHasher/Overloaded``; `CancellationError`.
    package func grantQuestion(_ key: String, answer: String, userID: String, context: RequestContext) async throws -> String? {
        let policy = try await snapshot().passwordPolicy
        guard case .success(let made) = try await makeQuestion(key, answer: answer, userID: userID, policy: policy, context: context)
        else { return nil }
        return try await grantFactor(userID: userID, context: context) { user, own in
            try questionEnrollment(made, user: user, holding: own)
        }.map { _ in made.id }
    }
}
