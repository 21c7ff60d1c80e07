import AuthFoundation
import Foundation
import JOSE

/// The details of a credential that may be shown; never a token.
struct CredentialSummary {
    let id: String
    let isDefault: Bool
    let name: String
    let issuer: String
    let clientID: String
    let scopes: [String]
    let expiresAt: Date?
    let canRefresh: Bool

    init(_ credential: Credential) {
        let token = credential.token
        id = credential.id
        isDefault = Credential.default?.id == credential.id
        name = token.idToken?.preferredUsername ?? token.idToken?.name ?? token.idToken?.subject ?? "unknown user"
        issuer = token.context.configuration.issuerURL.absoluteString
        clientID = token.context.configuration.clientId
        scopes = token.scope ?? []
        expiresAt = token.expiresAt
        canRefresh = token.refreshToken != nil
    }

    var json: JSONValue {
        var json: JSONValue = [
            "id": .string(id), "default": .bool(isDefault), "name": .string(name), "issuer": .string(issuer),
            "client_id": .string(clientID),
            "scopes": .array(scopes.map(JSONValue.string)), "can_refresh": .bool(canRefresh),
        ]
        json["expires_at"] = expiresAt.map { .integer($0.numericDate) }
        return json
    }

    var line: TerminalText {
        "\(isDefault ? "*" : " ") \(id)  \(name)  \(clientID) at \(issuer)"
    }

    var details: TerminalText {
        """
        id        \(id)\(isDefault ? " (default)" : "")
        person    \(name)
        issuer    \(issuer)
        client    \(clientID)
        scopes    \(scopes.joined(separator: " "))
        expires   \(expiresAt.map { $0.formatted(.iso8601) } ?? "unknown")
        refresh   \(canRefresh ? "possible" : "not possible")
        """
    }

    /// Stores the token of a new sign-in as the default credential, and tells the user.
    static func keep(_ token: Token, json: Bool) throws {
        let credential = try Credential.store(token)
        try Credential.setDefault(credential)
        let summary = CredentialSummary(credential)
        Terminal.write("Signed in as \(summary.name); credential \(summary.id).", or: summary.json, isJSON: json)
    }
}
