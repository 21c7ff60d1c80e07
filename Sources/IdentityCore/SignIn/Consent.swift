internal import Crypto
package import Foundation
internal import JOSE
package import Store

/// The scopes to which a user consented for a client, stored so that the user is asked only once.
package struct Consent: Sendable, Equatable, Codable {
    package var userID: String
    package var clientID: String
    /// The id of the authorization server; `nil` for the org server.
    package var server: String?
    package var scopes: [String]
    package var updatedAt: Date
    /// The version of the stored record; 0 before it is stored.
    var version: Int64 = 0

    package init(userID: String, clientID: String, server: String? = nil, scopes: [String], updatedAt: Date, version: Int64 = 0) {
        (self.userID, self.clientID, self.server, self.scopes, self.updatedAt) = (userID, clientID, server, scopes, updatedAt)
        self.version = version
    }

    private enum CodingKeys: String, CodingKey { case userID, clientID, server, scopes, updatedAt }

    /// Returns a digest of user, client and server, so that each combination has one record.
    static func recordID(userID: String, clientID: String, server: String?) -> String {
        let text = [userID, clientID, server ?? "."].joined(separator: "\u{0}")
        return Base64URL.encode(Array(SHA256.hash(data: Array(text.utf8))))
    }

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
    /// Whether the user must confirm a sign-in for which the session alone would suffice. Any program on a device can open the browser,
    /// listen on a loopback port and claim a URL scheme. PKCE proves only that the program that redeems the code also sent the request. A
    /// stored consent does not count, because another program may have obtained it. No confirmation is needed if the request has an ID
    /// token that was issued in the session `sessionID`.
    package func needsConfirmation(of request: AuthorizationRequest, in sessionID: String?) -> Bool {
        guard silentSignIn == .assured, !isConfidential, !request.redirectURI.hasPrefix("https://") else { return false }
        return request.hintedSessionID == nil || request.hintedSessionID != sessionID
    }
}

extension StoreView {
    /// Returns the stored consent of the user to the client; `nil` for none.
    package func consent(of userID: String, to request: AuthorizationRequest) throws -> Consent? {
        try record(.consent, id: Consent.recordID(userID: userID, clientID: request.clientID, server: request.server)).map(Consent.init)
    }

    /// Whether to ask the user for consent: if the client requests it, or if the application requires it and a scope is not yet allowed.
    package func needsConsent(of userID: String, to request: AuthorizationRequest, by application: Application) throws -> Bool {
        try request.prompts.contains(.consent)
            || application.consent == .required
                && request.needsConsent(by: application, beyond: consent(of: userID, to: request))
    }
}

extension AuthorizationRequest {
    /// Whether to ask the user for consent beyond the stored one: if the client requests it, or if the application requires it and a scope
    /// is not yet allowed.
    package func needsConsent(by application: Application, beyond consent: Consent?) -> Bool {
        if prompts.contains(.consent) { return true }
        return application.consent == .required && !scopes.allSatisfy((consent?.scopes ?? []).contains)
    }
}
