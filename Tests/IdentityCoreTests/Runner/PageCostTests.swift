import Foundation
import TestSupport
import Testing

@testable import IdentityCore
@testable import OAuthEndpoints
@testable import OAuthWire
@testable import SignInPages

/// Checks the number of reads and commits of the requests of the hosted pages. ``RecoveryPageCostTests`` checks those of a recovery.
@Suite("Reads and commits of the hosted pages", .serialized)
struct PageCostTests {
    private let cost = RequestCost()
    private let app: AppFixture
    private let visitor: PageVisitor

    private var org: PushFixture { app.organization }

    init() async throws {
        app = try await AppFixture(store: cost.store, PageVisitor.prepare)
        visitor = PageVisitor(app.engine)
    }

    /// Starts a sign-in, and enters the password.
    private func enterPassword(_ client: String = PageVisitor.app, login: String = PushFixture.jane) async throws {
        _ = try await visitor.authorize(client)
        _ = try await visitor.submit(
            .password(login: login, password: PushFixture.passwords[login] ?? ""), on: try await visitor.form())
    }

    @Test(
        "In a password sign-in on the pages, each submission makes one commit, a page makes none, and only the correct password makes a second read"
    )
    func password() async throws {
        try await cost.expect { _ = try await visitor.authorize() }
        let page = try await cost.expect(commits: 0) { try await visitor.form() }
        func submit(_ password: String) async throws {
            _ = try await visitor.submit(.password(login: PushFixture.jane, password: password), on: page)
        }
        try await cost.expect { try await submit("wrong") }
        // The second read loads the user's factors. Only a correct password may cause this read.
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

    @Test("An authorization request with a session makes one read and one commit, and prompt=none without a session makes one read")
    func session() async throws {
        try await cost.expect(commits: 0) { _ = try await visitor.authorize(PageVisitor.app, ["prompt": "none"]) }
        try await enterPassword()
        _ = try PageVisitor.code(try await visitor.load())
        try await cost.expect { _ = try PageVisitor.code(try await visitor.authorize()) }
        try await cost.expect { _ = try PageVisitor.code(try await visitor.authorize(PageVisitor.app, ["prompt": "none"])) }
        // The session contains the first of two factors. The server stores the sign-in, so that a page can ask for the second one.
        try await cost.expect { _ = try await visitor.authorize("page-vault") }
        try await cost.expect(commits: 0) { _ = try await visitor.form() }
    }

    @Test("A posted authorization request, a pushed authorization request and the use of its request_uri make one read and one commit each")
    func pushed() async throws {
        try await cost.expect { _ = try await visitor.authorize(isForm: true) }
        let request = TokenRequest(
            server: "default", client: ClientCredentials(clientID: PageVisitor.app, endpoint: TestOrganization.tokenURL("default")),
            parameters: PageVisitor.request())
        let pushed = try await cost.expect { try await org.engine.pushAuthorizationRequest(request, context: visitor.context).get() }
        let parameters = ["client_id": PageVisitor.app, "request_uri": pushed.requestURI]
        try await cost.expect { _ = try await visitor.authorize(parameters) }
    }

    @Test("On the pages, a wrong or correct app code as second factor makes one read and one commit")
    func code() async throws {
        try await enterPassword("page-vault")
        let page = try await cost.expect(commits: 0) { try await visitor.form() }
        try await cost.expect { _ = try await visitor.submit(.appCode(app.wrongCode(at: visitor.seconds)), on: page) }
        try await cost.expect { _ = try await visitor.submit(.appCode(app.code(at: visitor.seconds)), on: page) }
        try await cost.expect { _ = try PageVisitor.code(try await visitor.load()) }
    }

    @Test("On the pages, each request of a push sign-in makes one read, and neither a waiting page nor a repeated form makes a commit")
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
        // A second submission of the form sends no second push.
        try await cost.expect(commits: 0) { _ = try await visitor.submit(.choose(.push), on: page) }
        // The commit stores the single use of the phone's assertion.
        let challenge = try await cost.expect { try await org.newest(phone, at: 21) }
        let answer = try PushFixture.sign(phone, challenge, at: 21)
        try await cost.expect { _ = try await org.send(answer, at: 21).get() }
        try await cost.expect { _ = try PageVisitor.code(try await visitor.load()) }
    }

    @Test("The consent page makes one read, and the user's consent makes one read and one commit")
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
        // The page counts the approval, and then reads again to show the question. Undeclared in each read is the consent: its id is a
        // digest of the user and the client.
        try await cost.expect(reads: 2, undeclared: 2) { _ = try await visitor.form() }
        let page = try await cost.expect(commits: 0, undeclared: 1) { try await visitor.form() }
        try await cost.expect(undeclared: 1) { _ = try await visitor.submit(.consent(true), on: page) }
        try await cost.expect { _ = try PageVisitor.code(try await visitor.load()) }
    }

    @Test(
        "On the pages, sending a code by text message, choosing another factor, cancelling and restarting make one read and one commit each"
    )
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

    @Test("The link of a mail costs one read to show, and one read and one commit to answer")
    func mailLink() async throws {
        let address = try #require(MailAddress(PushFixture.jane))
        _ = try await org.engine.grantCodeFactor(
            .email, to: CodeDestination(address), userID: org.userID(), context: PushFixture.context(1))
        try await enterPassword("page-vault")
        _ = try await visitor.submit(.choose(.email), on: try await visitor.form())
        let link = try #require(visitor.messages.last?.linkToken)
        let reader = PageVisitor(org.engine, at: 12)
        let answer = try await cost.expect(commits: 0) {
            reader.follow(try await org.engine.mailLinkPage(link, browser: reader.cookies, context: reader.context))
        }
        guard case .page(let page) = answer.outcome else { throw NoSuchThing("page") }
        try await cost.expect {
            _ = try await org.engine.answerMailLink(
                link, isApproved: true, formToken: page.formToken, browser: reader.cookies, context: reader.context)
        }
        // The request of the waiting page counts the approval in a separate commit, and then reads again to finish the sign-in.
        try await cost.expect(reads: 2, commits: 2) { _ = try PageVisitor.code(try await visitor.load()) }
    }

    @Test("On the pages, the change of an expired password makes one read and one commit")
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

    @Test("On the pages, each step of an app enrollment makes one read and one commit")
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

    @Test("The logout confirmation page makes one read, and the confirmed logout makes one read and one commit")
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
