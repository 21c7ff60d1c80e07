import Crypto
import Foundation
import JOSE
import StoreSQLite
import Synchronization
import TestSupport
import Testing

@testable import IdentityCore
@testable import Store

@Suite("The rotation of the master key")
struct MasterKeyRotationTests {
    private typealias Fixture = RotationFixture

    enum StoreKind: CaseIterable { case memory, sqlite }

    /// Runs a test with an organization in a store in memory or in a database.
    private static func with(
        _ kind: StoreKind, isOld: Bool = false, _ body: (RotationFixture) async throws -> Void
    ) async throws {
        guard kind == .sqlite else { return try await body(RotationFixture(store: InMemoryStore(), isOld: isOld)) }
        let folder = TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        let store = try SQLiteStore(path: folder.file("store.sqlite").path)
        try await body(RotationFixture(store: store, isOld: isOld))
        try await store.close()
    }

    @Test(
        "After a rotation, the new master key opens every stored secret and the earlier key opens none", arguments: StoreKind.allCases,
        [false, true])
    func everything(kind: StoreKind, isOld: Bool) async throws {
        try await Self.with(kind, isOld: isOld) { fixture in
            let before = try await fixture.opened(by: Fixture.earlier)
            let kinds: Set<RecordKind> = [.masterKeyCheck, .signingKey, .application, .authenticator, .enrollment, .transaction]
            #expect(Set(before.keys) == kinds && before[.enrollment] == 2 && before[.transaction] == 2)
            let report = try await fixture.rotate()
            #expect(Set(report.counts.keys) == kinds.union(isOld ? [.user] : []) && report.unreadable == 0)
            #expect(try await fixture.opened(by: Fixture.earlier).isEmpty)
            #expect(try await fixture.opened(by: Fixture.new) == before)
        }
    }

    @Test("After a rotation, a server with the new key only signs users in with their apps and HOTP devices, and issues tokens")
    func newKeyAlone() async throws {
        let fixture = try await Fixture(store: InMemoryStore())
        let secret = try await fixture.app.engine.snapshot().application("service-app")?.secret
        let kid = try await fixture.app.engine.snapshot().keyRing.publishedKeys(now: TestOrganization.start).keys.compactMap(\.keyID)
        try await fixture.rotate()
        let engine = try fixture.engine(Fixture.new)
        let snapshot = try await engine.snapshot()
        #expect(snapshot.application("service-app")?.secret == secret && secret != nil)
        #expect(snapshot.authenticators.first?.credentials?.privateKey?.contains("PRIVATE KEY") == true)
        #expect(snapshot.keyRing.publishedKeys(now: TestOrganization.start).keys.compactMap(\.keyID) == kid)
        let enrollments = try await fixture.store.read { try $0.allRecords(.enrollment).map(Enrollment.init) }
        let totp = try #require(enrollments.first { $0.totp != nil })
        #expect(try totp.using(code: fixture.app.code(at: 30), environment: engine.environment, now: TestOrganization.time(30)) != nil)
        let hotp = try #require(enrollments.first { $0.hotp != nil })
        let user = try #require(try await engine.user(login: PushFixture.john))
        let verifier = HOTPVerifier(environment: engine.environment, enrollment: hotp, derivedKeys: snapshot.derivedKeys)
        #expect(try verifier.judge(.code(TimeBasedCode.code(secret: Fixture.seed, step: 0)), of: user).match == .right(next: 1))
        let stored = try await fixture.store.read { try $0.record(.transaction, id: "txnrotation").map(StoredTransaction.init) }
        let page = try #require(stored?.value.recovery?.page)
        #expect(try page.signInToken(of: "txnrotation", environment: engine.environment) == "token")
    }

    @Test("A second rotation to the same key changes nothing, and the system log has one event with counts and administrator")
    func idempotent() async throws {
        let fixture = try await Fixture(store: InMemoryStore())
        let first = try await fixture.rotate()
        let records = try await fixture.records()
        #expect(try await fixture.rotate(30).total == 0)
        #expect(try await fixture.records() == records)
        let events = try await fixture.engine(Fixture.new).systemLog(SystemLogQuery(since: .distantPast, limit: 1_000)).events
        let event = try #require(events.first { $0.type == "master_key.rotated" })
        #expect(events.count { $0.type == "master_key.rotated" } == 1)
        #expect(event.reason == first.description && first.description.contains("enrollment 2") && event.outcome == .success)
        #expect(event.administrator == "admin")
    }

