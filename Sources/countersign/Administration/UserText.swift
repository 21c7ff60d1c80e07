import Foundation
import IdentityCore
import JOSE

/// Users and sessions as text and JSON. Neither contains a secret.
enum UserText {
    static func json(_ user: User) -> JSONValue {
        [
            "id": .string(user.id), "login": .string(user.login), "status": .string(user.status.rawValue),
            "profile": .object(user.profile), "groups": .array(user.groups.map(JSONValue.string)),
            "created": .string(user.createdAt.formatted(.iso8601)),
        ]
    }

    static func json(_ found: UserOverview) -> JSONValue {
        let factors = found.factors.map { factor -> JSONValue in
            var json: [String: JSONValue] = [
                "kind": .string(factor.kind.rawValue), "status": .string(factor.status.rawValue),
                "created": .string(factor.createdAt.formatted(.iso8601)),
            ]
            json["label"] = factor.label.map(JSONValue.string)
            return .object(json)
        }
        return json(found.user).adding("locked", .bool(found.isLocked)).adding("in_org_file", .bool(found.isInOrgFile))
            .adding("factors", .array(factors)).adding("sessions", .array(found.sessions.map(json)))
            .adding("remembered_devices", .integer(Int64(found.rememberedDevices))).adding("grants", .integer(Int64(found.grants)))
    }

    static func json(_ session: SessionSummary) -> JSONValue {
        [
            "id": .string(session.id), "created": .string(session.createdAt.formatted(.iso8601)),
            "last_used": .string(session.lastUsedAt.formatted(.iso8601)), "expires": .string(session.endsAt.formatted(.iso8601)),
            "clients": .array(session.clients.map { .string($0.id) }),
        ]
    }

    static func lines(_ found: UserOverview) -> [TerminalText] {
        let user = found.user
        var lines: [TerminalText] = [
            "\(Terminal.styled("\(user.login)", .bold))  \(user.status.rawValue)\(found.isLocked ? ", locked" : "")"
        ]
        lines.append("  id        \(user.id)")
        if let name = user.displayName { lines.append("  name      \(name)") }
        if let email = user.profile["email"]?.stringValue { lines.append("  email     \(email)") }
        if !user.groups.isEmpty { lines.append("  groups    \(user.groups.joined(separator: ", "))") }
        lines.append("  created   \(user.createdAt.formatted(.iso8601))\(found.isInOrgFile ? ", in the org file" : "")")
        lines.append("  password  \(password(of: user))")
        if found.factors.isEmpty { lines.append("  factors   none") }
        for factor in found.factors {
            let label = factor.label.map { "  \($0)" } ?? ""
            lines.append(
                "  factor    \(factor.kind.rawValue), \(factor.status.rawValue), since \(factor.createdAt.formatted(.iso8601))\(label)")
        }
        for session in found.sessions { lines.append("  session   \(line(session))") }
        lines.append("  devices   \(found.rememberedDevices) remembered")
        lines.append("  sign-ins  \(found.grants) in apps, neither revoked nor expired")
        if found.isLocked { lines.append("Remove the locks with: countersign users unlock \(user.login)") }
        return lines
    }

    static func line(_ session: SessionSummary) -> TerminalText {
        let clients = Set(session.clients.map(\.id)).sorted().joined(separator: ", ")
        return
            "since \(session.createdAt.formatted(.iso8601)), last used \(session.lastUsedAt.formatted(.iso8601)), apps: \(clients)"
    }

    private static func password(of user: User) -> String {
        guard user.passwordHash != nil else { return "none" }
        let date = user.passwordChangedAt.map { "set \($0.formatted(.iso8601))" } ?? "set"
        return user.mustChangePassword ? "\(date), must be changed at the next sign-in" : date
    }
}

extension JSONValue {
    /// Returns the object with one more member.
    func adding(_ key: String, _ value: JSONValue) -> JSONValue {
        var object = objectValue ?? [:]
        object[key] = value
        return .object(object)
    }
}

extension String {
    /// Returns the text, padded with spaces to a width in characters.
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
