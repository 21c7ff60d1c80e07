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
