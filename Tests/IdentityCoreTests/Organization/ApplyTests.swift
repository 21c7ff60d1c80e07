import Foundation
import JOSE
import Testing

@testable import IdentityCore
@testable import Store

@Suite("Applying an organization definition")
struct ApplyTests {
    private func apply(
        _ org: SignInFixture, options: ApplyOptions = ApplyOptions(), at seconds: TimeInterval = 10,
        _ change: (inout OrganizationDefinition) -> Void = { _ in }
    ) async throws -> ApplyReport {
        var definition = SignInFixture.definition
        change(&definition)
        return try await org.engine.apply(definition, options: options, context: SignInFixture.context(at: seconds))
    }

    private func allRecords(_ org: SignInFixture) async throws -> [Record] {
        try await org.store.read { view in try RecordKind.allCases.flatMap { try view.allRecords($0) } }
    }

    @Test("Applying the same definition a second time writes nothing and reports every entry as unchanged")
    func idempotent() async throws {
        let org = try await SignInFixture()
        let before = try await allRecords(org)
        let report = try await apply(org)
        #expect(report.isUnchanged)
        #expect(try await allRecords(org) == before)
        #expect(report.description == "0 created, 0 changed, 0 removed, \(report.entries.count) unchanged")
    }

    @Test("The organization and its users get 20-character ids, which stay the same when the definition is applied again")
    func ids() async throws {
        let org = try await SignInFixture()
        let snapshot = try await org.engine.snapshot()
        #expect(snapshot.id.hasPrefix("00o") && snapshot.id.count == 20)
        let user = try await org.stored().value
        #expect(user.id.hasPrefix("00u") && user.id.count == 20)
        _ = try await apply(org) { $0.name = "Renamed" }
        let after = try await org.engine.snapshot()
        #expect(after.id == snapshot.id && after.organization.name == "Renamed")
        #expect(try await org.stored().value == user)
    }

    @Test("An applied definition and new keys are in latestSnapshot at once, without another read of the store")
    func latestSnapshotIsNotOneRequestLate() async throws {
        let org = try await SignInFixture()
        #expect(org.engine.latestSnapshot != nil)
        _ = try await apply(org) { $0.name = "Renamed" }
        #expect(org.engine.latestSnapshot?.organization.name == "Renamed")
        let applied = org.engine.latestSnapshot?.version
        let made = try await org.engine.maintainKeys(SignInFixture.context())
        #expect(!made.isEmpty)
        let maintained = org.engine.latestSnapshot?.version
        #expect(maintained != applied)
        #expect(maintained == (try await org.engine.snapshot().version))
    }

    @Test(
        "Applying a definition writes new and changed entries, removes entries that the definition no longer has, and reports every change")
    func changes() async throws {
        let org = try await SignInFixture()
        let report = try await apply(org) { definition in
            definition.applications.removeAll { $0.id == "closed" }
            definition.applications[0].name = "First"
            definition.groups.append(Group(name: "Guests"))
        }
        let told = report.entries.filter { $0.action != .unchanged }.map { "\($0.action) \($0.kind) \($0.name)" }
        #expect(told == ["changed application one", "removed application closed", "created group Guests"])
        let snapshot = try await org.engine.snapshot()
        #expect(snapshot.application("one")?.name == "First")
        #expect(snapshot.application("closed") == nil)
        #expect(try await org.log().last?.reason == "1 created, 1 changed, 1 removed")
    }

    @Test("Applying a definition keeps a group that an administrator created through the API")
    func foreign() async throws {
        let org = try await SignInFixture()
        let payload = try RecordCoding.encode(Configured(origin: .api, value: Group(name: "Made by an administrator")))
        _ = try await org.store.commit([.put(Record(kind: .group, id: "Made by an administrator", payload: payload))])
        let report = try await apply(org)
        #expect(report.isUnchanged)
        #expect(try await org.engine.snapshot().organization.groups.map(\.name) == ["Made by an administrator", "Staff"])
    }

