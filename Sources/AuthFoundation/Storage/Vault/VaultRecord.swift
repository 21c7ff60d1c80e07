import Crypto
import Foundation

/// One file of the vault: what it is, whose it is, and its sealed parts.
///
/// Every part is AES-GCM with format, kind, part and id as associated data, so that no part can be moved to another entry.
struct VaultRecord: Equatable {
    enum Kind: String, Codable {
        case vault, defaultToken, credential, revocation, dpopKey
    }

    enum Part: String {
        case check, content, metadata, token
    }

    /// The format that this version writes. Older ones are read for good, newer ones are refused by name.
    static let format = 1

    let kind: Kind
    let id: String
    private(set) var parts: [String: Data] = [:]

    init(kind: Kind, id: String) {
        self.kind = kind
        self.id = id
    }

    // MARK: - Parts

    mutating func seal(_ plaintext: Data, as part: Part, with key: VaultKey) throws {
        let box = try AES.GCM.seal(plaintext, using: key.symmetricKey, authenticating: associatedData(of: part))
        // A box with the usual nonce of 12 bytes always has the combined form.
        parts[part.rawValue] = box.combined
    }

    func open(_ part: Part, with key: VaultKey) throws -> Data {
        guard let sealed = parts[part.rawValue] else { throw damaged("has no \(part.rawValue)", nil) }
        do {
            return try AES.GCM.open(AES.GCM.SealedBox(combined: sealed), using: key.symmetricKey, authenticating: associatedData(of: part))
        } catch {
            throw damaged("was changed, or encrypted with another key", error)
        }
    }

    private func associatedData(of part: Part) -> Data {
        Data("countersign-vault/\(Self.format)/\(kind.rawValue)/\(part.rawValue)/\(id)".utf8)
    }

    // MARK: - The file

    private struct Envelope: Codable {
        let format: Int
        let kind: Kind
        let id: String
        let parts: [String: Data]
    }

    private struct FormatOnly: Codable {
        let format: Int
    }

    func encoded() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(Envelope(format: Self.format, kind: kind, id: id, parts: parts))
    }

    /// Reads a file whose name promises this kind and this id; errors name that id.
    init(decoding data: Data, kind: Kind, id: String) throws {
        self.init(kind: kind, id: id)
        do {
            let format = try JSONDecoder().decode(FormatOnly.self, from: data).format
            guard format <= Self.format else {
                throw VaultError(
                    .newerFormat, entry: id,
                    "The entry \(id) has format \(format), and this version reads up to \(Self.format). Update the app; the entry is untouched."
                )
            }
            guard format == Self.format else { throw damaged("has the unknown format \(format)", nil) }
            let envelope = try JSONDecoder().decode(Envelope.self, from: data)
            guard envelope.kind == kind, envelope.id == id else { throw damaged("belongs to another name", nil) }
            parts = envelope.parts
        } catch let error as VaultError {
            throw error
        } catch {
            throw damaged("is cut off or is no entry", error)
        }
    }

    private func damaged(_ what: String, _ error: (any Error)?) -> VaultError {
        VaultError(
            .damagedEntry, entry: id,
            "The entry \(id) of the credentials \(what). It was left as it is: restore it, or remove it and sign in again.",
            underlying: error)
    }
}
