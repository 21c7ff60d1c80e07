internal import Foundation
public import JOSE

/// Setting up a phone in the middle of a sign-in, where an authenticator app could be set up as well: the page shows a QR code, the phone
/// exchanges the ticket in it and enrols (``EnrollmentTicketGrant``), and the sign-in goes on with a push to it.
extension IdentityEngine {
    /// Begins it, or begins it anew with another ticket. The one before is worth nothing from then on, nor what it gave.
    ///
    /// - Returns: Where the browser goes; nil if somebody else was faster.
    func beginPhone(_ authenticatorID: String?, _ state: HostedState, token: String, context: RequestContext) async throws -> HostedAnswer?
    {
        guard state.canEnroll, let user = state.user?.value, let proof = state.transaction.proofs.last,
            let authenticator = state.snapshot.phoneAuthenticators(for: user).first(where: {
                authenticatorID == nil || $0.id == authenticatorID
            })
        else { return HostedAnswer(.goOn(token: token)) }
        // Proved too long ago: from the beginning, as with an app.
        let fresh = proof.time.addingTimeInterval(EnrollmentPermission.freshness)
        guard context.now < fresh else { return try await restart(state, context: context) }
        let attempts = countAttempt(
            login: user.login, of: user, from: state.subject?.origin ?? .unknown, snapshot: state.snapshot, context: context)
        guard attempts.isAdmitted else {
            return try await note(.tooManyAttempts, until: attempts.reset, state) ? HostedAnswer(.goOn(token: token)) : nil
        }
        let secret = try environment.random.secret()
        let owner = RecordReference(.transaction, state.transaction.id)
        let expiresAt = min(context.now.addingTimeInterval(PhoneTicket.lifetime), fresh, state.transaction.expiresAt)
        let ticket = Ticket(
            kind: .enrollmentTicket, digest: TicketDigest(of: secret), owner: owner, use: .once, expiresAt: expiresAt)
        var next = state.transaction
        next.hosted?.stopEnrolling()
        next.hosted?.phone = PhoneTicket(
            authenticatorID: authenticator.id, digest: ticket.digest.bytes,
            sealedSecret: try RecordCoding.seal(Array(secret.utf8), for: owner, environment: environment), expiresAt: expiresAt)
        let changes: [Change] =
            try state.closingPhone + [
                .issue(ticket), state.stored.writing(next),
                logEntry("user.mfa.factor.begin", .success, reason: "push, by a code of the page", userID: user.id, context: context),
            ]
        return try await store.commit(changes) == .committed ? HostedAnswer(.goOn(token: token)) : nil
    }

    /// What the page shows of a phone that is being set up; nil if none is, or its time is over.
    func phoneOffer(_ state: HostedState, context: RequestContext) throws -> PhoneEnrollmentOffer? {
        guard let phone = state.hosted.phone, context.now < phone.expiresAt, let user = state.user?.value,
            let authenticator = state.snapshot.phoneAuthenticators(for: user).first(where: { $0.id == phone.authenticatorID })
        else { return nil }
        guard phone.grantID == nil else { return PhoneEnrollmentOffer(uri: nil, authenticatorName: authenticator.name) }
        let owner = RecordReference(.transaction, state.transaction.id)
        let secret = try RecordCoding.open(phone.sealedSecret, for: owner, masterKey: environment.masterKey)
        return PhoneEnrollmentOffer(
            uri: PhoneTicket.uri(
                origin: state.snapshot.origin, authenticator: authenticator, secret: String(decoding: secret, as: UTF8.self)),
            authenticatorName: authenticator.name)
    }
}

/// What a page shows to who sets up a phone.
public struct PhoneEnrollmentOffer: Sendable, Equatable {
    /// What the phone scans; nil once a phone has, and enrols.
    public var uri: String?
    /// The app that scans it.
    public var authenticatorName: String
}

extension PhoneEnrollmentOffer: Redacted {
    /// The app; never the ticket.
    public var description: String { "PhoneEnrollmentOffer(\(authenticatorName))" }
}

extension HostedState {
    /// Closes the ticket that was shown before.
    var closingPhone: [Change] { transaction.closingPhone }
}

extension SignInTransaction {
    /// Closes the ticket that was shown before.
    var closingPhone: [Change] { phone.map { [.close(.enrollmentTicket, digest: TicketDigest(bytes: $0.digest))] } ?? [] }

    /// Whether what was proved permits to set up a factor: one is missing, there is none, and the proofs are of this sign-in and fresh.
    func allowsEnrollment(of subject: Subject, now: Date) -> Bool {
        guard end == nil, (hosted?.inherited ?? 0) == 0, let last = proofs.last,
            now < last.time.addingTimeInterval(EnrollmentPermission.freshness)
        else { return false }
        return switch proved(subject, "", []).1 {
        case .enrollmentRequired, .enrollmentOffered: true
        default: false
        }
    }
}
