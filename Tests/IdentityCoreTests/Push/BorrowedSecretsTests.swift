import Foundation
import JOSE
import TestSupport
import Testing

@testable import DeviceAPI
@testable import IdentityCore

@Suite("Secrets of a sign-in, used elsewhere")
struct BorrowedSecretsTests {
    private let org: PushFixture
    private let phone: Phone

    init() async throws {
        org = try await PushFixture()
        phone = try await org.enroll()
    }

    /// A sign-in that its phone has approved, so that nothing is missing but the right secrets.
    private func approved() async throws -> PushFixture.Waiting {
        let waiting = try await org.waiting()
        _ = try await org.answer(phone, at: 12).get()
        return waiting
    }

    /// What was refused left the sign-in as it was.
    private func expectStillGood(_ waiting: PushFixture.Waiting) async throws {
        _ = try await org.poll(waiting, at: 30).get()
    }

    @Test("another client's: invalid_grant at the token endpoint, access_denied for a challenge")
    func otherClient() async throws {
        let waiting = try await approved()
        let poll = try await org.poll(waiting.mfaToken, waiting.oobCode, client: "thief-app", at: 17)
        #expect(poll.refused == .invalidGrant)
        #expect(try await org.challenge(waiting.mfaToken, client: "thief-app", at: 18).refused == .accessDenied)
        try await expectStillGood(waiting)
    }

    @Test("another server's: invalid_grant at the token endpoint, access_denied for a challenge", arguments: [nil, "other"])
    func otherServer(server: String?) async throws {
        let waiting = try await approved()
        #expect(try await org.poll(waiting.mfaToken, waiting.oobCode, server: server, at: 17).refused == .invalidGrant)
        #expect(try await org.challenge(waiting.mfaToken, server: server, at: 18).refused == .accessDenied)
        try await expectStillGood(waiting)
    }

    @Test("one person's mfa_token with the code that another approved")
    func otherPerson() async throws {
        let johns = try await org.enroll(PushFixture.john)
        let waiting = try await org.waiting()
        let other = try await org.waiting(PushFixture.john, at: 20)
        _ = try await org.answer(johns, at: 22).get()
        #expect(try await org.poll(waiting.mfaToken, other.oobCode, at: 27).refused == .invalidGrant)
        #expect(try await org.poll(other.mfaToken, waiting.oobCode, at: 27).refused == .invalidGrant)
        #expect(try await org.poll(waiting, at: 27).refused == .authorizationPending)
        _ = try await org.poll(other, at: 28).get()
    }

    @Test("one sign-in's mfa_token with the code of another of the same person")
    func otherTransaction() async throws {
        let waiting = try await approved()
        let other = try await org.mfaToken(at: 15)
        #expect(try await org.poll(other, waiting.oobCode, at: 17).refused == .invalidGrant)
        try await expectStillGood(waiting)
    }

    @Test("an mfa_token as an oob_code, an oob_code as an mfa_token, either as an auth_req_id, and what nobody was given")
    func otherKinds() async throws {
        let waiting = try await approved()
        let (token, code) = (waiting.mfaToken, waiting.oobCode)
        for (first, second) in [(token, token), (code, code), (code, token), (token, "oob_nobody"), ("mfa_nobody", code), ("nobody", code)]
        {
            #expect(try await org.poll(first, second, at: 17).refused == .invalidGrant)
        }
        for secret in [token, code, "ft_nobody"] {
            #expect(try await org.pollBackchannel(secret, at: 17).refused == .invalidGrant)
            #expect(try await org.pollFirst(secret, client: "direct-app", at: 17).refused == .invalidGrant)
        }
        #expect(try await org.challenge(code, at: 18).refused == .accessDenied)
        try await expectStillGood(waiting)
    }

    @Test("the code of a second factor as that of a first one, which would ask for no password")
    func secondAsFirst() async throws {
        let waiting = try await approved()
        let poll = try await org.pollFirst(waiting.oobCode, client: "direct-app", at: 17)
        #expect(poll.refused == .invalidGrant)
        #expect(poll.reason == "oob_code: second factor")
        try await expectStillGood(waiting)
    }

    @Test("the code of a first factor with the mfa_token of a password")
    func firstAsSecond() async throws {
        let code = try await org.primary(client: "one-factor-app", at: 11).get().secret()
        _ = try await org.answer(phone, at: 12).get()
        let token = try await org.mfaToken(at: 13)
        #expect(try await org.poll(token, code, at: 17).refused == .invalidGrant)
        #expect(try await org.poll(token, code, client: "one-factor-app", at: 17).refused == .invalidGrant)
        _ = try await org.pollFirst(code, at: 18).get()
    }

    @Test("a code that a newer challenge replaced: invalid_grant, whoever approves")
    func replaced() async throws {
        let old = try await org.waiting()
        let code = try await org.challenge(old.mfaToken, at: 12).get().secret()
        #expect(try await org.poll(old, at: 13).refused == .invalidGrant)
        #expect(try await org.pending(phone, at: 14).count == 1)
        _ = try await org.answer(phone, at: 14).get()
        #expect(try await org.poll(old, at: 17).refused == .invalidGrant)
        _ = try await org.poll(old.mfaToken, code, at: 18).get()
    }

    @Test("an answer to a challenge that was replaced: 400, and the sign-in waits on")
    func replacedChallenge() async throws {
        let old = try await org.waiting()
        let answer = try PushFixture.sign(phone, try await org.newest(phone, at: 12), at: 12)
        let code = try await org.challenge(old.mfaToken, at: 13).get().secret()
        let result = try await org.send(answer, at: 14)
        #expect(result.status == 400 && result.why == "The challenge was replaced by a newer one.")
        #expect(try await org.poll(old.mfaToken, code, at: 17).refused == .authorizationPending)
    }

    @Test("an answer of one phone to the challenge of another, of the same person or not")
    func otherPhone() async throws {
        let second = try await org.enroll(existing: phone)
        let johns = try await org.enroll(PushFixture.john)
        let waiting = try await org.waiting()
        let challenge = try await org.newest(phone, at: 12)
        for thief in [second, johns] {
            let answer = try PushFixture.sign(thief, challenge, at: 12)
            #expect(try await org.send(answer, at: 12).code == "E0000001")
        }
        #expect(try await org.poll(waiting, at: 17).refused == .authorizationPending)
        let answer = try PushFixture.sign(phone, challenge, at: 18)
        #expect(try await org.send(answer, at: 18).get() == .approved)
    }

    @Test("an answer to one challenge, sent to another")
    func otherChallenge() async throws {
        let first = try await org.waiting(at: 10)
        let second = try await org.waiting(at: 12)
        let challenges = try await org.pending(phone, at: 14)
        var answer = try PushFixture.sign(phone, try #require(challenges.first), at: 14)
        answer.challengeID = try #require(challenges.last?["transactionId"]?.stringValue)
        #expect(try await org.send(answer, at: 14).code == "E0000001")
        for waiting in [first, second] { #expect(try await org.poll(waiting, at: 17).refused == .authorizationPending) }
    }

    @Test("a challenge that nobody was sent: 404")
    func unknownChallenge() async throws {
        _ = try await org.waiting()
        var answer = try PushFixture.sign(phone, try await org.newest(phone, at: 12), at: 12)
        answer.challengeID = "ftnobody"
        let result = try await org.send(answer, at: 12)
        #expect(result.status == 404 && result.code == "E0000007")
    }
}
