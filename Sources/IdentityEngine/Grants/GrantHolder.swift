internal import Foundation
internal import JOSE

/// The user of a grant, read for every refresh, introspection and userinfo.
///
/// Takes the payload that ``StoredUser`` writes, without the general decoder, which costs more than all the rest of such a
/// request; what it cannot read, the general one judges.
enum GrantHolder {
    /// The user with an id; for use inside `store.read`.
    static func user(id: String, in view: any StoreView) throws -> User? {
        guard let record = try view.record(.user, id: id) else { return nil }
        return try read(record.payload) ?? StoredUser(record).value
    }

    /// Nil if the payload has another shape.
    static func read(_ payload: [UInt8]) -> User? {
        guard let json = try? JSONValue(parsing: payload)["user"], let id = json["id"]?.stringValue, let login = json["login"]?.stringValue,
            let status = json["status"]?.stringValue.flatMap(User.Status.init(rawValue:)), let profile = json["profile"]?.objectValue,
            let groups = json["groups"]?.stringArrayValue, let failedAttempts = json["failedAttempts"]?.intValue,
            let createdAt = date(json["createdAt"]), let updatedAt = date(json["updatedAt"])
        else { return nil }
        var user = User(id: id, login: login, status: status, profile: profile, groups: groups, createdAt: createdAt)
        user.passwordHash = json["passwordHash"]?.stringValue
        user.passwordChangedAt = date(json["passwordChangedAt"])
        user.failedAttempts = failedAttempts
        user.failedCodes = json["failedCodes"]?.objectValue?.compactMapValues(\.intValue)
        user.deactivatedAt = date(json["deactivatedAt"])
        user.sessionsEndedAt = date(json["sessionsEndedAt"])
        user.grantsEndedAt = date(json["grantsEndedAt"])
        user.lockedAt = date(json["lockedAt"])
        user.updatedAt = updatedAt
        return user
    }

    /// As `JSONEncoder` writes dates by default.
    private static func date(_ json: JSONValue?) -> Date? {
        json?.doubleValue.map(Date.init(timeIntervalSinceReferenceDate:))
    }
}
