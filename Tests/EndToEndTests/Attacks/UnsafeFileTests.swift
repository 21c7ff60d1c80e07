import CountersignSandbox
import Foundation
import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

@Suite("Attacks: files and folders that other users may change")
struct UnsafeFileTests {
    private static let organization = """
        name: Files
        origin: http://localhost:8080
        authorization_servers: [{id: default, audience: api://default}]
        """

    /// Creates a data folder by starting a server once.
    private static func used() async throws -> (folder: TemporaryFolder, arguments: [String], data: String) {
        let folder = try TemporaryFolder()
        let data = folder.path + "data"
        let config = try folder.write(organization, to: "org.yaml")
        let arguments = ["serve", "--port", "0", "--config", config, "--data", data]
        try await start(arguments)
        return (folder, arguments, data)
    }

    /// Starts a server and stops it again.
    private static func start(_ arguments: [String]) async throws {
        let process = try Command.start(arguments)
        try await process.waitFor("[countersign] listening")
        process.interrupt()
        #expect(await process.end().status == 0)
    }

    private static func refusal(_ arguments: [String]) async throws -> String {
        let process = try Command.start(arguments)
        // If the server starts in spite of the unsafe files, the test must stop it.
        if (try? await process.waitFor("[countersign] listening")) != nil { process.interrupt() }
        let (status, text) = await process.end()
        #expect(status > 0, "\(text)")
        return text
    }

    private static func setMode(_ mode: Int, of path: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    @Test(
        "countersign serve rejects a data folder that other users may write to, and prints the chmod command to run",
        arguments: [0o777, 0o770, 0o702, 0o1777])
    func folder(mode: Int) async throws {
        let (folder, arguments, data) = try await Self.used()
        defer { withExtendedLifetime(folder) {} }
        try Self.setMode(mode, of: data)
        #expect(try await Self.refusal(arguments).contains("chmod 700 \(data)"))
        try Self.setMode(0o700, of: data)
        try Self.setMode(0o600, of: data + "/master.key")
    }

    @Test("countersign serve creates no file in a data folder that other users may write to")
    func freshFolder() async throws {
        let folder = try TemporaryFolder()
        let data = folder.path + "data"
        try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: false)
        try Self.setMode(0o777, of: data)
        let config = try folder.write(Self.organization, to: "org.yaml")
        let text = try await Self.refusal(["serve", "--port", "0", "--config", config, "--data", data])
        #expect(text.contains("chmod 700 \(data)"), "\(text)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: data) == [])
    }

    @Test(
        "countersign serve rejects a master key or database file that other users may read or write",
        arguments: [0o666, 0o644, 0o660, 0o604])
    func files(mode: Int) async throws {
        let (folder, arguments, data) = try await Self.used()
        defer { withExtendedLifetime(folder) {} }
        for name in ["master.key", "countersign.sqlite"] {
            let path = data + "/" + name
            try Self.setMode(mode, of: path)
            #expect(try await Self.refusal(arguments).contains("chmod 600 \(path)"))
            try Self.setMode(0o600, of: path)
        }
    }

