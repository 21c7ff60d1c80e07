internal import Foundation
internal import IdentityCore
internal import OAuthWire
internal import Store

/// The state of a grant that waits for the user's device.
struct WaitingTransaction: Sendable {
    let stored: StoredTransaction
    let subject: SignInTransaction.Subject?
    /// The user's record with its version, for a write; `nil` while the challenge is pending.
    let user: StoredUser?
    /// The enrollment of the device that approved the challenge; `nil` for none. It is written unchanged, so that a concurrent revocation
    /// causes a version conflict.
    let approver: Enrollment?
    let kind: TicketKind
    let digest: TicketDigest

    /// Reads the open transaction that a secret of this client names; throws ``Refusal`` for an invalid secret. `scopes` are the scopes of
    /// this request; `nil` if the transaction contains the scopes.
    init(_ kind: TicketKind, secret: String, scopes: [String]?, request: AdmittedRequest, reading view: any StoreView) throws {
        let now = request.context.now
        guard let (stored, ticket) = try view.transaction(kind, secret: secret, now: now),
            stored.value.applicationID == request.application.id, stored.value.server == request.server.id
        else {
            throw Refusal(
                .invalidGrant, "The code is not known, or was used before.", reason: "\(kind.rawValue): unknown or another client's")
        }
        switch ticket {
        case .fresh: break
        case .expired:
            throw Refusal(.expiredToken, "The request was not answered in time. Start again.", reason: "\(kind.rawValue): expired")
        default: throw Refusal(.invalidGrant, "The code is not known, or was used before.", reason: "\(kind.rawValue): closed")
        }
        if let challenge = stored.value.challenge, now >= challenge.expiresAt {
            throw Refusal(.expiredToken, "The request was not answered in time. Start again.", reason: "\(kind.rawValue): expired")
        }
        self.stored = stored
        self.kind = kind
        digest = TicketDigest(of: secret)
        // The user is not read while the challenge is pending, because polls are frequent.
        guard stored.value.challenge?.state != .pending, let id = stored.value.userID else {
            (user, subject, approver) = (nil, nil, nil)
            return
        }
        let user = try view.record(.user, id: id).map(StoredUser.init)
        let subject = try user.flatMap {
            try view.subject($0.value, of: stored.value, scopes: scopes, snapshot: request.snapshot, from: request.context)
        }
        let approver = subject?.enrollments.approver(of: stored.value)
        let isClosed = stored.value.challenge?.approver != nil && approver == nil
        (self.user, self.subject, self.approver) = (user, isClosed ? nil : subject, approver)
    }

    /// The decision that the client waits for while the user has not answered.
    var awaited: AwaitedDecision {
        let transaction = stored.value
        return AwaitedDecision(
            digest: digest, transaction: transaction, version: stored.version,
            expiresAt: transaction.challenge?.expiresAt ?? transaction.expiresAt)
    }

    /// Applies the device's answer to the sign-in. Issues tokens if the sign-in is complete.
    func decide(_ request: AdmittedRequest, scopes: [String], _ engine: Engine) throws -> TokenDecision {
        let now = request.context.now
        let (next, outcome, effects) = stored.value.step(.polled(subject), now: now)
        // The user's record changes only if the sign-in succeeds.
        var writes = try Writes(effects, of: next, user: nil)
        switch outcome {
        case .pending:
            throw Refusal(.authorizationPending, "The user has not answered yet.", reason: "poll: pending")
        case .authenticated(let authentication):
            guard let user else { throw Refusal.overTransaction }
            engine.pollPacer.forget(digest)
            writes += try Writes(effects.filter(\.isUserWrite), of: next, user: user)
            if let approver { writes.changes.append(.put(try approver.record())) }
            writes += [try stored.writing(next), .closeTickets(of: RecordReference(.transaction, next.id))]
            return try UserGrant(request: request, user: user.value, authentication: authentication, scopes: scopes)
                .issue(engine, after: writes)
        case .refused(let refusal):
            engine.pollPacer.forget(digest)
            writes += [try stored.writing(next), .closeTickets(of: RecordReference(.transaction, next.id))]
            return .refused(refusal, writes, userID: next.userID)
        case .tryAgain(let refusal):
            // The challenge has ended and its oob_code is invalid. The mfa_token stays valid for another factor.
            engine.pollPacer.forget(digest)
            writes += [try stored.writing(next), .close(kind, digest: digest)]
            return .refused(refusal, writes, userID: next.userID)
        case .factorRequired, .enrollmentRequired, .enrollmentOffered, .setupOffered, .passwordDue, .recovering, .unlocked, .challenged,
            .judged,
            .tooLate, .cancelled:
            throw Refusal(
                .invalidGrant, Refusal.overTransaction.description, reason: writes.events.last?.reason ?? "transaction: unexpected")
        }
    }
}