    @Test("An interrupted rotation continues with the next call, and every server with both keys works in between", arguments: 1...6)
    func interrupted(commits: Int) async throws {
        let fixture = try await Fixture(store: InMemoryStore())
        let failing = FailingStore(fixture.store, after: commits)
        await #expect(throws: StoreError(.unavailable, "")) {
            try await fixture.engine(Fixture.earlier, Fixture.new, store: failing).reseal(
                with: MasterKeys(Fixture.new, others: [Fixture.earlier]), pageSize: 2, context: Fixture.context())
        }
        for engine in [try fixture.engine(Fixture.earlier, Fixture.new), try fixture.engine(Fixture.new, Fixture.earlier)] {
            _ = try await engine.snapshot()
        }
        #expect(try await !fixture.opened(by: Fixture.earlier).isEmpty)
        try await fixture.rotate()
        #expect(try await fixture.opened(by: Fixture.earlier).isEmpty)
        let events = try await fixture.engine(Fixture.new).systemLog(SystemLogQuery(since: .distantPast, limit: 1_000)).events
        #expect(events.count { $0.type == "master_key.rotated" } == 1)
    }

    @Test("A change of a record during the rotation is kept, and its secret is encrypted again")
    func concurrent() async throws {
        let fixture = try await Fixture(store: InMemoryStore())
        let interrupted = RecordInterruption(fixture.store, .enrollment) { [store = fixture.store] in
            let records = try await store.read { try $0.allRecords(.enrollment) }
            for record in records {
                var enrollment = try Enrollment(record)
                enrollment.totp?.lastStep = 4_711
                enrollment.hotp?.counter = 42
                _ = try await store.commit([.put(try enrollment.record())])
            }
        }
        _ = try await fixture.engine(Fixture.earlier, Fixture.new, store: interrupted).reseal(
            with: MasterKeys(Fixture.new, others: [Fixture.earlier]), context: Fixture.context())
        let enrollments = try await fixture.store.read { try $0.allRecords(.enrollment).map(Enrollment.init) }
        #expect(enrollments.compactMap(\.totp?.lastStep) == [4_711] && enrollments.compactMap(\.hotp?.counter) == [42])
        #expect(try await fixture.opened(by: Fixture.earlier).isEmpty)
    }

    @Test("Decoys, names of device seeds and the org file's tags stay the same at a rotation", arguments: [false, true])
    func stable(isOld: Bool) async throws {
        let fixture = try await Fixture(store: InMemoryStore(), isOld: isOld)
        let names = (0..<50).map { "stranger\($0)@example.com" }
        func derived(_ engine: Engine) async throws -> [String] {
            let keys = try await engine.snapshot().derivedKeys
            return try names.map {
                let decoy = try engine.decoys.decoy(for: $0, derivedKeys: keys)
                return "\(decoy.id) \(decoy.factorCount) \(decoy.appCount) \(decoy.deviceCount)"
            } + [keys.name(ofSeed: Fixture.seed)]
        }
        let before = try await derived(fixture.app.engine)
        try await fixture.rotate()
        let engine = try fixture.engine(Fixture.new)
        #expect(try await derived(engine) == before)
        // The definition of the fixture, whose private key is made anew each time.
        var definition = try await engine.snapshot().organization
        definition.users = PushFixture.definition.users
        #expect(try await engine.preview(definition, context: Fixture.context()).isUnchanged)
        definition.users[0].password = "Another-Password-1"
        let note = try await engine.preview(definition, context: Fixture.context()).entries.compactMap(\.note)
        #expect(note == ["password differs from the one last applied; the user keeps theirs"])
    }

    @Test(
        "After a rotation, the earlier key cannot verify guesses of the org file's passwords, and is not in the store",
        arguments: [false, true])
    func tags(isOld: Bool) async throws {
        let fixture = try await Fixture(store: InMemoryStore(), isOld: isOld)
        let keys = try #require(DerivedKeys(root: [UInt8](repeating: 7, count: 32)))
        func matches() async throws -> Bool {
            let stored = try await fixture.store.read { try $0.allRecords(.user).map(StoredUser.init) }
            return stored.contains { user in
                guard let tag = user.applied?.passwordTag else { return false }
                let key = User.key(forLogin: user.value.login)
                return PushFixture.definition.users.contains { keys.tag(of: $0.password, key: key) == tag }
            }
        }
        #expect(try await matches() == isOld)
        try await fixture.rotate()
        #expect(try await !matches())
        // The store does not contain the earlier key either, not even for the new one.
        let check = RecordReference(.masterKeyCheck, "check")
        let stored = try await fixture.store.read { try $0.record(check.kind, id: check.id) }
        let sealed = try JSONValue(parsing: try #require(stored).payload)["root"]?.stringValue
        let root = try RecordCoding.open(Base64URL.decode(try #require(sealed)), for: check, masterKeys: MasterKeys(Fixture.new))
        #expect(Data(root).range(of: Data(repeating: 7, count: 32)) == nil)
    }

    @Test("After a rotation, a server with the earlier key only gets an error that names the newer key, and writes nothing")
    func earlierKeyAlone() async throws {
        let fixture = try await Fixture(store: InMemoryStore())
        try await fixture.rotate()
        let records = try await fixture.records()
        let engine = try fixture.engine(Fixture.earlier)
        let error = await #expect(throws: StoreError.self) {
            try await engine.apply(TestOrganization.definition, context: Fixture.context())
        }
        #expect(error?.code == .wrongMasterKey && error?.message.contains("rotated to a newer master key") == true)
        await #expect(throws: StoreError(.wrongMasterKey, "")) {
            try await engine.announce(server: "srv", startedAt: TestOrganization.start, context: Fixture.context())
        }
        #expect(try await fixture.records() == records)
    }

    @Test(
        "When the earlier key is removed, a server that has it in the first line is refused and encrypts nothing, and one that has it in the last line works"
    )
    func earlierKeyFirst() async throws {
        let fixture = try await Fixture(store: InMemoryStore())
        let suspended = try fixture.engine(Fixture.earlier, Fixture.new)
        try await fixture.rotate()
        _ = try await suspended.snapshot()
        let engine = try fixture.engine(Fixture.new, Fixture.earlier)
        #expect(try await engine.refuseEarlierKeys(context: Fixture.context(30)))
        #expect(try await !engine.refuseEarlierKeys(context: Fixture.context(31)))
        let records = try await fixture.records()
        await #expect(throws: StoreError(.wrongMasterKey, "")) { try await suspended.snapshot() }
        let stale = try fixture.engine(Fixture.earlier, Fixture.new)
        await #expect(throws: StoreError(.wrongMasterKey, "")) {
            try await stale.announce(server: "srv", startedAt: TestOrganization.start, context: Fixture.context(32))
        }
        let error = await #expect(throws: StoreError.self) {
            try await stale.apply(TestOrganization.definition, context: Fixture.context(32))
        }
        #expect(error?.message.contains("Give this server the key file") == true)
        #expect(try await fixture.records() == records)
        _ = try await engine.snapshot()
    }

    @Test("The earlier key is not refused while a running server encrypts with it")
    func earlierKeyInUse() async throws {
        let fixture = try await Fixture(store: InMemoryStore())
        let server = try fixture.engine(Fixture.earlier, Fixture.new)
        try await server.announce(server: "srv", startedAt: TestOrganization.start, context: Fixture.context())
        try await fixture.rotate()
        let records = try await fixture.records()
        await #expect(throws: ServersLackKey(count: 1)) {
            try await fixture.engine(Fixture.new, Fixture.earlier).refuseEarlierKeys(context: Fixture.context(30))
        }
        #expect(try await fixture.records() == records)
        _ = try await server.snapshot()
    }

    @Test("A rotation changes nothing while a running server lacks the new key, and continues when that server has stopped or expired")
    func runningServers() async throws {
        let fixture = try await Fixture(store: InMemoryStore())
        let old = try fixture.engine(Fixture.earlier)
        try await old.announce(server: "srv1", startedAt: TestOrganization.start, context: Fixture.context())
        try await fixture.engine(Fixture.earlier, Fixture.new).announce(
            server: "srv2", startedAt: TestOrganization.start, context: Fixture.context())
        let records = try await fixture.records()
        await #expect(throws: ServersLackKey(count: 1)) { try await fixture.rotate() }
        #expect(try await fixture.records() == records)
        await #expect(throws: ServersLackKey(count: 1)) { try await fixture.rotate(20 + LiveServer.lifetime - 1) }
        try await old.withdraw(server: "srv1", context: Fixture.context())
        #expect(try await fixture.rotate().total > 0)
    }

    @Test("A server that was killed stops a rotation for five minutes only")
    func killedServer() async throws {
        let fixture = try await Fixture(store: InMemoryStore())
        try await fixture.engine(Fixture.earlier).announce(
            server: "srv1", startedAt: TestOrganization.start, context: Fixture.context())
        await #expect(throws: ServersLackKey(count: 1)) { try await fixture.rotate(20 + LiveServer.lifetime - 1) }
        #expect(try await fixture.rotate(20 + LiveServer.lifetime).total > 0)
    }

    @Test("A secret that none of the keys opens is counted, and does not stop the rotation")
    func unreadable() async throws {
        let fixture = try await Fixture(store: InMemoryStore())
        let foreign = Fixture.environment(MasterKeys(SymmetricKey(size: .bits256)))
        let app = try Enrollment(
            authenticatorApp: [UInt8](repeating: 1, count: 20), of: "stranger", environment: foreign, now: .distantPast)
        _ = try await fixture.store.commit([.put(try app.record())])
        let report = try await fixture.rotate()
        #expect(report.unreadable == 1 && report.counts[.enrollment] == 2)
    }
}

