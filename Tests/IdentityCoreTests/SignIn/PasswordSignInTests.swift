import Crypto
import Foundation
import JOSE
import Testing

@testable import IdentityCore
@testable import Store

@Suite("Signing in by password")
struct PasswordSignInTests {
    @Test("A sign-in with a password ignores the case of the user name")
    func success() async throws {
        let org = try await SignInFixture()
        let outcome = try await org.signIn("JANE.Doe@Example.COM", at: 5)
        let context = try #require(outcome.context)
        #expect(context.methods == ["pwd"])
        #expect(context.time == SignInFixture.start.addingTimeInterval(5))
        let jane = try await org.stored().value.id
        #expect(context.userID == jane)
        let line = try #require(try await org.log().last)
        #expect(line.type == "user.authentication.password")
        #expect(line.outcome == .success)
        #expect(line.reason == "sign-on policy “one factor”, rule “any”: oneFactor")
        #expect(line.userID == context.userID && line.clientID == "one" && line.address == "127.0.0.1")
    }

    @Test("A wrong password and an unknown, locked, suspended or passwordless account get the same response and different log events")
    func sameAnswer() async throws {
        let org = try await SignInFixture()
        var refusals: [Refusal?] = []
        refusals.append(try await org.signIn(SignInFixture.jane, "wrong-password").refusal)
        refusals.append(try await org.signIn("unknown@example.com").refusal)
        refusals.append(try await org.signIn("suspended@example.com", "Correct-Horse-8").refusal)
        refusals.append(try await org.signIn("new@example.com", "").refusal)
        try await org.lock()
        refusals.append(try await org.signIn().refusal)
        #expect(Set(refusals.map { $0?.code }) == [.invalidGrant])
        #expect(Set(refusals.map { $0?.description }) == ["The credentials provided were invalid."])
        #expect(refusals.allSatisfy { $0?.members == [:] && $0?.rateLimit == nil })
        let reasons = refusals.map { $0?.reason }
        #expect(reasons == ["wrong password", "unknown user", "account is suspended", "account has no password", "account is locked"])
        #expect(try await org.log().filter { $0.outcome == .failure }.count == 5 + 3)
    }

    @Test(
        "A password hash is computed even for an unknown user, an account without a password, and a password or user name that is too long",
        arguments: [
            ("unknown@example.com", "wrong-password"), ("new@example.com", "wrong-password"),
            (SignInFixture.jane, String(repeating: "x", count: 1_025)), (String(repeating: "x", count: 1_025), "wrong-password"),
        ])
    func derivesForNobody(username: String, password: String) async throws {
        let org = try await SignInFixture()
        #expect(try await org.signIn(username, password).refusal?.code == .invalidGrant)
        // scrypt refuses a cost of 2^0 (RFC 7914 section 6). A sign-in that derives a key at the policy's cost now fails. A sign-in that
        // derives no key would still be answered.
        let stored: Record? = try await org.store.read {
            try $0.record(.passwordPolicy, id: OrganizationSettings.passwordPolicyReference.id)
        }
        var record = try #require(stored)
        var policy = try RecordCoding.decode(Configured<PasswordPolicy>.self, from: record)
        policy.value.scryptLogN = 0
        record.payload = try RecordCoding.encode(policy)
        #expect(try await org.store.commit([.put(record)]) == .committed)
        await #expect(throws: CryptoKitError.self) { try await org.signIn(username, password) }
        // A stored hash is verified at its own cost, so the policy's invalid cost does not affect Jane.
        #expect(try await org.signIn(SignInFixture.jane, "wrong-password").refusal?.code == .invalidGrant)
    }

    @Test("An account is locked after the policy's number of wrong passwords, and the lock expires after 30 seconds")
    func lockout() async throws {
        let org = try await SignInFixture()
        try await org.lock()
        #expect(try await org.stored().value.lockedAt == SignInFixture.start)
        #expect(try await org.log().contains { $0.type == "user.account.lock" })
        #expect(try await org.signIn(at: 29).refusal?.reason == "account is locked")
        #expect(try await org.signIn(at: 30).context != nil)
        let user = try await org.stored().value
        #expect(user.lockedAt == nil && user.failedAttempts == 0)
    }

