import Foundation
import Testing

@testable import IdentityCore
@testable import Store

@Suite("Links in mails with codes")
struct MailLinkTests {
    private let fixture: CodeFixture
    private let user: User

    init() async throws {
        fixture = try await CodeFixture([.email])
        user = try #require(try await fixture.engine.user(login: PushFixture.jane))
    }

    private func send(for owner: String = "txn1", at seconds: TimeInterval = 1) async throws -> (token: String, code: String) {
        let enrollment = try #require(try await fixture.enrollments().first { $0.sentCode?.channel == .email })
        let prepared = try fixture.engine.prepareCode(
            CodeRequest(purpose: .signIn, owner: owner, hasLink: true), for: enrollment, of: user,
            snapshot: try await fixture.engine.snapshot(), context: PushFixture.context(seconds))
        try await fixture.engine.write(prepared.writes, context: PushFixture.context(seconds))
        return (try #require(prepared.message.linkToken), try #require(prepared.message.code))
    }

    private func verdict(_ response: FactorResponse, for owner: String = "txn1", at seconds: TimeInterval) async throws -> Bool {
        let verifier = CodeVerifier(
            environment: fixture.engine.environment, channel: .email, enrollments: try await fixture.enrollments(), owner: owner,
            now: TestOrganization.time(seconds))
        if case .proved = verifier.verify(response, of: user, policy: PasswordPolicy()) { return true }
        return false
    }

    @Test("A mailed link confirms its own sign-in for five minutes, and only after the user approves on the link's page")
    func approving() async throws {
        let (token, _) = try await send()
        let question = try await fixture.engine.mailLink(token, context: PushFixture.context(2))?.question
        #expect(
            question
                == MailLinkQuestion(
                    login: PushFixture.jane, sentAt: TestOrganization.time(1), isApproved: false,
                    address: PushFixture.context(1).address, userAgent: PushFixture.context(1).userAgent))
        // Opening the link is not an approval.
        #expect(try await !verdict(.confirmedLink, at: 3))
        #expect(try await fixture.engine.answerMailLink(token, isApproved: true, context: PushFixture.context(4)) != nil)
        #expect(try await !verdict(.confirmedLink, for: "txn2", at: 5))
        #expect(try await verdict(.confirmedLink, at: 5))
        #expect(try await !verdict(.confirmedLink, at: 302))
    }

    @Test("If the user denies the sign-in with the mailed link, the code and the link become invalid, and the denial is logged")
    func denying() async throws {
        let (token, code) = try await send()
        #expect(try await fixture.engine.answerMailLink(token, isApproved: false, context: PushFixture.context(2)) != nil)
        #expect(try await !verdict(.code(code), at: 3))
        #expect(try await fixture.engine.answerMailLink(token, isApproved: true, context: PushFixture.context(4)) == nil)
        #expect(
            try await fixture.organization.log("user.account.report_suspicious_activity").map(\.reason) == ["by the link: it was not me"])
    }

    @Test("An expired, replaced or forged mailed link is rejected")
    func useless() async throws {
        let (first, _) = try await send()
        #expect(try await fixture.engine.mailLink(first, context: PushFixture.context(301)) == nil)
        let (second, _) = try await send(at: 20)
        for token in [first, "ml_made-up", "", String(repeating: "x", count: 200)] {
            #expect(try await fixture.engine.mailLink(token, context: PushFixture.context(21)) == nil)
            #expect(try await fixture.engine.answerMailLink(token, isApproved: true, context: PushFixture.context(21)) == nil)
        }
        #expect(try await fixture.engine.mailLink(second, context: PushFixture.context(21)) != nil)
    }

    @Test("A mailed link becomes invalid when the code of the same mail is consumed")
    func spent() async throws {
        let (token, code) = try await send()
        let verifier = CodeVerifier(
            environment: fixture.engine.environment, channel: .email, enrollments: try await fixture.enrollments(), owner: "txn1",
            now: TestOrganization.time(2))
        guard case .proved(_, let used?, _) = verifier.verify(.code(code), of: user, policy: PasswordPolicy()) else {
            throw NoSuchThing("proof")
        }
        #expect(try await fixture.organization.store.commit(try used.changes()) == .committed)
        let state = try await fixture.organization.store.read {
            try $0.ticket(.mailLink, digest: TicketDigest(of: token), now: TestOrganization.time(3))
        }
        guard case .closed = state else { throw NoSuchThing("closed ticket: \(state)") }
    }
}
