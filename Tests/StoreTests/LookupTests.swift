import Foundation
import Store
import Testing

@Suite("Lookups of a store")
struct LookupTests {
    private static let now = Date(timeIntervalSince1970: 1_000)

    /// The records of the tests: Jane has a grant with a refresh token, and two factors, one of them on a device. John has no factor.
    static let records: [Change] = [
        .put(.user("u1", login: "jane")), .put(.user("u2", login: "john")),
        .put(Record(kind: .grant, id: "g1", indexedKeys: ["user": "u1"], payload: [1])),
        .put(Record(kind: .grant, id: "g2", indexedKeys: ["user": "gone"], payload: [2])),
        .issue(.refresh("r", owner: "g1")), .issue(.refresh("lost", owner: "g2")),
        .issue(.refresh("old", owner: "g1", expiresAt: now)),
        .put(Record(kind: .enrollment, id: "e1", indexedKeys: ["user": "u1", "device": "d1"], payload: [3])),
        .put(Record(kind: .enrollment, id: "e2", indexedKeys: ["user": "u1"], payload: [4])),
        .put(Record(kind: .device, id: "d1", payload: [5])),
        .put(Record(kind: .rememberedDevice, id: "m1", uniqueKeys: ["device": "u1 aa"], indexedKeys: ["user": "u1"], payload: [6])),
        .put(Record(kind: .rememberedDevice, id: "m2", uniqueKeys: ["device": "u1 bb"], indexedKeys: ["user": "u1"], payload: [7])),
    ]

    private static func lookup(_ secret: String) -> Lookup {
        Lookup(
            .ticket(
                .refreshToken, TicketDigest(of: secret),
                .owner(.named(.user, byKey: "user", .listed(.enrollment, where: "user", limit: 200, .named(.device, byKey: "device"))))),
            .records(.user, where: "login", is: "john", limit: 1, .listed(.enrollment, where: "user", limit: 200)),
            .records(
                .user, where: "login", is: "jane", limit: 1, .listed(.rememberedDevice, where: "device", suffix: " aa", limit: 1),
                .listed(.rememberedDevice, where: "device", suffix: " cc", limit: 1)),
            .record(.device, id: "d9"), .record(.user, id: "with\0NUL"))
    }

    static let lookup = lookup("r")

    /// The results of all calls of a view that a request could make.
    private struct Answers: Sendable, Equatable {
        let version: Int64
        let ticket: TicketState
        let records: [Record?]
        let lists: [[Record]]

        init(_ view: any StoreView, _ secret: String) throws {
            version = try view.configurationVersion()
            ticket = try view.ticket(.refreshToken, digest: TicketDigest(of: secret), now: now)
            let names: [(RecordKind, String)] = [
                (.grant, "g1"), (.grant, "g2"), (.user, "u1"), (.user, "u2"), (.user, "gone"), (.device, "d1"), (.device, "d9"),
                (.user, "with\0NUL"),
            ]
            records = try names.map { try view.record($0, id: $1) }
            let factors = try ["u1", "u2", "gone"].flatMap { user in
                try [1, 2, 200].map { try view.records(.enrollment, where: "user", is: user, limit: $0) }
            }
            let remembered = try ["u1 aa", "u1 bb", "u1 cc", "u2 aa"].map {
                try view.records(.rememberedDevice, where: "device", is: $0, limit: 1)
            }
            lists = factors + remembered + [try view.records(.user, where: "login", is: "john", limit: 1)]
        }
    }

    @Test(
        "A store view returns the same results with and without a declared lookup", arguments: StoreUnderTest.allCases,
        ["r", "lost", "old", "unknown"])
    func sameAnswers(_ implementation: StoreUnderTest, _ secret: String) async throws {
        try await implementation.run { (store) async throws in
            _ = try await store.commit(Self.records)
            let plain = try await store.read { try Answers($0, secret) }
            #expect(try await store.read({ Self.lookup(secret) }) { try Answers($0, secret) } == plain)
            #expect(try await store.read({ Lookup() }) { try Answers($0, secret) } == plain)
        }
    }
}
