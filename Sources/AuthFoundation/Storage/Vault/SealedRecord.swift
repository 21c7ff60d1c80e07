import Crypto
package import Foundation

/// The kinds of records of one store, and the errors of that store.
package protocol SealedRecordKind: RawRepresentable<String> {
    /// The name of the store in the associated data.
    static var store: String { get }

    /// Returns the error for a record that a newer version of this package wrote.
    func newerFormat(_ format: Int, id: String) -> any Error
    /// Returns the error for a record that is damaged.
    func damaged(_ what: String, id: String, _ underlying: (any Error)?) -> any Error
}

/// The content of one encrypted file: its kind, its id and its encrypted parts. Each part is encrypted with AES-GCM, with store, format,
/// kind, part and id as associated data. A part therefore cannot be moved to another record or store.
package struct SealedRecord<RecordKind: SealedRecordKind> {
    package typealias Kind = RecordKind

    package enum Part: String {
        case check, content, metadata, token
        /// The part of a record that has only one part. The file and the associated data do not contain the name of this part.
        case sealed
    }

    /// The format that this version writes. Older formats stay readable; newer formats are rejected.
    package static var format: Int { 1 }

    package let kind: Kind
    package let id: String
    private var parts: [String: Data] = [:]

    package init(kind: Kind, id: String) {
        self.kind = kind
        self.id = id
    }

    package mutating func seal(_ plaintext: Data, as part: Part, with key: VaultKey) throws {
        let box = try AES.GCM.seal(plaintext, using: key.symmetricKey, authenticating: associatedData(of: part))
        // A box with the default 12-byte nonce always has a combined form.
        parts[part.rawValue] = box.combined
    }

    package func open(_ part: Part, with key: VaultKey) throws -> Data {
        guard let sealed = parts[part.rawValue] else { throw kind.damaged("has no \(part.rawValue)", id: id, nil) }
        do {
            return try AES.GCM.open(AES.GCM.SealedBox(combined: sealed), using: key.symmetricKey, authenticating: associatedData(of: part))
        } catch {
            throw kind.damaged("was changed, or encrypted with another key", id: id, error)
        }
    }

    private func associatedData(of part: Part) -> Data {
        let name = part == .sealed ? "" : part.rawValue + "/"
        return Data("\(Kind.store)/\(Self.format)/\(kind.rawValue)/\(name)\(id)".utf8)
    }

    private struct Envelope: Codable {
        let format: Int
        let kind: String
        let id: String
        let parts: [String: Data]?
        let sealed: Data?
    }

    private struct Head: Codable {
        let format: Int
        let id: String?
    }

    package func encoded() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let sealed = parts[Part.sealed.rawValue]
        return try encoder.encode(
            Envelope(format: Self.format, kind: kind.rawValue, id: id, parts: sealed == nil ? parts : nil, sealed: sealed))
    }

    /// Decodes a file. Checks that the file has the expected kind, and that its id belongs to the name of the file.
    /// - Parameter name: Identifies the record in errors if its id cannot be read or belongs to another name.
    package init(decoding data: Data, kind: Kind, name: String, isNamed: (_ id: String) -> Bool) throws {
        let head: Head
        do {
            head = try JSONDecoder().decode(Head.self, from: data)
        } catch {
            throw kind.damaged("is cut off or is no entry", id: name, error)
        }
        let label = head.id.flatMap { isNamed($0) ? $0 : nil } ?? name
        guard head.format <= Self.format else { throw kind.newerFormat(head.format, id: label) }
        guard head.format == Self.format else { throw kind.damaged("has the unknown format \(head.format)", id: label, nil) }
        guard let envelope = try? JSONDecoder().decode(Envelope.self, from: data),
            let parts = envelope.parts ?? envelope.sealed.map({ [Part.sealed.rawValue: $0] })
        else { throw kind.damaged("is of no known form", id: label, nil) }
        guard envelope.kind == kind.rawValue, isNamed(envelope.id) else { throw kind.damaged("belongs to another name", id: label, nil) }
        self.init(kind: kind, id: envelope.id)
        self.parts = parts
    }
}

/// The content of one vault file.
typealias VaultRecord = SealedRecord<VaultRecordKind>

enum VaultRecordKind: String, SealedRecordKind {
    case vault, defaultToken, credential, revocation, dpopKey

    static let store = "countersign-vault"

    func newerFormat(_ format: Int, id: String) -> any Error {
        VaultError(
            .newerFormat, entry: id,
            "The entry \(id) has format \(format), and this version reads up to \(VaultRecord.format). Update the app; the entry is untouched."
        )
    }

    func damaged(_ what: String, id: String, _ underlying: (any Error)?) -> any Error {
        VaultError(
            .damagedEntry, entry: id,
            "The entry \(id) of the credentials \(what). It was left as it is: restore it, or remove it and sign in again.",
            underlying: underlying)
    }
}

extension VaultRecord {
    /// Decodes a file and checks that it has the expected kind and id. Errors name the id.
    init(decoding data: Data, kind: Kind, id: String) throws {
        try self.init(decoding: data, kind: kind, name: id) { $0 == id }
    }
}
