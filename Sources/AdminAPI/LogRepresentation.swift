internal import Foundation
internal import IdentityCore
internal import JOSE

/// The lines of the system log as objects of the management API (Documentation/Protocol/Admin.md §1). Enumerated members have only values
/// that clients accept.
enum LogRepresentation {
    /// Returns the object of a line.
    /// - Parameter logins: The current logins of users, by id.
    static func json(_ event: LogEvent, logins: [String: String]) -> JSONValue {
        let type = eventType(event)
        return [
            "uuid": .string(event.id), "published": .string(date(event.time)), "eventType": .string(type), "version": "0",
            "displayMessage": .string(type), "legacyEventType": .null, "severity": event.outcome == .success ? "INFO" : "WARN",
            "actor": actor(event, logins), "target": target(event, logins),
            "client": [
                "id": event.clientID.map(JSONValue.string) ?? .null, "ipAddress": event.address.map(JSONValue.string) ?? .null,
                "userAgent": .null, "zone": .null, "device": .null, "geographicalContext": .null,
            ],
            "request": ["ipChain": .array(event.address.map { [chainLink($0)] } ?? [])],
            "outcome": ["result": .string(result(event.outcome)), "reason": reason(event)],
            "transaction": ["id": .string(event.requestID), "type": "WEB", "detail": [:]],
            "authenticationContext": [
                "authenticationProvider": .null, "credentialProvider": .null, "credentialType": .null, "externalSessionId": .null,
                "interface": .null, "issuer": .null, "authenticationStep": 0,
            ],
            "debugContext": ["debugData": debugData(event)],
            "securityContext": ["asNumber": .null, "asOrg": .null, "isp": .null, "domain": .null, "isProxy": .null],
        ]
    }

    /// Returns the texts in which `q` searches, in lower case.
    static func keywords(of json: JSONValue) -> [String] {
        var texts: [String] = []
        func collect(_ value: JSONValue) {
            if let text = value.stringValue { texts.append(text.lowercased()) }
            value.arrayValue?.forEach(collect)
            value.objectValue?.values.forEach(collect)
        }
        collect(json)
        return texts
    }

    static func date(_ date: Date) -> String {
        date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    /// Returns the published name of an action; the server's own name if the action has no published one.
    private static func eventType(_ event: LogEvent) -> String {
        let oauth = event.server == nil ? "app.oauth2." : "app.oauth2.as."
        return switch event.type {
        case "user.session.end_all": "user.session.clear"
        case "user.lifecycle.active": "user.lifecycle.activate"
        case "user.lifecycle.deactivated": "user.lifecycle.deactivate"
        case "user.lifecycle.suspended": "user.lifecycle.suspend"
        case "user.lifecycle.delete": "user.lifecycle.delete.completed"
        case "user.mfa.push.challenge": "system.push.send_factor_verify_push"
        case "user.account.report_suspicious_activity": "user.account.report_suspicious_activity_by_enduser"
        case "user.consent": oauth + (event.outcome == .success ? "consent.grant" : "consent.revoke")
        case "token.revoke", "grant.revoked": oauth + "token.revoke"
        case let type where type.hasPrefix("token.grant."): oauth + "token.grant"
        case "user.authentication.password", "user.authentication.session", "user.authentication.activation",
            "user.authentication.cancel":
            event.type
        case let type where type.hasPrefix("user.authentication."): "user.authentication.auth_via_mfa"
        default: event.type
        }
    }

    /// Returns the actor: the administrator, the user, the application or the server.
    private static func actor(_ event: LogEvent, _ logins: [String: String]) -> JSONValue {
        if let name = event.administrator { return party(id: name, type: "User", name: name) }
        if let id = event.userID { return user(id, logins) }
        if let id = event.clientID { return party(id: id, type: "PublicClientApp", name: id) }
        return party(id: "system", type: "SystemPrincipal", name: "System")
    }

    private static func target(_ event: LogEvent, _ logins: [String: String]) -> JSONValue {
        var targets: [JSONValue] = []
        if let id = event.userID { targets.append(user(id, logins)) }
        if let id = event.clientID { targets.append(party(id: id, type: "AppInstance", name: id)) }
        return targets.isEmpty ? .null : .array(targets)
    }

    private static func user(_ id: String, _ logins: [String: String]) -> JSONValue {
        party(id: id, type: "User", name: logins[id] ?? "unknown")
    }

    private static func party(id: String, type: String, name: String) -> JSONValue {
        [
            "id": .string(id), "type": .string(type), "alternateId": .string(name), "displayName": .string(name), "detailEntry": .null,
        ]
    }

    private static func chainLink(_ address: String) -> JSONValue {
        ["ip": .string(address), "version": address.contains(":") ? "V6" : "V4", "source": .null, "geographicalContext": .null]
    }

    private static func result(_ outcome: LogEvent.Outcome) -> String {
        switch outcome {
        case .success: "SUCCESS"
        case .failure: "FAILURE"
        case .denied: "DENY"
        }
    }

    /// Returns the reason. Clients accept 1 to 255 characters, or null.
    private static func reason(_ event: LogEvent) -> JSONValue {
        guard let reason = event.reason, !reason.isEmpty else { return .null }
        return .string(String(reason.prefix(255)))
    }

    private static func debugData(_ event: LogEvent) -> JSONValue {
        var data: [String: JSONValue] = ["requestId": .string(event.requestID), "action": .string(event.type)]
        data["authorizationServer"] = event.server.map(JSONValue.string)
        return .object(data)
    }
}
