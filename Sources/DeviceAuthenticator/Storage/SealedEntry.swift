internal import AuthFoundation
internal import Crypto
internal import Foundation

/// One file of an authenticator's folder: an envelope of JSON that says its format, what it is and whose, and a sealed content.
///
/// The content is AES-GCM with format, kind and id as associated data, so that none can be put in the place of another.
struct SealedEntry: Equatable {
    enum Kind: String, Codable, CaseIterable {
        case enrollment, device, policy, challengeKeys, key
    }

    /// The format that this version writes. Older ones are read for good, newer ones are refused by name.
    static let format = 1

    let kind: Kind
    let id: String
    private let sealed: Data

    init(_ content: Data, kind: Kind, id: String, key: SymmetricKey) throws {
        self.kind = kind
        self.id = id
        let box = try AES.GCM.seal(content, using: key, authenticating: Self.associatedData(kind, id))
        guard let combined = box.combined else { throw StorageError.generalStorageError("The entry \(id) can't be sealed.") }
        sealed = combined
    }

    func open(with key: SymmetricKey) throws -> Data {
        do {
            return try AES.GCM.open(AES.GCM.SealedBox(combined: sealed), using: key, authenticating: Self.associatedData(kind, id))
        } catch {
            throw Self.damaged(kind, id, "was changed, or sealed with another key")
        }
    }

    private static func associatedData(_ kind: Kind, _ id: String) -> Data {
        Data("countersign-device/\(format)/\(kind.rawValue)/\(id)".utf8)
    }

    // MARK: - The file

    /// The name of an entry's file: nothing of the id, which a server chose, can escape from it.
    static func fileName(_ kind: Kind, _ id: String) -> String {
        "\(kind.rawValue)-\(SHA256.hash(data: Data(id.utf8)).map { String(format: "%02x", $0) }.joined()).json"
    }

    private struct Envelope: Codable {
        let format: Int
        let kind: String
        let id: String
        let sealed: Data
    }

    private struct Head: Codable {
        let format: Int
        let id: String?
    }

    func encoded() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(Envelope(format: Self.format, kind: kind.rawValue, id: id, sealed: sealed))
    }

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - data: The file's content.
    ///   - kind: What the file's name promises.
    ///   - name: The file's name; errors name it if the id can't be read.
    /// - Throws: ``StorageError`` that names the entry.
    init(decoding data: Data, kind: Kind, name: String) throws {
        guard let head = try? JSONDecoder().decode(Head.self, from: data) else {
            throw Self.damaged(kind, name, "is cut off or is no entry")
        }
        let label = head.id ?? name
        guard head.format <= Self.format else {
            throw StorageError.storageMigrationError(
                "The \(kind.rawValue) entry \(label) has format \(head.format), and this version reads up to \(Self.format). Update the app; the entry is untouched."
            )
        }
        guard head.format == Self.format, let envelope = try? JSONDecoder().decode(Envelope.self, from: data) else {
            throw Self.damaged(kind, label, "is of no known form")
        }
        guard envelope.kind == kind.rawValue, Self.fileName(kind, envelope.id) == name else {
            throw Self.damaged(kind, label, "belongs to another name")
        }
        self.kind = kind
        id = envelope.id
        sealed = envelope.sealed
    }

    static func damaged(_ kind: Kind, _ label: String, _ what: String) -> StorageError {
        .generalStorageError(
            "The \(kind.rawValue) entry \(label) \(what). It was left as it is: restore it, or delete its file and enroll again.")
    }
}

/// Where the key comes from that seals what an authenticator stores.
protocol StoreKeySource: Sendable {
    /// - Returns: nil if there is none yet.
    func key(in folder: VaultFolder) throws -> SymmetricKey?
    /// Makes the key. Only for who holds the lock, and finds none.
    func makeKey(in folder: VaultFolder) throws -> SymmetricKey
}

/// A file of 0600 beside what it seals: 32 bytes in base64.
struct StoreKeyFile: StoreKeySource {
    static let name = "key"

    func key(in folder: VaultFolder) throws -> SymmetricKey? {
        guard let (text, _) = try folder.read(Self.name, isSecret: true) else { return nil }
        guard let bytes = Data(base64Encoded: text, options: .ignoreUnknownCharacters), bytes.count == 32 else {
            throw StorageError.generalStorageError(
                "\(folder.path)/\(Self.name) holds no key. Restore it, or delete the folder and enroll again.")
        }
        return SymmetricKey(data: bytes)
    }

    func makeKey(in folder: VaultFolder) throws -> SymmetricKey {
        let key = SymmetricKey(size: .bits256)
        try folder.write(key.withUnsafeBytes { Data($0) }.base64EncodedData() + Data("\n".utf8), to: Self.name)
        return key
    }
}

/// Where an authenticator stores unless the app names a folder.
enum StorageLocation {
    /// The folder of a group: on Apple's systems in the app group's container, elsewhere `countersign/devices/<group>` in
    /// `$XDG_DATA_HOME`, else in `~/.local/share`.
    static func folder(group: String) throws -> URL {
        #if canImport(Darwin)
        if let container = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: group) {
            return container.appendingPathComponent(DeviceAuthenticatorConstants.defaultStorageRelativeDirectoryPath, isDirectory: true)
        }
        throw StorageError.missingAppGroupEntitlement
        #else
        return try folder(group: group, environment: ProcessInfo.processInfo.environment, home: UserFolders.home)
        #endif
    }

    static func folder(group: String, environment: [String: String], home: String) throws -> URL {
        guard isFileName(group) else {
            throw StorageError.generalStorageError(
                "The applicationGroupId \"\(group)\" names a folder here, so it is made of letters, digits, dots, hyphens and underscores and does not begin with a dot. Choose another one, or name a folder with storageDirectory(_:)."
            )
        }
        return UserFolders.data(environment: environment, home: home).appendingPathComponent(
            "countersign/devices/\(group)", isDirectory: true)
    }

    private static func isFileName(_ name: String) -> Bool {
        guard (1...200).contains(name.utf8.count), !name.hasPrefix(".") else { return false }
        return name.utf8.allSatisfy { byte in
            (65...90).contains(byte) || (97...122).contains(byte) || (48...57).contains(byte) || "-._".utf8.contains(byte)
        }
    }
}
