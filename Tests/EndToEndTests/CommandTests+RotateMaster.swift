import Foundation
import JOSE
import Synchronization
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Tests the rotation of the master key of running servers.
extension CommandTests {
    /// Two servers of one database, which are restarted one after the other.
    private struct RotatedServers {
        private static let organization = """
            name: Rotating
            origin: http://localhost:8080
            sign_on_policies: [{name: one-factor, rules: [{name: All, require: one_factor}]}]
            authorization_servers: [{id: default, audience: api://default}]
            applications:
              - id: service
                name: Service
                type: service
                authentication: client_secret_basic
                secret: a-secret-of-the-service-0123456789
                grant_types: [client_credentials]
            """

        let folder: TemporaryFolder
        let config: String
        let data: String
        let ports: [Int]
        var processes: [ServerProcess] = []

        init() async throws {
            folder = try TemporaryFolder()
            config = try folder.write(Self.organization, to: "org.yaml")
            data = folder.path + "data"
            ports = try (0..<2).map { _ in try SitePort().number }
            for index in 0..<2 { processes.append(try await start(index)) }
        }

        private func start(_ index: Int) async throws -> ServerProcess {
            try await ServerProcess(config: config, data: data, port: ports[index])
        }

        mutating func restart(_ index: Int) async throws {
            processes[index].interrupt()
            await processes[index].waitUntilEnded()
            processes[index] = try await start(index)
        }

        func rotate(_ flags: String...) async throws -> JSONValue {
            let ended = try await Command.run(
                ["keys", "rotate-master", "--config", config, "--data", data, "--as", "operator", "--json"] + flags)
            #expect(ended.status == 0, "\(ended.output) \(ended.errors)")
            for key in try keys { #expect(!ended.output.contains(key) && !ended.errors.contains(key)) }
            return try JSONValue(parsing: ended.output)
        }

        var keys: [String] { get throws { try folder.text("data/master.key").split(separator: "\n").map(String.init) } }

        /// Adds a user with the command, which opens the configuration.
        func canOpen(_ login: String) async throws -> Bool {
            try await Command.run(["users", "add", login, "--config", config, "--data", data]).status == 0
        }

        /// Whether each server reports that it can answer.
        func areReady() async throws -> Bool {
            for port in ports {
                let url = try #require(URL(string: "http://127.0.0.1:\(port)/health/ready"))
                let (_, response) = try await PlainHTTP.data(for: URLRequest(url: url))
                guard response.statusCode == 200 else { return false }
            }
            return true
        }

        func stop() async {
            for process in processes { process.interrupt() }
            for process in processes { await process.waitUntilEnded() }
        }
    }

    @Test(
        "keys rotate-master replaces the master key of two running servers step by step, and refuses a step while a server lacks the file",
        .timeLimit(.minutes(5)))
    func masterKeyRotation() async throws {
        var servers = try await RotatedServers()
        let old = try servers.keys
        let added = try await servers.rotate()
        #expect(added["step"] == "added" && added["servers"] == 2)
        #expect(try servers.keys.count == 2 && servers.keys[0] == old[0])
        // No server has been restarted, then one of them.
        #expect(try await servers.rotate()["waiting"] == 2)
        try await servers.restart(0)
        let early = try await servers.rotate()
        #expect(early["step"] == "restart" && early["waiting"] == 1 && early["resealed"] == [:])
        try await servers.restart(1)
        let resealed = try await servers.rotate()
        #expect(resealed["step"] == "resealed" && resealed["resealed"]?["signingKey"] == 1 && resealed["resealed"]?["application"] == 1)
        let both = try servers.keys
        #expect(both.count == 2 && both[1] == old[0])
        #expect(try await servers.areReady())
        #expect(try await servers.canOpen("ann@example.com"))
        #expect(try await servers.rotate("--now")["step"] == "restart")
        for index in 0..<2 { try await servers.restart(index) }
        let waiting = try await servers.rotate()
        #expect(waiting["step"] == "wait" && waiting["from"]?.stringValue != nil)
        #expect(try await servers.rotate("--now")["step"] == "removed")
        #expect(try servers.keys == [both[0]])
        #expect(try await servers.rotate()["step"] == "complete")
        for index in 0..<2 { try await servers.restart(index) }
        #expect(try await servers.areReady())
        #expect(try await servers.canOpen("bob@example.com"))
        await servers.stop()
        // The earlier key alone.
        let key = try servers.folder.write(old[0], to: "old.key")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key)
        let refused = try await Command.run(
            ["serve", "--port", "0", "--config", servers.config, "--data", servers.data, "--master-key-file", key])
        #expect(refused.status != 0 && refused.errors.contains("rotated to a newer master key"), "\(refused.errors)")
    }

    @Test(
        "A rotation of the master key that is killed at any moment continues with the next call", .timeLimit(.minutes(5)), arguments: 0..<6)
    func killedRotation(round: Int) async throws {
        let servers = try await RotatedServers()
        await servers.stop()
        let arguments = ["keys", "rotate-master", "--config", servers.config, "--data", servers.data]
        let next = Data((0..<32).map { UInt8($0) }).base64EncodedString()
        let file = servers.folder.url.appending(path: "data/master.key")
        try Data((servers.keys + [next, ""]).joined(separator: "\n").utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        let process = try Command.start(arguments)
        let hasEnded = Mutex(false)
        async let end: Void = {
            _ = await process.end()
            hasEnded.withLock { $0 = true }
        }()
        // Each commit adds pages to the write-ahead log, so each round kills the command after some more of its commits.
        let log = servers.data + "/countersign.sqlite-wal"
        while !hasEnded.withLock({ $0 }), size(of: log) < round * 8192 { await Task.yield() }
        process.kill()
        await end
        #expect(try await servers.canOpen("ann@example.com"))
        var result = try await servers.rotate("--now")
        if result["step"] == "resealed" { result = try await servers.rotate("--now") }
        #expect(result["step"] == "removed")
        #expect(try servers.keys == [next])
        #expect(try await servers.canOpen("bob@example.com"))
    }

    /// Returns the size of a file in bytes, or 0 if it does not exist.
    private func size(of path: String) -> Int {
        (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
    }
}
