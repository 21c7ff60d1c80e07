internal import Foundation
internal import JOSE
package import Store

/// Reads the user of a grant for every refresh, introspection and userinfo request. It parses the payload of ``StoredUser`` without
/// `JSONDecoder`, which would cost more than the rest of such a request. It falls back to `JSONDecoder` for payloads that it cannot parse.
package enum GrantUserReader {
    package static func user(id: String, in view: any StoreView) throws -> User? {
        guard let record = try view.record(.user, id: id) else { return nil }
        return try read(record.payload) ?? StoredUser(record).value
    }

    /// The members of a user that ``read(_:)`` supports. A record with any other member is left to the general decoder.
    private static let members: Set<String> = [
        "id", "login", "status", "profile", "groups", "passwordHash", "passwordChangedAt", "isPasswordDue", "earlierPasswords",
        "failedAttempts", "failedCodes", "failedFurther", "usedOrigins", "lockedAt", "deactivatedAt", "sessionsEndedAt", "grantsEndedAt",
        "activationID", "knownOrigins",
        "createdAt", "updatedAt",
    ]

    /// Parses the payload of a user; `nil` if it has another shape.
    static func read(_ payload: [UInt8]) -> User? {
        guard let json = try? JSONValue(parsing: payload)["user"]?.objectValue, json.keys.allSatisfy(members.contains) else { return nil }
        let reader = MemberReader(json: json)
        guard let id = json["id"]?.stringValue, let login = json["login"]?.stringValue,
            let status = json["status"]?.stringValue.flatMap(User.Status.init(rawValue:)), let profile = json["profile"]?.objectValue,
            let groups = json["groups"]?.stringArrayValue, let failedAttempts = json["failedAttempts"]?.intValue,
            let createdAt = json["createdAt"].flatMap(MemberReader.date), let updatedAt = json["updatedAt"].flatMap(MemberReader.date)
        else { return nil }
        var user = User(id: id, login: login, status: status, profile: profile, groups: groups, createdAt: createdAt)
        do throws(MemberReader.Mistyped) {
            user.passwordHash = try reader.optional("passwordHash", \.stringValue)
            user.passwordChangedAt = try reader.optional("passwordChangedAt", MemberReader.date)
            user.mustChangePassword = try reader.optional("isPasswordDue", \.boolValue) ?? false
            user.earlierPasswords = try reader.optional("earlierPasswords", \.stringArrayValue)
            user.failedAttempts = failedAttempts
            user.failedCodes = try reader.optional("failedCodes", MemberReader.counts)
            user.failedFurther = try reader.optional("failedFurther", MemberReader.counts)
            user.usedOrigins = try reader.optional("usedOrigins", MemberReader.origins)
            user.deactivatedAt = try reader.optional("deactivatedAt", MemberReader.date)
            user.sessionsEndedAt = try reader.optional("sessionsEndedAt", MemberReader.date)
            user.grantsEndedAt = try reader.optional("grantsEndedAt", MemberReader.date)
            user.lockedAt = try reader.optional("lockedAt", MemberReader.date)
            user.activationID = try reader.optional("activationID", \.stringValue)
            user.knownOrigins = try reader.optional("knownOrigins", \.stringArrayValue)
            user.updatedAt = updatedAt
            return user
        } catch {
            return nil
        }
    }
}

/// Reads optional members of an object: an absent one is `nil`, a mistyped one an error.
private struct MemberReader {
    struct Mistyped: Error {}

    let json: [String: JSONValue]

    func optional<Value>(_ name: String, _ read: (JSONValue) -> Value?) throws(Mistyped) -> Value? {
        guard let member = json[name], !member.isNull else { return nil }
        guard let value = read(member) else { throw Mistyped() }
        return value
    }

    /// Reads a date in the default format of `JSONEncoder`.
    static func date(_ json: JSONValue) -> Date? { json.doubleValue.map(Date.init(timeIntervalSinceReferenceDate:)) }

    static func counts(_ json: JSONValue) -> [String: Int]? {
        guard let members = json.objectValue else { return nil }
        let counts = members.compactMapValues(\.intValue)
        return counts.count == members.count ? counts : nil
    }

    /// Reads origins without failures. Origins with failures are left to the general decoder.
    static func origins(_ json: JSONValue) -> [KnownOrigin]? {
        guard let elements = json.arrayValue else { return nil }
        let origins = elements.compactMap { element -> KnownOrigin? in
            guard let members = element.objectValue, members.count == 2, let id = members["id"]?.stringValue,
                let proved = members["proved"]?.stringArrayValue
            else { return nil }
            return KnownOrigin(id: id, proved: Set(proved))
        }
        return origins.count == elements.count ? origins : nil
    }
}
