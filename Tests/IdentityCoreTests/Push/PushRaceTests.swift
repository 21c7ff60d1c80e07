import Foundation
import JOSE
import StoreSQLite
import Synchronization
import TestSupport
import Testing

@testable import DeviceAPI
@testable import IdentityCore
@testable import Store

@Suite("Concurrent requests in a push sign-in")
struct PushRaceTests {
    private let store = InterruptedStore(InMemoryStore())
    private let org: PushFixture
    private let phone: Phone

    init() async throws {
        org = try await PushFixture(store: store)
        phone = try await org.enroll()
    }

    private func denial(by phone: Phone, at seconds: TimeInterval) async throws -> PushFixture.Signed {
        try PushFixture.sign(phone, try await org.newest(phone, at: seconds), consent: "DENIED_CONSENT_PROMPT", at: seconds)
    }

    private func approval(by phone: Phone, at seconds: TimeInterval) async throws -> PushFixture.Signed {
        try PushFixture.sign(phone, try await org.newest(phone, at: seconds), at: seconds)
    }

    @Test(
        "If one phone's denial commits while another phone approves the same push, the denial counts, and the approving phone gets an error"
    )
    func denialFirst() async throws {
        let other = try await org.enroll(existing: phone)
        let waiting = try await org.waiting()
        let approval = try await approval(by: phone, at: 12)
        let denial = try await denial(by: other, at: 12)
        let denied = Mutex<ChallengeAnswerOutcome?>(nil)
        store.beforeNextCommit { [org] () async throws in
            let outcome = try await org.send(denial, at: 12).get()
            denied.withLock { $0 = outcome }
        }
        let late = try await org.send(approval, at: 12)
        #expect(denied.withLock { $0 } == .denied)
        #expect(late.code == "E0000001" && late.why == "The challenge was answered before.")
        #expect(try await org.poll(waiting, at: 17).refused == .accessDenied)
        #expect(try await org.log("user.mfa.push.answer").map(\.outcome) == [.success, .denied])
    }

