import Crypto
import Foundation
import IdentityCore
import TestSupport
import Testing

@testable import AuthorizationServer

#if os(Linux)
/// The function of the C library, whose header is not in its Swift module.
@_silgen_name("setxattr")
private func setAttribute(
    _ path: UnsafePointer<CChar>, _ name: UnsafePointer<CChar>, _ value: UnsafeRawPointer, _ size: Int, _ flags: CInt
) -> CInt
#endif

@Suite("The file of the master keys")
struct MasterKeyFileTests {
    private typealias Configuration = AuthorizationServer.Configuration

    private static func key(_ byte: UInt8) -> String { Data(repeating: byte, count: 32).base64EncodedString() }

    private static func keys(_ bytes: UInt8...) -> MasterKeys {
        let keys = bytes.map { SymmetricKey(data: [UInt8](repeating: $0, count: 32)) }
        return MasterKeys(keys[0], others: Array(keys.dropFirst()))
    }

    private let folder = TemporaryFolder()

    /// Writes a key file that only its owner can read.
    private func write(_ text: String, mode: Int = 0o600) throws -> String {
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let path = folder.file("the.key").path
        try? FileManager.default.removeItem(atPath: path)
        try Data(text.utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return path
    }

    @Test("One to three keys in lines are read in their order, also with other white space")
    func order() throws {
        for text in ["\(Self.key(1))\n\(Self.key(2))\n\(Self.key(3))\n", "\n\(Self.key(1))\r\n\(Self.key(2)) \t\(Self.key(3))"] {
            #expect(try Configuration(masterKey: .file(write(text))).loadMasterKeys() == Self.keys(1, 2, 3))
        }
        #expect(try Configuration(masterKey: .file(write(Self.key(1)))).loadMasterKeys() == Self.keys(1))
        let variable = try Configuration(
            commandLine: [:], environment: ["COUNTERSIGN_MASTER_KEY": "\(Self.key(2)) \(Self.key(1))"])
        #expect(try variable.loadMasterKeys() == Self.keys(2, 1))
    }

    @Test(
        "A key file without keys, with four, with an invalid line, with one key twice or with more than a kilobyte is refused, and its content is not in the error",
        arguments: [
            ("", "no key"), (" \n", "no key"), ((1...4).map { key($0) }.joined(separator: "\n"), "more than 3"),
            (key(1) + "\nCanary+Canary", "32 bytes in base64"), (key(1) + "\n#comment", "32 bytes"), (key(1) + "\n" + key(1), "twice"),
            (key(1) + String(repeating: "\n", count: 2_000) + key(2), "too long"),
        ])
    func refused(text: String, reason: String) throws {
        let path = try write(text)
        let error = #expect(throws: ConfigurationError.self) { try Configuration(masterKey: .file(path)).loadMasterKeys() }
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
        #expect(error?.description.contains("Canary") == false && error?.description.contains(Self.key(1)) == false)
    }

    @Test("Replacing a key file keeps its mode, and changes nothing if the content is not the expected one", arguments: [0o600, 0o640])
    func replaced(mode: Int) throws {
        let path = try write("first", mode: mode)
        #expect(try !PrivateFile.replace(path, holding: Data("other".utf8), with: Data("second".utf8)))
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "first")
        #expect(try PrivateFile.replace(path, holding: Data("first".utf8), with: Data("second".utf8)))
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "second")
        #expect(try folder.mode(of: "the.key") == mode && folder.names == ["the.key"])
    }

    @Test("Replacing a key file removes the file that a killed call left beside it")
    func killed() throws {
        let path = try write("first")
        try Data("left".utf8).write(to: URL(filePath: path + ".new"))
        #expect(try PrivateFile.replace(path, holding: Data("first".utf8), with: Data("second".utf8)))
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "second")
        #expect(try folder.names == ["the.key"])
    }

    #if os(Linux)
    @Test("A key file with an access control list is not replaced, because its mode does not say which users may read it")
    func accessList() throws {
        let path = try write("first")
        // The format's version, then the tag, the permissions and the id of the owner, a user, the group, the mask and others.
        var list: [UInt8] = [2, 0, 0, 0]
        let entries: [(tag: UInt8, permissions: UInt8, id: UInt32)] = [
            (1, 6, .max), (2, 4, 12_345), (4, 0, .max), (16, 4, .max), (32, 0, .max),
        ]
        for entry in entries {
            list += [entry.tag, 0, entry.permissions, 0]
            list += withUnsafeBytes(of: entry.id.littleEndian) { Array($0) }
        }
        guard setAttribute(path, "system.posix_acl_access", list, list.count, 0) == 0 else {
            // A file system without such lists.
            #expect(errno == EOPNOTSUPP)
            return
        }
        let error = #expect(throws: PrivateFile.Failure.self) {
            try PrivateFile.replace(path, holding: Data("first".utf8), with: Data("second".utf8))
        }
        #expect(error?.reason.contains("access control list") == true)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "first")
        #expect(try folder.names == ["the.key"])
    }
    #endif

    @Test("Of concurrent replacements of a key file, one succeeds")
    func concurrent() async throws {
        let path = try write("first")
        let replaced = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<8 {
                group.addTask { try PrivateFile.replace(path, holding: Data("first".utf8), with: Data("next \(number)".utf8)) }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(replaced == 1)
        #expect(try folder.names == ["the.key"])
    }

    @Test("A symbolic link in place of the key file is not replaced, and its target stays as it is")
    func link() throws {
        let path = try write("first")
        let link = folder.file("link.key").path
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        #expect(throws: PrivateFile.Failure.self) {
            try PrivateFile.replace(link, holding: Data("first".utf8), with: Data("second".utf8))
        }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "first")
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == path)
    }
}
