import Foundation
import TestSupport
import Testing

@testable import AuthnAPI
@testable import IdentityCore
@testable import OAuthWire
@testable import SignInPages

/// Checks the number of reads and commits of a recovery on the hosted pages.
@Suite("Reads and commits of the recovery pages", .serialized)
struct RecoveryPageCostTests {
    private let cost = RequestCost()
    private let store: InterruptedStore
    private let org: PushFixture
    private let visitor: PageVisitor

    init() async throws {
        store = InterruptedStore(cost.store)
        org = try await PushFixture(store: store, Self.prepare)
        let number = try #require(PhoneNumber("+49 30 5550123"))
        _ = try await org.engine.grantCodeFactor(.sms, to: CodeDestination(number), userID: org.userID(), context: PushFixture.context(1))
        _ = try await org.engine.grantQuestion(
            "first_award", answer: "Swimming cup", userID: org.userID(), context: PushFixture.context(1))
        visitor = PageVisitor(org.engine)
        _ = try await visitor.authorize()
    }

    private static func prepare(_ definition: inout OrganizationDefinition) {
        PageVisitor.prepare(&definition)
        definition.classic = ClassicPolicy(signOnPolicy: "one factor", recovery: [.sms, .email], unlocksBySelfService: true)
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

    @Test("On the pages, each page of a recovery by text message makes one read, and each submission makes one read and one commit")
    func byText() async throws {
        let start = try await cost.expect(commits: 0) { try await form() }
        let begun = try await cost.expect { try await begin("sms", on: start) }
        guard case .recovery(.page(let token)) = begun.outcome else { throw NoSuchThing("recovery: \(begun.outcome)") }
        let page = try await cost.expect(commits: 0) { try await load(token) }
        func submit(_ action: RecoveryAction, on page: HostedPage) async throws {
            visitor.follow(
                try await org.engine.recoveryStep(
                    action, of: token, formToken: page.formToken, browser: visitor.cookies, context: visitor.context))
        }
        let code = try #require(visitor.messages.last?.code)
        try await cost.expect { try await submit(.code(CodeFixture.other(than: code)), on: page) }
        visitor.seconds += 60
        try await cost.expect { try await submit(.resend, on: page) }
        let second = try #require(visitor.messages.last?.code)
        try await cost.expect { try await submit(.code(second), on: page) }
        let question = try await cost.expect(commits: 0) { try await load(token) }
        try await cost.expect { try await submit(.answer("Chess cup"), on: question) }
        try await cost.expect { try await submit(.answer("Swimming cup"), on: question) }
        let reset = try await load(token)
        try await cost.expect { try await submit(.password("Another-Horse-8", repeated: "Another-Horse-9"), on: reset) }
        try await cost.expect { try await submit(.password("horse", repeated: "horse"), on: reset) }
        try await cost.expect { try await submit(.password("Another-Horse-8", repeated: "Another-Horse-8"), on: reset) }
        try await cost.expect(commits: 0) { _ = try await load(token) }
    }

    @Test("On the pages, each submission of a recovery for an unknown user name makes one read and one commit, as for a known user name")
    func unknown() async throws {
        let form = try await form()
        let begun = try await cost.expect { try await begin("sms", login: "unknown@example.com", on: form) }
        guard case .recovery(.page(let token)) = begun.outcome else { throw NoSuchThing("recovery") }
        let page = try await cost.expect(commits: 0) { try await load(token) }
        try await cost.expect {
            _ = try await org.engine.recoveryStep(
                .code("000000"), of: token, formToken: page.formToken, browser: visitor.cookies, context: visitor.context)
        }
    }

    @Test("On the pages, requesting a recovery mail and opening its link make one read and one commit each, and each page makes one read")
    func byMail() async throws {
        let form = try await form()
        try await cost.expect { _ = try await begin("email", on: form) }
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
    @Test("A recovery request that exceeds a rate limit stays rejected even if another request commits first")
    func refusedAfterConflict() async throws {
        try await org.reapply {
            Self.prepare(&$0)
            $0.rateLimits.perUser = 1
        }
        let start = try await form()
        guard case .recovery(.page(let token)) = try await begin("sms", on: start).outcome else { throw NoSuchThing("recovery") }
        let code = try #require(visitor.messages.last?.code)
        visitor.follow(
            try await org.engine.recoveryStep(
                .code(code), of: token, formToken: try await load(token).formToken, browser: visitor.cookies, context: visitor.context))
        let (engine, browser, context, signIn) = (org.engine, visitor.cookies, visitor.context, visitor.token)
        let question = try await load(token).formToken
        store.beforeNextCommit {
            _ = try await engine.recoveryStep(
                .password("a", repeated: "b"), of: token, formToken: question, browser: browser, context: context)
        }
        try await cost.expect(reads: 3, commits: 3) {
            _ = try await engine.recoveryStep(
                .answer("Swimming cup"), of: token, formToken: question, browser: browser, context: context)
        }
        let page = try await load(token)
        guard case .recoveryQuestion = page.content else { throw NoSuchThing("question: \(page.content)") }
        #expect(page.notice == .tooManyAttempts)
        let sent = visitor.messages.count
        store.beforeNextCommit {
            _ = try await engine.beginRecovery(
                isUnlock: false, username: "", channel: "sms", of: signIn, formToken: start.formToken, browser: browser, context: context)
        }
        let again = try await cost.expect(reads: 3, commits: 3) { try await begin("sms", on: start) }
        guard case .recovery(.form) = again.outcome else { throw NoSuchThing("form: \(again.outcome)") }
        #expect(visitor.messages.count == sent)
    }
}
