import Crypto
import Foundation
import JOSE
import Testing

@testable import IdentityCore
@testable import OAuthEndpoints
@testable import Store

@Suite("Signing keys and their rotation")
struct SigningKeyRingTests {
    private static let day = 86400.0
    // Keys sign for 90 days. They are published from 7 days before that time until 7 days after it.
    private static let made = TestOrganization.start.addingTimeInterval(-3600)

    private func context(_ days: Double) -> RequestContext { TestOrganization.context(Self.made.addingTimeInterval(days * Self.day)) }

    private func signer(_ organization: TestOrganization, _ days: Double) async throws -> String? {
        try await organization.engine.snapshot().keyRing.signer(.rs256, now: context(days).now).keyID
    }

    private func published(_ organization: TestOrganization, _ days: Double) async throws -> [String] {
        try await organization.engine.snapshot().keyRing.publishedKeys(now: context(days).now).keys.compactMap(\.keyID)
    }

    /// Returns a new signing key of this algorithm.
    private static func quick(_ algorithm: JWSAlgorithm) throws -> SigningKey {
        try algorithm == .rs256 ? SigningKey.generate(.rs256) : SigningKey.generate(algorithm)
    }

    @Test("The first start creates an RS256 key that signs immediately, with its thumbprint as kid")
    func firstStart() async throws {
        let organization = try await TestOrganization()
        let ring = try await organization.engine.snapshot().keyRing
        let keys = ring.publishedKeys(now: Self.made).keys
        #expect(keys.count == 1)
        let key = try #require(keys.first)
        #expect(key.keyID == key.thumbprint)
        #expect(key.use == "sig")
        #expect(key.algorithm == .rs256)
        #expect(!key.isPrivate)
        #expect(try ring.signer(.rs256, now: Self.made).keyID == key.keyID)
    }

    @Test("If an authorization server uses ES256, the key set contains an RS256 key and then an ES256 key")
    func algorithms() async throws {
        let organization = try await TestOrganization { $0.authorizationServers[1].accessTokenAlgorithm = .es256 }
        let keys = try await organization.engine.snapshot().keyRing.publishedKeys(now: Self.made).keys
        #expect(keys.map(\.algorithm) == [.rs256, .es256])
        #expect(keys.map(\.keyType) == [.rsa, .ec])
    }

    @Test("Repeated key maintenance changes nothing until the next signing key is due")
    func idempotent() async throws {
        let organization = try await TestOrganization()
        for days in [0.0, 1, 82.9] { #expect(try await organization.engine.maintainKeys(context(days)).isEmpty) }
    }

    @Test("A new signing key is published a week before it signs, and the old key stays published for a week afterwards")
    func rotation() async throws {
        let organization = try await TestOrganization()
        let signing = try await signer(organization, 0)
        let first = try #require(signing)
        let changes = try await organization.engine.maintainKeys(context(83), making: Self.quick)
        let second = try #require(changes.first?.keyID)
        #expect(changes == [KeyChange(keyID: second, action: .published(signsFrom: context(90).now))])
        #expect(try await signer(organization, 89.99) == first)
        #expect(try await signer(organization, 90) == second)
        #expect(try await published(organization, 83) == [first, second])
        #expect(try await published(organization, 96.99) == [first, second])
        #expect(try await published(organization, 97) == [second])
        #expect(try await organization.engine.maintainKeys(context(96)).isEmpty)
        #expect(try await organization.engine.maintainKeys(context(97)) == [KeyChange(keyID: first, action: .removed)])
    }

    @Test("A server that was off at the rotation date publishes the next signing key a week before that key signs")
    func late() async throws {
        let organization = try await TestOrganization()
        let first = try await signer(organization, 0)
        let changes = try await organization.engine.maintainKeys(context(200), making: Self.quick)
        #expect(changes.map(\.action) == [.published(signsFrom: context(207).now)])
        #expect(try await signer(organization, 206.9) == first)
    }

    @Test("A scheduled rotation publishes the next key, and an immediate rotation then makes the published key sign")
    func command() async throws {
        let organization = try await TestOrganization()
        let first = try await signer(organization, 1)
        let changes = try await organization.engine.rotateKeys(.scheduled, context: context(1), making: Self.quick)
        let next = try #require(changes.first)
        #expect(next.action == .published(signsFrom: context(8).now))
        #expect(try await organization.engine.rotateKeys(.scheduled, context: context(2), making: Self.quick).isEmpty)
        #expect(try await signer(organization, 2) == first)
        #expect(
            try await organization.engine.rotateKeys(.immediate, context: context(3), making: Self.quick) == [
                KeyChange(keyID: next.keyID, action: .advanced)
            ])
        #expect(try await signer(organization, 3) == next.keyID)
        #expect(try await published(organization, 3) == [first, next.keyID].compactMap { $0 })
    }

