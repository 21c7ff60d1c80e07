import Foundation
import Testing

@testable import IdentityCore
@testable import Store

@Suite("Security questions")
struct QuestionTests {
    private static let award = SecurityQuestion.named("first_award") ?? SecurityQuestion(key: "", text: "")

    @Test("The questions have the keys of Authn.md §4.15, each with a text")
    func list() {
        #expect(SecurityQuestion.all.count == 20)
        #expect(Set(SecurityQuestion.all.map(\.key)).count == 20)
        #expect(SecurityQuestion.all.allSatisfy { $0.text.hasSuffix("?") })
    }

    @Test(
        "An answer needs four characters that are not part of the question",
        arguments: [
            ("abc", false), ("  a b ", false), ("the first prize", false), ("FIRST PRIZE", false), ("first award", false),
            ("What was the first prize that you won?", false), ("Seepferdchen", true), ("\u{1F3C6}\u{1F3C6}\u{1F3C6}\u{1F3C6}", true),
            (String(repeating: "x", count: 257), false),
        ])
    func answers(_ answer: String, _ isFine: Bool) {
        #expect((SecurityAnswer.problem(answer, to: Self.award) == nil) == isFine)
    }

    @Test("Answers match regardless of case, spaces and Unicode composition")
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

    @Test("A security question neither requires nor replaces a second factor outside the classic API")
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
