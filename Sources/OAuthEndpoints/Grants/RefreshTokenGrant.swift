internal import Foundation
internal import IdentityCore
internal import OAuthWire
internal import Store

/// The refresh token grant (RFC 6749 section 6; Documentation/Protocol/OAuth.md §2.4.2 and §3.5).
/// - The first use of a rotating token consumes the token and issues its successor.
/// - Within the client's leeway, the token may be used again, because the client may have lost the response or sent two requests. The
///   server then issues a new successor and retires the unused first one. So a family never has two valid tokens.
/// - Within the leeway, but after its successor was used, the token is refused: the request is a late copy of an old one.
/// - After the leeway, or after the token was retired, its reuse revokes the family, because two parties have the token.
/// - A public client's token is valid only with the key that it is bound to, if any (RFC 9449 section 5).
/// - The access policy is not evaluated again; the grant keeps the lifetimes of its rule. The user's assignment to the application is
///   checked again.
struct RefreshTokenGrant: GrantHandler {
    static let grantType = GrantType.refreshToken
    /// The leeway in seconds for a rotating token of a client that now has static tokens.
    private static let defaultLeeway = 30

    private let request: AdmittedRequest
    private let digest: TicketDigest
    private let presented: String
    private let state: TicketState
    /// The current state of the successor of a used token; `nil` for an unused token.
    private let successor: TicketState?
    private let grant: Grant?
    private let user: User?
    private let wanted: ScopeRequest

    static func lookup(_ parameters: [String: String], isProved: Bool, _ engine: Engine) -> Lookup {
        Lookup(.ticket(.refreshToken, TicketDigest(of: parameters["refresh_token"] ?? ""), .owner(.named(.user, byKey: "user"))))
    }

    init(_ request: AdmittedRequest, reading: Reading<GrantVerdict>) throws {
        let view = reading.view
        self.request = request
        presented = try request.required("refresh_token")
        wanted = try ScopeRequest(request["scope"])
        digest = TicketDigest(of: presented)
        let now = request.context.now
        state = try view.ticket(.refreshToken, digest: digest, now: now)
        if case .taken(_, _, let gave) = state {
            successor = try view.ticket(.refreshToken, digest: TicketDigest(bytes: gave), now: now)
        } else {
            successor = nil
        }
        grant = try state.ticket.flatMap { try view.record($0.owner.kind, id: $0.owner.id) }.map(Grant.init)
        user = try grant?.userID.flatMap { try GrantUserReader.user(id: $0, in: view) }
    }

    func decide(_ engine: Engine, _ verdict: FactorVerdict?) throws -> TokenDecision {
        let (grant, user) = try openGrant()
        let random = engine.environment.random
        let now = request.context.now
        switch state {
        case .fresh(let ticket) where ticket.use == .untilClosed:
            return try refreshStatic(grant, user, engine)
        case .fresh:
            let next = try RefreshTokenSuccessor(of: grant, use: .once, now: now, random: random)
            return try answer(
                grant, user, next, [.take(.refreshToken, digest: digest, now: now, gave: next.ticket.digest.bytes), .issue(next.ticket)],
                engine)
        case .taken(_, let takenAt, let gave):
            guard now <= takenAt.addingTimeInterval(TimeInterval(leeway)) else { return reuse(of: grant, reason: "refresh.reused") }
            guard case .fresh = successor else { throw Self.invalid("refresh.successor_used") }
            let next = try RefreshTokenSuccessor(of: grant, use: .once, now: now, random: random)
            let changes: [Change] = [
                .retake(.refreshToken, digest: digest, now: now, expected: gave, gave: next.ticket.digest.bytes),
                // Conflicts if the first successor was used in the meantime: a family must not have two valid tokens.
                .take(.refreshToken, digest: TicketDigest(bytes: gave), now: now, gave: next.ticket.digest.bytes),
                .close(.refreshToken, digest: TicketDigest(bytes: gave)), .issue(next.ticket),
            ]
            return try answer(grant, user, next, changes, engine)
        case .closed:
            return reuse(of: grant, reason: "refresh.retired_reused")
        case .expired: throw Self.invalid("refresh.expired")
        case .unknown: throw Self.invalid("refresh.unknown")
        }
    }

    private var leeway: Int {
        if case .rotate(let leeway) = request.application.refreshTokenRotation { leeway } else { Self.defaultLeeway }
    }

    /// Returns the open grant of this client at this server, and its user.
    private func openGrant() throws(Refusal) -> (Grant, User) {
        guard let grant, grant.refresh != nil else { throw Self.invalid("refresh.unknown") }
        guard grant.clientID == request.application.id else { throw Self.invalid("refresh.other_client") }
        guard grant.server == request.server.id else { throw Self.invalid("refresh.other_server") }
        // Checked before the state of the token, because without the key the token must have no effect, not even a revocation.
        if !request.application.isConfidential { try request.requireKey(grant.keyThumbprint) }
        guard grant.revokedAt == nil else { throw Self.invalid("refresh.revoked") }
        if let closure = grant.closure(by: user) { throw Self.invalid(closure) }
        guard let user else { throw Self.invalid("user.removed") }
        guard request.application.assignment.includes(user) else { throw Self.invalid("user.not_assigned") }
        return (grant, user)
    }

    private func refreshStatic(_ grant: Grant, _ user: User, _ engine: Engine) throws -> TokenDecision {
        let now = request.context.now
        guard let family = grant.refresh, now < family.end(usedAt: family.usedAt) else { throw Self.invalid("refresh.idle") }
        var changes: [Change] = [.require(.refreshToken, digest: digest, now: now)]
        // Written at intervals, so that concurrent requests with the token seldom conflict.
        if now.timeIntervalSince(family.usedAt) >= family.useGranularity {
            var used = grant
            used.refresh?.usedAt = now
            used.keepForRefresh(now: now)
            changes.append(.put(used.record))
        }
        let scopes = try wanted.narrowing(grant.scopes)
        let response = try request.issuer(engine).response(for: grant, user: user, scopes: scopes, refreshToken: presented)
        return .issued(response, Writes(changes), rule: grant.rule, userID: user.id)
    }

    private func answer(
        _ grant: Grant, _ user: User, _ next: RefreshTokenSuccessor, _ changes: [Change], _ engine: Engine
    ) throws -> TokenDecision {
        let scopes = try wanted.narrowing(grant.scopes)
        var kept = grant
        let isRewritten = kept.keepForRefresh(now: request.context.now)
        let response = try request.issuer(engine).response(for: grant, user: user, scopes: scopes, refreshToken: next.secret)
        return .issued(response, Writes(changes + (isRewritten ? [.put(kept.record)] : [])), rule: grant.rule, userID: user.id)
    }

    private func reuse(of grant: Grant, reason: String) -> TokenDecision {
        .refused(Self.invalid(reason), Writes(grant.revoking(at: request.context.now)), userID: grant.userID)
    }

    /// Returns the refusal of an invalid token. The response is the same for every reason, which only the log shows.
    private static func invalid(_ reason: String) -> Refusal {
        Refusal(.invalidGrant, "The refresh token is invalid or expired.", reason: reason)
    }
}
