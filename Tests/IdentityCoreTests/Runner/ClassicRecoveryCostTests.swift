import Foundation
import TestSupport
import Testing

@testable import AuthnAPI
@testable import IdentityCore

/// Checks the number of reads and commits of recoveries and activations at the classic API.
@Suite("Reads and commits of a recovery in the classic API", .serialized)
struct ClassicRecoveryCostTests {
    private let cost = RequestCost()
    private let desk: CountedClassicClient

    private var org: PushFixture { desk.app.organization }

    init() async throws {
        desk = try await CountedClassicClient(cost.store)
        desk.policy = "one factor"
        try await desk.apply()
    }

    private func recover(_ channel: String, _ login: String = PushFixture.jane) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        try await org.engine.classicRecover(
            ClassicRecoveryRequest(isUnlock: false, username: login, factorType: channel), caller: ClassicCaller(), context: desk.context)
    }

    private func answerQuestion(_ answer: String) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        try await org.engine.classicRecoveryAnswer(answer, stateToken: desk.token, context: desk.context)
    }

    private func reset(to password: String) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        try await org.engine.classicResetPassword(to: password, stateToken: desk.token, context: desk.context)
    }

    @Test(
        "In the classic API, each request of a recovery by text message makes at most two reads and one commit, for known and unknown user names"
    )
    func byText() async throws {
        func verify(_ code: String) async throws -> Result<ClassicAnswer, ClassicRefusal> {
            try await org.engine.classicRecoveryVerify(passCode: code, stateToken: desk.token, context: desk.context)
        }
        // The second read shows the recovery after the commit.
        try await cost.expect(reads: 2) { _ = try desk.shown(await recover("sms", "unknown@example.com")) }
        #expect(try await cost.expect { try await verify("000000") }.refusal == "E0000068")
        try await cost.expect(reads: 2) { _ = try desk.shown(await recover("sms")) }
        #expect(try await cost.expect { try await verify(CodeFixture.other(than: desk.code)) }.refusal == "E0000068")
        desk.seconds += 60
        try await cost.expect {
            _ = try desk.shown(await org.engine.classicRecoveryResend(stateToken: desk.token, context: desk.context))
        }
        try await cost.expect(reads: 2) { _ = try desk.shown(await verify(desk.code)) }
        #expect(try await cost.expect { try await answerQuestion("Chess cup") }.refusal == "E0000087")
        try await cost.expect(reads: 2) { _ = try desk.shown(await answerQuestion("Swimming cup")) }
        #expect(try await cost.expect(commits: 0) { try await reset(to: "horse") }.refusal == "E0000080")
        let done = try await cost.expect { try desk.shown(await reset(to: "Another-Horse-8")) }
        #expect(done.status == .success)
    }

    @Test("In the classic API, a recovery request by mail makes one read and one commit, and exchanging its token makes a second read")
    func byMail() async throws {
        let mailed = try await cost.expect { try desk.shown(await recover("email")) }
        #expect(mailed.factorResult == .waiting)
        let token = try #require(desk.messages.last?.linkToken)
        try await cost.expect(reads: 2) { _ = try desk.shown(await org.engine.classicRecoveryToken(token, context: desk.context)) }
        #expect(
            try await cost.expect(commits: 0) { try await org.engine.classicRecoveryToken(token, context: desk.context) }.refusal
                == "E0000011")
    }

    @Test("An activation costs one read for its token, two for the exchange and one for the first password, and one commit each")
    func activation() async throws {
        let id = try await org.userID("new@example.com")
        let token = try await cost.expect { try await org.engine.activationToken(forUser: id, context: desk.context) }
        // The second read shows the sign-in after the commit.
        try await cost.expect(reads: 2) {
            _ = try desk.shown(
                await org.engine.classicActivateAccount(
                    by: token ?? "", ClassicRequest(username: "", password: ""), caller: ClassicCaller(), context: desk.context))
        }
        let done = try await cost.expect { try desk.shown(await reset(to: "Another-Horse-8")) }
        #expect(done.status == .success)
    }
}
