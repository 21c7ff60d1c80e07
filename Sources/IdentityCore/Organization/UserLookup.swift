internal import Foundation
package import Store

/// A user with the metadata of the record.
package struct StoredUser: Sendable {
    package var value: User
    /// The version that a write requires.
    var version: Int64
    /// The creator of the account.
    var origin: RecordOrigin
    /// The user in the org file when it was last applied; `nil` for other users.
    var applied: AppliedUser?

    /// Returns the record that stores `user`. Writing it requires ``version``, which is 0 for a new user.
    package func record(holding user: User) throws -> Record {
        Record(
            kind: .user, id: user.id, version: version, uniqueKeys: ["login": User.key(forLogin: user.login)],
            indexedKeys: ["origin": origin.rawValue],
            payload: try RecordCoding.encode(UserPayload(origin: origin, applied: applied, user: user)))
    }

    package init(_ record: Record) throws {
        let payload = try RecordCoding.decode(UserPayload.self, from: record)
        value = payload.user
        origin = payload.origin
        applied = payload.applied
        version = record.version
    }

    /// Creates a user who is not stored yet.
    package init(new user: User, origin: RecordOrigin, applied: AppliedUser? = nil) {
        value = user
        version = 0
        self.origin = origin
        self.applied = applied
    }
}

/// The user in the org file when it was last applied, to distinguish changes of the file from other changes.
package struct AppliedUser: Codable, Sendable, Equatable {
    /// The user's definition, without the password and other secrets.
    var definition: UserDefinition
    /// The file's password as a keyed hash, which is useless without the master key; `nil` for none.
    var passwordTag: [UInt8]?
    /// The secret of the authenticator app as a keyed hash; `nil` for none, and in records of earlier versions.
    var totpTag: [UInt8]?
    /// The seed of the HOTP device as a keyed hash; `nil` for none, and in records of earlier versions.
    var deviceTag: [UInt8]?
    /// The id of the HOTP device's enrollment; `nil` for none, and in records of earlier versions.
    var deviceID: String?
    /// Whether the tags are covered; `nil` for no. See ``DerivedKeys``.
    var hasCoveredTags: Bool?
}

private struct UserPayload: Codable {
    var origin: RecordOrigin
    var applied: AppliedUser?
    var user: User
}

extension User {
    /// Returns the key by which logins are compared, without regard to case and Unicode composition.
    package static func key(forLogin login: String) -> String {
        login.precomposedStringWithCanonicalMapping.lowercased().precomposedStringWithCanonicalMapping
    }
}

extension Engine {
    /// Returns the user with an id; for use inside `store.read`.
    package func user(id: String, in view: any StoreView) throws -> StoredUser? {
        try view.record(.user, id: id).map(StoredUser.init)
    }

    /// Returns the user with a login; for use inside `store.read`.
    package func user(login: String, in view: any StoreView) throws -> StoredUser? {
        try view.records(.user, where: "login", is: User.key(forLogin: login), limit: 1).first.map(StoredUser.init)
    }
}
