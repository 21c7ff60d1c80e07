package import Crypto
internal import Foundation
internal import JOSE
package import Store

/// How values become payloads of records, and how secrets in them are sealed.
///
/// A payload is JSON with sorted keys: readable in the store, equal for equal values, and open for members to come.
/// What must not be readable there is sealed on its own with AES-GCM under the master key, bound to its record.
package enum RecordCoding {
    /// Encodes a value.
    package static func encode(_ value: some Encodable) throws -> [UInt8] {
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
    package static func decode<Value: Decodable>(_ type: Value.Type, from payload: [UInt8]) throws -> Value {
        do {
            return try JSONDecoder().decode(type, from: Data(payload))
        } catch {
            throw StoreError(.damaged, "A stored payload can not be read as \(type). Restore it from a backup.", underlying: error)
        }
    }

    /// Seals a secret: nonce, ciphertext and tag of AES-256-GCM, with the record's name as associated data.
    package static func seal(_ secret: [UInt8], for owner: RecordReference, environment: EngineEnvironment) throws -> [UInt8] {
        OperationMeter.note(.seal)
        let nonce = try AES.GCM.Nonce(data: environment.random.bytes(12))
        let box = try AES.GCM.seal(secret, using: environment.masterKey, nonce: nonce, authenticating: associatedData(owner))
        return Array(nonce) + box.ciphertext + box.tag
    }

    /// Opens a sealed secret. Another master key, another record or a changed byte is an error that names the record.
    package static func open(_ sealed: [UInt8], for owner: RecordReference, masterKey: SymmetricKey) throws -> [UInt8] {
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

/// One use of a signed assertion by its `jti`, so that nobody uses it a second time (RFC 7519 section 4.1.7).
///
/// Whoever accepts an assertion commits ``change`` with what it led to: of two who bring the same one, one commits. Who decides
/// again after a conflict asks ``isMade(in:)`` first.
package struct AssertionUse: Sendable {
    private let name: String
    private let end: Date

    /// - Parameters:
    ///   - id: The `jti`.
    ///   - issuer: Who made the assertion: ids are unique for each.
    ///   - end: The last second that the assertion is accepted, since 1970.
    package init(of id: String, by issuer: String, until end: Double) {
        name = Base64URL.encode(Array(SHA256.hash(data: Array("\(issuer)\u{0}\(id)".utf8))))
        self.end = Date(clampingNumericDate: end)
    }

    /// Stores the id; conflicts if it is stored already.
    package var change: Change { .put(Record(kind: .assertionID, id: name, expiresAt: end, payload: [])) }

    /// Whether the assertion was used before.
    package func isMade(in view: any StoreView) throws -> Bool { try view.record(.assertionID, id: name) != nil }
}

/// Ids and secrets made from the environment's random bytes.
extension RandomSource {
    /// An id: a prefix of three characters and 17 of 62, as client ids (`0oa…`) and user ids (`00u…`) look.
    ///
    /// - Parameter prefix: What the id names, for people who read it.
    /// - Returns: 20 characters for a prefix of three, about 101 random bits.
    /// - Throws: What the source throws.
    package func identifier(prefix: String) throws -> String {
        prefix + (try characters(17))
    }

    /// A secret that a ticket leads by.
    ///
    /// - Parameter prefix: Tells people and scanners what leaked; not a secret.
    /// - Returns: The prefix and 43 characters of 62, about 256 random bits.
    /// - Throws: What the source throws.
    package func secret(prefix: String = "") throws -> String {
        prefix + (try characters(43))
    }

    private func characters(_ count: Int) throws -> String {
        var text: [UInt8] = []
        text.reserveCapacity(count)
        while text.count < count {
            // 248 is the largest multiple of 62 in a byte: what lies above would favour the first letters.
            for byte in try bytes(count - text.count + 4) where byte < 248 && text.count < count {
                text.append(identifierAlphabet[Int(byte % 62)])
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}

private let identifierAlphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
