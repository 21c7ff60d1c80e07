import Foundation
import Testing

@testable import IdentityCore
@testable import Store

@Suite("Security questions")
struct QuestionTests {
    private static let award = SecurityQuestion.named("first_award") ?? SecurityQuestion(key: "", text: "")

    @Test("There are twenty security questions with distinct keys, and each text ends with a question mark")
    func list() {
        // Apps know the keys, so none may change.
        #expect(
            Set(SecurityQuestion.all.map(\.key)) == [
                "disliked_food", "name_of_first_plush_toy", "first_award", "favorite_security_question", "favorite_toy",
                "first_computer_game", "favorite_movie_quote", "first_sports_team_mascot", "first_music_purchase", "favorite_art_piece",
                "grandmother_favorite_desert", "first_thing_cooked", "childhood_dream_job", "first_kiss_location",
                "place_where_significant_other_was_met", "favorite_vacation_location", "new_years_two_thousand", "favorite_speaker_actor",
                "favorite_book_movie_character", "favorite_sports_player",
            ])
        #expect(SecurityQuestion.all.count == 20)
        #expect(SecurityQuestion.all.allSatisfy { $0.text.hasSuffix("?") })
    }

    @Test(
        "A security answer has 4 to 256 characters and is not part of the question",
        arguments: [
            ("abc", false), ("  a b ", false), ("the first prize", false), ("FIRST PRIZE", false), ("first award", false),
            ("What was the first prize that you won?", false), ("Seepferdchen", true), ("\u{1F3C6}\u{1F3C6}\u{1F3C6}\u{1F3C6}", true),
            (String(repeating: "x", count: 257), false),
        ])
    func answers(_ answer: String, _ isFine: Bool) {
        #expect((SecurityAnswer.problem(answer, to: Self.award) == nil) == isFine)
    }

    @Test("A security answer matches regardless of case, extra spaces and Unicode composition, and a different answer does not match")
    func comparing() async throws {
        let organization = try await PushFixture()
        let jane = try await organization.userID()
        _ = try await organization.engine.grantQuestion(
            "first_award", answer: " Café   am  Markt ", userID: jane, context: PushFixture.context(0))
        let enrollments = try await organization.store.read {
            try $0.records(.enrollment, where: "user", is: jane, limit: 10).map(Enrollment.init)
        }
        let stored = try #require(enrollments.first?.question)
        #expect(stored.answerHash.hasPrefix("$scrypt$"))
        let verifier = QuestionVerifier(environment: organization.engine.environment, enrollments: enrollments, origin: .unknown)
        let user = try #require(try await organization.engine.user(login: PushFixture.jane))
        let policy = PasswordPolicy(scryptLogN: 10)
        for typed in ["café am markt", "CAFE\u{301} AM MARKT", "  Café am Markt"] {
            #expect(try await verifier.verify(.answer(typed), of: user, policy: policy) != .failed, "\(typed)")
        }
        for typed in ["cafe am markt", "café am", "", String(repeating: "x", count: 300)] {
            #expect(try await verifier.verify(.answer(typed), of: user, policy: policy) == .failed, "\(typed)")
        }
        #expect(try await verifier.verify(.code("café am markt"), of: user, policy: policy) == .failed)
        #expect(try await verifier.verify(.answer("café am markt"), of: nil, policy: policy) == .failed)
    }

    @Test("Outside the classic API, a security question is neither accepted as a second factor nor required")
    func standing() async throws {
        let organization = try await PushFixture()
        let jane = try await organization.userID()
        _ = try await organization.engine.grantQuestion(
            "first_award", answer: "Seepferdchen", userID: jane, context: PushFixture.context(0))
        // Two factors are required, and a client cannot present a security question.
        #expect(try await organization.signIn().refused == .accessDenied)
        // One factor is enough, so the question is not required.
        #expect(try await organization.signIn(client: "one-factor-app").refused == nil)
    }
}
