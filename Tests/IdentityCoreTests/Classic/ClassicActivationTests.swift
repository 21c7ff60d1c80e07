import Foundation
import JOSE
import Testing

@testable import AuthnAPI
@testable import IdentityCore
@testable import SignInPages

@Suite("Account activation in the classic API")
struct ClassicActivationTests {
    private static let nora = "nora.newman@example.com"
    private static let password = "First-Horse-1"

    private static func desk(twoFactors: Bool = false) async throws -> ClassicTestClient {
        try await ClassicTestClient(ClassicPolicy(signOnPolicy: "first", recovery: [.email])) {
            $0.passwordPolicy.lockoutAttempts = 5
            $0.signOnPolicies.append(
                SignOnPolicy(name: "first", rules: [SignOnRule(name: "any", assurance: twoFactors ? .twoFactors : .oneFactor)]))
            $0.users.append(UserDefinition(login: nora, status: .staged))
            $0.users.append(UserDefinition(login: "staged@example.com", password: password, status: .staged))
        }
    }

    private static func token(_ desk: ClassicTestClient, _ login: String = nora, lifetime: TimeInterval = 3_600) async throws -> String? {
        let id = try #require(try await desk.engine.user(login: login)?.id)
        return try await desk.engine.activationToken(forUser: id, lifetime: lifetime, context: desk.context)
    }

