import Foundation
import TestSupport
import Testing

@testable import IdentityCore
@testable import OAuthEndpoints
@testable import OAuthWire
@testable import SignInPages

/// Checks the number of reads and commits of the requests of the hosted pages. ``RecoveryPageCostTests`` checks those of a recovery.
@Suite("The reads and commits of the hosted pages", .serialized)
struct PageCostTests {
    private let cost = RequestCost()
    private let app: AppFixture
    private let visitor: PageVisitor

    private var org: PushFixture { app.organization }

    init() async throws {
        app = try await AppFixture(store: cost.store, PageVisitor.prepare)
        visitor = PageVisitor(app.engine)
    }

    /// Signs in up to the first proof.
    private func enterPassword(_ client: String = PageVisitor.app, login: String = PushFixture.jane) async throws {
        _ = try await visitor.authorize(client)
        _ = try await visitor.submit(
            .password(login: login, password: PushFixture.passwords[login] ?? ""), on: try await visitor.form())
    }

    @Test("A sign-in by password costs a read and a commit per request; the correct password costs a second read, and a page no commit")
    func password() async throws {
        try await cost.expect { _ = try await visitor.authorize() }
        let page = try await cost.expect(commits: 0) { try await visitor.form() }
        func submit(_ password: String) async throws {
            _ = try await visitor.submit(.password(login: PushFixture.jane, password: password), on: page)
        }
        try await cost.expect { try await submit("wrong") }
        // The second read loads the user's factors. Only a correct password may cause it.
        try await cost.expect(reads: 2) { try await submit(TestOrganization.janesPassword) }
        let code = try await cost.expect { try PageVisitor.code(try await visitor.load()) }
        try await cost.expect {
            _ = try await org.token(
                [
                    "grant_type": "authorization_code", "code": code, "redirect_uri": PageVisitor.redirectURI,
                    "code_verifier": PageVisitor.verifier,
                ], client: PageVisitor.app, at: 11
            ).get()
        }
    }

    @Test("A session leads to a code in one read and one commit, and prompt=none without a session to an error in one read")
    func session() async throws {
        try await cost.expect(commits: 0) { _ = try await visitor.authorize(PageVisitor.app, ["prompt": "none"]) }
        try await enterPassword()
        _ = try PageVisitor.code(try await visitor.load())
        try await cost.expect { _ = try PageVisitor.code(try await visitor.authorize()) }
        try await cost.expect { _ = try PageVisitor.code(try await visitor.authorize(PageVisitor.app, ["prompt": "none"])) }
        // The session's password is the first of two factors: the sign-in is stored for the page.
        try await cost.expect { _ = try await visitor.authorize("page-vault") }
        try await cost.expect(commits: 0) { _ = try await visitor.form() }
    }

    @Test("A posted authorize request, a pushed one and the request that uses it make one read and one commit each")
    func pushed() async throws {
        try await cost.expect { _ = try await visitor.authorize(isForm: true) }
        let request = TokenRequest(
            server: "default", client: ClientCredentials(clientID: PageVisitor.app, endpoint: TestOrganization.tokenURL("default")),
            parameters: PageVisitor.request())
        let pushed = try await cost.expect { try await org.engine.pushAuthorizationRequest(request, context: visitor.context).get() }
        let parameters = ["client_id": PageVisitor.app, "request_uri": pushed.requestURI]
        try await cost.expect { _ = try await visitor.authorize(parameters) }
    }

    @Test("A code of an app as the second factor makes one read and one commit, correct or wrong")
    func code() async throws {
        try await enterPassword("page-vault")
        let page = try await cost.expect(commits: 0) { try await visitor.form() }
        try await cost.expect { _ = try await visitor.submit(.appCode(app.wrongCode(at: visitor.seconds)), on: page) }
        try await cost.expect { _ = try await visitor.submit(.appCode(app.code(at: visitor.seconds)), on: page) }
        try await cost.expect { _ = try PageVisitor.code(try await visitor.load()) }
    }

