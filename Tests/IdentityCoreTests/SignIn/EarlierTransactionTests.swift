import Foundation
import JOSE
import Testing

@testable import IdentityCore
@testable import OAuthEndpoints
@testable import Store

@Suite("Sign-ins that an earlier version of the server stored")
struct EarlierTransactionTests {
    private let org: PushFixture

    init() async throws {
        org = try await PushFixture()
    }

    /// Rewrites the only stored sign-in with the members of version 0.1.
    private func downgrade() async throws {
        let record = try #require(try await org.store.read { try $0.records(.transaction, after: nil, limit: 2) }.first)
        var members = try JSONValue(parsing: record.payload).objectValue ?? [:]
        for name in ["rules", "inherited", "countedChallenge", "reportedChallenge", "enrolledCount", "skipsOffer"] { members[name] = nil }
        members["supportedGrantTypes"] = .array([.string("password")])
        var earlier = record
        earlier.payload = JSONValue.object(members).serialized()
        #expect(try await org.store.commit([.put(earlier)]) == .committed)
    }

    @Test("A challenge request for a sign-in that version 0.1 stored gets access_denied, without a store error")
    func ended() async throws {
        _ = try await org.enroll()
        let mfaToken = try await org.mfaToken()
        try await downgrade()
        let answer = try await org.challenge(mfaToken)
        guard case .failure(let refusal) = answer else {
            Issue.record("A challenge was sent.")
            return
        }
        // The stored proofs cannot be read, so the sign-in is refused like one without a usable factor.
        #expect(refusal.code == .accessDenied)
    }

    @Test("For a push sign-in that version 0.1 stored, a poll gets invalid_grant, and the phone's response is rejected")
    func pushed() async throws {
        let phone = try await org.enroll()
        let mfaToken = try await org.mfaToken()
        let code = try await org.challenge(mfaToken).get().secret()
        let challenge = try await org.newest(phone, at: 13)
        let answer = try PushFixture.sign(phone, challenge, at: 13)
        try await downgrade()
        #expect(try await org.poll(mfaToken, code, at: 20).refused == .invalidGrant)
        let late = try await org.send(answer, at: 21)
        #expect(["E0000001", "E0000007"].contains(late.code ?? "approved"), "\(late)")
        #expect(try await org.poll(mfaToken, code, at: 26).refused == .invalidGrant)
        // A new sign-in is not affected.
        _ = try await org.mfaToken(at: 30)
    }
}
