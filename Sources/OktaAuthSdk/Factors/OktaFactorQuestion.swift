/// A factor that is verified with the answer to a security question.
open class OktaFactorQuestion: OktaFactor {
    /// The link to the security questions from which the user can choose.
    public var securityQuestionsLink: LinksResponse.Link? { factor.links?.questions }

    /// The key of the security question.
    public var factorQuestionId: String? { factor.profile?.question }

    /// The text of the security question.
    public var factorQuestionText: String? { factor.profile?.questionText }

    /// Fetches the security questions from which the user can choose.
    public func downloadSecurityQuestions(
        onDownloadComplete: @escaping ([SecurityQuestion]) -> Void, onError: @escaping (_ error: OktaError) -> Void
    ) {
        guard let link = securityQuestionsLink else { return refuse(.missing("questions"), onError) }
        guard let restApi else { return refuse(.detached, onError) }
        restApi.downloadSecurityQuestions(with: link, onCompletion: onDownloadComplete, onError: onError)
    }

    /// Enrolls a security question with its answer. The factor is active at once.
    /// - Parameter questionId: The key of the security question.
    public func enroll(
        questionId: String, answer: String, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        enroll(
            questionId: questionId, answer: answer, credentialId: nil, passCode: nil, phoneNumber: nil,
            onStatusChange: onStatusChange, onError: onError)
    }

    /// Selects the factor and answers its question in one step.
    public func select(
        answerToSecurityQuestion: String, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        select(passCode: nil, answer: answerToSecurityQuestion, onStatusChange, onError)
    }

    /// Answers the question.
    public func verify(
        answerToSecurityQuestion: String, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        verify(
            passCode: nil, answerToSecurityQuestion: answerToSecurityQuestion, onStatusChange: onStatusChange, onError: onError)
    }
}

extension OktaFactorQuestion {
    /// Fetches the security questions from which the user can choose.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled.
    @MainActor
    public func downloadSecurityQuestions() async throws -> [SecurityQuestion] {
        try await MainQueue.value { downloadSecurityQuestions(onDownloadComplete: $0, onError: $1) }
    }

    /// Enrolls a security question with its answer. The factor is active at once.
    /// - Parameter questionId: The key of the security question.
    /// - Throws: `OktaError`; `CancellationError` if the task or the transaction was cancelled.
    @MainActor
    public func enroll(questionId: String, answer: String) async throws -> OktaAuthStatus {
        try await MainQueue.value { enroll(questionId: questionId, answer: answer, onStatusChange: $0, onError: $1) }
    }

    /// Selects the factor and answers its question in one step.
    /// - Throws: `OktaError`; `CancellationError` if the task or the transaction was cancelled.
    @MainActor
    public func select(answerToSecurityQuestion: String) async throws -> OktaAuthStatus {
        try await MainQueue.value { select(answerToSecurityQuestion: answerToSecurityQuestion, onStatusChange: $0, onError: $1) }
    }

    /// Answers the question.
    /// - Throws: `OktaError`; `CancellationError` if the task or the transaction was cancelled.
    @MainActor
    public func verify(answerToSecurityQuestion: String) async throws -> OktaAuthStatus {
        try await MainQueue.value { verify(answerToSecurityQuestion: answerToSecurityQuestion, onStatusChange: $0, onError: $1) }
    }
}
