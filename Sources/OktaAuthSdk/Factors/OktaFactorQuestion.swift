/// A security question.
open class OktaFactorQuestion: OktaFactor {
    /// Where the questions are that the person may choose from.
    public var securityQuestionsLink: LinksResponse.Link? { factor.links?.questions }

    /// The key of the question.
    public var factorQuestionId: String? { factor.profile?.question }

    /// The text of the question.
    public var factorQuestionText: String? { factor.profile?.questionText }

    /// Asks for the questions that the person may choose from.
    ///
    /// - Parameters:
    ///   - onDownloadComplete: Is called with the questions, on the main queue.
    ///   - onError: Is called with what went wrong, on the main queue.
    public func downloadSecurityQuestions(
        onDownloadComplete: @escaping ([SecurityQuestion]) -> Void, onError: @escaping (_ error: OktaError) -> Void
    ) {
        guard let link = securityQuestionsLink else { return refuse(.missing("questions"), onError) }
        guard let restApi else { return refuse(.detached, onError) }
        restApi.downloadSecurityQuestions(with: link, onCompletion: onDownloadComplete, onError: onError)
    }

    /// Enrols a question with its answer; it is active at once.
    ///
    /// - Parameters:
    ///   - questionId: The question's key.
    ///   - answer: The answer.
    ///   - onStatusChange: Is called with the new status, on the main queue.
    ///   - onError: Is called with what went wrong, on the main queue.
    public func enroll(
        questionId: String, answer: String, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        enroll(
            questionId: questionId, answer: answer, credentialId: nil, passCode: nil, phoneNumber: nil,
            onStatusChange: onStatusChange, onError: onError)
    }

    /// Picks the factor and answers its question in one step.
    ///
    /// - Parameters:
    ///   - answerToSecurityQuestion: The answer.
    ///   - onStatusChange: Is called with the new status, on the main queue.
    ///   - onError: Is called with what went wrong, on the main queue.
    public func select(
        answerToSecurityQuestion: String, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        select(passCode: nil, answer: answerToSecurityQuestion, onStatusChange, onError)
    }

    /// Answers the question.
    ///
    /// - Parameters:
    ///   - answerToSecurityQuestion: The answer.
    ///   - onStatusChange: Is called with the new status, on the main queue.
    ///   - onError: Is called with what went wrong, on the main queue.
    public func verify(
        answerToSecurityQuestion: String, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        verify(
            passCode: nil, answerToSecurityQuestion: answerToSecurityQuestion, onStatusChange: onStatusChange, onError: onError)
    }
}

extension OktaFactorQuestion {
    /// Asks for the questions that the person may choose from.
    ///
    /// - Returns: The questions.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled.
    @MainActor
    public func downloadSecurityQuestions() async throws -> [SecurityQuestion] {
        try await MainQueue.value { downloadSecurityQuestions(onDownloadComplete: $0, onError: $1) }
    }

    /// Enrols a question with its answer; it is active at once.
    ///
    /// - Parameters:
    ///   - questionId: The question's key.
    ///   - answer: The answer.
    /// - Returns: The new status.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled, or the transaction meanwhile.
    @MainActor
    public func enroll(questionId: String, answer: String) async throws -> OktaAuthStatus {
        try await MainQueue.value { enroll(questionId: questionId, answer: answer, onStatusChange: $0, onError: $1) }
    }

    /// Picks the factor and answers its question in one step.
    ///
    /// - Parameter answerToSecurityQuestion: The answer.
    /// - Returns: The new status.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled, or the transaction meanwhile.
    @MainActor
    public func select(answerToSecurityQuestion: String) async throws -> OktaAuthStatus {
        try await MainQueue.value { select(answerToSecurityQuestion: answerToSecurityQuestion, onStatusChange: $0, onError: $1) }
    }

    /// Answers the question.
    ///
    /// - Parameter answerToSecurityQuestion: The answer.
    /// - Returns: The new status.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled, or the transaction meanwhile.
    @MainActor
    public func verify(answerToSecurityQuestion: String) async throws -> OktaAuthStatus {
        try await MainQueue.value { verify(answerToSecurityQuestion: answerToSecurityQuestion, onStatusChange: $0, onError: $1) }
    }
}
