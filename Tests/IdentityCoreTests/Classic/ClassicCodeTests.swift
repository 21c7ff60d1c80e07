import Foundation
import Store
import Testing

@testable import AuthnAPI
@testable import IdentityCore

@Suite("Codes and security questions in the classic API")
struct ClassicCodeTests {
    private static let policy = ClassicPolicy(
        signOnPolicy: "two factors", factors: [.sms: .optional, .call: .optional, .email: .optional, .question: .optional])

    private static func desk() async throws -> ClassicTestClient {
        try await ClassicTestClient(policy)
    }

    private static let phone = PhoneNumber("+49 30 5550123")

    @Test("A sent code is valid once, and only for the sign-in that requested it", arguments: CodeChannel.allCases)
    func code(channel: CodeChannel) async throws {
        let desk = try await Self.desk()
        let user = try await desk.jane()
        let destination = try channel == .email ? CodeDestination(#require(user.mailAddress)) : CodeDestination(#require(Self.phone))
        let id = try #require(
            try await desk.engine.grantCodeFactor(channel, to: destination, userID: user.id, context: desk.context))
        let first = try await desk.signIn()
        #expect(first.status == .factorRequired)
        let factor = try #require(first.factors?.first)
        #expect(factor.type == (channel == .voice ? "call" : channel.rawValue) && factor.provider == "OKTA")
        #expect(factor.profile[channel == .email ? "email" : "phoneNumber"] == destination.masked)
        let asked = try desk.transaction(try await desk.verify(id, ClassicProof(), first.stateToken))
        #expect(asked.status == .factorChallenge && asked.canResend && asked.next == .verify)
        #expect(desk.messages.map(\.channel) == [channel])
        #expect(desk.messages.last?.purpose == .signIn)
        // The second request is sent too soon after the first one.
        let early = try await desk.engine.classicResend(factorID: id, stateToken: first.stateToken ?? "", context: desk.context)
        let tooSoon: [CodeChannel: String] = [.sms: "E0000109", .voice: "E0000133", .email: "E0000118"]
        #expect(early.refusal == tooSoon[channel])
        #expect(try await desk.verify(id, ClassicProof(passCode: desk.wrongCode), first.stateToken).refusal == "E0000068")
        // The code belongs to another sign-in.
        let other = try await desk.signIn()
        #expect(try await desk.verify(id, ClassicProof(passCode: desk.code), other.stateToken).refusal == "E0000068")
        let old = desk.code
        desk.now += 31
        _ = try desk.transaction(
            try await desk.engine.classicResend(factorID: id, stateToken: first.stateToken ?? "", context: desk.context))
        if desk.code != old { #expect(try await desk.verify(id, ClassicProof(passCode: old), first.stateToken).refusal == "E0000068") }
        let done = try desk.transaction(try await desk.verify(id, ClassicProof(passCode: desk.code), first.stateToken))
        #expect(done.status == .success && done.sessionToken != nil)
        #expect(try await desk.verify(id, ClassicProof(passCode: desk.code), first.stateToken).refusal == "E0000011")
    }

    @Test("Five wrong codes lock the SMS factor for all sign-ins")
    func guessed() async throws {
        let desk = try await Self.desk()
        let user = try await desk.jane()
        let number = try #require(Self.phone)
        let id = try #require(
            try await desk.engine.grantCodeFactor(
                .sms, to: CodeDestination(number), userID: user.id, context: desk.context))
        let first = try await desk.signIn()
        _ = try desk.transaction(try await desk.verify(id, ClassicProof(), first.stateToken))
        for _ in 0..<4 {
            #expect(try await desk.verify(id, ClassicProof(passCode: desk.wrongCode), first.stateToken).refusal == "E0000068")
        }
        #expect(try await desk.verify(id, ClassicProof(passCode: desk.wrongCode), first.stateToken).refusal == "E0000069")
        #expect(try await desk.verify(id, ClassicProof(passCode: desk.code), first.stateToken).refusal == "E0000011")
        let second = try await desk.signIn()
        #expect(try await desk.verify(id, ClassicProof(), second.stateToken).refusal == "E0000047")
        #expect(try await desk.verify(id, ClassicProof(passCode: desk.code), second.stateToken).refusal == "E0000047")
    }

