import Foundation
import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A loopback port that another program uses.
private final class UsedPort: Sendable {
    let number: Int
    private let descriptor: Int32

    init() throws {
        #if canImport(Glibc)
        let kind = Int32(SOCK_STREAM.rawValue)
        #else
        let kind = SOCK_STREAM
        #endif
        let descriptor = socket(AF_INET, kind, 0)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && listen(descriptor, 1) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        try #require(isBound)
        number = Int(UInt16(bigEndian: address.sin_port))
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }
}

extension CommandTests {
    @Test(
        "If their ports are in use, countersign sandbox and countersign demo fail and name each port, its purpose and its flag",
        arguments: ["sandbox", "demo"])
    func portsInUse(_ command: String) async throws {
        let (server, messages, phones) = (try UsedPort(), try UsedPort(), try UsedPort())
        let ended = try await Command.run([
            command, "--port", "\(server.number)", "--messages-port", "\(messages.number)", "--phone-port", "\(phones.number)",
        ])
        #expect(ended.status == 1)
        for line in [
            "Port \(server.number) (authorization server) is already in use. Choose another with --port.",
            "Port \(messages.number) (resource server) is already in use. Choose another with --messages-port.",
            "Port \(phones.number) (virtual phones) is already in use. Choose another with --phone-port.",
        ] {
            #expect(ended.errors.contains(line), "\(ended.errors)")
        }
        #expect(ended.output.isEmpty, "\(ended.output)")
    }

    @Test("If the HTTPS port is in use, countersign sandbox --tls names the flag --https-port and writes no file")
    func tlsPortInUse() async throws {
        let (server, folder) = (try UsedPort(), try TemporaryFolder())
        let ended = try await Command.run(
            ["sandbox", "--tls", "--https-port", "\(server.number)", "--messages-port", "0", "--phone-port", "0"],
            environment: ["XDG_DATA_HOME": folder.url.path])
        #expect(ended.status == 1)
        #expect(
            ended.errors.contains("Port \(server.number) (authorization server) is already in use. Choose another with --https-port."),
            "\(ended.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty, "It began before it looked.")
    }

    @Test("countersign rejects one port for two purposes and an invalid port number, and names the flags")
    func unusablePorts() async throws {
        let used = try UsedPort()
        let twice = try await Command.run(["sandbox", "--port", "\(used.number)", "--phone-port", "\(used.number)", "--messages-port", "0"])
        #expect(twice.status != 0)
        #expect(
            twice.errors.contains(
                "Port \(used.number) is wanted twice: by --port (authorization server) and --phone-port (virtual phones)."),
            "\(twice.errors)")
        for arguments in [["sandbox", "--port", "65536"], ["sandbox", "--phone-port", "-1"], ["demo", "--messages-port", "99999999999"]] {
            let ended = try await Command.run(arguments)
            #expect(ended.status > 0 && ended.errors.contains(arguments[1]), "\(arguments): \(ended.errors)")
        }
    }

    @Test("If its port is in use, countersign serve names the port and the flag, and creates no data folder")
    func serverPortInUse() async throws {
        let (used, folder) = (try UsedPort(), try TemporaryFolder())
        let file = folder.url.appending(path: "org.yaml").path
        #expect(try await Command.run(["init", file]).status == 0)
        let data = folder.url.appending(path: "data").path
        let text = try String(contentsOfFile: file, encoding: .utf8)
        // The variables that the template requires.
        let names = text.matches(of: /\$\{([A-Z_]+)\}/).map { String($0.1) }
        let environment = Dictionary(names.map { ($0, "A-value-of-20-letters") }, uniquingKeysWith: { $1 })
        let ended = try await Command.run(
            ["serve", "--config", file, "--data", data, "--host", "127.0.0.1", "--port", "\(used.number)"], environment: environment)
        #expect(ended.status == 1)
        #expect(
            ended.errors.contains("Port \(used.number) (authorization server) is already in use. Choose another with --port."),
            "\(ended.errors)")
        #expect(!FileManager.default.fileExists(atPath: data), "It began before it looked.")
    }
}
