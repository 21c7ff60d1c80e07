import Crypto
import Foundation
import IdentityCore
import JOSE
import Store
import TestSupport
import Testing

@testable import AuthorizationServer

@Suite("The steps of a rotation of the master key")
struct MasterKeyStepTests {
    private static let organization = """
        name: Keys
        origin: http://localhost:8080
        sign_on_policies: [{name: one-factor, rules: [{name: All, require: one_factor}]}]
        authorization_servers: [{id: default, audience: api://default}]
        applications:
          - {id: service, name: Service, type: service, authentication: client_secret_basic, secret: a-secret-of-the-service-0123456789,
             grant_types: [client_credentials]}
        """
    private static let start = Date(timeIntervalSince1970: 1_800_000_000)

    private let folder = TemporaryFolder()
    private var config: String { folder.file("org.yaml").path }

    init() throws {
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try Data(Self.organization.utf8).write(to: folder.file("org.yaml"))
    }

    private static func key(_ byte: UInt8) -> String { Data(repeating: byte, count: 32).base64EncodedString() }

    private static func context(_ seconds: TimeInterval) -> RequestContext {
        RequestContext(now: start.addingTimeInterval(seconds), requestID: "rotate")
    }

    /// Opens the store with the keys that the command would read now.
    private func with<Result>(
        _ settings: [String: String] = [:], environment: [String: String] = [:], _ body: (ServerParts) async throws -> Result
    ) async throws -> Result {
        let parts = try await ServerParts(
            organization: config, settings: ["data": folder.file("data").path].merging(settings) { $1 }, environment: environment)
        do {
            let result = try await body(parts)
            try await parts.store.close()
            return result
        } catch {
            try await parts.store.close()
            throw error
        }
    }

    private func prepare(_ settings: [String: String] = [:], environment: [String: String] = [:]) async throws {
        try await with(settings, environment: environment) { parts in
            _ = try await parts.engine.apply(parts.organization, context: Self.context(0))
            try await parts.engine.maintainKeys(Self.context(0))
        }
    }

    private func step(
        _ settings: [String: String] = [:], environment: [String: String] = [:], removesNow: Bool = false,
        confirms question: MasterKeyStep.Question? = nil, at seconds: TimeInterval
    ) async throws -> MasterKeyStep {
        try await with(settings, environment: environment) {
            try await $0.rotateMasterKey(removesNow: removesNow, context: Self.context(seconds)) { $0 == question }
        }
    }

    private var lines: [String] {
        get throws { try String(contentsOf: folder.file("data/master.key"), encoding: .utf8).split(separator: "\n").map(String.init) }
    }

    @Test("Four calls add a key, encrypt with it, wait an hour and remove the earlier key, with the file readable by its owner only")
    func walk() async throws {
        try await prepare()
        let old = try lines
        #expect(try await step(at: 10).result == .added)
        let two = try lines
        #expect(two.count == 2 && two[0] == old[0] && two[1] != old[0])
        let resealed = try await step(at: 20)
        #expect(resealed.result == .resealed && resealed.report.counts[.signingKey] == 1 && resealed.report.counts[.application] == 1)
        #expect(try lines == [two[1], two[0]])
        let date = Self.start.addingTimeInterval(20 + Engine.settlingTime)
        #expect(try await step(at: 30).result == .waiting(until: date))
        #expect(try await step(at: 20 + Engine.settlingTime - 1).result == .waiting(until: date))
        let removed = try await step(at: 20 + Engine.settlingTime)
        #expect(removed.result == .removed && removed.report.total == 0)
        #expect(try lines == [two[1]])
        #expect(try folder.mode(of: "data/master.key") == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("data").path).count { $0.hasPrefix("master") } == 1)
        _ = try await with { try await $0.engine.snapshot() }
        // The earlier key alone, and the file of the first step.
        for keys in [old, [old[0], two[1]]] {
            try Data(keys.map { $0 + "\n" }.joined().utf8).write(to: folder.file("data/master.key"))
            await #expect(throws: StoreError(.wrongMasterKey, "")) { try await with { try await $0.engine.snapshot() } }
            await #expect(throws: StoreError(.wrongMasterKey, "")) { try await step(at: 9_000) }
        }
    }

