internal import Crypto
internal import Foundation
internal import IdentityCore
internal import JOSE
internal import OAuthWire
internal import Store

/// The code that a sign-in with a browser gave (RFC 6749 section 4.1.3; oauth reference 2.4.1).
///
/// Taken once. Who brings it a second time has read it somewhere: what it gave is revoked (RFC 9700 section 2.1.1). What is wrong beside,
/// an other client, redirect URI or verifier, leaves it to the client that it was given to.
struct AuthorizationCodeGrant: GrantHandler {
    static let grantType = GrantType.authorizationCode

    private let request: AdmittedRequest
    private let digest: TicketDigest
    private let state: TicketState
    private let transaction: SignInTransaction?
    private let user: User?
    private let isSessionOpen: Bool
    /// What a code that was taken gave.
    private let given: Grant?

    init(_ request: AdmittedRequest, reading: Reading<GrantVerdict>) throws {
        let view = reading.view
        self.request = request
        let now = request.context.now
        let code = try request.required("code")
        digest = TicketDigest(of: code)
        let found = try view.transaction(.authorizationCode, secret: code, now: now)
        state = found?.1 ?? .unknown
        transaction = found?.0.value
        user = try transaction?.userID.flatMap { try GrantHolder.user(id: $0, in: view) }
        isSessionOpen = try transaction?.hosted?.session.map { try view.openSession(id: $0, now: now) != nil } ?? false
        if case .taken(_, _, let gave) = state {
            given = try view.record(.grant, id: String(decoding: gave, as: UTF8.self)).map(Grant.init)
        } else {
            given = nil
        }
    }

    func decide(_ engine: Engine, _ verdict: FactorVerdict?) throws -> TokenDecision {
        guard let transaction, let hosted = transaction.hosted, var authentication = hosted.authentication,
            transaction.applicationID == request.application.id, transaction.server == request.server.id
        else { throw Self.invalid("code: unknown or another client's") }
        try request.requireKey(hosted.request.keyThumbprint)
        switch state {
        case .fresh: break
        case .taken:
            let changes = given.map { $0.revokedAt == nil ? $0.revoking(at: request.context.now) : [] } ?? []
            return .refused(Self.invalid("code: used before"), Writes(changes), userID: transaction.userID)
        case .expired: throw Self.invalid("code: expired")
        case .closed, .unknown: throw Self.invalid("code: closed")
        }
        guard let uri = request["redirect_uri"], uri.utf8.elementsEqual(hosted.request.redirectURI.utf8) else {
            throw Self.invalid("code: redirect_uri")
        }
        try verify(hosted.request.codeChallenge)
        // Whatever ended the sign-in since ends what it could give.
        guard let user, user.status == .active, transaction.isAbout(user), isSessionOpen else {
            throw Self.invalid("code: session is over")
        }
        guard request.application.assignment.includes(user) else { throw Self.invalid("user.not_assigned") }
        // A session gives many codes. All tokens tell the time that the first ones do, which must lie before their `iat` of the same second.
        authentication.time.addTimeInterval(-1)
        let id = try engine.environment.random.identifier(prefix: "gra")
        let taking = Change.take(.authorizationCode, digest: digest, now: request.context.now, gave: Array(id.utf8))
        return try UserGrant(
            request: request, user: user, authentication: authentication, scopes: transaction.scopes, nonce: hosted.request.nonce,
            sessionID: hosted.session, id: id
        ).issue(engine, after: Writes([taking]))
    }

    /// RFC 7636 section 4.6; and a verifier without a challenge is a challenge that somebody removed (RFC 9700 section 4.8.2).
    private func verify(_ challenge: String?) throws(Refusal) {
        guard let challenge else {
            guard request["code_verifier"] == nil else { throw Self.invalid("code: verifier without a challenge") }
            return
        }
        guard let verifier = request["code_verifier"], (43...128).contains(verifier.utf8.count),
            Base64URL.encode(Array(SHA256.hash(data: Array(verifier.utf8)))) == challenge
        else { throw Self.invalid("code: verifier") }
    }

    /// One answer for every way to be refused.
    private static func invalid(_ reason: String) -> Refusal {
        Refusal(.invalidGrant, "The code is invalid, expired or used, or does not belong to this request.", reason: reason)
    }
}
