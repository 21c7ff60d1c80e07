import Foundation
import TestSupport
import Testing

@testable import AuthnAPI
@testable import IdentityCore
@testable import SignInPages

/// Checks the number of reads and commits of the classic API. ``ClassicRecoveryCostTests`` checks those of a recovery.
@Suite("Reads and commits of the classic API", .serialized)
struct ClassicCostTests {
    private let cost = RequestCost()
    private let desk: CountedClassicClient

    private var org: PushFixture { desk.app.organization }

    init() async throws {
        desk = try await CountedClassicClient(cost.store)
    }

    @Test("In the classic API, a wrong password makes one read and one commit, and a correct password makes two reads and one commit")
    func password() async throws {
        desk.policy = "one factor"
        try await desk.apply()
        #expect(try await cost.expect { try await desk.signIn(password: "wrong") }.refusal == "E0000004")
        #expect(try await cost.expect { try await desk.signIn("unknown@example.com", password: "wrong") }.refusal == "E0000004")
        // The second read loads the user's factors. Only a correct password may cause this read.
        let done = try await cost.expect(reads: 2) { try desk.shown(await desk.signIn()) }
        #expect(done.status == .success)
        let session = try await cost.expect {
            try await org.engine.startSession(by: done.sessionToken ?? "", browser: BrowserSecrets(), context: desk.context).get()
        }
        #expect(session.userID == (try await org.userID()))
    }

    @Test("If a second factor is required, the password costs two reads and one commit, and a repeated query of the state one read")
    func state() async throws {
        // The second read loads the user's factors.
        let asked = try await cost.expect(reads: 2) { try desk.shown(await desk.signIn()) }
        #expect(asked.status == .factorRequired)
        try await cost.expect(commits: 0) { _ = try desk.shown(await desk.state()) }
        // The server stores an extension of a minute or more.
        desk.seconds += 100
        try await cost.expect { _ = try desk.shown(await desk.state()) }
        _ = try desk.shown(try await desk.verify("totp", ClassicProof()))
        try await cost.expect { _ = try desk.shown(await org.engine.classicPrevious(stateToken: desk.token, context: desk.context)) }
        try await cost.expect {
            _ = try await org.engine.classicCancel(stateToken: desk.token, context: desk.context).get()
        }
    }

    @Test("In the classic API, choosing a code factor, sending a code and checking a code make one read and one commit each")
    func typed() async throws {
        _ = try desk.shown(await desk.signIn())
        try await cost.expect { _ = try desk.shown(await desk.verify("totp", ClassicProof())) }
        let wrong = desk.app.wrongCode(at: desk.seconds)
        #expect(try await cost.expect { try await desk.verify("totp", ClassicProof(passCode: wrong)) }.refusal == "E0000068")
        try await cost.expect { _ = try desk.shown(await desk.verify("sms", ClassicProof())) }
        desk.seconds += 60
        try await cost.expect {
            _ = try desk.shown(
                await org.engine.classicResend(factorID: desk.factors["sms"] ?? "", stateToken: desk.token, context: desk.context))
        }
        let code = desk.code
        #expect(
            try await cost.expect { try await desk.verify("sms", ClassicProof(passCode: CodeFixture.other(than: code))) }.refusal
                == "E0000068")
        let done = try await cost.expect { try desk.shown(await desk.verify("sms", ClassicProof(passCode: code))) }
        #expect(done.status == .success)
    }

    @Test("In the classic API, checking the answer to a security question makes one read and one commit")
    func question() async throws {
        _ = try desk.shown(await desk.signIn())
        #expect(try await cost.expect { try await desk.verify("question", ClassicProof(answer: "Chess cup")) }.refusal == "E0000068")
        let done = try await cost.expect { try desk.shown(await desk.verify("question", ClassicProof(answer: "Swimming cup"))) }
        #expect(done.status == .success)
    }

    @Test("In the classic API, each request of a push sign-in makes one read, and each request except a pending poll makes one commit")
    func push() async throws {
        let phone = try await org.enroll(PushFixture.john, at: 5)
        _ = try desk.shown(await desk.signIn(PushFixture.john))
        try await cost.expect { _ = try desk.shown(await desk.verify("push", ClassicProof())) }
        let pending = try await cost.expect(commits: 0) { try desk.shown(await desk.verify("push", ClassicProof())) }
        #expect(pending.factorResult == .waiting)
        let answer = try PushFixture.sign(phone, try await org.newest(phone, at: desk.seconds), at: desk.seconds)
        try await cost.expect { _ = try await org.send(answer, at: desk.seconds).get() }
        let done = try await cost.expect { try desk.shown(await desk.verify("push", ClassicProof())) }
        #expect(done.status == .success)
    }

    @Test(
        "In the classic API, starting and confirming an app enrollment make two reads and one commit each, and a wrong code makes one read"
    )
    func enrollment() async throws {
        let asked = try desk.shown(await desk.signIn("plain@example.com", enrollsOptional: true))
        #expect(asked.status == .factorEnroll)
        // The second read shows the sign-in after the commit.
        let begun = try await cost.expect(reads: 2) { try desk.shown(await desk.enroll("token:software:totp", "GOOGLE")) }
        let secret = try #require(begun.factor?.activation?.secret.flatMap(Base32.decode))
        // Wrong codes for an app that is being enrolled are counted in memory only. The client knows the secret anyway.
        #expect(try await cost.expect(commits: 0) { try await desk.activate("000000") }.refusal == "E0000068")
        let code = TimeBasedCode.code(secret: secret, step: TimeBasedCode.step(at: TestOrganization.time(desk.seconds)))
        let offered = try await cost.expect(reads: 2) { try desk.shown(await desk.activate(code)) }
        #expect(offered.status == .factorEnroll && offered.canSkip)
        try await cost.expect(reads: 2) { _ = try desk.shown(await desk.enroll("sms", "OKTA")) }
        desk.seconds += 60
        try await cost.expect(reads: 2) {
            _ = try desk.shown(
                await org.engine.classicResendActivation(
                    factorID: desk.enrolling, stateToken: desk.token, context: desk.context))
        }
        try await cost.expect(reads: 2) { _ = try desk.shown(await desk.activate(desk.code)) }
        try await cost.expect { _ = try desk.shown(await desk.enroll("push", "OKTA")) }
        try await cost.expect(commits: 0) {
            _ = try desk.shown(
                await org.engine.classicPollActivation(factorID: desk.enrolling, stateToken: desk.token, context: desk.context))
        }
        _ = try desk.shown(await org.engine.classicPrevious(stateToken: desk.token, context: desk.context))
        let done = try await cost.expect {
            try desk.shown(await org.engine.classicSkip(stateToken: desk.token, context: desk.context))
        }
        #expect(done.status == .success)
    }

    @Test("In the classic API, changing an expired password makes one read, and one commit only if the new password is accepted")
    func changePassword() async throws {
        desk.policy = "one factor"
        try await desk.apply { $0.passwordPolicy.age = .init(maximumDays: 1) }
        desk.seconds = 2 * 86_400
        let asked = try await cost.expect(reads: 2) { try desk.shown(await desk.signIn()) }
        #expect(asked.status == .passwordExpired)
        func change(to new: String) async throws -> Result<ClassicAnswer, ClassicRefusal> {
            try await org.engine.classicChangePassword(
                from: TestOrganization.janesPassword, to: new, stateToken: desk.token, context: desk.context)
        }
        #expect(try await cost.expect(commits: 0) { try await change(to: "horse") }.refusal == "E0000014")
        let done = try await cost.expect { try desk.shown(await change(to: "Another-Horse-8")) }
        #expect(done.status == .success)
    }
}
