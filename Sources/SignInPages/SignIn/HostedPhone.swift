internal import Foundation
internal import IdentityCore
internal import JOSE
internal import Store

/// The enrollment of a phone during a sign-in, if the policy requires a second factor and the user has none. The page shows a QR code. The
/// phone exchanges its ticket and enrolls (`EnrollmentTicketGrant`). The sign-in continues with a push.
extension HostedState {
    /// Starts the setup, or starts it again with another ticket. The previous ticket becomes invalid, and so does the grant for which a
    /// phone exchanged it.
    func beginPhone(_ authenticatorID: String?, _ reading: Reading<HostedStep.Verdict>) -> HostedStep {
        guard enrollable.contains(where: \.isPhone), let user = user?.value, let proof = transaction.proofs.last,
            let authenticator = snapshot.phoneAuthenticators(for: user).first(where: {
                authenticatorID == nil || $0.id == authenticatorID
            })
        else { return unchanged }
        // The proofs are too old to enroll a factor.
        let fresh = proof.time.addingTimeInterval(Enrollment.freshness)
        guard Enrollment.isFresh(proof.time, at: now) else { return restart() }
        return attempt(reading) { _ in
            let secret = try engine.environment.random.secret()
            let owner = RecordReference(.transaction, transaction.id)
            let expiresAt = min(now.addingTimeInterval(PhoneTicket.lifetime), fresh, transaction.expiresAt)
            let ticket = Ticket(
                kind: .enrollmentTicket, digest: TicketDigest(of: secret), owner: owner, use: .once, expiresAt: expiresAt)
            var next = transaction
            next.stopEnrolling()
            next.phone = PhoneTicket(
                authenticatorID: authenticator.id, digest: ticket.digest.bytes,
                sealedSecret: try RecordCoding.seal(Array(secret.utf8), for: owner, environment: engine.environment), expiresAt: expiresAt)
            var writes = Writes(transaction.closingPhone + [.issue(ticket)])
            writes.log("user.mfa.factor.begin", .success, reason: "push, by a code of the page", userID: user.id)
            return try moving(to: next, writes)
        }
    }

    /// Returns the content of the page on which a phone is enrolled; `nil` for no phone, and after the ticket's expiry.
    func phoneOffer() throws -> PhoneEnrollmentOffer? {
        guard let phone = transaction.phone, now < phone.expiresAt, let user = user?.value,
            let authenticator = snapshot.phoneAuthenticators(for: user).first(where: { $0.id == phone.authenticatorID })
        else { return nil }
        guard phone.grantID == nil else { return PhoneEnrollmentOffer(uri: nil, authenticatorName: authenticator.name) }
        let owner = RecordReference(.transaction, transaction.id)
        let secret = try RecordCoding.open(phone.sealedSecret, for: owner, masterKeys: engine.environment.masterKeys)
        return PhoneEnrollmentOffer(
            uri: PhoneTicket.uri(
                origin: snapshot.origin, authenticator: authenticator, secret: String(decoding: secret, as: UTF8.self)),
            authenticatorName: authenticator.name)
    }
}

/// The content of the page on which a phone is enrolled.
package struct PhoneEnrollmentOffer: Sendable, Equatable {
    /// The content of the QR code; `nil` after a phone scanned it.
    package var uri: String?
    /// The name of the app that scans the code.
    package var authenticatorName: String
}

extension PhoneEnrollmentOffer: Redacted {
    package var description: String { "PhoneEnrollmentOffer(\(authenticatorName))" }
}
