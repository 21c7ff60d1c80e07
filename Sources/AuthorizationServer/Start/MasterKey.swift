internal import Crypto
internal import Foundation
package import IdentityCore
internal import JOSE
internal import StoreSQLite

extension AuthorizationServer.Configuration {
    /// Reads the master keys, or creates one if the data folder has none. Reads files synchronously: use it at start only.
    /// - Throws: ``ConfigurationError`` if a key is missing or invalid, or if other users may change the folder or the file.
    package func loadMasterKeys() throws -> MasterKeys {
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

    private func make(_ path: String) throws -> MasterKeys {
        let keys = MasterKeys(SymmetricKey(size: .bits256))
        do {
            try FileManager.default.createDirectory(
                atPath: dataDirectory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw ConfigurationError(
                key: "data", message: "The folder '\(dataDirectory)' could not be made. Name one that can be written to.")
        }
        do {
            // If another process creates the key at the same time, this one uses that key.
            if try PrivateFile.create(path, holding: Data(keys.text.utf8)) { return keys }
            guard let first = try Self.read(path, .ownerOnly) else {
                throw ConfigurationError(key: "data", message: "'\(path)' was removed at this moment. Try again.")
            }
            return first
        } catch let error as PrivateFile.Failure {
            throw ConfigurationError(
                key: "data", message: "'\(path)' could not be written (\(error.reason)). Name a folder that can be written to.")
        }
    }

    /// The maximum size of a file. Three keys have 135 characters.
    static let longestFile = 1_024

    /// Returns `nil` if there is no file.
    static func read(_ path: String, _ secrecy: FileProtection.Secrecy, followsLink: Bool = false) throws -> MasterKeys? {
        let file = try ConfigurationError.refusingUnsafe("master-key-file") { () throws(FileProtection.Unsafe) in
            try FileProtection.open(path, secrecy, followsLink: followsLink)
        }
        guard let file else { return nil }
        // A longer file is invalid and is not read further.
        let data = (try? file.read(upToCount: longestFile + 1)) ?? Data()
        guard data.count <= longestFile else {
            throw ConfigurationError(
                key: "master-key-file", message: "'\(path)' is too long. It holds one to three keys, one in each line.")
        }
        return try decode(String(decoding: data, as: UTF8.self), key: "master-key-file")
    }

    /// Reads the keys of a text: one in each line of a file, or with spaces between them.
    static func decode(_ text: String, key: String) throws -> MasterKeys {
        let words = text.split(whereSeparator: \.isWhitespace)
        guard (1...MasterKeys.most).contains(words.count) else {
            let found = words.isEmpty ? "This has no key." : "This has more than \(MasterKeys.most) keys."
            throw ConfigurationError(key: key, message: "\(found) Write one key, or the keys of a rotation: the first encrypts.")
        }
        let keys = try words.map { word in
            guard let data = Data(base64Encoded: String(word)), data.count == 32 else {
                throw ConfigurationError(
                    key: key, message: "This is not 32 bytes in base64. Make one with: head -c 32 /dev/urandom | base64")
            }
            return SymmetricKey(data: data)
        }
        for (index, one) in keys.enumerated() where keys[..<index].contains(one) {
            throw ConfigurationError(key: key, message: "This has the same key twice. Remove one of the two lines.")
        }
        return MasterKeys(keys[0], others: Array(keys.dropFirst()))
    }
}

extension MasterKeys {
    /// The content of a key file: one key in each line.
    var text: String {
        all.map { key in key.withUnsafeBytes { Data($0) }.base64EncodedString() + "\n" }.joined()
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
