import Foundation
import Store
import Testing

@Suite("Records of a store")
struct RecordConformanceTests {
    @Test("A committed record is read back unchanged, with the next version", arguments: StoreUnderTest.allCases)
    func roundTrip(_ implementation: StoreUnderTest) async throws {
        try await implementation.run { (store) async throws in
            var record = Record(
                kind: .user, id: "u1", uniqueKeys: ["login": "jane:5:x"], indexedKeys: ["group": "ü", "b": ""],
                expiresAt: Date(timeIntervalSince1970: 5000.25), payload: [0, 1, 255])
            #expect(try await store.commit([.put(record)]) == .committed)
            record.version = 1
            #expect(try await store.record(.user, "u1") == record)
            #expect(try await store.record(.group, "u1") == nil)
        }
    }

    @Test(
        "Erasing replaced records keeps the present ones, and the store on PostgreSQL leaves it to the operator",
        arguments: StoreUnderTest.allCases)
    func erasure(_ implementation: StoreUnderTest) async throws {
        let expected: ErasureOutcome = implementation.rawValue == "postgreSQL" ? .byOperator : .erased
        try await implementation.run { (store) async throws in
            _ = try await store.commit([.put(.user("u1", payload: "1"))])
            _ = try await store.commit([.put(.user("u1", version: 1, payload: "2"))])
            #expect(try await store.eraseRemains() == expected)
            #expect(try await store.record(.user, "u1")?.payload == Array("2".utf8))
        }
    }

    @Test("A write of a record with a stale version conflicts and changes nothing", arguments: StoreUnderTest.allCases)
    func versions(_ implementation: StoreUnderTest) async throws {
        try await implementation.run { (store) async throws in
            _ = try await store.commit([.put(.user("u1"))])
            #expect(try await store.commit([.put(.user("u1", payload: "2"))]) == .conflict(index: 0, .version(stored: 1)))
            #expect(try await store.commit([.put(.user("u2", version: 3))]) == .conflict(index: 0, .version(stored: 0)))
            #expect(try await store.commit([.put(.user("u1", version: 1, payload: "2"))]) == .committed)
            #expect(try await store.record(.user, "u1")?.version == 2)
            #expect(try await store.record(.user, "u1")?.payload == Array("2".utf8))
            #expect(try await store.record(.user, "u2") == nil)
        }
    }

    @Test(
        "A commit applies all of its changes or none, and a later change sees the earlier changes of the commit",
        arguments: StoreUnderTest.allCases)
    func allOrNone(_ implementation: StoreUnderTest) async throws {
        try await implementation.run { (store) async throws in
            let outcome = try await store.commit([
                .put(.user("u1", login: "a", group: "g")), .put(.user("u1", version: 1, login: "b", group: "g")),
                .issue(.refresh("r", owner: "u1")), .put(Record(kind: .application, id: "app", payload: [])), .put(.user("u1")),
            ])
            #expect(outcome == .conflict(index: 4, .version(stored: 2)))
            #expect(try await store.record(.user, "u1") == nil)
            #expect(try await store.state("r") == .unknown)
            #expect(try await store.read { try $0.configurationVersion() } == 0)
            #expect(try await store.read { try $0.records(.user, where: "group", is: "g", limit: 9) }.isEmpty)
            #expect(try await store.commit([.put(.user("u2", login: "a"))]) == .committed)
        }
    }

    @Test(
        "A unique key belongs to one record, can move to another record in one commit, and is available again after a removal",
        arguments: StoreUnderTest.allCases)
    func uniqueKeys(_ implementation: StoreUnderTest) async throws {
        try await implementation.run { (store) async throws in
            _ = try await store.commit([.put(.user("u1", login: "jane"))])
            #expect(try await store.commit([.put(.user("u2", login: "jane"))]) == .conflict(index: 0, .duplicateKey("login")))
            // The keys of different kinds of records are independent.
            #expect(try await store.commit([.put(Record(kind: .group, id: "g", uniqueKeys: ["login": "jane"], payload: []))]) == .committed)
            let move: [Change] = [.put(.user("u1", version: 1, login: "janet")), .put(.user("u2", login: "jane"))]
            #expect(try await store.commit(move) == .committed)
            #expect(try await store.read { try $0.records(.user, where: "login", is: "jane", limit: 2) }.map(\.id) == ["u2"])
            _ = try await store.commit([.remove(.user, id: "u2", version: 1)])
            #expect(try await store.commit([.put(.user("u3", login: "jane"))]) == .committed)
        }
    }

    @Test("A query by an indexed key returns records ordered by id, up to the limit", arguments: StoreUnderTest.allCases)
    func indexedKeys(_ implementation: StoreUnderTest) async throws {
        try await implementation.run { (store) async throws in
            _ = try await store.commit(["c", "a", "b", "d"].map { .put(.user($0, group: $0 == "d" ? "other" : "staff")) })
            #expect(try await store.read { try $0.records(.user, where: "group", is: "staff", limit: 9) }.map(\.id) == ["a", "b", "c"])
            #expect(try await store.read { try $0.records(.user, where: "group", is: "staff", limit: 2) }.map(\.id) == ["a", "b"])
            #expect(try await store.read { try $0.records(.user, after: "a", limit: 2) }.map(\.id) == ["b", "c"])
            #expect(try await store.read { try $0.records(.user, after: nil, limit: 9) }.count == 4)
            _ = try await store.commit([.put(.user("a", version: 1, group: "other"))])
            #expect(try await store.read { try $0.records(.user, where: "group", is: "staff", limit: 9) }.map(\.id) == ["b", "c"])
        }
    }

