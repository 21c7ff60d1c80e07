import Foundation
import Testing

@testable import AuthnAPI
@testable import IdentityCore
@testable import Store

@Suite("Account recovery in the classic API")
struct ClassicRecoveryTests {
    private static let portal = ClassicCaller(apiToken: "a-token-of-the-portal-0123456789")
    private static let new = "Another-Horse-8"

    private static func desk(showsLockout: Bool = false) async throws -> ClassicTestClient {
        let policy = ClassicPolicy(
            signOnPolicy: "one factor", showsLockout: showsLockout, recovery: [.sms, .email], unlocksBySelfService: true,
            trustedCallers: [.init(name: "portal", token: "a-token-of-the-portal-0123456789")])
        return try await ClassicTestClient(policy) {
            $0.passwordPolicy.lockoutAttempts = 5
        }
    }

    private static func recover(
        _ desk: ClassicTestClient, _ factorType: String?, isUnlock: Bool = false, login: String = TestOrganization.jane,
        caller: ClassicCaller = ClassicCaller()
    ) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        try await desk.engine.classicRecover(
            ClassicRecoveryRequest(isUnlock: isUnlock, username: login, factorType: factorType), caller: caller, context: desk.context)
    }

    private static func givePhone(_ desk: ClassicTestClient) async throws {
        let number = try #require(PhoneNumber("+49 30 5550123"))
        _ = try #require(
            try await desk.engine.grantCodeFactor(
                .sms, to: CodeDestination(number), userID: try await desk.jane().id, context: desk.context))
    }

    private static func reset(_ desk: ClassicTestClient, _ token: String?, _ password: String = new) async throws -> Result<
        ClassicAnswer, ClassicRefusal
    > {
        try await desk.engine.classicResetPassword(to: password, stateToken: token ?? "", context: desk.context)
    }

    @Test("A recovery by text message requires the code and a new password, and then completes the sign-in")
    func byText() async throws {
        let desk = try await Self.desk()
        try await Self.givePhone(desk)
        let begun = try desk.transaction(try await Self.recover(desk, "sMs"))
        #expect(begun.status == .recoveryChallenge && begun.recoveryType == "PASSWORD" && begun.recoveryChannel == .sms)
        #expect(begun.user == nil && begun.canCancel && begun.canResend && begun.next == .verify)
        #expect(desk.messages.map(\.purpose) == [.recovery])
        func verify(_ code: String) async throws -> Result<ClassicAnswer, ClassicRefusal> {
            try await desk.engine.classicRecoveryVerify(passCode: code, stateToken: begun.stateToken ?? "", context: desk.context)
        }
        #expect(try await verify(desk.wrongCode).refusal == "E0000068")
        #expect(try await Self.reset(desk, begun.stateToken).refusal == "E0000079")
        let reset = try desk.transaction(try await verify(desk.code))
        #expect(reset.status == .passwordReset && reset.user != nil && reset.passwordPolicy != nil)
        #expect(try await verify(desk.code).refusal == "E0000079")
        #expect(try await Self.reset(desk, begun.stateToken, "horse").refusal == "E0000080")
        let done = try desk.transaction(try await Self.reset(desk, begun.stateToken))
        #expect(done.status == .success && done.sessionToken != nil)
        #expect(try await desk.signIn(Self.new).status == .success)
    }

    @Test("A recovery for an unknown user name has the same responses, message limit and later steps as a recovery for a known user name")
    func unknown() async throws {
        let desk = try await Self.desk()
        for login in ["unknown@example.com", TestOrganization.jane] {
            let begun = try desk.transaction(try await Self.recover(desk, "sms", login: login))
            #expect(begun.status == .recoveryChallenge && begun.stateToken?.isEmpty == false)
            #expect(try await Self.recover(desk, "sms", login: login).refusal == "E0000109")
            let token = begun.stateToken ?? ""
            #expect(
                try desk.transaction(try await desk.engine.classicTransaction(stateToken: token, context: desk.context)).status
                    == .recoveryChallenge)
            desk.now += 31
            _ = try desk.transaction(try await desk.engine.classicRecoveryResend(stateToken: token, context: desk.context))
            for _ in 0..<4 {
                let answer = try await desk.engine.classicRecoveryVerify(passCode: "123456", stateToken: token, context: desk.context)
                #expect(answer.refusal == "E0000068")
            }
            let last = try await desk.engine.classicRecoveryVerify(passCode: "123456", stateToken: token, context: desk.context)
            #expect(last.refusal == "E0000069")
            let mailed = try desk.transaction(try await Self.recover(desk, "email", login: login))
            #expect(mailed.status == .recoveryChallenge && mailed.stateToken == nil && mailed.factorResult == .waiting && !mailed.canCancel)
        }
        // Jane has a mail address, but no telephone number.
        #expect(desk.messages.map(\.channel) == [.email])
        #expect(try await Self.recover(desk, nil).refusal == "E0000001")
        #expect(try await Self.recover(desk, "pigeon").refusal == "E0000001")
    }

    @Test(
        "After five wrong codes across several recoveries, the server sends no recovery code for five minutes, and only the log shows the refusal"
    )
    func guessedCodes() async throws {
        let desk = try await Self.desk()
        try await Self.givePhone(desk)
        var codes: [String] = []
        for guesses in [3, 2] {
            let token = try desk.transaction(try await Self.recover(desk, "sms")).stateToken ?? ""
            codes.append(desk.code)
            for _ in 0..<guesses {
                let answer = try await desk.engine.classicRecoveryVerify(passCode: desk.wrongCode, stateToken: token, context: desk.context)
                #expect(answer.refusal == "E0000068")
            }
            desk.now += 31
        }
        #expect(Set(codes).count == 2 && desk.messages.count == 2)
        let closed = try desk.transaction(try await Self.recover(desk, "sms")).stateToken ?? ""
        #expect(desk.messages.count == 2)
        for code in codes {
            let answer = try await desk.engine.classicRecoveryVerify(passCode: code, stateToken: closed, context: desk.context)
            #expect(answer.refusal == "E0000068")
        }
        let log = try await desk.engine.systemLog(SystemLogQuery(since: .distantPast, typePrefix: "user.mfa.code.send")).events
        #expect(log.map(\.outcome) == [.success, .success, .denied])
        // The wrong recovery codes have not locked the factor for sign-ins.
        let id = try await desk.jane().id
        let method = try await desk.organization.store.read {
            try $0.records(.enrollment, where: "user", is: id, limit: 9).map(Enrollment.init).compactMap(\.sentCode).first
        }
        #expect(method?.closedUntil(at: desk.now, for: .anybody) != nil && method?.closedUntil(at: desk.now) == nil)
        desk.now += 300
        let again = try desk.transaction(try await Self.recover(desk, "sms")).stateToken ?? ""
        #expect(desk.messages.count == 3)
        let proved = try await desk.engine.classicRecoveryVerify(passCode: desk.code, stateToken: again, context: desk.context)
        #expect(try desk.transaction(proved).status == .passwordReset)
    }

    @Test("A mailed recovery token is valid once, and the recovery requires the security answer before the new password")
    func byMail() async throws {
        let desk = try await Self.desk()
        _ = try #require(
            try await desk.engine.grantQuestion(
                "first_award", answer: "Swimming cup", userID: try await desk.jane().id, context: desk.context))
        _ = try desk.transaction(try await Self.recover(desk, "EMAIL"))
        let token = try #require(desk.messages.last?.linkToken)
        let asked = try desk.transaction(try await desk.engine.classicRecoveryToken(token, context: desk.context))
        #expect(asked.status == .recovery && asked.recoveryQuestion == SecurityQuestion.named("first_award")?.text && asked.next == .answer)
        #expect(try await desk.engine.classicRecoveryToken(token, context: desk.context).refusal == "E0000011")
        func answer(_ text: String?) async throws -> Result<ClassicAnswer, ClassicRefusal> {
            try await desk.engine.classicRecoveryAnswer(text, stateToken: asked.stateToken ?? "", context: desk.context)
        }
        #expect(try await answer(nil).refusal == "E0000028")
        #expect(try await answer("Chess cup").refusal == "E0000087")
        #expect(try await Self.reset(desk, asked.stateToken).refusal == "E0000079")
        #expect(try desk.transaction(try await answer(" swimming  CUP ")).status == .passwordReset)
        #expect(try desk.transaction(try await Self.reset(desk, asked.stateToken)).status == .success)
    }

    @Test("Five wrong answers to the security question lock the account and end the recovery")
    func guessed() async throws {
        let desk = try await Self.desk()
        _ = try #require(
            try await desk.engine.grantQuestion(
                "first_award", answer: "Swimming cup", userID: try await desk.jane().id, context: desk.context))
        let token = try #require(try desk.transaction(try await Self.recover(desk, nil, caller: Self.portal)).recoveryToken)
        let asked = try desk.transaction(try await desk.engine.classicRecoveryToken(token, context: desk.context))
        for expected in ["E0000087", "E0000087", "E0000087", "E0000087", "E0000069", "E0000011"] {
            let answer = try await desk.engine.classicRecoveryAnswer("Chess cup", stateToken: asked.stateToken ?? "", context: desk.context)
            #expect(answer.refusal == expected)
        }
        #expect(try await desk.jane().lockedAt != nil)
    }

    /// Starts a recovery that asks Jane's security question, and returns its state token. Jane must have a question.
    private static func asked(_ desk: ClassicTestClient) async throws -> String {
        desk.now += 61
        let token = try #require(try desk.transaction(try await recover(desk, nil, caller: portal)).recoveryToken)
        return try desk.transaction(try await desk.engine.classicRecoveryToken(token, context: desk.context)).stateToken ?? ""
    }

    private static func answer(_ text: String, _ token: String, _ desk: ClassicTestClient) async throws -> Result<
        ClassicAnswer, ClassicRefusal
    > {
        try await desk.engine.classicRecoveryAnswer(text, stateToken: token, context: desk.context)
    }

    @Test("A correct answer to the security question is rejected if another recovery commits the last permitted wrong answer first")
    func closedMeanwhile() async throws {
        let desk = try await Self.desk()
        let jane = try await desk.jane().id
        _ = try #require(try await desk.engine.grantQuestion("first_award", answer: "Swimming cup", userID: jane, context: desk.context))
        for _ in 0..<9 {
            let token = try await Self.asked(desk)
            #expect(try await Self.answer("Chess cup", token, desk).refusal == "E0000087")
            _ = try await desk.engine.classicCancel(stateToken: token, context: desk.context)
            desk.now += 600
        }
        let (right, wrong) = (try await Self.asked(desk), try await Self.asked(desk))
        let store = InterruptedStore(desk.organization.store)
        let context = desk.context
        store.beforeNextCommit { [engine = desk.engine] () async throws in
            let answer = try await engine.classicRecoveryAnswer("Chess cup", stateToken: wrong, context: context)
            #expect(answer.refusal != nil)
        }
        let slower = Engine(store: store, environment: desk.engine.environment)
        let answer = try await slower.classicRecoveryAnswer("Swimming cup", stateToken: right, context: desk.context)
        #expect(answer.refusal == "E0000087")
        #expect(try await Self.reset(desk, right).refusal == "E0000079")
    }

    @Test(
        "After ten wrong security answers in a day, even a correct answer is rejected until the next day; after a hundred, until the account is unlocked"
    )
    func guessedAnswers() async throws {
        let desk = try await Self.desk()
        let jane = try await desk.jane().id
        _ = try #require(try await desk.engine.grantQuestion("first_award", answer: "Swimming cup", userID: jane, context: desk.context))
        func guess(days: Int) async throws {
            for day in 0..<days {
                for _ in 0..<2 {
                    let token = try await Self.asked(desk)
                    for _ in 0..<5 { _ = try await Self.answer("Chess cup", token, desk) }
                }
                // The correct answer gets the response of a wrong answer, and is not counted.
                #expect(try await Self.answer("Swimming cup", try await Self.asked(desk), desk).refusal == "E0000087")
                if day < days - 1 { desk.now += 86_400 }
            }
        }
        try await guess(days: 1)
        desk.now += 86_400
        #expect(try desk.transaction(try await Self.answer("Swimming cup", try await Self.asked(desk), desk)).status == .passwordReset)
        // A correct answer removes the count only when the user has set the new password.
        let token = try await Self.asked(desk)
        _ = try desk.transaction(try await Self.answer("Swimming cup", token, desk))
        #expect(try desk.transaction(try await Self.reset(desk, token)).status == .success)
        // A sign-in with the password does not remove the count of the day's guesses.
        try await guess(days: 9)
        var stored = try #require(try await desk.organization.store.read { try $0.record(.user, id: jane).map(StoredUser.init) })
        stored.value.lockedAt = nil
        #expect(try await desk.organization.store.commit([.put(stored.record(holding: stored.value))]) == .committed)
        #expect(try await desk.signIn(Self.new).status == .success)
        #expect(try await Self.answer("Swimming cup", try await Self.asked(desk), desk).refusal == "E0000087")
        desk.now += 86_400
        try await guess(days: 2)
        desk.now += 86_400
        #expect(try desk.transaction(try await Self.answer("Swimming cup", try await Self.asked(desk), desk)).status == .passwordReset)
        try await guess(days: 8)
        desk.now += 10 * 86_400
        #expect(try await Self.answer("Swimming cup", try await Self.asked(desk), desk).refusal == "E0000087")
        _ = try await desk.engine.unlock(userID: jane, context: desk.context)
        #expect(try desk.transaction(try await Self.answer("Swimming cup", try await Self.asked(desk), desk)).status == .passwordReset)
    }

    @Test("A password recovery does not reset the count of wrong authenticator codes")
    func keepsWrongCodes() async throws {
        let desk = try await Self.desk()
        let app = FactorKind.totp.rawValue
        let id = try await desk.jane().id
        var stored = try #require(try await desk.organization.store.read { try $0.record(.user, id: id).map(StoredUser.init) })
        stored.value.failedCodes = [app: 4]
        #expect(try await desk.organization.store.commit([.put(stored.record(holding: stored.value))]) == .committed)
        let token = try #require(try desk.transaction(try await Self.recover(desk, nil, caller: Self.portal)).recoveryToken)
        let state = try desk.transaction(try await desk.engine.classicRecoveryToken(token, context: desk.context)).stateToken
        #expect(try desk.transaction(try await Self.reset(desk, state)).status == .success)
        #expect(try await desk.jane().failedCodes == [app: 4])
    }

    @Test("A user unlocks a locked account with a code by text message, and can then sign in")
    func unlock() async throws {
        let desk = try await Self.desk(showsLockout: true)
        try await Self.givePhone(desk)
        for _ in 0..<5 {
            _ = try await desk.engine.classicSignIn(
                ClassicRequest(username: TestOrganization.jane, password: "wrong"), caller: ClassicCaller(), context: desk.context)
        }
        #expect(try await desk.signIn().status == .lockedOut)
        let begun = try desk.transaction(try await Self.recover(desk, "SMS", isUnlock: true))
        #expect(begun.recoveryType == "UNLOCK")
        let done = try desk.transaction(
            try await desk.engine.classicRecoveryVerify(passCode: desk.code, stateToken: begun.stateToken ?? "", context: desk.context))
        #expect(done.status == .success && done.recoveryType == "UNLOCK" && done.sessionToken == nil && done.stateToken == nil)
        #expect(try await desk.signIn().status == .success)
        // An account that is not locked needs no unlock: nothing is sent.
        desk.now += 31
        let sent = desk.messages.count
        _ = try desk.transaction(try await Self.recover(desk, "SMS", isUnlock: true))
        #expect(desk.messages.count == sent)
    }

    @Test("A trusted caller of the classic API gets the recovery token in the response, and an error for an unknown user name")
    func trusted() async throws {
        let desk = try await Self.desk()
        let begun = try desk.transaction(try await Self.recover(desk, nil, caller: Self.portal))
        #expect(begun.status == .recovery && begun.stateToken == nil && begun.next == .recovery)
        #expect(try await desk.jane().id == begun.user?.id)
        let reset = try desk.transaction(
            try await desk.engine.classicRecoveryToken(begun.recoveryToken ?? "", context: desk.context))
        #expect(reset.status == .passwordReset && reset.stateToken != nil)
        #expect(try await Self.recover(desk, nil, login: "unknown@example.com", caller: Self.portal).refusal == "E0000095")
        #expect(try await Self.recover(desk, nil, isUnlock: true, caller: Self.portal).refusal == "E0000032")
        desk.now += 3_600
        let late = try desk.transaction(try await Self.recover(desk, nil, caller: Self.portal)).recoveryToken ?? ""
        desk.now += 3_600
        #expect(try await desk.engine.classicRecoveryToken(late, context: desk.context).refusal == "E0000011")
    }
}