    @Test("A user enrolls a phone number with a code by text message, and later sign-ins require the phone")
    func setUp() async throws {
        let desk = try await Self.desk()
        let status = try await desk.signIn()
        #expect(status.status == .factorEnroll)
        #expect(status.factors?.map(\.type) == ["token:software:totp", "sms", "call", "email"])
        var request = ClassicEnrollmentRequest(type: "sms", provider: "OKTA")
        func enroll() async throws -> Result<ClassicAnswer, ClassicRefusal> {
            try await desk.engine.classicEnroll(request, stateToken: status.stateToken ?? "", context: desk.context)
        }
        #expect(try await enroll().refusal == "E0000001")
        request.phoneNumber = "12"
        #expect(try await enroll().refusal == "E0000098")
        request.phoneNumber = "+49 30 5550123"
        let activating = try desk.transaction(try await enroll())
        #expect(activating.status == .factorEnrollActivate && activating.canResend && activating.canReturn)
        #expect(activating.factor?.activation == nil)
        let id = try #require(activating.factor?.id)
        func activate(_ code: String) async throws -> Result<ClassicAnswer, ClassicRefusal> {
            try await desk.engine.classicActivate(factorID: id, passCode: code, stateToken: status.stateToken ?? "", context: desk.context)
        }
        #expect(try await activate(desk.wrongCode).refusal == "E0000068")
        func resend() async throws -> Result<ClassicAnswer, ClassicRefusal> {
            try await desk.engine.classicResendActivation(factorID: id, stateToken: status.stateToken ?? "", context: desk.context)
        }
        #expect(try await resend().refusal == "E0000109")
        desk.now += 31
        #expect(try desk.transaction(try await resend()).status == .factorEnrollActivate)
        #expect(desk.messages.count == 2)
        #expect(try desk.transaction(try await activate(desk.code)).status == .success)
        #expect(try await desk.signIn().factors?.map(\.type) == ["sms"])
    }

    @Test("The classic API neither offers nor verifies a stored factor of an unknown kind")
    func unknownKind() async throws {
        let desk = try await Self.desk()
        let jane = try await desk.jane().id
        let number = try #require(Self.phone)
        _ = try await desk.engine.grantCodeFactor(.sms, to: CodeDestination(number), userID: jane, context: desk.context)
        let unknown = Enrollment(
            id: "magic", userID: jane, method: .unsupported(FactorKind(rawValue: "magic_word")), status: .active, createdAt: desk.now)
        _ = try await desk.organization.store.commit([.put(try unknown.record())])
        let status = try await desk.signIn()
        #expect(status.factors?.map(\.type) == ["sms"])
        #expect(try await desk.verify("magic", ClassicProof(passCode: "123456"), status.stateToken).refusal == "E0000007")
    }