    @Test("If the policy has no lockout time, a locked account stays locked until an administrator unlocks the account")
    func unlock() async throws {
        let org = try await SignInFixture { $0.passwordPolicy.lockoutMinutes = nil }
        try await org.lock()
        #expect(try await org.signIn(at: 1e9).context == nil)
        _ = try await org.engine.unlock(userID: org.stored().value.id, context: SignInFixture.context())
        #expect(try await org.signIn(at: 1e9).context != nil)
    }

    @Test("A successful sign-in resets the count of wrong passwords")
    func reset() async throws {
        let org = try await SignInFixture()
        for _ in 0..<2 { _ = try await org.signIn(SignInFixture.jane, "wrong-password") }
        #expect(try await org.stored().value.failedAttempts == 2)
        #expect(try await org.signIn().context != nil)
        #expect(try await org.stored().value.failedAttempts == 0)
    }

    @Test("A hundred concurrent wrong passwords are all counted")
    func parallelGuesses() async throws {
        let org = try await SignInFixture { $0.passwordPolicy.lockoutAttempts = 0 }
        try await withThrowingTaskGroup(of: Refusal.Code?.self) { group in
            for index in 0..<100 {
                group.addTask { try await org.signIn(SignInFixture.jane, "guess-number-\(index)").refusal?.code }
            }
            for try await code in group { #expect(code == .invalidGrant) }
        }
        #expect(try await org.stored().value.failedAttempts == 100)
    }

    @Test("Of 40 concurrent wrong passwords, only the policy's three are counted, and the account is locked once")
    func parallelLockout() async throws {
        let org = try await SignInFixture()
        await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<40 {
                group.addTask { _ = try await org.signIn(SignInFixture.jane, "guess-number-\(index)") }
            }
        }
        let user = try await org.stored().value
        #expect(user.failedAttempts == 3 && user.lockedAt != nil)
        #expect(try await org.log().filter { $0.type == "user.account.lock" }.count == 1)
    }

    @Test("After the policy's hash cost changes, the next sign-in stores the password hash with the new cost")
    func rehash() async throws {
        let org = try await SignInFixture()
        let before = try await org.stored().value
        var definition = SignInFixture.definition
        definition.passwordPolicy.scryptLogN = 11
        _ = try await org.engine.apply(definition, context: SignInFixture.context())
        #expect(try await org.signIn().context != nil)
        let after = try await org.stored().value
        #expect(before.passwordHash?.hasPrefix("$scrypt$ln=10") == true)
        #expect(after.passwordHash?.hasPrefix("$scrypt$ln=11") == true)
        #expect(after.passwordChangedAt == before.passwordChangedAt)
        #expect(try await org.signIn().context != nil)
    }

    @Test(
        "An unassigned user or an inactive application gets access_denied only with the correct password, and otherwise invalid_grant",
        arguments: ["staff", "closed"])
    func assignment(application: String) async throws {
        let org = try await SignInFixture()
        #expect(try await org.signIn(SignInFixture.jane, "wrong-password", to: application).refusal?.code == .invalidGrant)
        #expect(try await org.signIn(to: application).refusal?.code == .accessDenied)
        #expect(try await org.log().last?.outcome == .denied)
    }

