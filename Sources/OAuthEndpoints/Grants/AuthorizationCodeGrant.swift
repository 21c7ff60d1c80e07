internal import Crypto
internal import Foundation
internal import IdentityCore
internal import JOSE
internal import OAuthWire
internal import Store

/// The authorization code grant (RFC 6749 section 4.1.3; Documentation/Protocol/OAuth.md §2.4.1). A code is valid once. A reused code
/// revokes the grant that was issued for it (RFC 9700 section 2.1.1). A request with the wrong client, redirect URI or verifier does not
/// consume the code.
struct AuthorizationCodeGrant: GrantHandler {
    static let grantType = GrantType.authorizationCode

    private let request: AdmittedRequest
    private let digest: TicketDigest
    private let state: TicketState
    private let transaction: SignInTransaction?
    private let user: User?
    private let isSessionOpen: Bool
    /// The grant that was issued for a used code; `nil` for an unused code.
    private let given: Grant?

    static func lookup(_ parameters: [String: String], isProved: Bool, _ engine: Engine) -> Lookup {
        Lookup(
            .ticket(
                .authorizationCode, TicketDigest(of: parameters["code"] ?? ""),
                .owner(.named(.user, byKey: "user"), .named(.session, byKey: "session"))))
    }

    init(_ request: AdmittedRequest, reading: Reading<GrantVerdict>) throws {
        let view = reading.view
        self.request = request
        let now = request.context.now
        let code = try request.required("code")
        digest = TicketDigest(of: code)
        let found = try view.transaction(.authorizationCode, secret: code, now: now)
        state = found?.1 ?? .unknown
        transaction = found?.0.value
        user = try transaction?.userID.flatMap { try GrantUserReader.user(id: $0, in: view) }
        isSessionOpen = try transaction?.sessionID.map { [user] in try view.isSessionOpen(id: $0, of: user, now: now) } ?? false
        if case .taken(_, _, let gave) = state {
            given = try view.record(.grant, id: String(decoding: gave, as: UTF8.self)).map(Grant.init)
        } else {
            given = nil
        }
    }

    func decide(_ engine: Engine, _ verdict: FactorVerdict?) throws -> TokenDecision {
        guard let transaction, let asked = transaction.authorization?.request, var authentication = transaction.authentication,
            transaction.applicationID == request.application.id, transaction.server == request.server.id
        else { throw Self.invalid("code: unknown or another client's") }
        try request.requireKey(asked.keyThumbprint)
        switch state {
        case .fresh: break
        case .taken:
            let changes = given.map { $0.revokedAt == nil ? $0.revoking(at: request.context.now) : [] } ?? []
            return .refused(Self.invalid("code: used before"), Writes(changes), userID: transaction.userID)
        case .expired: throw Self.invalid("code: expired")
        case .closed, .unknown: throw Self.invalid("code: closed")
        }
        guard let uri = request["redirect_uri"], uri.utf8.elementsEqual(asked.redirectURI.utf8) else {
            throw Self.invalid("code: redirect_uri")
        }
        try verify(asked.codeChallenge)
        // A sign-out or a change of the account since the sign-in makes the code invalid.
        guard let user, user.status == .active, transaction.isAbout(user), isSessionOpen else {
            throw Self.invalid("code: session has ended")
        }
        guard request.application.assignment.includes(user) else { throw Self.invalid("user.not_assigned") }
        // One session can issue several codes, whose tokens all have the same `auth_time`. The `auth_time` must be before `iat`, even
        // within one second.
        authentication.time.addTimeInterval(-1)
        let id = try engine.environment.random.identifier(prefix: "gra")
        let taking = Change.take(.authorizationCode, digest: digest, now: request.context.now, gave: Array(id.utf8))
        return try UserGrant(
            request: request, user: user, authentication: authentication, scopes: transaction.scopes, nonce: asked.nonce,
            sessionID: transaction.sessionID, id: id
        ).issue(engine, after: Writes([taking]))
    }

    /// Verifies PKCE (RFC 7636 section 4.6). A verifier without a challenge is rejected, because an attacker may have removed the challenge
    /// (RFC 9700 section 4.8.2).
    private func verify(_ challenge: String?) throws(Refusal) {
        guard let challenge else {
            guard request["code_verifier"] == nil else { throw Self.invalid("code: verifier without a challenge") }
            return
        }
        guard let verifier = request["code_verifier"], (43...128).contains(verifier.utf8.count),
            Base64URL.encode(Array(SHA256.hash(data: Array(verifier.utf8)))) == challenge
        else { throw Self.invalid("code: verifier") }
    }

    /// Returns the refusal of an invalid code. The response is the same for every reason, which only the log shows.
    private static func invalid(_ reason: String) -> Refusal {
        Refusal(.invalidGrant, "The code is invalid, expired or used, or does not belong to this request.", reason: reason)
    }
}