    @Test("When the earlier key is removed, no file of the database contains secrets that it encrypted, while a server uses the files")
    func erased() async throws {
        try await prepare()
        try await with { server in
            let payload = try await server.store.read { try $0.records(.signingKey, after: nil, limit: 1).first?.payload }
            let json = try JSONValue(parsing: try #require(payload))
            // The end of the secret is in one page of the file.
            let sealed = Data(try #require(json["sealed"]?.stringValue).utf8.suffix(300))
            func isInFiles() throws -> Bool {
                try ["countersign.sqlite", "countersign.sqlite-wal"].contains { name in
                    try Data(contentsOf: folder.file("data/" + name)).range(of: sealed) != nil
                }
            }
            #expect(try await step(at: 1).result == .added)
            #expect(try await step(at: 2).result == .resealed)
            #expect(try isInFiles())
            let removed = try await step(removesNow: true, at: 3)
            #expect(removed.result == .removed && !removed.keepsRemains)
            #expect(try !isInFiles())
            _ = try await server.store.read { try $0.records(.signingKey, after: nil, limit: 1) }
        }
    }

    @Test(
        "While another process reads an earlier state of the database, the earlier key stays in the file, and a later call removes it",
        .timeLimit(.minutes(1)))
    func busy() async throws {
        try await prepare()
        for seconds in [1.0, 2] { _ = try await step(at: seconds) }
        let both = try lines
        try await with { server in
            let (started, start) = AsyncStream<Void>.makeStream()
            let end = DispatchSemaphore(value: 0)
            let store = server.store
            async let reading: Void = store.read { _ in
                start.yield()
                end.wait()
            }
            defer { end.signal() }
            for await _ in started { break }
            #expect(try await step(removesNow: true, at: 3).result == .busy)
            #expect(try lines == both)
            end.signal()
            try await reading
        }
        #expect(try await step(removesNow: true, at: 4).result == .removed)
        #expect(try lines == [both[0]])
    }

    @Test("With one key in the file, a call asks before it begins a rotation if this key does not open a secret")
    func leftovers() async throws {
        try await prepare()
        func signingKey() async throws -> Record {
            let record = try await with { parts in
                try await parts.store.read { view in try view.records(.signingKey, after: nil, limit: 1).first }
            }
            return try #require(record)
        }
        var earlier = try await signingKey()
        for seconds in [1.0, 2, 3] { _ = try await step(removesNow: true, at: seconds) }
        let keys = try lines
        #expect(keys.count == 1)
        // A secret that a command encrypted with the earlier key.
        earlier.version = try await signingKey().version
        let leftover = earlier
        let outcome = try await with { parts in try await parts.store.commit([.put(leftover)]) }
        #expect(outcome == .committed)
        #expect(try await step(at: 4).result == .confirm(.unreadable(1)))
        #expect(try lines == keys)
        #expect(try await step(confirms: .unreadable(1), at: 5).result == .added)
        #expect(try lines.count == 2)
    }

    @Test("If the operator removes the earlier key by hand, the next call erases replaced secrets and refuses servers with the earlier key")
    func removedByHand() async throws {
        try await prepare()
        let old = try lines
        for seconds in [1.0, 2] { _ = try await step(at: seconds) }
        let both = try lines
        func write(_ keys: [String]) throws {
            try Data(keys.map { $0 + "\n" }.joined().utf8).write(to: folder.file("data/master.key"))
        }
        try write([both[0]])
        #expect(try await step(at: 3).result == .added)
        try write([old[0], both[0]])
        await #expect(throws: StoreError(.wrongMasterKey, "")) { try await with { try await $0.engine.snapshot() } }
    }

    @Test(
        "If an earlier version created the store, a call asks whether all servers run this version before it adds a key or encrypts with it"
    )
    func earlierVersion() async throws {
        try await prepare()
        try await with { parts in
            let check = RecordReference(.masterKeyCheck, "check")
            let stored = try await parts.store.read { try $0.record(check.kind, id: check.id) }
            var record = try #require(stored)
            let sealed = try RecordCoding.seal(
                Array("countersign master key".utf8), for: check, environment: parts.engine.environment)
            let payload: JSONValue = ["sealed": .string(Base64URL.encode(sealed))]
            record.payload = payload.serialized()
            let outcome = try await parts.store.commit([.put(record)])
            #expect(outcome == .committed)
        }
        let old = try lines
        #expect(try await step(at: 1).result == .confirm(.earlierVersion))
        #expect(try lines == old)
        #expect(try await step(confirms: .earlierVersion, at: 2).result == .added)
        let both = try lines
        #expect(try await step(at: 3).result == .confirm(.earlierVersion))
        #expect(try lines == both)
        #expect(try await step(confirms: .earlierVersion, at: 4).result == .resealed)
        #expect(try await step(removesNow: true, at: 5).result == .removed)
    }

    @Test("If the clocks of the command and of a running server differ in either direction, a call changes nothing")
    func clocks() async throws {
        try await prepare()
        let old = try lines
        let seen = Self.start.addingTimeInterval(1_000)
        try await with { try await $0.engine.announce(server: "srv1", startedAt: seen, context: Self.context(1_000)) }
        let early = 1_000 - LiveServer.clockTolerance - 1
        await #expect(throws: ClocksDiffer(server: seen, command: Self.start.addingTimeInterval(early))) {
            try await step(confirms: .silent(1, since: seen), at: early)
        }
        // The clock of the command is ahead, so that the record seems to have expired.
        let late = 1_000 + LiveServer.lifetime
        let asked = try await step(at: late)
        #expect(asked.result == .confirm(.silent(1, since: seen)) && asked.servers == 0)
        #expect(try lines == old)
        #expect(try await step(confirms: .silent(1, since: seen), at: late + 1).result == .added)
    }

    @Test("A call that is repeated too early changes neither the file nor the store while a running server lacks the file")
    func servers() async throws {
        try await prepare()
        /// Records a running server with the keys that the file has now.
        func announce(_ id: String, at seconds: TimeInterval) async throws {
            try await with {
                try await $0.engine.announce(server: id, startedAt: Self.start.addingTimeInterval(seconds), context: Self.context(seconds))
            }
        }
        try await announce("srv1", at: 1)
        #expect(try await step(at: 2).result == .added)
        let two = try lines
        #expect(try await step(at: 3).result == .servers(1))
        #expect(try lines == two)
        try await announce("srv1", at: 4)
        try await announce("srv2", at: 4)
        let resealed = try await step(at: 5)
        #expect(resealed.result == .resealed && resealed.servers == 2 && resealed.report.total > 0)
        try await announce("srv1", at: 6)
        for _ in 0..<2 { #expect(try await step(removesNow: true, at: 7).result == .servers(1)) }
        try await announce("srv2", at: 8)
        // The hour begins with the last server that encrypted with the earlier key.
        #expect(try await step(at: 9).result == .waiting(until: Self.start.addingTimeInterval(8 + Engine.settlingTime)))
        #expect(try await step(removesNow: true, at: 10).result == .removed)
        // The servers still have both keys, so that no other rotation begins.
        #expect(try await step(at: 11).result == .complete(2))
        try await announce("srv1", at: 12)
        try await announce("srv2", at: 12)
        #expect(try await step(at: 13).result == .added)
    }

    @Test("With the keys in the environment, the command names each edit and encrypts as soon as the new key is first")
    func environment() async throws {
        func keys(_ bytes: UInt8...) -> [String: String] { ["COUNTERSIGN_MASTER_KEY": bytes.map(Self.key).joined(separator: " ")] }
        try await prepare(environment: keys(1))
        let reason = "the keys are in the setting master-key"
        let append = try await step(environment: keys(1), at: 1)
        #expect(append.result == .edit(.append, reason: reason) && append.place == "COUNTERSIGN_MASTER_KEY")
        let move = try await step(environment: keys(1, 2), at: 2)
        #expect(move.result == .edit(.moveFirst(2), reason: reason) && move.report.total == 0)
        let waiting = try await step(environment: keys(2, 1), at: 3)
        #expect(waiting.result == .waiting(until: Self.start.addingTimeInterval(3 + Engine.settlingTime)) && waiting.report.total > 0)
        let last = try await step(environment: keys(2, 1), removesNow: true, at: 4)
        #expect(last.result == .edit(.keepFirst, reason: reason))
        _ = try await with(environment: keys(2)) { try await $0.engine.snapshot() }
    }

    @Test("A key file behind a symbolic link is not written, and the command says why")
    func link() async throws {
        let settings = ["master-key-file": folder.file("link.key").path]
        try Data(Self.key(1).utf8).write(to: folder.file("real.key"))
        try FileManager.default.createSymbolicLink(at: folder.file("link.key"), withDestinationURL: folder.file("real.key"))
        try await prepare(settings)
        let result = try await step(settings, at: 1).result
        guard case .edit(.append, let reason) = result else {
            Issue.record("\(result)")
            return
        }
        #expect(reason.contains("symbolic link"))
        #expect(try String(contentsOf: folder.file("real.key"), encoding: .utf8) == Self.key(1))
    }

    @Test("A key file that changed after the command read it is not replaced")
    func changed() async throws {
        try await prepare()
        let error = try await with { parts in
            try Data((Self.key(3) + "\n").utf8).write(to: folder.file("data/master.key"))
            return await #expect(throws: ConfigurationError.self) { try await parts.rotateMasterKey(context: Self.context(1)) }
        }
        #expect(error?.message.contains("Run the command again") == true && error?.message.contains(Self.key(3)) == false)
        #expect(try lines == [Self.key(3)])
    }

    @Test("An earlier key that returns to the first line by mistake moves back, and a third key continues an unfinished rotation")
    func mistakes() async throws {
        func write(_ bytes: UInt8...) throws {
            let file = folder.file("data/master.key")
            try Data(bytes.map { Self.key($0) + "\n" }.joined().utf8).write(to: file)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        }
        try FileManager.default.createDirectory(
            at: folder.file("data"), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try write(1)
        try await prepare()
        try write(1, 2)
        #expect(try await step(at: 1).result == .resealed)
        try write(1, 2)
        #expect(try await step(at: 2).result == .resealed)
        #expect(try lines == [Self.key(2), Self.key(1)])
        try write(2, 1, 3)
        #expect(try await step(at: 3).result == .resealed)
        #expect(try lines == [Self.key(3), Self.key(2), Self.key(1)])
        #expect(try await step(removesNow: true, at: 4).result == .removed)
        #expect(try lines == [Self.key(3)])
    }
}
