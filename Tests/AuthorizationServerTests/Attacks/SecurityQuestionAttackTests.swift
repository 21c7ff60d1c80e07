import Foundation
import IdentityCore
import JOSE
import TestSupport
import Testing

/// An attacker who has the user's password, mailbox and telephone, and guesses the answer to the security question: as the second factor of
/// the classic API, in the recovery of the classic API, and in the recovery on the hosted pages.
@Suite("Attacks: security question guessing at several endpoints", .timeLimit(.minutes(3)))
struct SecurityQuestionAttackTests {
    private static let right = "Swimming cup"

    private struct Attacker {
        let server: PushServer
        let client: ClassicClient

        /// Runs a test without an account lockout, so that only the limit of the question itself applies.
        static func with(recoveryGuesses: Int? = nil, _ body: @Sendable (Attacker) async throws -> Void) async throws {
            var organization = PushOrganization(
                classic: ClassicPolicy(signOnPolicy: "two factors", factors: [.question: .optional], recovery: [.sms, .email]))
            organization.passwordPolicy.lockoutAttempts = 0
            if let recoveryGuesses { organization.rateLimits.recoveryGuesses = recoveryGuesses }
            try await PushServer.with(organization) { server in
                try await server.give(.sms, "+49 30 5550123")
                let id = try #require(try await server.engine.user(login: PushOrganization.jane)?.id)
                let context = RequestContext(now: server.clock.now, requestID: "question")
                _ = try #require(
                    try await server.engine.grantQuestion(
                        "first_award", answer: SecurityQuestionAttackTests.right, userID: id, context: context))
                try await body(Attacker(server: server, client: ClassicClient(server)))
            }
        }

        /// Begins a sign-in that requires the question.
        func signIn() async throws -> ClassicStatus {
            let status = try await client.begin()
            try #require(status.name == "MFA_REQUIRED")
            return status
        }

        /// Answers the question as the second factor of a sign-in.
        func answer(_ text: String, in status: ClassicStatus) async throws -> WireResponse {
            try await client.follow(try status.factor("question")["_links"]?["verify"], of: status, ["answer": .string(text)])
        }

        /// Begins a recovery and advances it to the question.
        func recovery() async throws -> ClassicStatus {
            server.clock.advance(by: 61)
            let body: JSONValue = ["username": .string(PushOrganization.jane), "factorType": "SMS"]
            let asked = try ClassicStatus(try await client.post("/recovery/password", body))
            let code: [String: JSONValue] = ["passCode": .string(try await server.messages.code())]
            let status = try ClassicStatus(try await client.follow(asked.next, of: asked, code))
            try #require(status.name == "RECOVERY")
            return status
        }

        /// Answers the question in a recovery.
        func answer(_ text: String, recovering status: ClassicStatus) async throws -> WireResponse {
            try await client.follow(status.next, of: status, ["answer": .string(text)])
        }

        /// Begins a recovery on the pages and advances it to the question.
        func page() async throws -> (WireBrowser, WireResponse) {
            server.clock.advance(by: 61)
            let desk = RecoveryBrowser(server: server, browser: WireBrowser(server.wire))
            return (desk.browser, try await desk.browser.submit(try await desk.open(try await desk.link()), "recover"))
        }
    }

    @Test("Wrong security answers count together at all endpoints: after ten in a day, each endpoint rejects the correct answer")
    func spread() async throws {
        try await Attacker.with { attacker in
            let signIn = try await attacker.signIn()
            for index in 0..<4 { #expect(try await attacker.answer("Chess cup \(index)", in: signIn).status == 403) }
            let recovery = try await attacker.recovery()
            for index in 0..<3 { #expect(try await attacker.answer("Golf cup \(index)", recovering: recovery).status == 403) }
            let (browser, first) = try await attacker.page()
            var page = first
            for index in 0..<3 {
                page = try await browser.submit(page, "answer", ["answer": "Polo cup \(index)"])
                #expect(page.body.contains("The answer is wrong."))
            }
            // Ten answers were wrong. The next answer is correct, and every endpoint refuses it like a wrong one.
            let refused = try await attacker.answer(Self.right, in: try await attacker.signIn())
            #expect(refused.status == 403, "\(refused.body)")
            #expect(try await attacker.answer(Self.right, recovering: recovery).status == 403)
            page = try await browser.submit(page, "answer", ["answer": Self.right])
            #expect(!page.body.contains("name=\"repeated\""))
            // A day later the owner can sign in.
            attacker.server.clock.advance(by: 86_400)
            #expect(try ClassicStatus(try await attacker.answer(Self.right, in: try await attacker.signIn())).name == "SUCCESS")
        }
    }

    @Test("After 22 concurrent wrong answers to the security question, the correct answer is rejected")
    func parallel() async throws {
        try await Attacker.with { attacker in
            var signIns: [ClassicStatus] = []
            for _ in 0..<6 { signIns.append(try await attacker.signIn()) }
            let recovery = try await attacker.recovery()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (index, status) in signIns.enumerated() {
                    for guess in 0..<3 { group.addTask { _ = try await attacker.answer("Cup \(index) \(guess)", in: status) } }
                }
                for guess in 0..<4 { group.addTask { _ = try await attacker.answer("Mug \(guess)", recovering: recovery) } }
                try await group.waitForAll()
            }
            let late = try await attacker.answer(Self.right, in: try await attacker.signIn())
            #expect(late.status == 403, "\(late.body)")
        }
    }

    @Test("Answers to a locked security question do not count against the recovery budget that all users share")
    func budget() async throws {
        try await Attacker.with(recoveryGuesses: 3) { attacker in
            for round in 0..<5 {
                let signIn = try await attacker.signIn()
                for index in 0..<2 { #expect(try await attacker.answer("Chess cup \(round) \(index)", in: signIn).status == 403) }
            }
            let recovery = try await attacker.recovery()
            for index in 0..<4 { #expect(try await attacker.answer("Golf cup \(index)", recovering: recovery).status == 403) }
            try #require(try await attacker.server.logged("security.recovery.budget") == 0)
            // Other users recover from unknown origins.
            try await attacker.server.give(.sms, "+49 30 5550177", to: PushOrganization.john)
            attacker.server.clock.advance(by: 61)
            let body: JSONValue = ["username": .string(PushOrganization.john), "factorType": "SMS"]
            let asked = try ClassicStatus(try await attacker.client.post("/recovery/password", body))
            let code: [String: JSONValue] = ["passCode": .string(try await attacker.server.messages.code())]
            #expect(try ClassicStatus(try await attacker.client.follow(asked.next, of: asked, code)).name == "PASSWORD_RESET")
        }
    }
}
