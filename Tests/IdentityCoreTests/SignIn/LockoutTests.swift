import Foundation
import JOSE
import Testing

@testable import IdentityCore

@Suite("Account lockout by origin")
struct LockoutTests {
    private static let now = Date(timeIntervalSince1970: 1_700_000_000)
    private static let home = RequestOrigin(network: "home")

    private static func user() -> User { User(id: "00u1", login: "jane", passwordHash: "hash", createdAt: now) }

    @Test(
        "Successive account locks last 30 seconds, 1, 2, 5 and 15 minutes and then the policy's lockout time, which is also their maximum",
        arguments: [
            (15, [30, 60, 120, 300, 900, 900, 900]), (60, [30, 60, 120, 300, 900, 3_600, 3_600]), (1, [30, 60, 60, 60, 60, 60, 60]),
        ] as [(Int, [TimeInterval])])
    func times(minutes: Int, expected: [TimeInterval]) {
        let policy = PasswordPolicy(lockoutAttempts: 10, lockoutMinutes: minutes)
        #expect((10..<17).map { policy.lockTime(failures: $0) } == expected)
        #expect(PasswordPolicy(lockoutAttempts: 10, lockoutMinutes: nil).lockTime(failures: 10) == nil)
    }

    @Test("A user record without origins is decoded, and its wrong answers count for unknown origins")
    func oldRecord() throws {
        var old = Self.user()
        (old.failedAttempts, old.failedCodes, old.lockedAt) = (10, ["totp": 2], Self.now)
        var json = try #require(try JSONValue(parsing: RecordCoding.encode(old)).objectValue)
        for key in ["failedFurther", "guessedCodes", "usedOrigins", "strangersPushes"] { #expect(json.removeValue(forKey: key) == nil) }
        let read = try JSONDecoder().decode(User.self, from: Data(JSONValue.object(json).serialized()))
        #expect(read == old)
        let policy = PasswordPolicy(lockoutAttempts: 10)
        #expect(read.isLocked(for: .unknown, policy: policy, now: Self.now.addingTimeInterval(119)))
        #expect(!read.isLocked(for: .unknown, policy: policy, now: Self.now.addingTimeInterval(120)))
    }

    @Test("A user record preserves all counts of wrong answers and all origins when it is encoded and decoded")
    func roundTrip() throws {
        var user = Self.user()
        user.remember(Self.home, provedBy: ["password"])
        user.strangersPushes = [Self.now]
        user.usedOrigins?[0].pushes = [Self.now]
        var guesses = RecoveryGuesses()
        guesses.add(at: Self.now)
        user.guessedCodes = guesses
        for callers in [Callers.others, user.callers(from: Self.home)] {
            _ = user.countFailure(of: .totp, from: callers, isFurther: true, policy: PasswordPolicy(lockoutAttempts: 1), now: Self.now)
        }
        let bytes: [UInt8] = try RecordCoding.encode(user)
        #expect(try JSONDecoder().decode(User.self, from: Data(bytes)) == user)
    }

    @Test("A user has at most 20 known origins, and the least recently used origin is removed first")
    func manyOrigins() {
        var user = Self.user()
        for number in 0..<20 { user.remember(RequestOrigin(network: "\(number)")) }
        user.remember(RequestOrigin(network: "0"))
        user.remember(RequestOrigin(network: "20"))
        #expect(user.knows(RequestOrigin(network: "0")) && user.knows(RequestOrigin(network: "20")))
        #expect(!user.knows(RequestOrigin(network: "1")))
        #expect(user.usedOrigins?.count == KnownOrigin.most)
    }

    @Test(
        "Above 20 known origins, origins with only a password proof are removed first, and their wrong answers then count for unknown origins"
    )
    func evictedOrigins() throws {
        var user = Self.user()
        user.remember(Self.home, provedBy: ["password", "totp"])
        user.remember(RequestOrigin(network: "office"), provedBy: ["password"])
        for callers in [user.callers(from: Self.home), user.callers(from: RequestOrigin(network: "office"))] {
            for factor in [FactorKind.password, .totp, .totp] {
                _ = user.countFailure(of: factor, from: callers, policy: PasswordPolicy(lockoutAttempts: 3), now: Self.now)
            }
        }
        user.usedOrigins?[1].pushes = [Self.now + 1]
        user.strangersPushes = [Self.now, Self.now + 2]
        for number in 0..<30 { user.remember(RequestOrigin(network: "\(number)"), provedBy: ["password"]) }
        #expect(user.knows(Self.home) && user.knows(RequestOrigin(network: "29")))
        #expect(!user.knows(RequestOrigin(network: "office")) && user.usedOrigins?.count == KnownOrigin.most)
        // The user never entered a correct code at the office, so the wrong codes from there are counted for unknown origins.
        #expect(user[.others].first == ["password": 1, "totp": 2])
        #expect(user[.others].lockedAt == Self.now)
        #expect(user.strangersPushes == [Self.now, Self.now + 1, Self.now + 2])
        for number in 0..<20 { user.remember(RequestOrigin(network: "home \(number)"), provedBy: ["push"]) }
        #expect(!user.knows(Self.home))
        #expect(user[.others].first == ["password": 2, "totp": 4])
        // When the list is full, a further origin at which only the password was proved is not remembered.
        user.remember(RequestOrigin(network: "late"), provedBy: ["password"])
        #expect(!user.knows(RequestOrigin(network: "late")) && user.usedOrigins?.count == KnownOrigin.most)
    }

    @Test("A known device is recognized in every network, and a known network is recognized with every device")
    func devices() {
        var user = Self.user()
        user.remember(RequestOrigin(network: "home", device: "phone"))
        #expect(user.callers(from: RequestOrigin(network: "café", device: "phone")) == .known("dphone"))
        #expect(user.callers(from: RequestOrigin(network: "home", device: "other")) == .known("nhome"))
        #expect(user.callers(from: RequestOrigin(network: "café", device: "other")) == .others)
        #expect(user.callers(from: .unknown) == .others)
    }

    @Test(
        "An unlock resets all counts of wrong answers and all locks, and a new password resets the locks but keeps the counts of wrong codes"
    )
    func opening() {
        let policy = PasswordPolicy(lockoutAttempts: 2)
        var user = Self.user()
        user.remember(Self.home, provedBy: ["totp"])
        for callers in [Callers.others, user.callers(from: Self.home)] {
            for factor in [FactorKind.password, .totp] { _ = user.countFailure(of: factor, from: callers, policy: policy, now: Self.now) }
        }
        #expect(user.isLocked(for: .unknown, policy: policy, now: Self.now) && user.isLocked(for: Self.home, policy: policy, now: Self.now))
        var changed = user
        changed.setPasswordHash("another", now: Self.now)
        #expect(!changed.hasLock && changed.failedAttempts == 0)
        #expect(changed[.others].first == ["totp": 1] && changed[changed.callers(from: Self.home)].first == ["totp": 1])
        user.forgetMistakes()
        #expect(!user.hasLock && user[.others] == FailureCounts() && user[user.callers(from: Self.home)] == FailureCounts())
        #expect(user.knows(Self.home))
    }

    @Test(
        "After a password change, only origins with a second-factor proof and the origin of the change stay known, and all wrong codes stay counted"
    )
    func originsAfterPasswordChange() {
        let policy = PasswordPolicy(lockoutAttempts: 5)
        let origins = ["cafe", "office"].map { RequestOrigin(network: $0, device: $0) }
        var user = Self.user()
        user.remember(Self.home, provedBy: ["password", "totp"])
        for origin in origins { user.remember(origin, provedBy: ["password"]) }
        for origin in origins + [.unknown] {
            for factor in [FactorKind.password, .totp] {
                _ = user.countFailure(of: factor, from: user.callers(from: origin), policy: policy, now: Self.now)
            }
        }
        user.usedOrigins?[1].pushes = [Self.now]
        var recovered = user
        user.setPasswordHash("new", from: origins[1], now: Self.now)
        #expect(user.knows(Self.home) && !user.knows(origins[0]) && user.knows(origins[1]))
        #expect(user[.others].first == ["totp": 3] && user.strangersPushes == [Self.now])
        recovered.setPasswordHash("new", now: Self.now)
        #expect(recovered.usedOrigins?.map(\.id) == ["nhome"])
    }

    @Test("If the policy has no lockout, wrong passwords never block the password, but wrong codes block the app as first factor")
    func withoutLockout() {
        let policy = PasswordPolicy(lockoutAttempts: 0)
        var user = Self.user()
        for _ in 0..<150 {
            for factor in [FactorKind.password, .totp] {
                _ = user.countFailure(of: factor, policy: policy, now: Self.now)
            }
        }
        #expect(!user.isClosed(.password, to: .others, isFurther: false, policy: policy))
        #expect(user.isClosed(.totp, to: .others, isFurther: false, policy: policy))
        #expect(!user.isClosed(.totp, to: .others, isFurther: true, policy: policy))
        #expect(!user.hasLock)
    }
}