    @Test("Password attempts for one user name are limited, and the error states the time of the reset")
    func rateLimit() async throws {
        let org = try await SignInFixture { $0.rateLimits.perUser = 2 }
        for name in ["unknown@example.com", SignInFixture.jane] {
            for _ in 0..<2 { #expect(try await org.signIn(name, "wrong-password", at: 10).refusal?.code == .invalidGrant) }
            let refusal = try #require(try await org.signIn(name, at: 10).refusal)
            #expect(refusal.code == .tooManyRequests)
            let minute = Date(timeIntervalSince1970: (SignInFixture.start.timeIntervalSince1970 / 60).rounded(.down) * 60 + 60)
            #expect(refusal.rateLimit == RateLimitStatus(limit: 2, remaining: 0, reset: minute, isAdmitted: false))
        }
        #expect(try await org.signIn(at: 70).context != nil)
    }

    @Test("If a second factor is required, a correct password returns mfa_required with an mfa_token")
    func secondFactor() async throws {
        let org = try await SignInFixture()
        try await org.enroll(.push)
        let refusal = try #require(try await org.signIn(to: "two").refusal)
        #expect(refusal.code == .mfaRequired)
        #expect(refusal.members["supported_challenge_types"] == "http://auth0.com/oauth/grant-type/mfa-oob")
        let token = try #require(refusal.members["mfa_token"]?.stringValue)
        let digest = TicketDigest(of: token)
        let (state, late) = try await org.store.read { view in
            (
                try view.ticket(.mfaToken, digest: digest, now: SignInFixture.start.addingTimeInterval(1_499)),
                try view.ticket(.mfaToken, digest: digest, now: SignInFixture.start.addingTimeInterval(1_501))
            )
        }
        guard case .fresh(let ticket) = state, case .expired = late else {
            Issue.record("the ticket is \(state), later \(late)")
            return
        }
        let stored: Record? = try await org.store.read { try $0.record(.transaction, id: ticket.owner.id) }
        let record = try #require(stored)
        let transaction = try RecordCoding.decode(SignInTransaction.self, from: record)
        let jane = try await org.stored().value.id
        #expect(transaction.userID == jane)
        #expect(transaction.proofs.map(\.factor) == [.password])
        #expect(transaction.scopes == ["openid"])
    }

    @Test("A two-factor sign-in is rejected if the user or the client lacks a suitable second factor")
    func noSecondFactor() async throws {
        let org = try await SignInFixture()
        #expect(try await org.signIn(to: "two").refusal?.code == .accessDenied)
        try await org.enroll(.push)
        #expect(try await org.signIn(to: "two", grants: ["http://auth0.com/oauth/grant-type/mfa-otp"]).refusal?.code == .accessDenied)
        #expect(try await org.signIn(to: "two", grants: ["http://auth0.com/oauth/grant-type/mfa-oob"]).refusal?.code == .mfaRequired)
    }

    @Test("A sign-in that finds the hashing queue full gets 429 with a rate limit of zero")
    func overloaded() async throws {
        let store = InMemoryStore()
        let quiet = SignInFixture.environment()
        let engine = Engine(store: store, environment: quiet)
        _ = try await engine.apply(SignInFixture.definition, context: SignInFixture.context())
        let snapshot = try await engine.snapshot()
        let application = try #require(snapshot.application("one"))
        let busy = Engine(
            store: store,
            environment: EngineEnvironment(
                random: quiet.random, masterKeys: quiet.masterKeys, passwordHasher: PasswordHasher(width: 1, queueLimit: 1)))
        let codes = try await withThrowingTaskGroup(of: Refusal?.self) { group in
            for _ in 0..<200 {
                group.addTask {
                    try await busy.authenticate(
                        username: SignInFixture.jane, password: "x", for: SignInRequest(application: application, server: nil, scopes: []),
                        snapshot: snapshot, context: SignInFixture.context()
                    ).refusal
                }
            }
            return try await group.reduce(into: [Refusal]()) { all, refusal in if let refusal { all.append(refusal) } }
        }
        let refused = codes.filter { $0.code == .tooManyRequests }
        #expect(!refused.isEmpty)
        // Only the attempts whose password was checked count, up to the lock; the others are neither counted nor logged as wrong passwords.
        let checked = codes.filter { $0.code == .invalidGrant }
        #expect(checked.count + refused.count == 200 && !checked.isEmpty)
        let jane = try #require(try await engine.user(login: SignInFixture.jane))
        #expect(jane.failedAttempts == min(checked.count, 3))
        let events = try await engine.systemLog(SystemLogQuery(since: .distantPast, limit: 1_000)).events
        #expect(events.count { $0.outcome == .failure } == checked.count)
        #expect(refused.allSatisfy { $0.rateLimit?.limit == 0 && $0.rateLimit?.remaining == 0 })
    }
}
