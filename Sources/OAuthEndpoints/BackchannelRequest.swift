internal import Foundation
package import IdentityCore
internal import JOSE
package import OAuthWire
internal import Store

extension Engine {
    /// The maximum length of `binding_message` in characters. The message must fit a phone's screen and a push.
    private static let longestMessage = 100

    /// Starts a back-channel request: a confidential client asks the user to approve a sign-in on their device (`/bc/authorize`, OpenID
    /// Connect CIBA Core section 7; Documentation/Protocol/OAuth.md §2.7).
    /// - Returns: The `auth_req_id` with its lifetime and poll interval; or a refusal.
    package func backchannelAuthorize(_ request: TokenRequest, context: RequestContext) async throws -> Result<StartedChallenge, Refusal> {
        if let hint = request.parameters["login_hint"], let snapshot = latestSnapshot {
            let attempts = countAttempt(login: Self.possibleName(hint), snapshot: snapshot, context: context)
            guard attempts.isAdmitted else { return .failure(.tooManySignIns(attempts)) }
        }
        return try await start(request, context: context) { [self] in
            rows(of: request, now: context.now)
        } find: { [self] admitted, reading in
            guard admitted.application.isConfidential else {
                throw Refusal(
                    .unauthorizedClient, "Back-channel authentication is for clients that authenticate themselves.", reason: "client.public"
                )
            }
            try admitted.requireGrant(GrantType.ciba)
            guard admitted["request"] == nil else {
                throw Refusal(
                    .invalidRequestObject,
                    "Signed authentication requests are not enabled for this client. Send the parameters themselves.",
                    reason: "bc: request object")
            }
            let scopes = try ScopeRequest(admitted["scope"]).grantedToUser(of: admitted.application, by: admitted.server)
            guard ScopeRequest.interactive.isDisjoint(with: scopes) else {
                throw Refusal(.invalidScope, "The scope requires an interactive sign-in of the user.", reason: "bc: interactive scope")
            }
            guard scopes.contains(ScopeRequest.openID) else {
                throw Refusal(.invalidScope, "The scope of a back-channel request must contain openid.", reason: "bc: no openid")
            }
            let message = try Self.bindingMessage(admitted["binding_message"])
            let lifetime = try Self.expiry(admitted["request_expiry"])
            guard let user = try person(admitted, reading.view), user.value.status == .active else {
                throw Refusal(.unknownUserID, "The hint names no user who can be asked.", reason: "bc: unknown user")
            }
            let signIn = SignInRequest(admitted, scopes: scopes)
            let transaction = SignInTransaction(
                id: try environment.random.identifier(prefix: "txn"), purpose: .backchannel, request: signIn, now: context.now,
                lifetime: lifetime)
            var start = ChallengeStart(new: transaction, user: user)
            start.ticket = .backchannelRequest
            start.bindingMessage = message
            return start
        }
        .mapError { refusal in
            // CIBA Core section 13 has its own code for a user who cannot be asked. A denial by a policy gets the same code, because
            // another code would reveal that the account exists.
            guard refusal.code == .accessDenied else { return refusal }
            return Refusal(.unknownUserID, "The hint names no user who can be asked.", reason: refusal.reason)
        }
    }

    /// The rows of the user whom the hint names. They are read before the client is authenticated, so an unknown name takes the same number
    /// of queries, and an ID token is verified first.
    private func rows(of request: TokenRequest, now: Date) -> Lookup {
        if let login = request.parameters["login_hint"] {
            return Lookup(rows(ofLogin: Self.possibleName(login), with: [.subject, .challenges]))
        }
        guard let token = request.parameters["id_token_hint"], let snapshot = latestSnapshot, let server = snapshot.server(request.server),
            let id = snapshot.keyRing.verification.claims(ofHint: token, issuer: snapshot.issuer(of: server), now: now)?.subject
        else { return Lookup() }
        return Lookup(.record(.user, id: id).appending([.factors, .challenges]))
    }

    private static func bindingMessage(_ text: String?) throws(Refusal) -> String? {
        guard let text else { return nil }
        // Line and paragraph separators break lines like line feeds, but are not control characters.
        let isPlain = text.unicodeScalars.allSatisfy {
            !CharacterSet.controlCharacters.contains($0) && !CharacterSet.newlines.contains($0)
        }
        guard text.utf8.count <= longestMessage * 4, text.count <= longestMessage, isPlain else {
            throw Refusal(
                .invalidBindingMessage,
                "A binding_message has at most \(longestMessage) characters, no line breaks and no control characters.",
                reason: "bc: binding_message")
        }
        return text
    }

    private static func expiry(_ text: String?) throws(Refusal) -> TimeInterval {
        guard let text else { return ChallengePlan.lifetime }
        guard let seconds = Int(text), (1...300).contains(seconds) else {
            throw Refusal(.invalidRequest, "request_expiry is a number of seconds from 1 to 300.", reason: "bc: request_expiry")
        }
        return TimeInterval(seconds)
    }

    /// Returns the user that the request's hint names; `nil` for an unknown user. Throws ``Refusal`` unless the request has exactly one
    /// hint.
    private func person(_ admitted: AdmittedRequest, _ view: any StoreView) throws -> StoredUser? {
        switch (admitted["login_hint"], admitted["id_token_hint"], admitted["login_hint_token"]) {
        case (let login?, nil, nil): return try user(login: Self.possibleName(login), in: view)
        case (nil, let token?, nil):
            // The ID token only identifies the user, so its expiry and its revocation are ignored.
            let claims = admitted.snapshot.keyRing.verification.claims(
                ofHint: token, issuer: admitted.snapshot.issuer(of: admitted.server), now: admitted.context.now)
            guard let claims, claims.audience == [admitted.application.id], claims.jwtID.flatMap(TokenID.init)?.kind == .id,
                let id = claims.subject
            else { return nil }
            return try user(id: id, in: view)
        default:
            throw Refusal(.invalidRequest, "Send exactly one of login_hint and id_token_hint.", reason: "bc: hints")
        }
    }
}

/// The grant of a back-channel request (`ciba`; CIBA Core section 10.1).
struct BackchannelGrant: PollGrantHandler {
    static let grantType = GrantType.ciba

    private let request: AdmittedRequest
    private let waiting: WaitingTransaction

    static func lookup(_ parameters: [String: String], isProved: Bool, _ engine: Engine) -> Lookup {
        Lookup(.signIn(.backchannelRequest, secret: parameters["auth_req_id"] ?? ""))
    }

    init(_ request: AdmittedRequest, reading: Reading<GrantVerdict>) throws {
        guard request.application.isConfidential else {
            throw Refusal(
                .unauthorizedClient, "Back-channel authentication is for clients that authenticate themselves.", reason: "client.public")
        }
        self.request = request
        waiting = try WaitingTransaction(
            .backchannelRequest, secret: request.required("auth_req_id"), scopes: nil, request: request, reading: reading.view)
    }

    var awaited: AwaitedDecision? { waiting.awaited }

    func decide(_ engine: Engine, _ verdict: FactorVerdict?) throws -> TokenDecision {
        try waiting.decide(request, scopes: waiting.stored.value.scopes, engine)
    }
}