    @Test("A client secret is stored encrypted, and can be decrypted only with its master key and for its own application")
    func secrets() async throws {
        let org = try await SignInFixture()
        #expect(try await org.engine.snapshot().application("service")?.secret == "a-secret-for-tests")
        for record in try await allRecords(org) {
            #expect(!String(decoding: record.payload, as: UTF8.self).contains("a-secret-for-tests"))
            #expect(!String(decoding: record.payload, as: UTF8.self).contains(SignInFixture.janesPassword))
        }
        let other = Engine(store: org.store, environment: SignInFixture.environment(masterKey: 8))
        await #expect(throws: StoreError(.wrongMasterKey, "")) { try await other.snapshot() }
        let environment = SignInFixture.environment()
        let sealed = try RecordCoding.seal([1, 2, 3], for: RecordReference(.application, "a"), environment: environment)
        #expect(throws: StoreError.self) {
            try RecordCoding.open(sealed, for: RecordReference(.application, "b"), masterKeys: environment.masterKeys)
        }
    }

    @Test("The engine returns the same snapshot until the configuration changes")
    func cache() async throws {
        let org = try await SignInFixture()
        let first = try await org.engine.snapshot().version
        _ = try await org.signIn(SignInFixture.jane, "wrong-password")
        #expect(try await org.engine.snapshot().version == first)
        _ = try await apply(org) { $0.name = "Renamed" }
        #expect(try await org.engine.snapshot().version > first)
    }

    @Test("Applying a definition updates a user's profile and groups, and keeps the user's password")
    func userChanges() async throws {
        let org = try await SignInFixture()
        let before = try await org.stored().value
        let report = try await apply(org, at: 60) { definition in
            definition.users[0].profile["nickname"] = "Janie"
            definition.users[0].groups = ["Staff"]
            definition.users[0].password = "Another-Password-1"
        }
        let entry = try #require(report.entries.first { $0.name == SignInFixture.jane })
        #expect(entry.action == .changed)
        #expect(entry.note == "password differs from the one last applied; the user keeps theirs")
        let after = try await org.stored().value
        #expect(after.profile["nickname"] == "Janie" && after.groups == ["Staff"])
        #expect(after.passwordHash == before.passwordHash && after.passwordChangedAt == before.passwordChangedAt)
        #expect(after.id == before.id && after.updatedAt == SignInFixture.start.addingTimeInterval(60))
    }

    @Test("With replacesPasswords, applying a definition replaces a user's password only if the definition's password changed")
    func passwords() async throws {
        let org = try await SignInFixture()
        let id = try await org.stored().value.id
        _ = try await org.engine.setPassword(userID: id, to: "My-Own-Password-5", context: SignInFixture.context(at: 1))
        let replacing = ApplyOptions(replacesPasswords: true)
        #expect(try await apply(org, options: replacing).isUnchanged)
        #expect(try await org.signIn(SignInFixture.jane, "My-Own-Password-5").context != nil)
        _ = try await apply(org, options: replacing, at: 20) { $0.users[0].password = "From-The-File-22" }
        #expect(try await org.signIn(SignInFixture.jane, "From-The-File-22").context != nil)
        #expect(try await org.stored().value.passwordChangedAt == SignInFixture.start.addingTimeInterval(20))
    }

    @Test("Applying a definition keeps a user suspended by an administrator until the definition changes the user's status")
    func suspended() async throws {
        let org = try await SignInFixture()
        let id = try await org.stored().value.id
        _ = try await org.engine.setStatus(userID: id, to: .suspended, context: SignInFixture.context())
        #expect(try await apply(org).isUnchanged)
        #expect(try await org.stored().value.status == .suspended)
        _ = try await apply(org) { $0.users[0].status = .deactivated }
        #expect(try await org.stored().value.status == .deactivated)
        _ = try await apply(org)
        #expect(try await org.stored().value.status == .active)
    }

    @Test(
        "A user whom the applied definition omits is deactivated, and is reactivated with the same id when the definition names the user again"
    )
    func dismissed() async throws {
        let org = try await SignInFixture()
        let before = try await org.stored().value
        let report = try await apply(org) { $0.users.removeFirst() }
        #expect(report.entries.contains { $0.action == .removed && $0.name == SignInFixture.jane })
        #expect(try await org.signIn().refusal?.reason == "account is deactivated")
        #expect(try await apply(org) { $0.users.removeFirst() }.isUnchanged)
        _ = try await apply(org)
        #expect(try await org.stored().value.id == before.id)
        #expect(try await org.signIn().context != nil)
    }

    @Test("Applying a definition keeps existing grants and factor enrollments, even if the definition removes users")
    func keepsState() async throws {
        let org = try await SignInFixture()
        try await org.enroll(.push)
        let grant = Record(kind: .grant, id: "grant", indexedKeys: ["user": "x"], payload: [1])
        _ = try await org.store.commit([.put(grant)])
        _ = try await apply(org) { $0.users.removeAll() }
        _ = try await apply(org) { $0.applications[0].name = "First" }
        let left = try await org.store.read { view in
            (try view.allRecords(.grant).count, try view.allRecords(.enrollment).count)
        }
        #expect(left == (1, 1))
    }

    @Test("Two concurrent applies of the same definition both succeed, and only one of them writes")
    func parallel() async throws {
        let engine = Engine(store: InMemoryStore(), environment: SignInFixture.environment())
        async let first = engine.apply(SignInFixture.definition, context: SignInFixture.context())
        async let second = engine.apply(SignInFixture.definition, context: SignInFixture.context())
        let reports = try await [first, second]
        #expect(reports.count { $0.isUnchanged } == 1)
        #expect(reports.count { $0.count(.unchanged) == 0 } == 1)
    }
}
