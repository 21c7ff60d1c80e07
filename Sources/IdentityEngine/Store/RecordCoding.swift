internal import Crypto
internal import Foundation

/// How values become payloads of records, and how secrets in them are sealed.
///
/// A payload is JSON with sorted keys: readable in the store, equal for equal values, and open for members to come.
/// What must not be readable there is sealed on its own with AES-GCM under the master key, bound to its record.
enum RecordCoding {
    /// Encodes a value.
    static func encode(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        OperationMeter.note(.encode)
        return [UInt8](try encoder.encode(value))
    }

    /// Decodes a record's value; a damaged payload is an error that names the record.
    static func decode<Value: Decodable>(_ type: Value.Type, from record: Record) throws -> Value {
        OperationMeter.note(.decode)
        do {
            return try JSONDecoder().decode(type, from: Data(record.payload))
        } catch {
            throw StoreError(
                .damaged, "The record \(record.kind.rawValue)/\(record.id) can not be read as \(type). Restore it from a backup.",
                underlying: error)
        }
    }

    /// Decodes bytes that the engine keeps beside a ticket.
    static func decode<Value: Decodable>(_ type: Value.Type, from payload: [UInt8]) throws -> Value {
        do {
            return try JSONDecoder().decode(type, from: Data(payload))
        } catch {
            throw StoreError(.damaged, "A stored payload can not be read as \(type). Restore it from a backup.", underlying: error)
        }
    }

    /// Seals a secret: nonce, ciphertext and tag of AES-256-GCM, with the record's name as associated data.
    static func seal(_ secret: [UInt8], for owner: RecordReference, environment: EngineEnvironment) throws -> [UInt8] {
        OperationMeter.note(.seal)
        let nonce = try AES.GCM.Nonce(data: environment.random.bytes(12))
        let box = try AES.GCM.seal(secret, using: environment.masterKey, nonce: nonce, authenticating: associatedData(owner))
        return Array(nonce) + box.ciphertext + box.tag
    }

    /// Opens a sealed secret. Another master key, another record or a changed byte is an error that names the record.
    static func open(_ sealed: [UInt8], for owner: RecordReference, masterKey: SymmetricKey) throws -> [UInt8] {
        OperationMeter.note(.open)
        do {
            let box = try AES.GCM.SealedBox(combined: sealed)
            return [UInt8](try AES.GCM.open(box, using: masterKey, authenticating: associatedData(owner)))
        } catch {
            throw StoreError(
                .damaged,
                "The secret in \(owner.kind.rawValue)/\(owner.id) does not open with this master key. Start with the key that sealed it.",
                underlying: error)
        }
    }

    private static func associatedData(_ owner: RecordReference) -> [UInt8] {
        Array("countersign \(owner.kind.rawValue)/\(owner.id)".utf8)
    }
}
