import Foundation
import TestSupport
import Testing

@testable import AuthnAPI
@testable import IdentityCore
@testable import OAuthWire
@testable import SignInPages

/// Checks the number of reads and commits of a recovery on the hosted pages.
@Suite("The reads and commits of the recovery pages", .serialized)
struct RecoveryPageCostTests {
    private let cost = RequestCost()
    private let org: PushFixture
    private let visitor: PageVisitor

    init() async throws {
        org = try await PushFixture(store: cost.store) {
            PageVisitor.prepare(&$0)
            $0.classic = ClassicPolicy(signOnPolicy: "one-factor", recovery: [.sms, .email], unlocksBySelfService: true)
        }
        let number = try #require(PhoneNumber("+49 30 5550123"))
        _ = try await org.engine.grantCodeFactor(.sms, to: CodeDestination(number), userID: org.userID(), context: PushFixture.context(1))
        _ = try await org.engine.grantQuestion(
            "first_award", answer: "Swimming cup", userID: org.userID(), context: PushFixture.context(1))
        visitor = PageVisitor(org.engine)
        _ = try await visitor.authorize()
    }

    private func begin(_ channel: String, login: String = PushFixture.jane, on page: HostedPage) async throws -> HostedAnswer {
        visitor.follow(
            try await org.engine.beginRecovery(
                isUnlock: false, username: login, channel: channel, of: visitor.token, formToken: page.formToken,
                browser: visitor.cookies, context: visitor.context))
    }

    private func form() async throws -> HostedPage {
        let answer = try await org.engine.recoveryForm(
            isUnlock: false, of: visitor.token, browser: visitor.cookies, context: visitor.context)
        guard case .page(let page) = answer.outcome else { throw NoSuchThing("page") }
        return page
    }

    private func load(_ token: String) async throws -> HostedPage {
        let answer = try await org.engine.recoveryPage(token, browser: visitor.cookies, context: visitor.context)
        guard case .page(let page) = answer.outcome else { throw NoSuchThing("page: \(answer.outcome)") }
        return page
    }

    @Test("A recovery by text: the cost of each request.")
    func byText() async throws {
        let form = try await cost.expect(commits: 0) { try await self.form() }
        let begun = try await cost.expect(reads: 3, commits: 2) { try await begin("sms", on: form) }
        guard case .recovery(.page(let token)) = begun.outcome else { throw NoSuchThing("recovery: \(begun.outcome)") }
        let page = try await cost.expect(commits: 0) { try await load(token) }
        func submit(_ action: RecoveryAction, on page: HostedPage) async throws {
            visitor.follow(
                try await org.engine.recoveryStep(
                    action, of: token, formToken: page.formToken, browser: visitor.cookies, context: visitor.context))
        }
        let code = try #require(visitor.messages.last?.code)
        // The steps of a recovery page still run as several transactions: the step, its notice and what the page shows.
        try await cost.expect(reads: 4, commits: 2) { try await submit(.code(CodeFixture.other(than: code)), on: page) }
        visitor.seconds += 60
        try await cost.expect(reads: 3, commits: 2) { try await submit(.resend, on: page) }
        let second = try #require(visitor.messages.last?.code)
        try await cost.expect(reads: 3) { try await submit(.code(second), on: page) }
        let question = try await cost.expect(commits: 0) { try await load(token) }
        try await cost.expect(reads: 3, commits: 2) { try await submit(.answer("Chess cup"), on: question) }
        try await cost.expect(reads: 3, commits: 2) { try await submit(.answer("Swimming cup"), on: question) }
        let reset = try await load(token)
        try await cost.expect(reads: 2) { try await submit(.password("Another-Horse-8", repeated: "Another-Horse-9"), on: reset) }
        try await cost.expect(reads: 3) { try await submit(.password("horse", repeated: "horse"), on: reset) }
        try await cost.expect(reads: 3) { try await submit(.password("Another-Horse-8", repeated: "Another-Horse-8"), on: reset) }
        try await cost.expect(commits: 0) { _ = try await load(token) }
    }

    @Test("A recovery for an unknown name costs the same as for a known one.")
    func unknown() async throws {
        let form = try await form()
        let begun = try await cost.expect(reads: 3, commits: 2) { try await begin("sms", login: "nobody@example.com", on: form) }
        guard case .recovery(.page(let token)) = begun.outcome else { throw NoSuchThing("recovery") }
        let page = try await cost.expect(commits: 0) { try await load(token) }
        try await cost.expect(reads: 4, commits: 2) {
            _ = try await org.engine.recoveryStep(
                .code("000000"), of: token, formToken: page.formToken, browser: visitor.cookies, context: visitor.context)
        }
    }

    @Test("A recovery by mail: the cost of each request.")
    func byMail() async throws {
        let form = try await form()
        try await cost.expect(reads: 3, commits: 2) { _ = try await begin("email", on: form) }
        try await cost.expect(commits: 0) {
            _ = try await org.engine.recoverySent(
                isUnlock: false, of: visitor.token, browser: visitor.cookies, context: visitor.context)
        }
        let link = try #require(visitor.messages.last?.linkToken)
        let answer = try await cost.expect(commits: 0) {
            visitor.follow(try await org.engine.recoveryLinkPage(link, browser: visitor.cookies, context: visitor.context))
        }
        guard case .page(let page) = answer.outcome else { throw NoSuchThing("page") }
        try await cost.expect {
            _ = try await org.engine.openRecoveryLink(
                link, formToken: page.formToken, browser: visitor.cookies, context: visitor.context)
        }
    }
}
