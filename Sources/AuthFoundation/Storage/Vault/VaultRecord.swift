import Foundation

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
    /// Decodes a file and checks that it has the kind and id that its name states. Errors name that id.
    init(decoding data: Data, kind: Kind, id: String) throws {
        try self.init(decoding: data, kind: kind, name: id) { $0 == id }
    }
}
