import Foundation
import TestSupport
import Testing

@testable import IdentityCore

@Suite("Cancellation of a pending sign-in")
struct CancellingTests {
    private let org: PushFixture
    private let phone: Phone

    init() async throws {
        org = try await PushFixture()
        phone = try await org.enroll()
    }

    @Test(
        "Cancelling a sign-in by its mfa_token or oob_code removes the pending challenge, and a later approval is rejected",
        arguments: [true, false])
    func secondFactor(byCode: Bool) async throws {
        let waiting = try await org.waiting()
        let answer = try PushFixture.sign(phone, try await org.newest(phone, at: 12), at: 12)
        try await org.revoke(byCode ? waiting.oobCode : waiting.mfaToken)
        #expect(try await org.pending(phone, at: 21).isEmpty)
        let late = try await org.send(answer, at: 21)
        #expect(late.status == 400 && late.why == "The sign-in was cancelled.")
        #expect(try await org.poll(waiting, at: 25).refused == .invalidGrant)
        #expect(try await org.challenge(waiting.mfaToken, at: 26).refused == .accessDenied)
        #expect(try await org.log("user.authentication.cancel").count == 1)
    }

    @Test("Cancelling a sign-in with a push as first factor removes the pending challenge")
    func firstFactor() async throws {
        let code = try await org.primary().get().secret()
        try await org.revoke(code, client: "one-factor-app")
        #expect(try await org.pending(phone, at: 21).isEmpty)
        #expect(try await org.pollFirst(code, at: 25).refused == .invalidGrant)
    }

    @Test("Cancelling a back-channel request removes its challenge")
    func backchannel() async throws {
        let id = try await org.backchannel().get().secret()
        try await org.revoke(id, client: "bank")
        #expect(try await org.pending(phone, at: 21).isEmpty)
        #expect(try await org.pollBackchannel(id, at: 25).refused == .invalidGrant)
    }

    @Test("Cancelling a sign-in repeatedly writes one log event")
    func twice() async throws {
        let waiting = try await org.waiting()
        for seconds in [20.0, 21, 22] {
            try await org.revoke(waiting.oobCode, at: seconds)
            try await org.revoke(waiting.mfaToken, at: seconds)
        }
        #expect(try await org.log("user.authentication.cancel").count == 1)
    }

    @Test("Cancelling a sign-in by another client, with a forged secret, or after its completion changes nothing")
    func withoutEffect() async throws {
        let waiting = try await org.waiting()
        for secret in [waiting.oobCode, waiting.mfaToken] { try await org.revoke(secret, client: "thief-app") }
        for secret in ["oob_nobody", "mfa_nobody", "ft_nobody"] { try await org.revoke(secret) }
        _ = try await org.answer(phone, at: 21).get()
        let tokens = try await org.poll(waiting, at: 22).get()
        try await org.revoke(waiting.oobCode, at: 23)
        #expect(try await org.token(["grant_type": "refresh_token", "refresh_token": tokens.refreshToken ?? ""], at: 24).refused == nil)
        #expect(try await org.log("user.authentication.cancel").isEmpty)
    }

    @Test("Cancelling a sign-in by a replaced oob_code changes nothing")
    func replaced() async throws {
        let old = try await org.waiting()
        let code = try await org.challenge(old.mfaToken, at: 12).get().secret()
        try await org.revoke(old.oobCode, at: 13)
        _ = try await org.answer(phone, at: 14).get()
        _ = try await org.poll(old.mfaToken, code, at: 17).get()
    }
}
