import Foundation
import Testing

@testable import AuthnAPI
@testable import IdentityCore
@testable import Store

@Suite("Stored factor enrollments")
struct EnrollmentTests {
    @Test("An enrollment record of version 0.1 can be read, and is written again with the same content")
    func storedForm() throws {
        let stored = #"""
            {"createdAt":8.1e8,"factor":"question","id":"ufs1","question":{"answerHash":"hash","key":"disliked_food"},"status":"active","userID":"00u1"}
            """#
        let enrollment = try Enrollment(Record(kind: .enrollment, id: "ufs1", payload: Array(stored.utf8)))
        #expect(enrollment.method == .question(QuestionMethod(key: "disliked_food", answerHash: "hash")))
        #expect(enrollment.factor == .question && enrollment.totp == nil && enrollment.push == nil)
        #expect(String(decoding: try enrollment.record().payload, as: UTF8.self) == stored.replacing("8.1e8", with: "810000000"))
    }

    @Test("A factor of an unknown kind that a newer version stored is read as unsupported, and still counts as an enrolled strong factor")
    func newerFactor() throws {
        let stored = #"{"createdAt":0,"factor":"retina","id":"fwf1","retina":{},"status":"active","userID":"00u1"}"#
        let enrollment = try Enrollment(Record(kind: .enrollment, id: "fwf1", payload: Array(stored.utf8)))
        #expect(enrollment.method == .unsupported(FactorKind(rawValue: "retina")))
        #expect(enrollment.isHeld && enrollment.isStrong)
    }

    private static let seed = Array("12345678901234567890".utf8)

    /// Returns an organization file that gives Jane a device with this initial counter.
    private static func definition(counter: Int64) -> OrganizationDefinition {
        var definition = TestOrganization.definition
        definition.classic = ClassicPolicy(signOnPolicy: "two factors")
        definition.passwordPolicy.lockoutAttempts = 5
        definition.users[0].hardwareDevice = .init(secret: Base32.encode(seed), credentialID: "4711", counter: counter)
        return definition
    }

    @Test(
        "Replacing an HOTP device in the org file resets its count of wrong codes, and the log records the removal and the new enrollment")
    func replacedByFile() async throws {
        let desk = try await ClassicTestClient(ClassicPolicy(signOnPolicy: "two factors")) { $0 = Self.definition(counter: 0) }
        func events() async throws -> [String] {
            try await desk.engine.systemLog(SystemLogQuery(since: .distantPast, typePrefix: "user.mfa.factor", limit: 100)).events
                .filter { $0.reason == "hotp, from the org file" }.map(\.type)
        }
        func guess() async throws {
            let status = try await desk.signIn()
            let id = try #require(status.factors?.first?.id)
            for _ in 0..<4 { #expect(try await desk.verify(id, ClassicProof(passCode: "000000"), status.stateToken).refusal == "E0000068") }
        }
        #expect(try await events() == ["user.mfa.factor.activate"])
        try await guess()
        _ = try await desk.engine.apply(Self.definition(counter: 90), context: desk.context)
        #expect(Set(try await events()) == ["user.mfa.factor.activate", "user.mfa.factor.deactivate"])
        #expect(try await events().count == 3)
        try await guess()
        let status = try await desk.signIn()
        let code = TimeBasedCode.code(secret: Self.seed, step: 90)
        let answer = try await desk.verify(try #require(status.factors?.first?.id), ClassicProof(passCode: code), status.stateToken)
        #expect(try desk.transaction(answer).status == .success)
    }
}