    @Test("Removing a record requires its current version, and also removes its keys and tickets", arguments: StoreUnderTest.allCases)
    func remove(_ implementation: StoreUnderTest) async throws {
        try await implementation.run { (store) async throws in
            _ = try await store.commit([
                .put(Record(kind: .grant, id: "g1", indexedKeys: ["user": "u"], payload: [])), .issue(.refresh("mine")),
                .issue(.refresh("other", owner: "g2")),
            ])
            #expect(try await store.commit([.remove(.grant, id: "g1", version: 2)]) == .conflict(index: 0, .version(stored: 1)))
            #expect(try await store.commit([.remove(.grant, id: "none", version: 1)]) == .conflict(index: 0, .version(stored: 0)))
            #expect(try await store.commit([.remove(.grant, id: "g1", version: 1)]) == .committed)
            #expect(try await store.record(.grant, "g1") == nil)
            #expect(try await store.read { try $0.records(.grant, where: "user", is: "u", limit: 1) }.isEmpty)
            #expect(try await store.state("mine") == .unknown)
            #expect(try await store.state("other") == .fresh(.refresh("other", owner: "g2")))
        }
    }

    @Test("Only changes of the configuration increase the configuration version", arguments: StoreUnderTest.allCases)
    func configurationVersion(_ implementation: StoreUnderTest) async throws {
        try await implementation.run { (store) async throws in
            var last = try await store.read { try $0.configurationVersion() }
            for kind in RecordKind.allCases {
                for change in [Change.put(Record(kind: kind, id: "x", payload: [])), .remove(kind, id: "x", version: 1)] {
                    _ = try await store.commit([change])
                    let next = try await store.read { try $0.configurationVersion() }
                    #expect((next > last) == kind.isConfiguration, "\(kind)")
                    last = next
                }
            }
        }
    }

    @Test("A commit can require that the configuration has not changed since the read", arguments: StoreUnderTest.allCases)
    func requiresConfiguration(_ implementation: StoreUnderTest) async throws {
        try await implementation.run { (store) async throws in
            let version = try await store.read { try $0.configurationVersion() }
            let user = Record(kind: .user, id: "u", payload: [1])
            #expect(try await store.commit([.put(user), .requireConfiguration(version)]) == .committed)
            _ = try await store.commit([.put(Record(kind: .group, id: "g", payload: [1]))])
            let other = Record(kind: .user, id: "v", payload: [1])
            #expect(
                try await store.commit([.put(other), .requireConfiguration(version)])
                    == .conflict(index: 1, .configuration(stored: version + 1)))
            #expect(try await store.read { try $0.record(.user, id: "v") } == nil)
            #expect(try await store.commit([.put(other), .requireConfiguration(version + 1)]) == .committed)
        }
    }

    @Test("A read sees a consistent snapshot during concurrent commits", arguments: StoreUnderTest.allCases)
    func snapshot(_ implementation: StoreUnderTest) async throws {
        try await implementation.run { (store) async throws in
            _ = try await store.commit([.put(.user("a", payload: "0")), .put(.user("b", payload: "0"))])
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for round in 1...60 {
                        let text = "\(round)"
                        _ = try await store.commit([
                            .put(.user("a", version: Int64(round), payload: text)), .put(.user("b", version: Int64(round), payload: text)),
                        ])
                    }
                }
                for _ in 0..<200 {
                    group.addTask {
                        let (a, b) = try await store.read { view in
                            (try view.record(.user, id: "a")?.payload, try view.record(.user, id: "b")?.payload)
                        }
                        #expect(a != nil)
                        #expect(a == b)
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test("Of a hundred concurrent writes of the same record version, exactly one succeeds", arguments: StoreUnderTest.allCases)
    func writersRace(_ implementation: StoreUnderTest) async throws {
        try await implementation.run { (store) async throws in
            let outcomes = try await race(100) { try await store.commit([.put(.user("u1", payload: "\($0)")), .put(.user("own\($0)"))]) }
            #expect(outcomes.filter { $0 == .committed }.count == 1)
            #expect(try await store.read { try $0.records(.user, after: nil, limit: 99) }.count == 2)
        }
    }

    @Test("An error that is thrown in the closure of a store read reaches the caller of the read", arguments: StoreUnderTest.allCases)
    func bodyThrows(_ implementation: StoreUnderTest) async throws {
        struct Mine: Error {}
        try await implementation.run { (store) async throws in
            await #expect(throws: Mine.self) { try await store.read { _ in throw Mine() } }
            #expect(try await store.commit([.put(.user("u1"))]) == .committed)
        }
    }

    @Test("After a store is closed, every call throws the error closed", arguments: StoreUnderTest.allCases)
    func close(_ implementation: StoreUnderTest) async throws {
        try await implementation.run { (store) async throws in
            try await store.close()
            await #expect(throws: StoreError(.closed, "")) { try await store.commit([]) }
            await #expect(throws: StoreError(.closed, "")) { try await store.read { try $0.configurationVersion() } }
            await #expect(throws: StoreError(.closed, "")) { try await store.removeExpired(now: .distantPast, limit: 1) }
        }
    }
}

/// Runs an action this number of times concurrently.
func race<Result: Sendable>(_ count: Int, _ body: @escaping @Sendable (Int) async throws -> Result) async throws -> [Result] {
    try await withThrowingTaskGroup(of: Result.self) { group in
        for number in 0..<count { group.addTask { try await body(number) } }
        return try await group.reduce(into: []) { $0.append($1) }
    }
}