    @Test("An immediate key rotation is rejected until the next key has been published for as long as clients may cache the key set")
    func unknownSuccessor() async throws {
        let organization = try await TestOrganization { $0.authorizationServers[1].accessTokenAlgorithm = .es256 }
        let engine = organization.engine
        func context(_ seconds: Double) -> RequestContext { TestOrganization.context(TestOrganization.time(seconds)) }
        let before = try await published(organization, 1)
        await #expect(throws: KeyHandoverError(knownFrom: nil)) {
            try await engine.rotateKeys(.immediate, context: context(0), making: Self.quick)
        }
        try await engine.rotateKeys(.scheduled, context: context(0), making: Self.quick)
        let announced = try await published(organization, 1)
        #expect(announced.count == before.count + 2)
        let known = Date(timeIntervalSince1970: TestOrganization.start.timeIntervalSince1970.rounded(.down) + 3_600)
        for seconds in [0.0, 1, 3_599] {
            await #expect(throws: KeyHandoverError(knownFrom: known)) {
                try await engine.rotateKeys(.immediate, context: context(seconds), making: Self.quick)
            }
        }
        #expect(try await published(organization, 1) == announced)
        // A client that cached the first key set knows the keys that sign from now on.
        #expect(try await engine.rotateKeys(.immediate, context: context(3_600)).map(\.action) == [.advanced, .advanced])
        let tokens = try await organization.signIn(at: 3_601).get()
        for token in [tokens.accessToken, try #require(tokens.idToken)] {
            let id = try #require(try JSONWebSignature(parsing: token).keyID)
            #expect(announced.contains(id) && !before.contains(id))
        }
        await #expect(throws: KeyHandoverError(knownFrom: nil)) { try await engine.rotateKeys(.immediate, context: context(3_602)) }
    }

    @Test("After a forced key rotation, tokens of the old key stay valid, and new tokens use the new key")
    func overlap() async throws {
        let organization = try await TestOrganization()
        let old = try await organization.signIn().get()
        let change = try await organization.engine.rotateKeys(
            .forced, context: TestOrganization.context(TestOrganization.time(10)), making: Self.quick)
        let new = try await organization.signIn(at: 11).get()
        #expect(try JSONWebSignature(parsing: new.accessToken).keyID == change.first?.keyID)
        #expect(try await organization.introspect(old.accessToken, at: 12).isActive)
        #expect(try await organization.introspect(new.accessToken, at: 12).isActive)
    }

    @Test(
        "A withdrawn signing key is no longer published, and access tokens that the key signed are rejected", arguments: [true, false])
    func withdrawal(isSuccessorKnown: Bool) async throws {
        let organization = try await TestOrganization()
        func context(_ seconds: Double) -> RequestContext { TestOrganization.context(TestOrganization.time(seconds)) }
        let old = try await organization.signIn().get()
        let oldKey = try #require(try JSONWebSignature(parsing: old.accessToken).keyID)
        if isSuccessorKnown { try await organization.engine.rotateKeys(.scheduled, context: context(1), making: Self.quick) }
        let changes = try await organization.engine.rotateKeys(
            .withdrawing, context: context(2), making: Self.quick)
        #expect(changes.contains(KeyChange(keyID: oldKey, action: .removed)))
        let published = try await organization.engine.snapshot().keyRing.publishedKeys(now: context(2).now).keys.compactMap(\.keyID)
        #expect(!published.contains(oldKey))
        #expect(try await organization.introspect(old.accessToken, at: 3).isActive == false)
        #expect(try await organization.userInfo(old.accessToken, at: 3).refused == .invalidToken)
        let new = try await organization.refresh(old.refreshToken, at: 3).get()
        #expect(published.contains(try JSONWebSignature(parsing: new.accessToken).keyID ?? ""))
        #expect(try await organization.introspect(new.accessToken, at: 4).isActive)
    }

    @Test("If two processes run key maintenance concurrently, only one new signing key is created")
    func twoProcesses() async throws {
        let organization = try await TestOrganization()
        let engines = [1, 2].map { seed in
            Engine(
                store: organization.store,
                environment: EngineEnvironment(
                    random: SeededRandom(seed: UInt64(seed)), masterKeys: organization.engine.environment.masterKeys,
                    passwordHasher: PasswordHasher()))
        }
        let context = context(85)
        let made = try await withThrowingTaskGroup(of: Int.self) { group in
            for engine in engines { group.addTask { try await engine.maintainKeys(context, making: Self.quick).count } }
            return try await group.reduce(0, +)
        }
        #expect(made == 1)
        #expect(try await published(organization, 85).count == 2)
    }

    @Test("A private signing key is stored encrypted, and reading it with another master key or under another key id fails")
    func sealed() async throws {
        let organization = try await TestOrganization()
        let records = try await organization.store.read { try $0.records(.signingKey, after: nil, limit: 10) }
        let jwk = try TestOrganization.key(.rs256).privateJWK.json(includingPrivateMembers: true)
        let secret = try #require(jwk["d"]?.stringValue)
        #expect(!records.isEmpty)
        for record in records { #expect(!String(decoding: record.payload, as: UTF8.self).contains(secret.prefix(40))) }
        #expect(throws: StoreError(.damaged, "")) {
            try SigningKeyRing(records: records, masterKeys: MasterKeys(SymmetricKey(data: [UInt8](repeating: 8, count: 32))))
        }
        var moved = records[0]
        moved.id = "another"
        #expect(throws: StoreError(.damaged, "")) {
            try SigningKeyRing(records: [moved], masterKeys: organization.engine.environment.masterKeys)
        }
    }

    @Test("The published signing keys are the same after a restart")
    func restart() async throws {
        let organization = try await TestOrganization()
        let again = Engine(store: organization.store, environment: organization.engine.environment)
        #expect(try await again.maintainKeys(context(1)).isEmpty)
        #expect(
            try await again.snapshot().keyRing.publishedKeys(now: Self.made)
                == organization.engine.snapshot().keyRing.publishedKeys(now: Self.made))
    }
}
