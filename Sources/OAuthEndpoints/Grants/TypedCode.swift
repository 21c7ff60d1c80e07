internal import Foundation
internal import IdentityCore
internal import JOSE
internal import OAuthWire
internal import Store

/// What a code comes to that a person typed, whatever made it: counters, transaction, factor and tokens in one write.
struct TypedCode: Sendable, Redacted {
    let request: AdmittedRequest
    /// Leads to the sign-in, where it goes on; nil where it began with the code.
    let token: String?
    let stored: StoredTransaction
    let user: StoredUser
    let subject: SignInTransaction.Subject?
    /// The scopes, where the sign-in does not know them yet; nil for its own.
    var scopes: [String]?

    /// Counts the attempt; throws ``Refusal`` if there were too many.
    func count(_ engine: Engine) throws {
        guard let subject else { throw Refusal.overTransaction }
        guard !request.isRepeated else { return }
        let attempts = engine.countAttempt(
            login: user.value.login, of: user.value, from: subject.origin, snapshot: request.snapshot, context: request.context)
        guard attempts.isAdmitted else {
            throw Refusal.tooManyRequests(attempts, reason: "sign-in attempts for one user name or from one address")
        }
    }

    /// Takes the step, and tokens if it is the last one.
    func decide(_ engine: Engine, _ verdict: FactorVerdict, of verifier: some FactorVerifier) throws -> TokenDecision {
        let context = request.context
        let (next, outcome, effects) = stored.value.step(
            .judged(verifier.kind, verifier.factorClass, methods: verifier.methods, verdict, subject), now: context.now)
        let person = effects.user(after: user.value)
        var writes = try Writes([stored.writing(next)]) + Writes(effects, of: next, user: user)
        if next.end != nil { writes += [.closeTickets(of: RecordReference(.transaction, next.id))] }
        switch outcome {
        case .authenticated(let authentication):
            // The scopes are those that the first request asked for: nobody widens them in the middle.
            return try UserGrant(request: request, user: person, authentication: authentication, scopes: scopes ?? next.scopes)
                .issue(afterProof: writes, engine)
        case .tryAgain(let refusal), .refused(let refusal):
            return .refused(refusal, writes, userID: next.userID, isGuess: true)
        case .factorRequired(let grantTypes):
            guard let token else {
                // A code that begins a sign-in leads on by a token of its own.
                let secret = try engine.environment.random.secret(prefix: "mfa_")
                var going = next
                going.scopes = scopes ?? next.scopes
                going.expiresAt = context.now.addingTimeInterval(TimeInterval(request.snapshot.mfaTokenLifetime))
                writes.changes[0] = try stored.writing(going)
                writes += [.issue(going.mfaTicket(secret))]
                return .refused(.factorRequired(grantTypes, token: secret), writes, userID: next.userID)
            }
            return .refused(.factorRequired(grantTypes, token: token), writes, userID: next.userID)
        case .enrollmentRequired, .enrollmentOffered, .passwordDue, .recovering, .unlocked, .challenged, .pending, .judged, .tooLate,
            .cancelled:
            throw Refusal.overTransaction
        }
    }
}

/// A code that was sent, brought back together with the secret that its challenge gave (oauth reference 2.4.10, `binding_code`).
struct BoundCode: Sendable {
    private let channel: CodeChannel
    private let code: String
    private let typed: TypedCode

    /// Finds the sign-in; nil if the secret is of a push. Throws ``Refusal``.
    init?(secret: String, token: String?, scopes: [String]?, request: AdmittedRequest, reading view: any StoreView) throws {
        let now = request.context.now
        guard let (stored, ticket) = try view.transaction(.oobCode, secret: secret, now: now),
            stored.value.applicationID == request.application.id, stored.value.server == request.server.id,
            let channel = CodeChannel(rawValue: String(decoding: ticket.ticket?.payload ?? [], as: UTF8.self))
        else { return nil }
        switch ticket {
        case .fresh: break
        case .expired: throw Refusal(.expiredToken, "Nobody answered in time. Begin again.", reason: "oob_code: expired")
        default: throw Refusal(.invalidGrant, "The code is not known, or was used before.", reason: "oob_code: closed")
        }
        // Whoever polls as for a push is told to stop; the sign-in stays as it is.
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

    /// The sign-in's id.
    var transactionID: String { typed.stored.value.id }
    /// Whether it begins a sign-in.
    var isFirst: Bool { typed.stored.value.proofs.isEmpty }

    /// Judges the code.
    func decide(_ engine: Engine) throws -> TokenDecision {
        try typed.count(engine)
        let verifier = CodeVerifier(
            environment: engine.environment, channel: channel, enrollments: typed.subject?.enrollments.usable ?? [], owner: transactionID,
            now: typed.request.context.now)
        let verdict = verifier.verify(.code(code), of: typed.user.value, policy: typed.request.snapshot.passwordPolicy)
        return try typed.decide(engine, verdict, of: verifier)
    }
}