    @Test(
        "If one phone's approval commits while another phone denies the same push, the approval counts, and the denying phone gets an error"
    )
    func approvalFirst() async throws {
        let other = try await org.enroll(existing: phone)
        let waiting = try await org.waiting()
        let approval = try await approval(by: phone, at: 12)
        let denial = try await denial(by: other, at: 12)
        store.beforeNextCommit { [org] () async throws in #expect(try await org.send(approval, at: 12).get() == .approved) }
        #expect(try await org.send(denial, at: 12).why == "The challenge was answered before.")
        let tokens = try await org.poll(waiting, at: 17).get()
        #expect(try claims(of: tokens.idToken)["amr"]?.stringArrayValue == ["pwd", "swk", "mfa"])
    }

    @Test(
        "Of a concurrent approval and denial of a push, exactly one is accepted, and the poll returns the accepted result",
        arguments: 1...12)
    func atOnce(round: Int) async throws {
        let other = try await org.enroll(existing: phone)
        let waiting = try await org.waiting()
        let answers = [try await approval(by: phone, at: 12), try await denial(by: other, at: 12)]
        let results = try await withThrowingTaskGroup { group in
            for answer in round.isMultiple(of: 2) ? answers : answers.reversed() {
                group.addTask { [org] in try await org.send(answer, at: 12) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let taken = results.compactMap { try? $0.get() }
        #expect(taken.count == 1)
        #expect(results.compactMap(\.why) == ["The challenge was answered before."])
        let poll = try await org.poll(waiting, at: 17)
        if taken == [.approved] { _ = try poll.get() } else { #expect(poll.refused == .accessDenied) }
    }

    @Test("Of two concurrent approvals by one phone, one is accepted, and the other gets an error")
    func approvedTwice() async throws {
        let waiting = try await org.waiting()
        let first = try await approval(by: phone, at: 12)
        let second = try await approval(by: phone, at: 12)
        store.beforeNextCommit { [org] () async throws in #expect(try await org.send(first, at: 12).get() == .approved) }
        #expect(try await org.send(second, at: 12).why == "The challenge was answered before.")
        _ = try await org.poll(waiting, at: 17).get()
    }

    @Test("Of two concurrent copies of a signed response, one is accepted, and the other gets an error")
    func answeredTwice() async throws {
        _ = try await org.waiting()
        let answer = try await approval(by: phone, at: 12)
        store.beforeNextCommit { [org] () async throws in #expect(try await org.send(answer, at: 12).get() == .approved) }
        let again = try await org.send(answer, at: 12)
        #expect(again.code == "E0000001" && again.why == "The answer was given before.")
    }

    /// Completes a sign-in. The next one from the same origin does not write the user record, so only the record of the sign-in can make
    /// one of two polls fail.
    private func signInOnce() async throws {
        let waiting = try await org.waiting(at: 1)
        _ = try await org.answer(phone, at: 3).get()
        _ = try await org.poll(waiting, at: 4).get()
    }

    @Test(
        "Of two concurrent polls of an approved push, one gets tokens and the other gets invalid_grant, and one grant is stored",
        arguments: [false, true])
    func twoPolls(isKnownPlace: Bool) async throws {
        if isKnownPlace { try await signInOnce() }
        let waiting = try await org.waiting()
        _ = try await org.answer(phone, at: 12).get()
        let before = try await org.grants().count
        let first = Mutex<TokenResponse?>(nil)
        store.beforeNextCommit { [org] () async throws in
            let tokens = try await org.poll(waiting, at: 17).get()
            first.withLock { $0 = tokens }
        }
        #expect(try await org.poll(waiting, at: 17).refused == .invalidGrant)
        #expect(first.withLock { $0 } != nil)
        #expect(try await org.grants().count == before + 1)
    }

    @Test("Of eight concurrent polls of an approved push, exactly one gets tokens")
    func manyPolls() async throws {
        try await signInOnce()
        let waiting = try await org.waiting()
        _ = try await org.answer(phone, at: 12).get()
        let before = try await org.grants().count
        let results = try await withThrowingTaskGroup { group in
            for _ in 0..<8 { group.addTask { [org] in try await org.poll(waiting, at: 17) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results.filter { $0.refused == nil }.count == 1)
        #expect(results.compactMap(\.refused) == Array(repeating: .invalidGrant, count: 7))
        #expect(try await org.grants().count == before + 1)
    }

    @Test("If an approved push sign-in is cancelled during the poll, the poll gets no tokens, and no grant is stored")
    func cancelledWhilePolling() async throws {
        let waiting = try await org.waiting()
        _ = try await org.answer(phone, at: 12).get()
        let before = try await org.grants().count
        store.beforeNextCommit { [org] () async throws in try await org.revoke(waiting.oobCode, at: 17) }
        #expect(try await org.poll(waiting, at: 17).refused == .invalidGrant)
        #expect(try await org.grants().count == before)
    }

    @Test("If a sign-in is cancelled while the phone approves the push, the phone gets an error, and the poll gets invalid_grant")
    func cancelledWhileApproving() async throws {
        let waiting = try await org.waiting()
        let approval = try await approval(by: phone, at: 12)
        store.beforeNextCommit { [org] () async throws in try await org.revoke(waiting.mfaToken, at: 12) }
        #expect(try await org.send(approval, at: 12).why == "The sign-in was cancelled.")
        #expect(try await org.poll(waiting, at: 17).refused == .invalidGrant)
    }

    @Test("If a poll gets tokens while the client cancels the sign-in, the tokens stay valid, and no cancellation is logged")
    func polledWhileCancelling() async throws {
        let waiting = try await org.waiting()
        _ = try await org.answer(phone, at: 12).get()
        let given = Mutex<TokenResponse?>(nil)
        store.beforeNextCommit { [org] () async throws in
            let tokens = try await org.poll(waiting, at: 17).get()
            given.withLock { $0 = tokens }
        }
        try await org.revoke(waiting.oobCode, at: 17)
        let tokens = try #require(given.withLock { $0 })
        #expect(
            try await org.token(["grant_type": "refresh_token", "refresh_token": tokens.refreshToken ?? ""], at: 20).refused == nil)
        #expect(try await org.log("user.authentication.cancel").isEmpty)
    }

    @Test("If the client replaces a challenge while the phone approves the challenge, the approval is rejected")
    func replacedWhileApproving() async throws {
        let waiting = try await org.waiting()
        let approval = try await approval(by: phone, at: 12)
        store.beforeNextCommit { [org] () async throws in _ = try await org.challenge(waiting.mfaToken, at: 12).get() }
        #expect(try await org.send(approval, at: 12).why == "The challenge was replaced by a newer one.")
        #expect(try await org.pending(phone, at: 13).count == 1)
    }

    @Test("If the phone approves a challenge while the client replaces the challenge, the approval does not count for the new challenge")
    func approvedWhileReplacing() async throws {
        let waiting = try await org.waiting()
        let approval = try await approval(by: phone, at: 12)
        store.beforeNextCommit { [org] () async throws in #expect(try await org.send(approval, at: 12).get() == .approved) }
        let code = try await org.challenge(waiting.mfaToken, at: 12).get().secret()
        #expect(try await org.poll(waiting.mfaToken, code, at: 17).refused == .authorizationPending)
        #expect(try await org.poll(waiting, at: 17).refused == .invalidGrant)
    }

    @Test("If the password changes during the poll of an approved sign-in, the client gets no valid tokens")
    func passwordChange() async throws {
        let waiting = try await org.waiting()
        _ = try await org.answer(phone, at: 12).get()
        let user = try await org.userID()
        store.beforeNextCommit { [org] () async throws in
            _ = try await org.engine.setPassword(userID: user, to: "Another-Horse-8", context: PushFixture.context(16))
        }
        switch try await org.poll(waiting, at: 17) {
        case .failure(let refusal): #expect(refusal.code == .invalidGrant)
        case .success(let tokens):
            // Tokens of a grant with the earlier state of the account are not valid.
            let refresh = ["grant_type": "refresh_token", "refresh_token": tokens.refreshToken ?? ""]
            #expect(try await org.token(refresh, at: 18).refused == .invalidGrant)
        }
    }

    @Test(
        "A push challenge can be approved one millisecond before its expiry, but not at the expiry",
        arguments: [(-0.001, true), (0, false)])
    func expiryWhileApproving(offset: TimeInterval, isInTime: Bool) async throws {
        // The challenge was sent at 11, and expires 300 seconds later.
        let end = 311 + offset
        let waiting = try await org.waiting()
        let answer = try PushFixture.sign(phone, try await org.newest(phone, at: 12), at: 300)
        let result = try await org.send(answer, at: end)
        if isInTime {
            #expect(try result.get() == .approved)
            _ = try await org.poll(waiting, at: end).get()
        } else {
            #expect(result.why == "The challenge has expired.")
        }
    }

    @Test("A client that polls an approved push only after the expiry gets expired_token")
    func approvedThenExpired() async throws {
        let waiting = try await org.waiting()
        _ = try await org.answer(phone, at: 12).get()
        #expect(try await org.poll(waiting, at: 311).refused == .expiredToken)
        #expect(try await org.pending(phone, at: 311).isEmpty)
    }

    @Test("A push sign-in completes even if the server restarts before and after the approval")
    func restart() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "countersign-push-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "store.sqlite").path

        var store = try SQLiteStore(path: path)
        let first = try await PushFixture(store: store)
        let phone = try await first.enroll()
        let waiting = try await first.waiting()
        #expect(try await first.poll(waiting, at: 12).refused == .authorizationPending)
        try await store.close()

        store = try SQLiteStore(path: path)
        let second = first.restarted(over: store)
        #expect(try await second.answer(phone, at: 20).get() == .approved)
        try await store.close()

        store = try SQLiteStore(path: path)
        let third = first.restarted(over: store)
        let tokens = try await third.poll(waiting, at: 25).get()
        #expect(tokens.refreshToken != nil)
        #expect(try await third.poll(waiting, at: 30).refused == .invalidGrant)
        try await store.close()
    }
}
