internal import Foundation
package import IdentityCore
package import JOSE
package import OAuthWire
internal import Store

/// The introspection response (RFC 7662 section 2.2; Documentation/Protocol/OAuth.md §2.9).
package struct Introspection: Sendable, Equatable {
    /// The members of the response; for an inactive token only `active`.
    package var json: JSONValue

    package var isActive: Bool { json["active"] == true }

    /// The response about an inactive token: exactly `{"active": false}`.
    package static let inactive = Introspection(json: ["active": false])

    init(json: JSONValue) { self.json = json }

    /// Creates the response about a device secret, for an app that shares it.
    init(deviceSecret secret: String, of application: Application, _ finder: TokenFinder) throws {
        let digest = TicketDigest(of: secret)
        guard
            let (grant, _) = try finder.view.deviceGrant(
                digest, server: finder.server.id, snapshot: finder.snapshot, now: finder.now), let sessionID = grant.sessionID,
            try finder.view.openGrants(by: digest).contains(where: { $0.clientID == application.id })
        else {
            self = .inactive
            return
        }
        let end = grant.refresh?.endsAt ?? grant.expiresAt
        json = [
            "active": true, "sid": .string(sessionID), "token_type": .string(DeviceSecret.tokenType),
            "exp": .integer(end.numericDate),
        ]
    }

    init(_ token: IssuedToken) {
        var members: [String: JSONValue]
        switch token {
        case .access(let claims, let grant, let user):
            members = claims.json.objectValue ?? [:]
            members["token_type"] = claims.keyThumbprint == nil ? "Bearer" : "DPoP"
            members["scope"] = .string(claims.scopes.joined(separator: " "))
            members["client_id"] = .string(grant.clientID)
            members["username"] = (user?.login).map(JSONValue.string)
            members["nbf"] = members["iat"]
        case .id(let claims, _, _):
            members = claims.json.objectValue ?? [:]
        case .refresh(let ticket, let grant, let user):
            members = [
                "token_type": grant.keyThumbprint == nil ? "Bearer" : "DPoP",
                "scope": .string(grant.scopes.filter { !ScopeRequest.interactive.contains($0) }.joined(separator: " ")),
                "client_id": .string(grant.clientID),
                "username": .string(user.login), "sub": .string(user.login),
            ]
            members["cnf"] = grant.keyThumbprint.map { ["jkt": .string($0)] }
            let end = ticket.use == .once ? ticket.expiresAt : grant.refresh.map { $0.end(usedAt: $0.usedAt) }
            members["exp"] = end.map { .integer($0.numericDate) }
        }
        members["active"] = true
        json = .object(members)
    }
}

extension Application {
    /// Whether the application may introspect a token as a resource server, regardless of the client that it was issued to.
    fileprivate func mayIntrospect(_ token: IssuedToken) -> Bool {
        guard isConfidential, case .access(let claims, _, _) = token else { return false }
        return introspectionAudiences.map { !$0.filter(claims.audience.contains).isEmpty } ?? true
    }
}

extension Engine {
    /// Introspects a token (RFC 7662). The result includes every revocation, password change and deactivation that was committed before. A
    /// confidential client may introspect every access token of the server, or only those for its ``Application/introspectionAudiences``.
    /// Refresh and ID tokens are active only for their own client. For a public client, only its own tokens are active.
    /// - Parameter request: The parameter `token`; a hint is not needed.
    package func introspect(_ request: TokenRequest, context: RequestContext) async throws -> Result<Introspection, Refusal> {
        try await answerAboutToken(request, type: "token.introspect", context: context) { application, finder, token in
            if token.hasPrefix(DeviceSecret.prefix) { return try Introspection(deviceSecret: token, of: application, finder) }
            guard let found = try finder.find(token) else { return .inactive }
            guard found.grant.clientID == application.id || application.mayIntrospect(found) else { return .inactive }
            return Introspection(found)
        } decide: {
            Plan(.success($0))
        }
    }

    /// The rows of a token, a device secret or the secret of a challenge.
    private static func rows(ofToken token: String) -> Lookup {
        if token.hasPrefix(DeviceSecret.prefix) { return DeviceSecret.lookup(TicketDigest(of: token)) }
        if let kind = TicketKind(ofChallengeSecret: token) { return Lookup(.ticket(kind, TicketDigest(of: token), .owner())) }
        return TokenFinder.lookup(token)
    }

    /// Runs the phases that introspection and revocation share, in one read.
    func answerAboutToken<Found: Sendable, Answer: Sendable>(
        _ request: TokenRequest, type: String, context: RequestContext,
        read: @escaping @Sendable (Application, TokenFinder, String) throws -> Found,
        decide: (Found) throws -> Plan<Result<Answer, Refusal>>
    ) async throws -> Result<Answer, Refusal> {
        try await transact(request, context: context, loggingReplays: type) { (refusal, admitted, _: Found?) in
            // Refusals of public clients are only in the access log, because an attacker could fill the disk with them.
            guard let admitted, admitted.application.isConfidential else { return nil }
            return LoggedEvent(type, .failure, reason: refusal.reason, clientID: admitted.application.id, server: request.server)
        } lookup: {
            Self.rows(ofToken: request.parameters["token"] ?? "")
        } read: { admitted, reading in
            let token = try admitted.required("token")
            let finder = TokenFinder(snapshot: admitted.snapshot, server: admitted.server, view: reading.view, now: context.now)
            return try read(admitted.application, finder, token)
        } decide: { (found: Found) in
            try decide(found)
        }
    }
}
