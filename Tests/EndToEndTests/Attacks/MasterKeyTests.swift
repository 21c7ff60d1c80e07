import Foundation
import TestSupport
import Testing

@Suite("Attacks: a store with a wrong master key")
struct MasterKeyTests {
    private static func organization(_ more: String = "") -> String {
        """
        name: Keys
        origin: http://localhost:8080
        sign_on_policies: [{name: one-factor, rules: [{name: All, require: one_factor}]}]
        authorization_servers: [{id: default, audience: api://default}]
        applications:
          - {id: app, name: App, type: native, grant_types: [password], sign_on_policy: one-factor}
        \(more)
        """
    }

    private static let service = """
          - id: service
            name: Service
            type: service
            authentication: client_secret_basic
            secret: a-secret-of-the-service-0123456789
            grant_types: [client_credentials]
        """

    /// A folder with an org file, a store and two keys.
    private struct Scene {
        let folder: TemporaryFolder
        let config: String

        init() throws {
            folder = try TemporaryFolder()
            config = try folder.write(MasterKeyTests.organization(), to: "org.yaml")
            for (name, byte) in [("right.key", UInt8(1)), ("wrong.key", 2)] {
                let path = try folder.write(Data(repeating: byte, count: 32).base64EncodedString(), to: name)
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
            }
        }

        var data: String { folder.path + "data" }

        private func arguments(_ command: [String], key: String) -> [String] {
            command + ["--config", config, "--data", data, "--master-key-file", folder.path + key]
        }

        /// Starts the server, and stops it as soon as it listens. Returns its exit status and its output.
        func serve(key: String) async throws -> (status: Int32, text: String) {
            let process = try Command.start(arguments(["serve", "--port", "0"], key: key))
            if (try? await process.waitFor("[countersign] listening")) != nil { process.interrupt() }
            return await process.end()
        }

        func rotate(key: String) async throws -> Command.Ended { try await Command.run(arguments(["keys", "rotate"], key: key)) }

        /// The bytes of the database, without SQLite's companion files, which do not exist while the database is closed.
        var database: Data { get throws { try Data(contentsOf: URL(filePath: data + "/countersign.sqlite")) } }

        func expectUntouched(_ body: () async throws -> Void) async throws {
            let before = try database
            try await body()
            #expect(try database == before, "The refused command wrote to the database.")
            let log = data + "/countersign.sqlite-wal"
            let size = (try? FileManager.default.attributesOfItem(atPath: log)[.size] as? Int) ?? 0
            #expect(size == 0, "The refused command left \(size) bytes in the write-ahead log.")
        }
    }

    @Test(
        "With a wrong master key, countersign serve fails and leaves the store unchanged; with the right key, countersign serve starts again"
    )
    func anotherKey() async throws {
        let scene = try Scene()
        #expect(try await scene.serve(key: "right.key").status == 0)
        // The change is valid, and contains a secret that the server must encrypt.
        _ = try scene.folder.write(Self.organization(Self.service), to: "org.yaml")
        try await scene.expectUntouched {
            let (status, text) = try await scene.serve(key: "wrong.key")
            #expect(status != 0)
            #expect(text.contains("master key"), "\(text)")
            #expect(text.contains("Nothing was written"), "\(text)")
            #expect(!text.contains("created application service"), "\(text)")
        }
        let (status, text) = try await scene.serve(key: "right.key")
        #expect(status == 0, "\(text)")
        #expect(text.contains("service"), "\(text)")
    }

    @Test("With a wrong master key, countersign keys rotate fails and leaves the store unchanged")
    func rotation() async throws {
        let scene = try Scene()
        #expect(try await scene.serve(key: "right.key").status == 0)
        try await scene.expectUntouched {
            let ended = try await scene.rotate(key: "wrong.key")
            #expect(ended.status != 0)
            #expect(ended.errors.contains("Nothing was written"), "\(ended.errors)")
        }
        #expect(try await scene.rotate(key: "right.key").status == 0)
    }

    @Test("If the master key file of an existing store is missing, countersign serve fails and creates no new key")
    func lostKey() async throws {
        let scene = try Scene()
        let arguments = ["serve", "--port", "0", "--config", scene.config, "--data", scene.data]
        let process = try Command.start(arguments)
        try await process.waitFor("[countersign] listening")
        process.interrupt()
        #expect(await process.end().status == 0)
        try FileManager.default.removeItem(atPath: scene.data + "/master.key")
        let refused = try await Command.run(arguments)
        #expect(refused.status != 0)
        #expect(!FileManager.default.fileExists(atPath: scene.data + "/master.key"))
    }
}
