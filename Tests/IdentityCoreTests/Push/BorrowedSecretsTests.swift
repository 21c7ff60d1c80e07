import Foundation
import JOSE
import TestSupport
import Testing

@testable import DeviceAPI
@testable import IdentityCore

@Suite("Sign-in secrets that another client, user or sign-in uses")
struct BorrowedSecretsTests {
    private let org: PushFixture
    private let phone: Phone

    init() async throws {
        org = try await PushFixture()
        phone = try await org.enroll()
    }

    /// Returns a sign-in that the phone has approved. A poll with the correct secrets would complete it.
    private func approved() async throws -> PushFixture.Waiting {
        let waiting = try await org.waiting()
        _ = try await org.answer(phone, at: 12).get()
        return waiting
    }

    /// Checks that the refusal did not change the sign-in.
    private func expectStillGood(_ waiting: PushFixture.Waiting) async throws {
        _ = try await org.poll(waiting, at: 30).get()
    }

    @Test("An mfa_token of another client gets invalid_grant at the token endpoint and access_denied at the challenge endpoint")
    func otherClient() async throws {
        let waiting = try await approved()
        let poll = try await org.poll(waiting.mfaToken, waiting.oobCode, client: "thief-app", at: 17)
        #expect(poll.refused == .invalidGrant)
        #expect(try await org.challenge(waiting.mfaToken, client: "thief-app", at: 18).refused == .accessDenied)
        try await expectStillGood(waiting)
    }

    @Test(
        "An mfa_token of another server gets invalid_grant at the token endpoint and access_denied at the challenge endpoint",
        arguments: [nil, "other"])
    func otherServer(server: String?) async throws {
        let waiting = try await approved()
        #expect(try await org.poll(waiting.mfaToken, waiting.oobCode, server: server, at: 17).refused == .invalidGrant)
        #expect(try await org.challenge(waiting.mfaToken, server: server, at: 18).refused == .accessDenied)
        try await expectStillGood(waiting)
    }

    @Test("An mfa_token of one user with the oob_code of another user's approved sign-in is rejected")
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

    @Test("An mfa_token with the oob_code of another sign-in of the same user is rejected")
    func otherTransaction() async throws {
        let waiting = try await approved()
        let other = try await org.mfaToken(at: 15)
        #expect(try await org.poll(other, waiting.oobCode, at: 17).refused == .invalidGrant)
        try await expectStillGood(waiting)
    }

    @Test("An mfa_token in place of an oob_code, an oob_code in place of an mfa_token, and a forged secret are rejected")
    func otherKinds() async throws {
        let waiting = try await approved()
        let (token, code) = (waiting.mfaToken, waiting.oobCode)
        for (first, second) in [
            (token, token), (code, code), (code, token), (token, "oob_unknown"), ("mfa_unknown", code), ("unknown", code),
        ] {
            #expect(try await org.poll(first, second, at: 17).refused == .invalidGrant)
        }
        for secret in [token, code, "ft_nobody"] {
            #expect(try await org.pollBackchannel(secret, at: 17).refused == .invalidGrant)
            #expect(try await org.pollFirst(secret, client: "direct-app", at: 17).refused == .invalidGrant)
        }
        #expect(try await org.challenge(code, at: 18).refused == .accessDenied)
        try await expectStillGood(waiting)
    }

    @Test("An oob_code of a second factor is rejected in a poll for a first factor")
    func secondAsFirst() async throws {
        let waiting = try await approved()
        let poll = try await org.pollFirst(waiting.oobCode, client: "direct-app", at: 17)
        #expect(poll.refused == .invalidGrant)
        #expect(poll.reason == "oob_code: second factor")
        try await expectStillGood(waiting)
    }

    @Test("An oob_code of a first factor is rejected together with the mfa_token of a password sign-in")
    func firstAsSecond() async throws {
        let code = try await org.primary(client: "one-factor-app", at: 11).get().secret()
        _ = try await org.answer(phone, at: 12).get()
        let token = try await org.mfaToken(at: 13)
        #expect(try await org.poll(token, code, at: 17).refused == .invalidGrant)
        #expect(try await org.poll(token, code, client: "one-factor-app", at: 17).refused == .invalidGrant)
        _ = try await org.pollFirst(code, at: 18).get()
    }

    @Test("An oob_code that a new challenge replaced gets invalid_grant, even after the new challenge is approved")
    func replaced() async throws {
        let old = try await org.waiting()
        let code = try await org.challenge(old.mfaToken, at: 12).get().secret()
        #expect(try await org.poll(old, at: 13).refused == .invalidGrant)
        #expect(try await org.pending(phone, at: 14).count == 1)
        _ = try await org.answer(phone, at: 14).get()
        #expect(try await org.poll(old, at: 17).refused == .invalidGrant)
        _ = try await org.poll(old.mfaToken, code, at: 18).get()
    }

    @Test("A phone's response to a replaced challenge gets 400, and the sign-in stays pending")
    func replacedChallenge() async throws {
        let old = try await org.waiting()
        let answer = try PushFixture.sign(phone, try await org.newest(phone, at: 12), at: 12)
        let code = try await org.challenge(old.mfaToken, at: 13).get().secret()
        let result = try await org.send(answer, at: 14)
        #expect(result.status == 400 && result.why == "The challenge was replaced by a newer one.")
        #expect(try await org.poll(old.mfaToken, code, at: 17).refused == .authorizationPending)
    }

    @Test("A response of one phone to another phone's challenge is rejected")
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

    @Test("A signed response to one challenge is rejected if the phone sends it for another challenge")
    func otherChallenge() async throws {
        let first = try await org.waiting(at: 10)
        let second = try await org.waiting(at: 12)
        let challenges = try await org.pending(phone, at: 14)
        var answer = try PushFixture.sign(phone, try #require(challenges.first), at: 14)
        answer.challengeID = try #require(challenges.last?["transactionId"]?.stringValue)
        #expect(try await org.send(answer, at: 14).code == "E0000001")
        for waiting in [first, second] { #expect(try await org.poll(waiting, at: 17).refused == .authorizationPending) }
    }

    @Test("A phone's response to an unknown challenge gets 404")
    func unknownChallenge() async throws {
        _ = try await org.waiting()
        var answer = try PushFixture.sign(phone, try await org.newest(phone, at: 12), at: 12)
        answer.challengeID = "ftnobody"
        let result = try await org.send(answer, at: 12)
        #expect(result.status == 404 && result.code == "E0000007")
    }
}