/// A push or a sent code as the second factor (`mfa-oob`; Documentation/Protocol/OAuth.md §2.4.10).
struct SecondFactorOOBGrant: PollGrantHandler {
    static let grantType = GrantType.secondFactorOOB

    private enum Answer: Sendable {
        case device(WaitingTransaction)
        case code(BoundCode)
    }

    private let request: AdmittedRequest
    private let answer: Answer

    static func lookup(_ parameters: [String: String], isProved: Bool, _ engine: Engine) -> Lookup {
        Lookup(
            .signIn(.oobCode, secret: parameters["oob_code"] ?? ""),
            .ticket(.mfaToken, TicketDigest(of: parameters["mfa_token"] ?? ""), .owner()))
    }

    init(_ request: AdmittedRequest, reading: Reading<GrantVerdict>) throws {
        let view = reading.view
        self.request = request
        let token = try request.required("mfa_token")
        let secret = try request.required("oob_code")
        let id: String
        if let code = try BoundCode(secret: secret, token: token, scopes: nil, request: request, reading: view) {
            (answer, id) = (.code(code), code.transactionID)
        } else {
            let waiting = try WaitingTransaction(.oobCode, secret: secret, scopes: nil, request: request, reading: view)
            (answer, id) = (.device(waiting), waiting.stored.value.id)
        }
        guard case (let other, .fresh)? = try view.transaction(.mfaToken, secret: token, now: request.context.now), other.value.id == id
        else { throw Refusal(.invalidGrant, "The mfa_token does not belong to the code, or has expired.", reason: "mfa_token: other") }
    }

    var awaited: AwaitedDecision? { if case .device(let waiting) = answer { waiting.awaited } else { nil } }

    func decide(_ engine: Engine, _ verdict: FactorVerdict?) throws -> TokenDecision {
        switch answer {
        // The scopes of the first request; this request cannot extend them.
        case .device(let waiting): try waiting.decide(request, scopes: waiting.stored.value.scopes, engine)
        case .code(let code): try code.decide(engine)
        }
    }
}

/// A push or a sent code as the first factor (`oob`; Documentation/Protocol/OAuth.md §2.4.10).
struct OOBGrant: PollGrantHandler {
    static let grantType = GrantType.oob

    private enum Answer: Sendable {
        case device(WaitingTransaction)
        case code(BoundCode)
    }

    private let request: AdmittedRequest
    private let answer: Answer
    private let scopes: [String]

    static func lookup(_ parameters: [String: String], isProved: Bool, _ engine: Engine) -> Lookup {
        Lookup(.signIn(.oobCode, secret: parameters["oob_code"] ?? ""))
    }

    init(_ request: AdmittedRequest, reading: Reading<GrantVerdict>) throws {
        let view = reading.view
        self.request = request
        scopes = try ScopeRequest(request["scope"]).grantedToUser(of: request.application, by: request.server)
        let secret = try request.required("oob_code")
        let isFirst: Bool
        if let code = try BoundCode(secret: secret, token: nil, scopes: scopes, request: request, reading: view) {
            (answer, isFirst) = (.code(code), code.isFirst)
        } else {
            let waiting = try WaitingTransaction(.oobCode, secret: secret, scopes: scopes, request: request, reading: view)
            (answer, isFirst) = (.device(waiting), waiting.stored.value.proofs.isEmpty)
        }
        guard isFirst else {
            throw Refusal(.invalidGrant, "The code is of a second factor. Use it with its mfa_token.", reason: "oob_code: second factor")
        }
    }

    var awaited: AwaitedDecision? { if case .device(let waiting) = answer { waiting.awaited } else { nil } }

    func decide(_ engine: Engine, _ verdict: FactorVerdict?) throws -> TokenDecision {
        switch answer {
        case .device(let waiting): try waiting.decide(request, scopes: scopes, engine)
        case .code(let code): try code.decide(engine)
        }
    }
}
