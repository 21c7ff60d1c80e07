internal import Foundation
internal import IdentityCore
internal import JOSE
internal import OAuthWire
internal import Store

/// The decision on a code, or another answer to a factor, that the user typed. The counters, the transaction, the factor and the tokens are
/// committed together.
struct TypedCode: Sendable, Redacted {
    let request: AdmittedRequest
    /// The `mfa_token` of the sign-in; `nil` if the code starts it.
    let token: String?
    let stored: StoredTransaction
    let user: StoredUser
    let subject: SignInTransaction.Subject?
    /// The scopes of this request; `nil` if the sign-in contains the scopes.
    var scopes: [String]?

    /// Counts the attempt; throws ``Refusal`` after too many attempts.
    func count(_ engine: Engine) throws {
        guard let subject else { throw Refusal.overTransaction }
        guard !request.isRepeated else { return }
        let attempts = engine.countAttempt(
            login: user.value.login, of: user.value, from: subject.origin, snapshot: request.snapshot, context: request.context)
        guard attempts.isAdmitted else {
            throw Refusal.tooManyRequests(attempts, reason: "sign-in attempts for one user name or from one address")
        }
    }

    /// Applies the verdict to the sign-in. Issues tokens if the sign-in is complete.
    func decide(_ engine: Engine, _ verdict: FactorVerdict, of verifier: some FactorVerifier) throws -> TokenDecision {
        let context = request.context
        let (next, outcome, effects) = stored.value.step(
            .judged(verifier.kind, verifier.factorClass, methods: verifier.methods, verdict, subject), now: context.now)
        let person = effects.user(after: user.value)
        var writes = try Writes([stored.writing(next)]) + Writes(effects, of: next, user: user)
        if next.end != nil { writes += [.closeTickets(of: RecordReference(.transaction, next.id))] }
        switch outcome {
        case .authenticated(let authentication):
            // The scopes of the first request; this request cannot extend them.
            return try UserGrant(request: request, user: person, authentication: authentication, scopes: scopes ?? next.scopes)
                .issue(afterProof: writes, engine)
        case .tryAgain(let refusal), .refused(let refusal):
            // A first factor causes the same events as for an unknown name.
            return .refused(refusal, writes, userID: token == nil ? nil : next.userID, isGuess: true)
        case .factorRequired(let kinds):
            guard let token else {
                // The sign-in started with this code, so it needs a new mfa_token.
                let secret = try engine.environment.random.secret(prefix: "mfa_")
                var going = next
                going.scopes = scopes ?? next.scopes
                going.expiresAt = context.now.addingTimeInterval(TimeInterval(request.snapshot.mfaTokenLifetime))
                writes.changes[0] = try stored.writing(going)
                writes += [.issue(going.mfaTicket(secret))]
                return .refused(.factorRequired(kinds, token: secret), writes, userID: next.userID)
            }
            return .refused(.factorRequired(kinds, token: token), writes, userID: next.userID)
        case .enrollmentRequired, .enrollmentOffered, .setupOffered, .passwordDue, .recovering, .unlocked, .challenged, .pending, .judged,
            .tooLate,
            .cancelled:
            throw Refusal.overTransaction
        }
    }
}

extension TypedCode {
    /// Reads the sign-in of the request's `mfa_token`. Throws ``Refusal`` for an invalid token.
    init(ofSecondFactor request: AdmittedRequest, reading view: any StoreView) throws {
        let token = try request.required("mfa_token")
        guard case (let stored, .fresh)? = try view.transaction(.mfaToken, secret: token, now: request.context.now),
            stored.value.applicationID == request.application.id, stored.value.server == request.server.id,
            let user = try stored.value.userID.flatMap({ try view.record(.user, id: $0) }).map(StoredUser.init)
        else { throw Refusal(.invalidGrant, "The mfa_token is unknown or has expired. Begin again.", reason: "mfa_token: unknown") }
        self.init(
            request: request, token: token, stored: stored, user: user,
            subject: try view.subject(user.value, of: stored.value, snapshot: request.snapshot, from: request.context))
    }
}

/// A sent code, with the `oob_code` of its challenge (Documentation/Protocol/OAuth.md §2.4.10, `binding_code`).
struct BoundCode: Sendable {
    private let channel: CodeChannel
    private let code: String
    private let typed: TypedCode

    /// Reads the sign-in of an `oob_code`; `nil` if the `oob_code` is unknown or belongs to a push. Throws ``Refusal`` if it is no longer
    /// valid.
    init?(secret: String, token: String?, scopes: [String]?, request: AdmittedRequest, reading view: any StoreView) throws {
        let now = request.context.now
        guard let (stored, ticket) = try view.transaction(.oobCode, secret: secret, now: now),
            stored.value.applicationID == request.application.id, stored.value.server == request.server.id,
            let channel = CodeChannel(rawValue: String(decoding: ticket.ticket?.payload ?? [], as: UTF8.self))
        else { return nil }
        switch ticket {
        case .fresh: break
        case .expired: throw Refusal(.expiredToken, "The request was not answered in time. Start again.", reason: "oob_code: expired")
        default: throw Refusal(.invalidGrant, "The code is not known, or was used before.", reason: "oob_code: closed")
        }
        // A poll without a code is refused; the sign-in stays unchanged.
        code = try request.required("binding_code")
        guard let user = try stored.value.userID.flatMap({ try view.record(.user, id: $0) }).map(StoredUser.init) else {
            throw Refusal.overTransaction
        }
        typed = TypedCode(
            request: request, token: token, stored: stored, user: user,
            subject: try view.subject(user.value, of: stored.value, scopes: scopes, snapshot: request.snapshot, from: request.context),
            scopes: scopes)
        self.channel = channel
    }

    var transactionID: String { typed.stored.value.id }
    /// Whether the code starts a sign-in.
    var isFirst: Bool { typed.stored.value.proofs.isEmpty }

    func decide(_ engine: Engine) throws -> TokenDecision {
        try typed.count(engine)
        let verifier = CodeVerifier(
            environment: engine.environment, channel: channel, enrollments: typed.subject?.enrollments.usable ?? [], owner: transactionID,
            now: typed.request.context.now)
        let verdict = verifier.verify(.code(code), of: typed.user.value, policy: typed.request.snapshot.passwordPolicy)
        return try typed.decide(engine, verdict, of: verifier)
    }
}
