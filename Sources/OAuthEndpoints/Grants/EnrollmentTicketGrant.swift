internal import Foundation
internal import IdentityCore
internal import OAuthWire
internal import Store

/// The exchange of a QR code's ticket for an access token that enrolls one phone of the user. It is this project's own grant, for the org
/// server and the app that is linked to the authenticator.
/// - The token has the scope `okta.myAccount.appAuthenticator.manage`, a lifetime of five minutes, and no refresh token. The token becomes
///   useless when the sign-in that showed the QR code ends.
/// - All invalid tickets get the same response. A request of another client does not consume the ticket.
/// - A reused ticket revokes the grant that was issued for it, because two parties have the ticket.
struct EnrollmentTicketGrant: GrantHandler {
    static let grantType = GrantType.enrollmentTicket
    /// The lifetime of the token in seconds.
    static let lifetime = 300
    private static let longestSecret = 100

    private enum Found: Sendable {
        case awaited(AwaitedPhone)
        /// The ticket was exchanged before. This grant was issued for it.
        case used(Grant?, userID: String?)
    }

    private let request: AdmittedRequest
    private let digest: TicketDigest
    private let found: Found

    static func lookup(_ parameters: [String: String], isProved: Bool, _ engine: Engine) -> Lookup {
        Lookup(
            .ticket(
                .enrollmentTicket, TicketDigest(of: parameters["ticket"] ?? ""),
                .owner(.account, .named(.session, byKey: "session"))))
    }

    init(_ request: AdmittedRequest, reading: Reading<GrantVerdict>) throws {
        let view = reading.view
        self.request = request
        guard request.server.id == nil else { throw Self.invalid("ticket: only the org server takes it") }
        guard try ScopeRequest(request["scope"]).names.allSatisfy({ $0 == DeviceScope.manage }) else {
            throw Refusal(
                .invalidScope, "A ticket gives the scope \(DeviceScope.manage) only. Leave the parameter out.",
                reason: "ticket: other scope")
        }
        let secret = try request.required("ticket")
        guard secret.utf8.count <= Self.longestSecret else { throw Self.invalid("ticket: too long") }
        let now = request.context.now
        digest = TicketDigest(of: secret)
        let state = try view.ticket(.enrollmentTicket, digest: digest, now: now)
        guard let owner = state.ticket?.owner, owner.kind == .transaction else { throw Self.invalid("ticket: unknown") }
        switch state {
        case .fresh:
            guard let awaited = try view.awaitedPhone(signIn: owner.id, snapshot: request.snapshot, now: now),
                awaited.ticket.digest == digest.bytes
            else { throw Self.invalid("ticket: its sign-in has ended, or does not wait for it") }
            // The ticket is not consumed, so that the right app can still use it.
            guard awaited.authenticator.clientID == request.application.id else { throw Self.invalid("ticket: the client is not its app") }
            found = .awaited(awaited)
        case .taken(_, _, let gave):
            let grant = try view.record(.grant, id: String(decoding: gave, as: UTF8.self)).map(Grant.init)
            guard grant?.clientID == request.application.id else { throw Self.invalid("ticket: used, by another client") }
            found = .used(grant, userID: grant?.userID)
        case .closed, .expired, .unknown: throw Self.invalid("ticket: closed or expired")
        }
    }

    func decide(_ engine: Engine, _ verdict: FactorVerdict?) throws -> TokenDecision {
        let now = request.context.now
        switch found {
        case .used(let grant, let userID):
            let revoking = grant.map { $0.revokedAt == nil ? $0.revoking(at: now) : [] } ?? []
            return .refused(Self.invalid("ticket: used before"), Writes(revoking), userID: userID)
        case .awaited(let awaited):
            let user = awaited.user.value
            let rule = "ticket of a sign-in page"
            let authentication = AuthenticationContext(
                userID: user.id, time: awaited.provedAt, methods: awaited.signIn.value.methods)
            let lifetime = TimeInterval(Self.lifetime)
            var grant = Grant(
                id: try engine.environment.random.identifier(prefix: "gra"), clientID: request.application.id, server: nil,
                userID: user.id, scopes: [DeviceScope.manage], grantType: Self.grantType, rule: rule, createdAt: now,
                account: .init(user), authentication: .init(authentication, firstIssuedAt: now), accessTokenLifetime: Self.lifetime,
                expiresAt: now.addingTimeInterval(lifetime))
            grant.signInID = awaited.signIn.value.id
            let response = try request.issuer(engine).response(for: grant, user: user, scopes: grant.scopes, refreshToken: nil)
            var ticket = awaited.ticket
            ticket.grantID = grant.id
            // The token is usable for its whole lifetime, even if the ticket was exchanged late.
            ticket.expiresAt = max(ticket.expiresAt, now.addingTimeInterval(lifetime))
            let changes: [Change] = [
                .take(.enrollmentTicket, digest: digest, now: now, gave: Array(grant.id.utf8)), .put(grant.record),
                try awaited.writing(ticket),
            ]
            return .issued(response, Writes(changes), rule: "\(rule); authenticator \(ticket.authenticatorID)", userID: user.id)
        }
    }

    /// Returns the refusal of an invalid ticket. The response is the same for every reason, which only the log shows.
    private static func invalid(_ reason: String) -> Refusal {
        Refusal(
            .invalidGrant, "The code is not known, too old, or was used before. Let the sign-in page show another.", reason: reason)
    }
}
