internal import Foundation
internal import Store

/// A secret in a record, encrypted with a master key.
struct SealedSecret {
    private let sealed: [UInt8]
    private let owner: RecordReference

    init(_ sealed: [UInt8], of owner: RecordReference) {
        self.sealed = sealed
        self.owner = owner
    }

    /// Returns the place of the key that sealed it; `nil` if none of the keys did.
    func opener(_ keys: MasterKeys) -> Int? { (try? RecordCoding.opened(sealed, for: owner, masterKeys: keys))?.key }

    /// Returns the signing keys of a store, or the secrets of its applications and authenticators if it has no signing key. Signing keys
    /// prove the master key: an older server with a wrong key sealed secrets of the org file, but failed before any signing key.
    static func configuration(in view: any StoreView) throws -> [SealedSecret] {
        let signingKeys = try view.allRecords(.signingKey).map { try SealedSigningKey($0).secret }
        guard signingKeys.isEmpty else { return signingKeys }
        return try view.allRecords(.application).compactMap { record in
            try RecordCoding.decode(Configured<StoredApplication>.self, from: record).value.sealedSecret
                .map { SealedSecret($0, of: RecordReference(.application, record.id)) }
        }
            + view.allRecords(.authenticator).compactMap { record in
                try RecordCoding.decode(Configured<StoredAuthenticator>.self, from: record).value.sealedKey
                    .map { SealedSecret($0, of: RecordReference(.authenticator, record.id)) }
            }
    }
}

extension Record {
    /// The kinds of records that contain secrets which a master key sealed, or that an earlier master key helps to guess.
    static let sealedKinds: [RecordKind] = [.signingKey, .application, .authenticator, .enrollment, .user, .transaction]

    /// Returns the record with its secrets encrypted by the first master key, and its tags covered; `nil` if nothing changes. Throws
    /// ``StoreError/Code/damaged`` if no master key opens a secret.
    func resealed(_ environment: EngineEnvironment, _ derived: DerivedKeys) throws -> Record? {
        switch kind {
        case .signingKey: return try SealedSigningKey(self).resealed(environment)?.record
        case .application: return try resealed(StoredApplication.self, \.sealedSecret, environment)
        case .authenticator: return try resealed(StoredAuthenticator.self, \.sealedKey, environment)
        case .enrollment: return try Enrollment(self).resealed(environment)?.record()
        case .user: return try StoredUser(self).covered(derived)
        case .transaction: return try StoredTransaction(self).resealed(environment)
        default: return nil
        }
    }

    private func resealed<Value: Codable & Sendable>(
        _ type: Value.Type, _ secret: WritableKeyPath<Value, [UInt8]?>, _ environment: EngineEnvironment
    ) throws -> Record? {
        var configured = try RecordCoding.decode(Configured<Value>.self, from: self)
        guard let sealed = configured.value[keyPath: secret],
            let next = try RecordCoding.resealed(sealed, for: RecordReference(kind, id), environment: environment)
        else { return nil }
        configured.value[keyPath: secret] = next
        var record = self
        record.payload = try RecordCoding.encode(configured)
        return record
    }
}

extension Enrollment {
    fileprivate func resealed(_ environment: EngineEnvironment) throws -> Enrollment? {
        guard let sealed = totp?.sealedSecret ?? hotp?.sealedSecret ?? savedCodes?.sealedCodes,
            let secret = try RecordCoding.resealed(sealed, for: RecordReference(.enrollment, id), environment: environment)
        else { return nil }
        var next = self
        next.totp?.sealedSecret = secret
        next.hotp?.sealedSecret = secret
        next.savedCodes?.sealedCodes = secret
        return next
    }
}

extension StoredUser {
    fileprivate func covered(_ derived: DerivedKeys) throws -> Record? {
        guard let applied else { return nil }
        var next = self
        next.applied = derived.covering(applied)
        return next.applied == applied ? nil : try next.record(holding: value)
    }
}

extension StoredTransaction {
    fileprivate func resealed(_ environment: EngineEnvironment) throws -> Record? {
        let owner = RecordReference(.transaction, value.id)
        var next = value
        if let sealed = value.phone?.sealedSecret,
            let secret = try RecordCoding.resealed(sealed, for: owner, environment: environment)
        {
            next.phone?.sealedSecret = secret
        }
        if let sealed = value.recovery?.page?.signIn,
            let secret = try RecordCoding.resealed(sealed, for: owner, environment: environment)
        {
            next.recovery?.page?.signIn = secret
        }
        return next == value ? nil : try next.record(version: version)
    }
}
