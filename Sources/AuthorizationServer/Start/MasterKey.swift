package import Crypto
internal import Foundation
internal import IdentityCore
internal import JOSE
internal import StoreSQLite

extension AuthorizationServer.Configuration {
    /// Reads the master key (32 bytes), or creates it if the data folder has none. Reads files synchronously: use it at start only.
    /// - Throws: ``ConfigurationError`` if the key is missing or invalid, or if other users may change the folder or the key.
    package func loadMasterKey() throws -> SymmetricKey {
        switch masterKey {
        case .base64(let secret): return try Self.decode(secret.text, key: "master-key")
        case .file(let path):
            // Secret managers provide symbolic links to files that a group may read.
            guard let key = try Self.read(path, .readableByOthers, followsLink: true) else {
                throw ConfigurationError(
                    key: "master-key-file", message: "'\(path)' could not be read. Name a file with 32 bytes in base64.")
            }
            return key
        case .dataDirectory:
            let path = dataDirectory + "/master.key"
            try ConfigurationError.refusingUnsafe("data") { () throws(FileProtection.Unsafe) in
                try FileProtection.checkFolder(dataDirectory)
            }
            if let key = try Self.read(path, .ownerOnly) { return key }
            if FileManager.default.fileExists(atPath: storePath) {
                throw ConfigurationError(
                    key: "master-key",
                    message: "The data folder has a database but no master.key. Put the key back; without it the database cannot be opened."
                )
            }
            return try make(path)
        }
    }

    private func make(_ path: String) throws -> SymmetricKey {
        let key = SymmetricKey(size: .bits256)
        let text = key.withUnsafeBytes { Data($0) }.base64EncodedString() + "\n"
        do {
            try FileManager.default.createDirectory(
                atPath: dataDirectory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw ConfigurationError(
                key: "data", message: "The folder '\(dataDirectory)' could not be made. Name one that can be written to.")
        }
        do {
            // If another process creates the key at the same time, this one uses that key.
            if try PrivateFile.create(path, holding: Data(text.utf8)) { return key }
            guard let first = try Self.read(path, .ownerOnly) else {
                throw ConfigurationError(key: "data", message: "'\(path)' was removed at this moment. Try again.")
            }
            return first
        } catch let error as PrivateFile.Failure {
            throw ConfigurationError(
                key: "data", message: "'\(path)' could not be written (\(error.reason)). Name a folder that can be written to.")
        }
    }

    /// Returns `nil` if there is no file.
    private static func read(
        _ path: String, _ secrecy: FileProtection.Secrecy, followsLink: Bool = false
    ) throws -> SymmetricKey? {
        let file = try ConfigurationError.refusingUnsafe("master-key-file") { () throws(FileProtection.Unsafe) in
            try FileProtection.open(path, secrecy, followsLink: followsLink)
        }
        guard let file else { return nil }
        // A key has 44 characters, so a longer file is invalid and is not read further.
        let data = try? file.read(upToCount: 1_024)
        return try decode(String(decoding: data ?? Data(), as: UTF8.self), key: "master-key-file")
    }

    private static func decode(_ text: String, key: String) throws -> SymmetricKey {
        guard let data = Data(base64Encoded: text.trimmingCharacters(in: .whitespacesAndNewlines)), data.count == 32 else {
            throw ConfigurationError(key: key, message: "This is not 32 bytes in base64. Make one with: head -c 32 /dev/urandom | base64")
        }
        return SymmetricKey(data: data)
    }
}

/// The system's cryptographic random generator.
package struct SystemRandomSource: RandomSource {
    package init() {}

    package func bytes(_ count: Int) throws -> [UInt8] {
        // A new symmetric key consists of bytes from the system's cryptographic generator.
        SymmetricKey(size: SymmetricKeySize(bitCount: count * 8)).withUnsafeBytes { Array($0) }
    }
}
