import Foundation
import JOSE
import Testing

@testable import IdentityCore
@testable import Store

@Suite("Fast reader of user records")
struct GrantUserReaderTests {
    /// Returns a user record with a value in every field.
    private func record() throws -> Record {
        let now = Date(timeIntervalSince1970: 1_800_000_000.25)
        var user = User(
            id: "00u1", login: "jane@example.com", status: .active, profile: ["name": "Jane", "age": 33], groups: ["Staff"],
            passwordHash: "scrypt", createdAt: now)
        user.passwordChangedAt = now + 1
        user.mustChangePassword = true
        user.earlierPasswords = ["earlier"]
        user.failedAttempts = 2
        user.failedCodes = ["totp": 3]
        user.failedFurther = ["totp": 4]
        user.usedOrigins = [KnownOrigin(id: "device", proved: ["password"]), KnownOrigin(id: "network")]
        user.lockedAt = now + 2
        user.deactivatedAt = now + 3
        user.sessionsEndedAt = now + 4
        user.grantsEndedAt = now + 5
        user.activationID = "activation"
        user.knownOrigins = ["origin"]
        user.updatedAt = now + 6
        return try StoredUser(new: user, origin: .file).record(holding: user)
    }

    @Test("For a user with a value in every field, the fast reader returns the same result as the general decoder")
    func everyField() throws {
        let record = try record()
        let fast = try #require(GrantUserReader.read(record.payload))
        #expect(try fast == StoredUser(record).value)
        #expect(fast.mustChangePassword)
        #expect(fast.earlierPasswords == ["earlier"])
        #expect(fast.activationID == "activation")
        #expect(fast.knownOrigins == ["origin"])
        #expect(fast.usedOrigins?.count == 2)
    }

    @Test(
        "The fast reader either preserves the count of wrong answers to the security question or leaves the record to the general decoder")
    func guesses() throws {
        let record = try record()
        var user = try StoredUser(record).value
        var guesses = RecoveryGuesses()
        guesses.add(at: user.createdAt)
        user.guessedAnswers = guesses
        let changed = try StoredUser(new: user, origin: .file).record(holding: user)
        let read = try GrantUserReader.read(changed.payload) ?? StoredUser(changed).value
        #expect(read == user && read.guessedAnswers == guesses)
    }

    @Test("The fast reader leaves a record with an unknown member to the general decoder")
    func unknownMember() throws {
        var payload = try JSONValue(parsing: try record().payload)
        var user = try #require(payload["user"])
        user["fieldOfALaterVersion"] = 1
        payload["user"] = user
        #expect(GrantUserReader.read(payload.serialized()) == nil)
        #expect(GrantUserReader.read(Array("{}".utf8)) == nil)
    }

    @Test(
        "The fast reader leaves a record with a member of the wrong type to the general decoder",
        arguments: ["failedCodes", "failedFurther", "usedOrigins", "knownOrigins", "lockedAt", "isPasswordDue"])
    func mistypedMember(name: String) throws {
        var payload = try JSONValue(parsing: try record().payload)
        var user = try #require(payload["user"])
        user[name] = "text"
        payload["user"] = user
        #expect(GrantUserReader.read(payload.serialized()) == nil)
    }
}
