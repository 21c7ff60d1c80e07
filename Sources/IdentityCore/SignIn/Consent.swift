internal import Crypto
package import Foundation
internal import JOSE
package import Store

/// What a person allowed a client to have, remembered so that they are asked once; the payload of a consent record.
package struct Consent: Sendable, Equatable, Codable {
    package var userID: String
    package var clientID: String
    /// The authorization server's id; nil for the org server.
    package var server: String?
    package var scopes: [String]
    package var updatedAt: Date
    /// The version of the record that it was read from; 0 before it is stored.
    var version: Int64 = 0

    package init(userID: String, clientID: String, server: String? = nil, scopes: [String], updatedAt: Date, version: Int64 = 0) {
        self.userID = userID
        self.clientID = clientID
        self.server = server
        self.scopes = scopes
        self.updatedAt = updatedAt
        self.version = version
    }

    private enum CodingKeys: String, CodingKey { case userID, clientID, server, scopes, updatedAt }

    /// One for each person, client and server.
    static func recordID(userID: String, clientID: String, server: String?) -> String {
        let text = [userID, clientID, server ?? "."].joined(separator: "\u{0}")
        return Base64URL.encode(Array(SHA256.hash(data: Array(text.utf8))))
    }

    /// The record to store.
    package func record() throws -> Record {
        Record(
            kind: .consent, id: Self.recordID(userID: userID, clientID: clientID, server: server), version: version,
            indexedKeys: ["user": userID], payload: try RecordCoding.encode(self))
    }
}

extension Consent {
    init(_ record: Record) throws {
        self = try RecordCoding.decode(Consent.self, from: record)
        version = record.version
    }
}

extension Application {
    /// Whether a person must say that they meant this application, where nothing but their session speaks for it.
    ///
    /// Any program of a device can open the browser, listen at a loopback port and claim a scheme: who it is is not shown by that, and PKCE
    /// proves only that it is the one that asked. What the person allowed before does not count, for it may have been another program.
    ///
    /// - Parameters:
    ///   - request: What the application asks.
    ///   - sessionID: The session that speaks for it. An id token that was given in it shows who holds it; one of another session, which may
    ///     have ended for a reason, shows nothing.
    /// - Returns: Whether they are asked.
    package func needsConfirmation(of request: AuthorizationRequest, in sessionID: String?) -> Bool {
        guard silentSignIn == .assured, !isConfidential, !request.redirectURI.hasPrefix("https://") else { return false }
        return request.hintedSessionID == nil || request.hintedSessionID != sessionID
    }
}

extension StoreView {
    /// What a person allowed a client before; nil for nothing.
    package func consent(of userID: String, to request: AuthorizationRequest) throws -> Consent? {
        try record(.consent, id: Consent.recordID(userID: userID, clientID: request.clientID, server: request.server)).map(Consent.init)
    }

    /// Whether the person must be asked before the client gets what it asks for: by its own wish, or because it is a stranger's and they
    /// did not allow all of that yet.
    package func needsConsent(of userID: String, to request: AuthorizationRequest, by application: Application) throws -> Bool {
        if request.prompts.contains(.consent) { return true }
        guard application.consent == .required else { return false }
        let allowed = try consent(of: userID, to: request)?.scopes ?? []
        return !request.scopes.allSatisfy(allowed.contains)
    }
}
