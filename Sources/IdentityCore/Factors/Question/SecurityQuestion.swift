/// A security question that the user can choose.
package struct SecurityQuestion: Sendable, Hashable {
    /// The key in the API (Documentation/Protocol/Authn.md §4.15).
    package var key: String
    package var text: String

    /// The questions that can be chosen, in display order.
    package static let all: [SecurityQuestion] = [
        ("disliked_food", "What food did you refuse to eat as a child?"),
        ("name_of_first_plush_toy", "What did you call your first stuffed animal?"),
        ("first_award", "What was the first prize that you won?"),
        ("favorite_security_question", "Which security question do you like best?"),
        ("favorite_toy", "Which toy was dearest to you as a child?"),
        ("first_computer_game", "Which computer game did you play first?"),
        ("favorite_movie_quote", "Which line from a film do you quote most?"),
        ("first_sports_team_mascot", "What was the mascot of the first team that you played in?"),
        ("first_music_purchase", "Which record or song did you buy first?"),
        ("favorite_art_piece", "Which work of art do you like best?"),
        ("grandmother_favorite_desert", "Which dessert did your grandmother like best?"),
        ("first_thing_cooked", "What was the first dish that you learned to cook?"),
        ("childhood_dream_job", "What did you want to become when you were a child?"),
        ("first_kiss_location", "Where were you when you had your first kiss?"),
        ("place_where_significant_other_was_met", "Where did you meet the person that you share your life with?"),
        ("favorite_vacation_location", "Where was your best holiday?"),
        ("new_years_two_thousand", "Where were you when the year 2000 began?"),
        ("favorite_speaker_actor", "Which speaker or actor do you like best?"),
        ("favorite_book_movie_character", "Which character from a book or a film do you like best?"),
        ("favorite_sports_player", "Which athlete do you like best?"),
    ].map { SecurityQuestion(key: $0.0, text: $0.1) }

    package static func named(_ key: String) -> SecurityQuestion? { all.first { $0.key == key } }
}

/// The stored state of a security question.
package struct QuestionMethod: Sendable, Equatable, Codable {
    package var key: String
    /// The normalized answer, hashed like a password.
    var answerHash: String

    package var text: String { SecurityQuestion.named(key)?.text ?? key }
}

/// Normalizes and validates answers. Answers are compared without regard to case, Unicode composition and the amount of white space.
enum SecurityAnswer {
    /// The minimum number of characters of an answer (Documentation/Protocol/Authn.md §4.5).
    static let minimumLength = 4
    /// The maximum length of an answer in bytes.
    static let maximumBytes = 256

    /// Returns the form in which answers are compared; `nil` if the answer is too long.
    static func normalized(_ answer: String) -> String? {
        guard answer.utf8.count <= maximumBytes else { return nil }
        return User.key(forLogin: answer).split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// Returns a sentence for the user if the answer is not acceptable; otherwise `nil`.
    static func problem(_ answer: String, to question: SecurityQuestion) -> String? {
        guard let answer = normalized(answer), let asked = normalized(question.text) else { return "The answer is too long." }
        guard answer.count >= minimumLength else { return "The answer must have at least \(minimumLength) characters." }
        let key = question.key.split(separator: "_").joined(separator: " ")
        guard !asked.contains(answer), !answer.contains(asked), !key.contains(answer), !answer.contains(key) else {
            return "The answer must not be a part of the question, nor contain it."
        }
        return nil
    }
}

/// Checks answers to security questions, on the threads that hash passwords.
package struct QuestionVerifier: FactorVerifier {
    package let environment: EngineEnvironment
    /// The user's enrollments; those of other factors are ignored.
    package let enrollments: [Enrollment]
    /// The origin of the request, which decides its place in the hashing queue.
    package let origin: RequestOrigin

    package init(environment: EngineEnvironment, enrollments: [Enrollment], origin: RequestOrigin) {
        (self.environment, self.enrollments, self.origin) = (environment, enrollments, origin)
    }

    package var kind: FactorKind { .question }
    package var factorClass: FactorClass { .recollection }
    package var methods: [String] { ["kba"] }

    package func verify(_ response: FactorResponse, of user: User?, policy: PasswordPolicy) async throws -> FactorVerdict {
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
