import Crypto
import Foundation
import Testing

@testable import IdentityCore
@testable import Store

@Suite("The master key of a store")
struct MasterKeyCheckTests {
    private static let checkID = RecordReference(.masterKeyCheck, "check")

    private static func environment(key: UInt8) -> EngineEnvironment {
        EngineEnvironment(
            random: SeededRandom(seed: UInt64(key)), masterKey: SymmetricKey(data: [UInt8](repeating: key, count: 32)),
            passwordHasher: PasswordHasher())
    }

    /// Returns an engine with the same store and another key.
    private static func engine(_ organization: TestOrganization, key: UInt8) -> Engine {
        Engine(store: organization.store, environment: environment(key: key))
    }

    private static let context = TestOrganization.context(TestOrganization.time(10))

    private static func records(_ organization: TestOrganization) async throws -> [Record] {
        try await organization.store.read { view in try RecordKind.allCases.flatMap { try view.allRecords($0) } }
    }

    /// Removes the record that checks the master key, as in a store of an earlier version.
    private static func removeCheck(_ organization: TestOrganization) async throws {
        let stored = try await organization.store.read { try $0.record(checkID.kind, id: checkID.id) }
        let record = try #require(stored)
        #expect(try await organization.store.commit([.remove(record.kind, id: record.id, version: record.version)]) == .committed)
    }

    @Test(
        "With a wrong master key, applying a definition and maintaining or rotating keys are rejected, and nothing is written",
        arguments: [true, false])
    func anotherKey(hasCheck: Bool) async throws {
        let organization = try await TestOrganization()
        if !hasCheck { try await Self.removeCheck(organization) }
        let before = try await Self.records(organization)
        var changed = TestOrganization.definition
        changed.groups.append(Group(name: "added"))
        let other = Self.engine(organization, key: 8)
        await #expect(throws: StoreError(.wrongMasterKey, "")) { try await other.apply(changed, context: Self.context) }
        await #expect(throws: StoreError(.wrongMasterKey, "")) { try await other.snapshot() }
        await #expect(throws: StoreError(.wrongMasterKey, "")) { try await other.maintainKeys(Self.context, making: TestOrganization.key) }
        await #expect(throws: StoreError(.wrongMasterKey, "")) {
            try await other.rotateKeys(.forced, context: Self.context, making: TestOrganization.key)
        }
        #expect(try await Self.records(organization) == before)
    }

    @Test("Applying a definition to a store without a master key check record writes the record, even if nothing else changes")
    func oldStore() async throws {
        let organization = try await TestOrganization()
        try await Self.removeCheck(organization)
        let report = try await organization.engine.apply(TestOrganization.definition, context: Self.context)
        #expect(report.count(.changed) == 0)
        #expect(try await organization.store.read { try $0.record(Self.checkID.kind, id: Self.checkID.id) } != nil)
        await #expect(throws: StoreError(.wrongMasterKey, "")) {
            try await Self.engine(organization, key: 8).apply(TestOrganization.definition, context: Self.context)
        }
    }

    @Test("If a store has no signing keys and no check record, a wrong master key is detected with the encrypted client secrets")
    func clientSecrets() async throws {
        let organization = try await TestOrganization()
        try await Self.removeCheck(organization)
        let keys = try await organization.store.read { try $0.allRecords(.signingKey) }
        _ = try await organization.store.commit(keys.map { .remove(.signingKey, id: $0.id, version: $0.version) })
        await #expect(throws: StoreError(.wrongMasterKey, "")) {
            try await Self.engine(organization, key: 8).apply(TestOrganization.definition, context: Self.context)
        }
        _ = try await organization.engine.apply(TestOrganization.definition, context: Self.context)
    }

    @Test(
        "A damaged master key check record is reported as a wrong master key", arguments: ["{}", "[1]", "no JSON", #"{"sealed":"AAAA"}"#])
    func damaged(payload: String) async throws {
        let organization = try await TestOrganization()
        let stored = try await organization.store.read { try $0.record(Self.checkID.kind, id: Self.checkID.id) }
        var record = try #require(stored)
        record.payload = Array(payload.utf8)
        #expect(try await organization.store.commit([.put(record)]) == .committed)
        await #expect(throws: StoreError(.wrongMasterKey, "")) {
            try await organization.engine.apply(TestOrganization.definition, context: Self.context)
        }
    }

    @Test("Applying the org file replaces a client secret that an earlier start encrypted with another master key")
    func repair() async throws {
        let organization = try await TestOrganization()
        try await Self.removeCheck(organization)
        let stored = try await organization.store.read { try $0.record(.application, id: "service-app") }
        var record = try #require(stored)
        let application = try #require(TestOrganization.definition.applications.first { $0.id == "service-app" })
        record.payload = try RecordCoding.encode(
            Configured(origin: .file, value: StoredApplication(sealing: application, environment: Self.environment(key: 8))))
        #expect(try await organization.store.commit([.put(record)]) == .committed)
        await #expect(throws: StoreError(.damaged, "")) { try await organization.engine.snapshot() }
        let report = try await organization.engine.apply(TestOrganization.definition, context: Self.context)
        #expect(report.entries.filter { $0.action == .changed }.map(\.name) == ["service-app"])
        #expect(try await organization.engine.snapshot().application("service-app")?.secret == application.secret)
        #expect(try await organization.service(at: 20).refused == nil)
    }
}
