public import Crypto
internal import Foundation
internal import JOSE

extension AuthorizationServer.Configuration {
    /// Reads the master key, or makes it when the data folder has none yet. Reads files: for use at start.
    ///
    /// - Returns: 32 bytes.
    /// - Throws: ``ConfigurationError`` if there is no key where one should be, or it is none.
    public func loadMasterKey() throws -> SymmetricKey {
        switch masterKey {
        case .base64(let secret): return try Self.decode(secret.text, key: "master-key")
        case .file(let path): return try Self.read(path)
        case .dataDirectory:
            let path = dataDirectory + "/master.key"
            if FileManager.default.fileExists(atPath: path) { return try Self.read(path) }
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
            // Whoever starts at the same time and is second takes the key of the first.
            return try PrivateFile.create(path, holding: Data(text.utf8)) ? key : Self.read(path)
        } catch let error as PrivateFile.Failure {
            throw ConfigurationError(
                key: "data", message: "'\(path)' could not be written (\(error.reason)). Name a folder that can be written to.")
        }
    }

    private static func read(_ path: String) throws -> SymmetricKey {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw ConfigurationError(key: "master-key-file", message: "'\(path)' could not be read. Name a file with 32 bytes in base64.")
        }
        return try decode(String(decoding: data, as: UTF8.self), key: "master-key-file")
    }

    private static func decode(_ text: String, key: String) throws -> SymmetricKey {
        guard let data = Data(base64Encoded: text.trimmingCharacters(in: .whitespacesAndNewlines)), data.count == 32 else {
            throw ConfigurationError(key: key, message: "This is not 32 bytes in base64. Make one with: head -c 32 /dev/urandom | base64")
        }
        return SymmetricKey(data: data)
    }
}
