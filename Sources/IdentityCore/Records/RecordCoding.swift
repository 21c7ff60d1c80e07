internal import Crypto
internal import Foundation
internal import JOSE
package import Store

/// Encodes values as payloads of records, and encrypts secrets in them. A payload is JSON with sorted keys: readable in the store, equal
/// for equal values, and extensible by new members. Secrets are encrypted separately with AES-GCM under the first master key, bound to
/// their record.
package enum RecordCoding {
    package static func encode(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        OperationMeter.note(.encode)
        return [UInt8](try encoder.encode(value))
    }

    /// Decodes a record's value. Throws a ``StoreError`` that names the record if the payload is damaged.
    static func decode<Value: Decodable>(_ type: Value.Type, from record: Record) throws -> Value {
        OperationMeter.note(.decode)
        do {
            return try value(type, record.payload)
        } catch {
            throw StoreError(
                .damaged, "The record \(record.kind.rawValue)/\(record.id) can not be read as \(type). Restore it from a backup.",
                underlying: error)
        }
    }

    /// Decodes a payload that is stored with a ticket. Throws ``StoreError`` if the payload is damaged.
    package static func decode<Value: Decodable>(_ type: Value.Type, from payload: [UInt8]) throws -> Value {
        do {
            return try value(type, payload)
        } catch {
            throw StoreError(.damaged, "A stored payload can not be read as \(type). Restore it from a backup.", underlying: error)
        }
    }

    private static func value<Value: Decodable>(_ type: Value.Type, _ payload: [UInt8]) throws -> Value {
        do { return try RecordDecoder.decode(type, from: payload) } catch { return try JSONDecoder().decode(type, from: Data(payload)) }
    }

    /// Encrypts a secret. Returns nonce, ciphertext and tag of AES-256-GCM, with the record's name as associated data.
    package static func seal(_ secret: [UInt8], for owner: RecordReference, environment: EngineEnvironment) throws -> [UInt8] {
        OperationMeter.note(.seal)
        let nonce = try AES.GCM.Nonce(data: environment.random.bytes(12))
        let box = try AES.GCM.seal(secret, using: environment.masterKeys.sealing, nonce: nonce, authenticating: associatedData(owner))
        return Array(nonce) + box.ciphertext + box.tag
    }

    /// Decrypts a sealed secret. Throws an error that names the record if no master key sealed it, or the record or any byte differs.
    package static func open(_ sealed: [UInt8], for owner: RecordReference, masterKeys: MasterKeys) throws -> [UInt8] {
        try opened(sealed, for: owner, masterKeys: masterKeys).secret
    }

    /// Encrypts a sealed secret again, with the first master key. Returns `nil` if that key sealed it. Throws as
    /// ``open(_:for:masterKeys:)``.
    static func resealed(_ sealed: [UInt8], for owner: RecordReference, environment: EngineEnvironment) throws -> [UInt8]? {
        let (secret, key) = try opened(sealed, for: owner, masterKeys: environment.masterKeys)
        return key == 0 ? nil : try seal(secret, for: owner, environment: environment)
    }

    /// Decrypts a sealed secret. Also returns the place of the master key that sealed it.
    static func opened(
        _ sealed: [UInt8], for owner: RecordReference, masterKeys: MasterKeys
    ) throws -> (secret: [UInt8], key: Int) {
        OperationMeter.note(.open)
        var failure: (any Error)?
        for (index, key) in masterKeys.all.enumerated() {
            do {
                let box = try AES.GCM.SealedBox(combined: sealed)
                return ([UInt8](try AES.GCM.open(box, using: key, authenticating: associatedData(owner))), index)
            } catch {
                failure = error
            }
        }
        throw StoreError(
            .damaged,
            "The secret in \(owner.kind.rawValue)/\(owner.id) does not open with this master key. Start with the key that sealed it.",
            underlying: failure)
    }

    private static func associatedData(_ owner: RecordReference) -> [UInt8] {
        Array("countersign \(owner.kind.rawValue)/\(owner.id)".utf8)
    }
}

/// A single use of a signed assertion, identified by its `jti` (RFC 7519 section 4.1.7). The caller commits ``change`` together with the
/// result; of two concurrent uses, one conflicts. After a conflict, the caller checks ``isMade(in:)`` before it decides again.
package struct AssertionUse: Sendable {
    private let name: String
    private let end: Date

    /// Identifies the use by `jti` and issuer, because ids are unique for each issuer only.
    /// - Parameter end: The last second in which the assertion is accepted, in seconds since 1970.
    package init(of id: String, by issuer: String, until end: Double) {
        name = Self.name(of: id, by: issuer)
        self.end = Date(clampingNumericDate: end)
    }

    private static func name(of id: String, by issuer: String) -> String {
        Base64URL.encode(Array(SHA256.hash(data: Array("\(issuer)\u{0}\(id)".utf8))))
    }

    /// The row that shows whether an assertion was used before.
    package static func row(of id: String, by issuer: String) -> Lookup.Node { .record(.assertionID, id: name(of: id, by: issuer)) }

    /// The row that shows whether the assertion was used before.
    package var row: Lookup.Node { .record(.assertionID, id: name) }

    /// Stores the id; conflicts if it is stored already.
    package var change: Change { .put(Record(kind: .assertionID, id: name, expiresAt: end, payload: [])) }

    /// Whether the assertion was used before.
    package func isMade(in view: any StoreView) throws -> Bool { try view.record(.assertionID, id: name) != nil }
}

extension RandomSource {
    /// Creates an id: the prefix and 17 base-62 characters, about 101 random bits. Client ids (`0oa…`) and user ids (`00u…`) have a prefix
    /// of three characters.
    package func identifier(prefix: String) throws -> String {
        prefix + (try characters(17))
    }

    /// Creates a secret for a ticket: the prefix and 43 base-62 characters, about 256 random bits. The prefix shows users and scanners the
    /// kind of a leaked secret.
    package func secret(prefix: String = "") throws -> String {
        prefix + (try characters(43))
    }

    private func characters(_ count: Int) throws -> String {
        var text: [UInt8] = []
        text.reserveCapacity(count)
        while text.count < count {
            // 248 is the largest multiple of 62 in a byte; larger values would favour the first characters.
            for byte in try bytes(count - text.count + 4) where byte < 248 && text.count < count {
                text.append(identifierAlphabet[Int(byte % 62)])
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}

private let identifierAlphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