    @Test(
        "countersign serve and keys rotate reject a symbolic link, a named pipe and a folder in place of the database or the master key",
        .timeLimit(.minutes(3)))
    func otherKinds() async throws {
        let (folder, arguments, data) = try await Self.used()
        let rotate = ["keys", "rotate"] + arguments.dropFirst(3)
        for name in ["master.key", "countersign.sqlite"] {
            let (path, kept) = (data + "/" + name, folder.path + name)
            try FileManager.default.moveItem(atPath: path, toPath: kept)
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: kept)
            for command in [arguments, rotate] { #expect(try await Self.refusal(command).contains(path)) }
            try FileManager.default.removeItem(atPath: path)
            #expect(mkfifo(path, 0o600) == 0)
            for command in [arguments, rotate] { #expect(try await Self.refusal(command).contains(path)) }
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            for command in [arguments, rotate] { #expect(try await Self.refusal(command).contains(path)) }
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.moveItem(atPath: kept, toPath: path)
        }
        try await Self.start(arguments)
    }

    @Test("countersign serve rejects a --master-key-file that other users may read and write, and creates no data folder")
    func namedKey() async throws {
        let folder = try TemporaryFolder()
        let config = try folder.write(Self.organization, to: "org.yaml")
        let key = try folder.write(Data(repeating: 1, count: 32).base64EncodedString(), to: "named.key")
        try Self.setMode(0o666, of: key)
        let text = try await Self.refusal([
            "serve", "--port", "0", "--config", config, "--data", folder.path + "data", "--master-key-file", key,
        ])
        #expect(text.contains("chmod 600 \(key)"), "\(text)")
        #expect(!FileManager.default.fileExists(atPath: folder.path + "data"))
    }

    @Test(
        "countersign serve rejects a TLS private key that other users may read or write, and prints the chmod command to run",
        arguments: [0o644, 0o640, 0o604, 0o622])
    func tlsKey(mode: Int) async throws {
        let folder = try TemporaryFolder()
        let config = try folder.write(Self.organization, to: "org.yaml")
        let certificate = try folder.write("certificate", to: "certificate.pem")
        let key = try folder.write("key", to: "key.pem")
        try Self.setMode(mode, of: key)
        let text = try await Self.refusal([
            "serve", "--port", "0", "--config", config, "--data", folder.path + "data", "--tls-certificate", certificate, "--tls-key", key,
        ])
        #expect(text.contains("chmod 600 \(key)"), "\(text)")
    }

    @Test("countersign serve and keys rotate reject an org file that all users may write to, and serve accepts a group-writable org file")
    func organizationFile() async throws {
        let (folder, arguments, _) = try await Self.used()
        let config = folder.path + "org.yaml"
        for mode in [0o666, 0o602, 0o646] {
            try Self.setMode(mode, of: config)
            for command in [arguments, ["keys", "rotate"] + arguments.dropFirst(3)] {
                #expect(try await Self.refusal(command).contains("chmod o-w \(config)"))
            }
        }
        try Self.setMode(0o664, of: config)
        try await Self.start(arguments)
    }

    @Test("countersign serve rejects files in a folder that all users may write to, unless the folder is sticky")
    func parents() async throws {
        let (folder, arguments, data) = try await Self.used()
        let parent = String(folder.path.dropLast())
        try Self.setMode(0o777, of: parent)
        #expect(try await Self.refusal(arguments).contains("chmod o-w \(parent)"))
        // Each of these calls has one file in the unsafe folder, and all others in a safe one.
        let safe = try TemporaryFolder()
        let config = try safe.write(Self.organization, to: "org.yaml")
        #expect(try await Self.refusal(["serve", "--port", "0", "--config", config, "--data", data]).contains("chmod o-w \(parent)"))
        let elsewhere = ["serve", "--port", "0", "--config", config, "--data", safe.path + "data"]
        let key = try folder.write(Data(repeating: 1, count: 32).base64EncodedString(), to: "named.key")
        try Self.setMode(0o600, of: key)
        #expect(try await Self.refusal(elsewhere + ["--master-key-file", key]).contains("chmod o-w \(parent)"))
        let tls = ["--tls-certificate", key, "--tls-key", key]
        #expect(try await Self.refusal(elsewhere + tls).contains("chmod o-w \(parent)"))
        try Self.setMode(0o1777, of: parent)
        try await Self.start(arguments)
    }

    @Test(
        "countersign serve rejects secrets in a folder that another user owns, but accepts an org file there", .enabled(if: geteuid() == 0))
    func parentsOfOthers() async throws {
        let (folder, used, _) = try await Self.used()
        // The test changes the owner of an inner folder, because the temporary folder has a sticky parent. There, a folder of another user
        // is refused for every file.
        let parent = folder.path + "inner"
        try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: false)
        for name in ["org.yaml", "data"] { try FileManager.default.moveItem(atPath: folder.path + name, toPath: "\(parent)/\(name)") }
        let arguments = used.map { $0.replacingOccurrences(of: folder.path, with: parent + "/") }
        try FileManager.default.setAttributes([.ownerAccountID: 12_345], ofItemAtPath: parent)
        #expect(try await Self.refusal(arguments).contains("The folder \(parent) belongs to another user"))
        let safe = try TemporaryFolder()
        let elsewhere = ["serve", "--port", "0", "--config", parent + "/org.yaml", "--data", safe.path + "data"]
        try await Self.start(elsewhere)
        let key = try folder.write(Data(repeating: 1, count: 32).base64EncodedString(), to: "inner/named.key")
        try Self.setMode(0o600, of: key)
        for more in [["--master-key-file", key], ["--tls-certificate", key, "--tls-key", key]] {
            let text = try await Self.refusal(elsewhere.dropLast() + [safe.path + "fresh"] + more)
            #expect(text.contains("The folder \(parent) belongs to another user"), "\(text)")
        }
        try FileManager.default.setAttributes([.ownerAccountID: 0], ofItemAtPath: parent)
        try await Self.start(arguments)
    }

    @Test(
        "countersign serve rejects secrets in a folder that another group may write to, unless the folder is sticky",
        .enabled(if: geteuid() == 0))
    func parentsOfGroups() async throws {
        let (folder, arguments, _) = try await Self.used()
        let parent = String(folder.path.dropLast())
        try FileManager.default.setAttributes([.groupOwnerAccountID: 12_345], ofItemAtPath: parent)
        try Self.setMode(0o775, of: parent)
        #expect(try await Self.refusal(arguments).contains("chmod g-w \(parent)"))
        try Self.setMode(0o1775, of: parent)
        try await Self.start(arguments)
        try Self.setMode(0o775, of: parent)
        try FileManager.default.setAttributes([.groupOwnerAccountID: 0], ofItemAtPath: parent)
        try await Self.start(arguments)
    }

    @Test(
        "If a named pipe replaces a file of the credential vault, commands neither hang nor crash", .timeLimit(.minutes(2)),
        arguments: ["key", "vault.json", "default.json", "lock"])
    func vault(name: String) async throws {
        try await withSandbox { sandbox in
            for isPipe in [true, false] {
                let folder = try TemporaryFolder()
                let vault = folder.path + "vault"
                let environment = ["COUNTERSIGN_VAULT": vault]
                let signedIn = try await Command.run(
                    [
                        "sign-in", "password", "--issuer", sandbox.issuer.absoluteString, "--client-id", "password-app",
                        SandboxUser.jane.login,
                    ], input: "Correct-Horse-7\n", environment: environment)
                #expect(signedIn.status == 0, "\(signedIn.errors)")
                // The commands that end with an error: those that read this file.
                let failing: [String] =
                    switch name {
                    case "lock": isPipe ? [] : ["sign-out"]
                    case "default.json": ["show", "sign-out"]
                    default: ["list", "show", "sign-out"]
                    }
                try FileManager.default.removeItem(atPath: "\(vault)/\(name)")
                if isPipe {
                    #expect(mkfifo("\(vault)/\(name)", 0o600) == 0)
                } else {
                    try FileManager.default.createDirectory(atPath: "\(vault)/\(name)", withIntermediateDirectories: false)
                }
                for command in [["credential", "list"], ["credential", "show"], ["sign-out"]] {
                    let process = try Command.start(command, environment: environment)
                    let (status, text) = await process.end()
                    #expect(status == (failing.contains(command.last ?? "") ? 1 : 0), "\(command), pipe \(isPipe): \(status) \(text)")
                    if command == ["credential", "list"], failing.contains("list") {
                        #expect(text.contains("/\(name) is not a regular file. Remove it."), "\(text)")
                    }
                }
            }
        }
    }
}
