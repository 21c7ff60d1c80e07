internal import Foundation
package import Store

/// A user with the record that they were read from.
package struct StoredUser: Sendable {
    package var value: User
    /// The version that a write must name.
    var version: Int64
    /// Who made the account.
    var origin: RecordOrigin
    /// What the org file said of them when it was last applied; nil for people made elsewhere.
    var applied: AppliedUser?

    /// The record that holds a changed value in place of the one that was read.
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

    /// Somebody who is not stored yet.
    package init(new user: User, origin: RecordOrigin, applied: AppliedUser? = nil) {
        value = user
        version = 0
        self.origin = origin
        self.applied = applied
    }
}

/// What the org file said of a user when it was last applied, to tell the file's changes from everybody else's.
package struct AppliedUser: Codable, Sendable, Equatable {
    /// Without the password and other secrets.
    var definition: UserDefinition
    /// The file's password under a keyed hash; says nothing without the master key.
    var passwordTag: [UInt8]?
    /// The same of the authenticator app's secret; nil for none, and in records of before there was one.
    var totpTag: [UInt8]?
    /// The same of the device whose codes follow a counter.
    var deviceTag: [UInt8]?
    /// The factor that this device became; nil for none, and in records of before it was kept.
    var deviceID: String?
}

private struct UserPayload: Codable {
    var origin: RecordOrigin
    var applied: AppliedUser?
    var user: User
}

extension User {
    /// How logins are compared: without regard to case and to how accents are composed.
    package static func key(forLogin login: String) -> String {
        login.precomposedStringWithCanonicalMapping.lowercased().precomposedStringWithCanonicalMapping
    }
}

extension Engine {
    /// The user with an id; for use inside `store.read`.
    package func user(id: String, in view: any StoreView) throws -> StoredUser? {
        try view.record(.user, id: id).map(StoredUser.init)
    }

    /// The user who signs in with a name; for use inside `store.read`.
    package func user(login: String, in view: any StoreView) throws -> StoredUser? {
        try view.records(.user, where: "login", is: User.key(forLogin: login), limit: 1).first.map(StoredUser.init)
    }
}
