import Foundation
import Testing

@testable import IdentityEngine

@Suite("Devices with a counter, and tokens of others, at the classic API")
struct ClassicHardwareTests {
    private static let secret = Array("12345678901234567890".utf8)

    private static func desk(_ change: (inout OrganizationDefinition) -> Void = { _ in }) async throws -> ClassicDesk {
        try await ClassicDesk(ClassicPolicy(signOnPolicy: "two factors")) {
            $0.passwordPolicy.lockoutAttempts = 5
            $0.signOnPolicies.append(SignOnPolicy(name: "two factors", rules: [SignOnRule(name: "any", assurance: .twoFactors)]))
            change(&$0)
        }
    }

    private static func code(_ counter: Int64) -> String { TimeBasedCode.code(secret: secret, step: counter) }

    private static func assign(_ desk: ClassicDesk, counter: Int64 = 0) async throws -> String {
        try #require(
            try await desk.engine.assignHardwareDevice(
                secret: secret, credentialID: "4711", counter: counter, userID: desk.jane().id, context: desk.context))
    }

    @Test("a code is right once, and one that was passed is told")
    func once() async throws {
        let desk = try await Self.desk()
        let id = try await Self.assign(desk)
        let status = try await desk.signIn()
        let factor = try #require(status.factors?.first)
        #expect(factor.type == "token:hotp" && factor.provider == "CUSTOM" && factor.profile == ["credentialId": "4711"])
        let asked = try desk.transaction(try await desk.verify(id, ClassicProof(), status.stateToken))
        #expect(asked.status == .factorChallenge && asked.next == .verify && !asked.canResend)
        #expect(try desk.transaction(try await desk.verify(id, ClassicProof(passCode: Self.code(3)), status.stateToken)).status == .success)
        let next = try await desk.signIn()
        for used in [Self.code(3), Self.code(0)] {
            #expect(try await desk.verify(id, ClassicProof(passCode: used), next.stateToken).refusal == "E0000082")
        }
        #expect(try desk.transaction(try await desk.verify(id, ClassicProof(passCode: Self.code(4)), next.stateToken)).status == .success)
    }

    @Test("of two who use one code at one moment only one gets in")
    func race() async throws {
        let desk = try await Self.desk()
        let id = try await Self.assign(desk)
        let tokens = try await [desk.signIn(), desk.signIn(), desk.signIn()].map { $0.stateToken ?? "" }
        let right = try await withThrowingTaskGroup(of: Bool.self) { [engine = desk.engine, context = desk.context] group in
            for token in tokens {
                group.addTask {
                    let answer = try await engine.classicVerify(
                        factorID: id, ClassicProof(passCode: Self.code(0)), stateToken: token, context: context)
                    return answer.refusal == nil
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(right == 1)
    }

    @Test("a device that ran far ahead is set right by two codes in a row")
    func resynchronized() async throws {
        let desk = try await Self.desk()
        let id = try await Self.assign(desk)
        let status = try await desk.signIn()
        func type(_ counter: Int64) async throws -> Result<ClassicAnswer, ClassicRefusal> {
            try await desk.verify(id, ClassicProof(passCode: Self.code(counter)), status.stateToken)
        }
        #expect(try await type(40).refusal == "E0000083")
        #expect(try await type(42).refusal == "E0000083")
        #expect(try desk.transaction(try await type(43)).status == .success)
        #expect(
            try desk.transaction(try await desk.verify(id, ClassicProof(passCode: Self.code(44)), desk.signIn().stateToken)).status
                == .success)
    }

    @Test("guessing locks the account, also with codes that are far ahead")
    func guessed() async throws {
        let desk = try await Self.desk()
        let id = try await Self.assign(desk)
        let status = try await desk.signIn()
        for counter in [20, 30, 40, 50] as [Int64] {
            #expect(try await desk.verify(id, ClassicProof(passCode: Self.code(counter)), status.stateToken).refusal == "E0000083")
        }
        #expect(try await desk.verify(id, ClassicProof(passCode: Self.code(60)), status.stateToken).refusal == "E0000069")
        #expect(try await desk.jane().lockedAt != nil)
    }

    @Test("the org file gives a device, and another where it changed; what cannot be one is refused")
    func fromFile() async throws {
        func definition(_ counter: Int64, secret: String = Base32.encode(Self.secret)) -> (inout OrganizationDefinition) -> Void {
            { definition in
                definition.users[0].hardwareDevice = .init(secret: secret, credentialID: "4711", counter: counter)
            }
        }
        let desk = try await Self.desk(definition(7))
        let id = try #require(try await desk.signIn().factors?.first?.id)
        #expect(
            try desk.transaction(try await desk.verify(id, ClassicProof(passCode: Self.code(7)), desk.signIn().stateToken)).status
                == .success)
        var definition2 = TestOrganization.definition
        definition2.classic = ClassicPolicy(signOnPolicy: "two factors")
        definition2.signOnPolicies.append(SignOnPolicy(name: "two factors", rules: [SignOnRule(name: "any", assurance: .twoFactors)]))
        definition(7)(&definition2)
        // The same again changes nothing: what was used stays used.
        _ = try await desk.engine.apply(definition2, context: desk.context)
        #expect(try await desk.verify(id, ClassicProof(passCode: Self.code(7)), desk.signIn().stateToken).refusal == "E0000082")
        definition(90)(&definition2)
        _ = try await desk.engine.apply(definition2, context: desk.context)
        let next = try #require(try await desk.signIn().factors?.first?.id)
        #expect(next != id)
        #expect(
            try desk.transaction(try await desk.verify(next, ClassicProof(passCode: Self.code(90)), desk.signIn().stateToken)).status
                == .success)
        definition(0, secret: "MFXGCLLS")(&definition2)
        #expect(definition2.problems().contains { $0.message.contains("seed of a device") })
        definition(-1)(&definition2)
        #expect(definition2.problems().contains { $0.message.contains("seed of a device") })
    }
}