    private static func begin(_ desk: ClassicTestClient, _ token: String?) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        try await desk.engine.classicActivateAccount(
            by: token ?? "", ClassicRequest(username: "", password: ""), caller: ClassicCaller(), context: desk.context)
    }

    private static func reset(_ desk: ClassicTestClient, _ status: ClassicTransaction) async throws -> Result<ClassicAnswer, ClassicRefusal>
    {
        try await desk.engine.classicResetPassword(to: password, stateToken: status.stateToken ?? "", context: desk.context)
    }

    private static func mail(_ desk: ClassicTestClient, _ login: String = nora) async throws -> OutgoingMessage {
        let id = try #require(try await desk.engine.user(login: login)?.id)
        desk.now += 61
        #expect(try await desk.engine.sendActivation(toUser: id, context: desk.context))
        return try #require(desk.messages.last)
    }

    /// Whether the link in an activation mail still opens a page.
    private static func isGood(_ mail: OutgoingMessage, _ desk: ClassicTestClient) async throws -> Bool {
        let answer = try await desk.engine.recoveryLinkPage(mail.linkToken, browser: BrowserSecrets(), context: desk.context)
        if case .page = answer.outcome { return true }
        return false
    }

    @Test(
        "The classic API rejects a mailed activation token, with or without an initial password, and the token stays valid on the hosted pages"
    )
    func mailed() async throws {
        let desk = try await Self.desk()
        for login in [Self.nora, "staged@example.com"] {
            let mail = try await Self.mail(desk, login)
            let (unknown, refused) = (try await Self.begin(desk, "at_unknown"), try await Self.begin(desk, mail.linkToken))
            // Only the log distinguishes the cases.
            #expect(refused.refusal == "E0000004" && refused.failure?.summary == unknown.failure?.summary)
            #expect(refused.failure?.status == unknown.failure?.status && refused.failure?.causes == unknown.failure?.causes)
            #expect(try await desk.engine.user(login: login)?.status == .staged)
            #expect(try await Self.isGood(mail, desk))
        }
    }

    @Test("A newer mail or token invalidates an activation link, and ending all sessions invalidates an activation token")
    func lastOne() async throws {
        let desk = try await Self.desk()
        let first = try await Self.mail(desk)
        #expect(try await Self.isGood(first, desk))
        let second = try await Self.mail(desk)
        #expect(try await !Self.isGood(first, desk))
        #expect(try await Self.isGood(second, desk))
        let token = try await Self.token(desk)
        #expect(try await !Self.isGood(second, desk))
        let id = try #require(try await desk.engine.user(login: Self.nora)?.id)
        _ = try await desk.engine.endSessions(ofUser: id, context: desk.context)
        #expect(try await Self.begin(desk, token).refusal == "E0000004")
    }

    @Test("A change of the mail address invalidates the mailed activation link, but not a token that was not mailed")
    func correctedAddress() async throws {
        let desk = try await Self.desk()
        let mail = try await Self.mail(desk)
        #expect(try await Self.isGood(mail, desk))
        var definition = TestOrganization.definition
        definition.classic = ClassicPolicy(signOnPolicy: "first", recovery: [.email])
        definition.signOnPolicies.append(SignOnPolicy(name: "first", rules: [SignOnRule(name: "any", assurance: .oneFactor)]))
        definition.users.append(UserDefinition(login: Self.nora, profile: ["email": "nora@example.net"], status: .staged))
        _ = try await desk.engine.apply(definition, context: desk.context)
        #expect(try await !Self.isGood(mail, desk))
        let token = try await Self.token(desk)
        definition.users[definition.users.count - 1].profile = [:]
        _ = try await desk.engine.apply(definition, context: desk.context)
        #expect(try desk.transaction(try await Self.begin(desk, token)).status == .passwordReset)
    }

    @Test("An account stays staged until its newest activation token sets a password, and earlier tokens and their sign-ins are rejected")
    func staged() async throws {
        let desk = try await Self.desk()
        let earlier = try desk.transaction(try await Self.begin(desk, try await Self.token(desk)))
        let (unused, last) = (try await Self.token(desk), try await Self.token(desk))
        #expect(try await Self.begin(desk, unused).refusal == "E0000004")
        #expect(try await Self.reset(desk, earlier).refusal == "E0000011")
        let status = try desk.transaction(try await Self.begin(desk, last))
        #expect(status.status == .passwordReset && status.recoveryType == "ACCOUNT_ACTIVATION" && status.next == .resetPassword)
        #expect(try await desk.engine.user(login: Self.nora)?.status == .staged)
        #expect(try desk.transaction(try await Self.reset(desk, status)).status == .success)
        #expect(try await desk.engine.user(login: Self.nora)?.status == .active)
        #expect(try await Self.token(desk) == nil)
    }

    @Test("An activation token is valid only once, only until its expiry, and only while the account is staged")
    func worthless() async throws {
        let desk = try await Self.desk()
        let used = try await Self.token(desk)
        _ = try desk.transaction(try await Self.begin(desk, used))
        #expect(try await Self.begin(desk, used).refusal == "E0000004")
        #expect(try await Self.begin(desk, "at_unknown").refusal == "E0000004")
        let late = try await Self.token(desk)
        desk.now += 3_600
        #expect(try await Self.begin(desk, late).refusal == "E0000004")
        let closed = try await Self.token(desk)
        let id = try #require(try await desk.engine.user(login: Self.nora)?.id)
        _ = try await desk.engine.setStatus(userID: id, to: .deactivated, context: desk.context)
        #expect(try await Self.begin(desk, closed).refusal == "E0000004")
        // A recovery token is not accepted for an activation.
        let other = try await Self.token(desk, "staged@example.com") ?? ""
        #expect(try await desk.engine.classicRecoveryToken(other, context: desk.context).refusal == "E0000011")
        #expect(try await Self.token(desk, TestOrganization.jane) == nil)
    }

    @Test("Activating a user who already has a password makes the account active, and continues with the enrollment of a second factor")
    func withPassword() async throws {
        let desk = try await Self.desk(twoFactors: true)
        let token = try await Self.token(desk, "staged@example.com")
        let status = try desk.transaction(try await Self.begin(desk, token))
        #expect(status.status == .factorEnroll && status.stateToken != nil)
        #expect(try await desk.engine.user(login: "staged@example.com")?.status == .active)
        #expect(try await Self.token(desk, "staged@example.com") == nil)
    }

    @Test("If the initial password is temporary, the activation asks for a new password, and the account stays staged meanwhile")
    func duePassword() async throws {
        let desk = try await Self.desk()
        let id = try #require(try await desk.engine.user(login: "staged@example.com")?.id)
        _ = try await desk.engine.expirePassword(userID: id, context: desk.context)
        let status = try desk.transaction(try await Self.begin(desk, try await Self.token(desk, "staged@example.com")))
        #expect(status.status == .passwordReset && status.recoveryType == "ACCOUNT_ACTIVATION")
        #expect(try await desk.engine.user(login: "staged@example.com")?.status == .staged)
    }

    @Test("A sign-in that an activation token starts after six days has the usual lifetime of five minutes")
    func late() async throws {
        let desk = try await Self.desk()
        let token = try await Self.token(desk, lifetime: Engine.activationTokenLifetime)
        desk.now += 6 * 86_400
        let status = try desk.transaction(try await Self.begin(desk, token))
        #expect(status.expiresAt == desk.now + 300)
        desk.now += 200
        let same = try desk.transaction(
            try await desk.engine.classicTransaction(stateToken: status.stateToken ?? "", context: desk.context))
        #expect(same.expiresAt == desk.now + 300)
        #expect(try desk.transaction(try await Self.reset(desk, status)).status == .success)
    }
}