/// A store that fails all commits after a number of them, as if the process had been killed.
private final class FailingStore: Store {
    private let store: any Store
    private let remaining: Mutex<Int>

    init(_ store: any Store, after commits: Int) {
        self.store = store
        remaining = Mutex(commits)
    }

    func read<Result: Sendable>(
        _ lookup: @escaping @Sendable () -> Lookup, _ body: @escaping @Sendable (any StoreView) throws -> Result
    ) async throws -> Result { try await store.read(lookup, body) }

    func commit(_ changes: [Change]) async throws -> CommitOutcome {
        let isAlive = remaining.withLock { left in
            left -= 1
            return left >= 0
        }
        guard isAlive else { throw StoreError(.unavailable, "killed") }
        return try await store.commit(changes)
    }

    func preparingCommit<Result>(_ work: () async throws -> Result) async rethrows -> Result { try await work() }
    func removeExpired(now: Date, limit: Int) async throws -> Int { try await store.removeExpired(now: now, limit: limit) }
    func close() async throws { try await store.close() }
}

/// A store that runs an action once, before the first commit that writes a record of a kind.
private final class RecordInterruption: Store {
    private let store: any Store
    private let kind: RecordKind
    private let action: Mutex<(@Sendable () async throws -> Void)?>

    init(_ store: any Store, _ kind: RecordKind, _ action: @escaping @Sendable () async throws -> Void) {
        (self.store, self.kind) = (store, kind)
        self.action = Mutex(action)
    }

    func read<Result: Sendable>(
        _ lookup: @escaping @Sendable () -> Lookup, _ body: @escaping @Sendable (any StoreView) throws -> Result
    ) async throws -> Result { try await store.read(lookup, body) }

    func commit(_ changes: [Change]) async throws -> CommitOutcome {
        let isMatch = changes.contains { if case .put(let record) = $0 { record.kind == kind } else { false } }
        if isMatch {
            let action = action.withLock { action in
                defer { action = nil }
                return action
            }
            try await action?()
        }
        return try await store.commit(changes)
    }

    func preparingCommit<Result>(_ work: () async throws -> Result) async rethrows -> Result { try await work() }
    func removeExpired(now: Date, limit: Int) async throws -> Int { try await store.removeExpired(now: now, limit: limit) }
    func close() async throws { try await store.close() }
}