    @Test("A user's concurrent enrollments of different phone numbers share the message limit of one enrollment")
    func parallelSetUp() async throws {
        let desk = try await Self.desk()
        // In each round one sign-in sends a message, and then waits for its code.
        var tokens: [String] = []
        for _ in 0..<7 { tokens.append(try #require(try await desk.signIn().stateToken)) }
        for round in 0..<7 {
            try await withThrowingTaskGroup(of: Void.self) { [engine = desk.engine, context = desk.context] group in
                for (index, token) in tokens.enumerated() {
                    var request = ClassicEnrollmentRequest(type: "sms", provider: "OKTA")
                    request.phoneNumber = "+49 30 55501\(round)\(index)"
                    group.addTask { [request] in
                        _ = try await engine.classicEnroll(request, stateToken: token, context: context)
                    }
                }
                try await group.waitForAll()
            }
            desk.now += 31
        }
        // One enrollment sends five messages in ten minutes.
        #expect(desk.messages.count == 5)
    }

    @Test("Changing the phone number of an enrollment resets neither the wait between messages nor the message limit")
    func takenBack() async throws {
        let desk = try await Self.desk()
        let token = try await desk.signIn().stateToken ?? ""
        for round in 0..<40 {
            var request = ClassicEnrollmentRequest(type: "sms", provider: "OKTA")
            request.phoneNumber = "+49 30 55502\(round)"
            if case .success = try await desk.engine.classicEnroll(request, stateToken: token, context: desk.context) {
                _ = try await desk.engine.classicPrevious(stateToken: token, context: desk.context)
            }
            desk.now += 15
        }
        #expect(desk.messages.count == 8)
        let times = desk.messages.map(\.origin.time)
        #expect(zip(times, times.dropFirst()).allSatisfy { $1.timeIntervalSince($0) >= 30 }, "\(times)")
    }

    @Test("Enrollment attempts with another user's phone number do not use up that user's limit of sign-in codes")
    func foreignNumber() async throws {
        let john = UserDefinition(login: "john.roe@example.com", password: "Battery-Staple-9")
        let desk = try await ClassicTestClient(Self.policy) {
            $0.users.append(john)
        }
        let number = try #require(Self.phone)
        let id = try #require(
            try await desk.engine.grantCodeFactor(.sms, to: CodeDestination(number), userID: desk.jane().id, context: desk.context))
        var request = ClassicEnrollmentRequest(type: "sms", provider: "OKTA")
        request.phoneNumber = number.e164
        for _ in 0..<20 {
            let johns = ClassicRequest(username: john.login, password: "Battery-Staple-9")
            let status = try desk.transaction(try await desk.engine.classicSignIn(johns, caller: ClassicCaller(), context: desk.context))
            _ = try await desk.engine.classicEnroll(request, stateToken: status.stateToken ?? "", context: desk.context)
            desk.now += 121
        }
        #expect(desk.messages.count == 8)
        _ = try desk.transaction(try await desk.verify(id, ClassicProof(), desk.signIn().stateToken))
        #expect(desk.messages.last?.purpose == .signIn && desk.messages.last?.destination.phoneNumber == number)
    }

    @Test("After ten wrong recovery codes in a day, the server sends no further recovery code until the next day")
    func guessedRecoveries() async throws {
        let desk = try await Self.recoverable()
        var isSent: [Bool] = []
        for wait in [0.0, 3_700, 3_700, 82_000] {
            desk.now += wait
            let sent = desk.messages.count
            let begun = try await Self.recover(desk)
            isSent.append(desk.messages.count > sent)
            guard case .transaction(let transaction) = begun.outcome else { continue }
            for _ in 0..<5 {
                _ = try await desk.engine.classicRecoveryVerify(
                    passCode: "000000x", stateToken: transaction.stateToken ?? "", context: desk.context)
            }
        }
        #expect(isSent == [true, true, false, true])
    }

    @Test("A locked account gets a recovery message only if self-service unlock is allowed", arguments: [false, true])
    func lockedRecovery(unlocks: Bool) async throws {
        let desk = try await Self.recoverable(unlocks: unlocks)
        for _ in 0..<10 {
            desk.now += 61
            _ = try await desk.engine.classicSignIn(
                ClassicRequest(username: TestOrganization.jane, password: "wrong"), caller: ClassicCaller(), context: desk.context)
        }
        #expect(try await desk.jane().lockedAt != nil)
        _ = try await Self.recover(desk)
        #expect(desk.messages.isEmpty == !unlocks)
    }

    private static func recoverable(unlocks: Bool = false) async throws -> ClassicTestClient {
        let desk = try await ClassicTestClient(
            ClassicPolicy(signOnPolicy: "one factor", recovery: [.sms], unlocksBySelfService: unlocks)
        )
        let number = try #require(phone)
        _ = try await desk.engine.grantCodeFactor(.sms, to: CodeDestination(number), userID: desk.jane().id, context: desk.context)
        return desk
    }

    private static func recover(_ desk: ClassicTestClient) async throws -> ClassicAnswer {
        let request = ClassicRecoveryRequest(isUnlock: false, username: TestOrganization.jane, factorType: "SMS")
        return try await desk.engine.classicRecover(request, caller: ClassicCaller(), context: desk.context).get()
    }

    @Test("If the policy requires a security question, its enrollment needs a known question key and an answer that is long enough")
    func question() async throws {
        let desk = try await ClassicTestClient(ClassicPolicy(signOnPolicy: "one factor", factors: [.question: .required]))
        let status = try await desk.signIn()
        #expect(status.status == .factorEnroll && !status.canSkip)
        var request = ClassicEnrollmentRequest(type: "question", provider: "OKTA")
        func enroll() async throws -> Result<ClassicAnswer, ClassicRefusal> {
            try await desk.engine.classicEnroll(request, stateToken: status.stateToken ?? "", context: desk.context)
        }
        #expect(try await enroll().refusal == "E0000028")
        (request.question, request.answer) = ("first_award", "abc")
        #expect(try await enroll().refusal == "E0000001")
        (request.question, request.answer) = ("no_such_question", "a long answer")
        #expect(try await enroll().refusal == "E0000001")
        (request.question, request.answer) = ("first_award", "Swimming cup")
        #expect(try desk.transaction(try await enroll()).status == .success)
        #expect(try await desk.signIn().status == .success)
    }
}
