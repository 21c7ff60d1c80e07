import Foundation
import Testing

@testable import IdentityEngine

@Suite("Signing in for the first time at the classic API")
struct ClassicActivationTests {
    private static let nora = "nora.newman@example.com"
    private static let password = "First-Horse-1"

    private static func desk(twoFactors: Bool = false) async throws -> ClassicDesk {
        try await ClassicDesk(ClassicPolicy(signOnPolicy: "first", recovery: [.email])) {
            $0.passwordPolicy.lockoutAttempts = 5
            $0.signOnPolicies.append(
                SignOnPolicy(name: "first", rules: [SignOnRule(name: "any", assurance: twoFactors ? .twoFactors : .oneFactor)]))
            $0.users.append(UserDefinition(login: nora, status: .staged))
            $0.users.append(UserDefinition(login: "staged@example.com", password: password, status: .staged))
        }
    }

    private static func token(_ desk: ClassicDesk, _ login: String = nora, lifetime: TimeInterval = 3_600) async throws -> String? {
        let id = try #require(try await desk.engine.user(login: login)?.id)
        return try await desk.engine.activationToken(forUser: id, lifetime: lifetime, context: desk.context)
    }

    private static func begin(_ desk: ClassicDesk, _ token: String?) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        try await desk.engine.classicActivateAccount(
            by: token ?? "", ClassicRequest(username: "", password: ""), caller: ClassicCaller(), context: desk.context)
    }

    private static func reset(_ desk: ClassicDesk, _ status: ClassicTransaction) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        try await desk.engine.classicResetPassword(to: password, stateToken: status.stateToken ?? "", context: desk.context)
    }

    @Test("an account stays staged until a password is set, and of two tokens the second is worth nothing after that")
    func staged() async throws {
        let desk = try await Self.desk()
        let (first, second) = (try await Self.token(desk), try await Self.token(desk))
        let status = try desk.transaction(try await Self.begin(desk, first))
        #expect(status.status == .passwordReset && status.recoveryType == "ACCOUNT_ACTIVATION" && status.next == .resetPassword)
        #expect(try await desk.engine.user(login: Self.nora)?.status == .staged)
        let other = try desk.transaction(try await Self.begin(desk, second))
        #expect(try desk.transaction(try await Self.reset(desk, status)).status == .success)
        #expect(try await desk.engine.user(login: Self.nora)?.status == .active)
        #expect(try await Self.reset(desk, other).refusal == "E0000011")
        #expect(try await Self.token(desk) == nil)
    }

    @Test("a token is good once, for its time, and as long as the account waits for it")
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
        // Of a recovery's kind it is none.
        let other = try await Self.token(desk, "staged@example.com") ?? ""
        #expect(try await desk.engine.classicRecoveryToken(other, context: desk.context).refusal == "E0000011")
        #expect(try await Self.token(desk, TestOrganization.jane) == nil)
    }

    @Test("who has a password goes on with the sign-in, and what else is asked for is asked for")
    func withPassword() async throws {
        let desk = try await Self.desk(twoFactors: true)
        let token = try await Self.token(desk, "staged@example.com")
        let second = try await Self.token(desk, "staged@example.com")
        let status = try desk.transaction(try await Self.begin(desk, token))
        #expect(status.status == .factorEnroll && status.stateToken != nil)
        #expect(try await desk.engine.user(login: "staged@example.com")?.status == .active)
        #expect(try await Self.begin(desk, second).refusal == "E0000004")
    }

    @Test("a first password that is only to begin with is changed at once")
    func duePassword() async throws {
        let desk = try await Self.desk()
        let id = try #require(try await desk.engine.user(login: "staged@example.com")?.id)
        _ = try await desk.engine.expirePassword(userID: id, context: desk.context)
        let status = try desk.transaction(try await Self.begin(desk, try await Self.token(desk, "staged@example.com")))
        #expect(status.status == .passwordReset && status.recoveryType == "ACCOUNT_ACTIVATION")
        #expect(try await desk.engine.user(login: "staged@example.com")?.status == .staged)
    }

    @Test("a week later the sign-in that it begins has as much time as any")
    func late() async throws {
        let desk = try await Self.desk()
        let token = try await Self.token(desk, lifetime: IdentityEngine.activationTokenLifetime)
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
