import Crypto
import Foundation
import IdentityCore
import Testing

@testable import AuthorizationServer
@testable import ServerHTTP

@Suite("Server configuration")
struct ConfigurationTests {
    private typealias Configuration = AuthorizationServer.Configuration

    @Test("Without any settings, the server listens on port 8080 of the loopback interface, without TLS")
    func defaults() throws {
        let configuration = try Configuration(commandLine: [:])
        #expect(configuration.host == "127.0.0.1")
        #expect(configuration.port == 8080)
        #expect(configuration.tls == nil)
        #expect(configuration.masterKey == .dataDirectory)
        #expect(configuration.storePath == "data/countersign.sqlite")
    }

    @Test("Server settings on the command line override environment variables, and environment variables override the org file")
    func precedence() throws {
        let file = ["port": "1", "host": "file", "data": "file", "log-level": "debug"]
        let environment = ["COUNTERSIGN_PORT": "2", "COUNTERSIGN_HOST": "environment", "PORT": "9", "COUNTERSIGN_LOG_LEVEL": "error"]
        let configuration = try Configuration(commandLine: ["port": "3"], environment: environment, file: file)
        #expect(configuration.port == 3)
        #expect(configuration.host == "environment")
        #expect(configuration.dataDirectory == "file")
        #expect(configuration.logLevel == "error")
    }

    @Test("Server settings are read from COUNTERSIGN_ environment variables")
    func everyKey() throws {
        let configuration = try Configuration(
            commandLine: [:],
            environment: [
                "COUNTERSIGN_PUBLIC_ORIGIN": "https://id.example.com", "COUNTERSIGN_TLS_CERTIFICATE": "c.pem",
                "COUNTERSIGN_TLS_KEY": "k.pem",
                "COUNTERSIGN_MASTER_KEY_FILE": "m.key", "COUNTERSIGN_TRUSTED_PROXIES": "10.0.0.0/8, ::1", "COUNTERSIGN_HASHING_WIDTH": "4",
                "COUNTERSIGN_MAX_BODY_BYTES": "2048", "COUNTERSIGN_MAX_HEADER_BYTES": "4096", "COUNTERSIGN_MAX_CONNECTIONS": "7",
                "COUNTERSIGN_IDLE_TIMEOUT": "5", "COUNTERSIGN_MAX_CONNECTIONS_PER_ADDRESS": "3",
            ])
        #expect(configuration.publicOrigin == "https://id.example.com")
        #expect(configuration.tls == .init(certificateChain: .file("c.pem"), privateKey: .file("k.pem")))
        #expect(configuration.masterKey == .file("m.key"))
        #expect(configuration.trustedProxies.map(\.description) == ["10.0.0.0/8", "::1"])
        #expect(configuration.hashingWidth == 4)
        #expect(configuration.limits.bodyBytes == 2_048)
        #expect(configuration.limits.headerBytes == 4_096)
        #expect(configuration.limits.connections == 7)
        #expect(configuration.limits.connectionsPerAddress == 3)
        #expect(configuration.limits.idleTimeout == .seconds(5))
    }

    @Test(
        "An invalid server setting is reported with its key and a correction",
        arguments: [
            (["port": "http"], "port", "'http' is no number from 0 to 65535."),
            (["port": "65536"], "port", "'65536' is no number from 0 to 65535."),
            (["public-origin": "id.example.com"], "public-origin", "'id.example.com' is no origin."),
            (["public-origin": "https://id.example.com/"], "public-origin", "Write scheme and host without a path"),
            (["tls-certificate": "c.pem"], "tls-key", "Name the file of its private key."),
            (["tls-key": "k.pem"], "tls-certificate", "Name its file."),
            (["master-key": "x", "master-key-file": "y"], "master-key", "Keep one of them."),
            (["trusted-proxies": "proxy.local"], "trusted-proxies", "Write 10.0.0.7 or 10.0.0.0/8."),
            (["log-level": "loud"], "log-level", "Use one of: trace, debug"),
        ])
    func errors(values: [String: String], key: String, fix: String) {
        let error = #expect(throws: ConfigurationError.self) { try Configuration(commandLine: values, environment: [:]) }
        #expect(error?.key == key)
        #expect(error?.message.contains(fix) == true, "\(error?.message ?? "")")
    }

    @Test("An unknown key in the configuration file causes an error that names the key")
    func unknownKey() {
        let error = #expect(throws: ConfigurationError.self) { try Configuration(commandLine: [:], file: ["prot": "80"]) }
        #expect(error?.key == "prot")
    }

    @Test("The master key does not appear in dumps, descriptions or errors of the server configuration")
    func secrecy() throws {
        let configuration = try Configuration(commandLine: ["master-key": "Canary+Canary"], environment: [:])
        var dumped = ""
        dump(configuration, to: &dumped)
        #expect(!dumped.contains("Canary"))
        #expect(!"\(configuration)".contains("Canary"))
        let error = #expect(throws: ConfigurationError.self) { try configuration.loadMasterKeys() }
        #expect(error?.description.contains("Canary") == false)
    }

    @Test("The master key file is created once, is readable only by its owner, and is not replaced if a database exists")
    func masterKeyFile() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("countersign-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let configuration = Configuration(dataDirectory: folder.path)
        let first = try configuration.loadMasterKeys()
        #expect(try configuration.loadMasterKeys() == first)
        let path = folder.appendingPathComponent("master.key").path
        let permissions = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(permissions == 0o600)
        #expect(try Configuration(masterKey: .file(path)).loadMasterKeys() == first)
        try FileManager.default.removeItem(atPath: path)
        try Data().write(to: URL(fileURLWithPath: configuration.storePath))
        #expect(throws: ConfigurationError.self) { try configuration.loadMasterKeys() }
    }

    @Test("Servers that start at the same time with an empty data directory use the same master key", arguments: 0..<20)
    func masterKeyRace(round: Int) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("countersign-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let configuration = Configuration(dataDirectory: folder.path)
        let keys = try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for _ in 0..<8 { group.addTask { try configuration.loadMasterKeys().sealing.withUnsafeBytes(Array.init) } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(try keys == [configuration.loadMasterKeys().sealing.withUnsafeBytes(Array.init)])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["master.key"])
    }
}