    @Test("A push on the page makes one read per request, and a commit when it is sent, answered and counted")
    func push() async throws {
        let phone = try await org.enroll(PushFixture.john)
        try await enterPassword("page-vault", login: PushFixture.john)
        let page = try await visitor.form()
        visitor.seconds = 20
        try await cost.expect { _ = try await visitor.submit(.choose(.push), on: page) }
        try await cost.expect(commits: 0) { _ = try await visitor.form() }
        #expect(
            try await cost.expect(commits: 0) {
                try await org.engine.isAnswerAwaited(of: visitor.token, browser: visitor.cookies, context: visitor.context)
            })
        // The same form again sends no second push.
        try await cost.expect(commits: 0) { _ = try await visitor.submit(.choose(.push), on: page) }
        // The commit stores the single use of the phone's assertion.
        let challenge = try await cost.expect { try await org.newest(phone, at: 21) }
        let answer = try PushFixture.sign(phone, challenge, at: 21)
        try await cost.expect { _ = try await org.send(answer, at: 21).get() }
        try await cost.expect { _ = try PageVisitor.code(try await visitor.load()) }
    }

    @Test("The consent page makes one read, and the user's consent one read and one commit")
    func consent() async throws {
        try await org.reapply { definition in
            PageVisitor.prepare(&definition)
            for index in definition.applications.indices where definition.applications[index].id.hasPrefix("page-") {
                definition.applications[index].consent = .required
            }
        }
        let phone = try await org.enroll(PushFixture.john)
        try await enterPassword("page-vault", login: PushFixture.john)
        _ = try await visitor.submit(.choose(.push), on: try await visitor.form())
        _ = try await org.answer(phone, at: 12).get()
        // The page counts the approval, and then reads again to show the question.
        try await cost.expect(reads: 2) { _ = try await visitor.form() }
        let page = try await cost.expect(commits: 0) { try await visitor.form() }
        try await cost.expect { _ = try await visitor.submit(.consent(true), on: page) }
        try await cost.expect { _ = try PageVisitor.code(try await visitor.load()) }
    }

    @Test("A code by text, the way back to the choice, a cancellation and a restart make one read and one commit each")
    func steps() async throws {
        let number = try #require(PhoneNumber("+49 30 5550123"))
        _ = try await org.engine.grantCodeFactor(
            .sms, to: CodeDestination(number), userID: org.userID(), context: PushFixture.context(1))
        try await enterPassword("page-vault")
        let page = try await visitor.form()
        try await cost.expect { _ = try await visitor.submit(.choose(.sms), on: page) }
        try await cost.expect { _ = try await visitor.submit(.chooseAgain, on: page) }
        visitor.seconds += 60
        try await cost.expect { _ = try await visitor.submit(.choose(.sms), on: page) }
        let code = try #require(visitor.messages.last?.code)
        try await cost.expect { _ = try await visitor.submit(.sentCode(CodeFixture.other(than: code)), on: page) }
        try await cost.expect { _ = try await visitor.submit(.sentCode(code), on: page) }
        try await cost.expect { _ = try PageVisitor.code(try await visitor.load()) }
        _ = try await visitor.authorize("page-vault", ["prompt": "login"])
        let other = try await visitor.form()
        try await cost.expect { _ = try await visitor.submit(.cancel, on: other) }
        _ = try await visitor.authorize("page-vault", ["prompt": "login"])
        let last = try await visitor.form()
        try await cost.expect { _ = try await visitor.submit(.restart, on: last) }
    }

    @Test("The link of a mail costs two reads to show, and two reads and one commit to answer")
    func mailLink() async throws {
        let address = try #require(MailAddress(PushFixture.jane))
        _ = try await org.engine.grantCodeFactor(
            .email, to: CodeDestination(address), userID: org.userID(), context: PushFixture.context(1))
        try await enterPassword("page-vault")
        _ = try await visitor.submit(.choose(.email), on: try await visitor.form())
        let link = try #require(visitor.messages.last?.linkToken)
        // The second read is that of the configuration, for the page.
        let reader = PageVisitor(org.engine, at: 12)
        let answer = try await cost.expect(reads: 2, commits: 0) {
            reader.follow(try await org.engine.mailLinkPage(link, browser: reader.cookies, context: reader.context))
        }
        guard case .page(let page) = answer.outcome else { throw NoSuchThing("page") }
        try await cost.expect(reads: 2) {
            _ = try await org.engine.answerMailLink(
                link, isApproved: true, formToken: page.formToken, browser: reader.cookies, context: reader.context)
        }
        // The page that waits counts the approval in a commit of its own, and then reads again to finish the sign-in.
        try await cost.expect(reads: 2, commits: 2) { _ = try PageVisitor.code(try await visitor.load()) }
    }

    @Test("A new password in place of an expired one makes one read and one commit")
    func newPassword() async throws {
        try await org.reapply {
            PageVisitor.prepare(&$0)
            $0.passwordPolicy.age = .init(maximumDays: 1)
        }
        visitor.seconds = 2 * 86_400
        try await enterPassword()
        let page = try await cost.expect(commits: 0) { try await visitor.form() }
        try await cost.expect { _ = try await visitor.submit(.newPassword("horse", repeated: "horse"), on: page) }
        try await cost.expect { _ = try await visitor.submit(.newPassword("Another-Horse-8", repeated: "Another-Horse-8"), on: page) }
        try await cost.expect { _ = try PageVisitor.code(try await visitor.load()) }
    }

    @Test("The enrolment of an app during a sign-in makes one read and one commit per step")
    func enrollment() async throws {
        try await enterPassword("page-vault", login: PushFixture.john)
        let page = try await cost.expect(commits: 0) { try await visitor.form() }
        try await cost.expect { _ = try await visitor.submit(.enroll, on: page) }
        guard case .enrollment(let offer?, _) = try await visitor.form().content, let secret = Base32.decode(offer.secret) else {
            throw NoSuchThing("offer")
        }
        try await cost.expect { _ = try await visitor.submit(.chooseEnrollment, on: page) }
        try await cost.expect { _ = try await visitor.submit(.enrollPhone(authenticatorID: nil), on: page) }
        _ = try await visitor.submit(.enroll, on: page)
        guard case .enrollment(let second?, _) = try await visitor.form().content else { throw NoSuchThing("offer") }
        #expect(Base32.decode(second.secret) != secret)
        let code = TimeBasedCode.code(
            secret: Base32.decode(second.secret) ?? [], step: TimeBasedCode.step(at: TestOrganization.time(visitor.seconds)))
        try await cost.expect { _ = try await visitor.submit(.confirmEnrollment(code), on: page) }
        try await cost.expect { _ = try PageVisitor.code(try await visitor.load()) }
    }

    @Test("The question whether to sign out makes one read, and the sign-out one read and one commit")
    func signOut() async throws {
        try await enterPassword()
        _ = try PageVisitor.code(try await visitor.load())
        func signOut(_ formToken: String?) async throws -> LogoutAnswer {
            try await org.engine.logout(
                AuthorizationParameters([:]), formToken: formToken, server: "default", browser: visitor.cookies, context: visitor.context)
        }
        let asked = try await cost.expect(commits: 0) { try await signOut(nil) }
        guard case .confirm(let question) = asked.outcome else { throw NoSuchThing("question") }
        try await cost.expect { _ = try await signOut(question.formToken) }
    }
}
