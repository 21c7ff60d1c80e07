internal import JOSE
internal import Store

/// Proves that the engine's master key is the key that sealed the store. The first start with a key seals a record with known content.
/// Every later start opens that record before the first write. An older store without the record is checked by its secrets, and gets the
/// record when the organization is next applied.
struct MasterKeyCheck {
    private static let reference = RecordReference(.masterKeyCheck, "check")
    private static let content = Array("countersign master key".utf8)

    private let environment: EngineEnvironment

    init(_ environment: EngineEnvironment) { self.environment = environment }

    /// Opens the check record of a store. Returns the change that adds the record; `nil` if the store has one. Throws
    /// ``StoreError/Code/wrongMasterKey`` if another key sealed the store.
    func verify(_ view: any StoreView) throws -> Change? {
        if let record = try view.record(Self.reference.kind, id: Self.reference.id) {
            guard opens(try? JSONValue(parsing: record.payload)["sealed"]?.stringValue) else { throw Self.wrongKey }
            return nil
        }
        guard try sealedTheSecrets(in: view) else { throw Self.wrongKey }
        let sealed = try RecordCoding.seal(Self.content, for: Self.reference, environment: environment)
        let payload: JSONValue = ["sealed": .string(Base64URL.encode(sealed))]
        return .put(Record(kind: Self.reference.kind, id: Self.reference.id, payload: payload.serialized()))
    }

    private func opens(_ sealed: String?) -> Bool {
        guard let sealed, let bytes = try? Base64URL.decode(sealed) else { return false }
        return (try? RecordCoding.open(bytes, for: Self.reference, masterKey: environment.masterKey)) == Self.content
    }

    /// Whether the key opens a secret in the store; `true` if the store has none. Signing keys are checked first: an older server with a
    /// wrong key sealed secrets of the org file, but failed before any signing key.
    private func sealedTheSecrets(in view: any StoreView) throws -> Bool {
        let key = environment.masterKey
        let signingKeys = try view.allRecords(.signingKey).map { try SealedSigningKey($0) }
        guard signingKeys.isEmpty else { return signingKeys.contains { (try? $0.open(key)) != nil } }
        let secrets =
            try view.allRecords(.application).compactMap { record in
                try RecordCoding.decode(Configured<StoredApplication>.self, from: record).value.sealedSecret
                    .map { ($0, RecordReference(.application, record.id)) }
            }
            + view.allRecords(.authenticator).compactMap { record in
                try RecordCoding.decode(Configured<StoredAuthenticator>.self, from: record).value.sealedKey
                    .map { ($0, RecordReference(.authenticator, record.id)) }
            }
        return secrets.isEmpty || secrets.contains { (try? RecordCoding.open($0, for: $1, masterKey: key)) != nil }
    }

    private static let wrongKey = StoreError(
        .wrongMasterKey,
        "Another master key sealed this store. Start with that key: master.key in the data folder, --master-key-file or COUNTERSIGN_MASTER_KEY. Nothing was written."
    )
}
