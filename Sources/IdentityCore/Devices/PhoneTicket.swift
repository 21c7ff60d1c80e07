package import Foundation
package import Store

/// A ticket for enrolling the user's phone during a sign-in, on the hosted pages or by the classic API. It is shown as a QR code and is
/// part of its ``SignInTransaction``. The app exchanges the ticket, once, for an access token that can only enroll one device of this user
/// (``EnrollmentTicketGrant``). Ticket and token are valid only while the sign-in waits for them. Each step (showing, exchanging,
/// enrolling) checks ``StoreView/awaitedPhone(signIn:snapshot:now:)`` again and writes the sign-in, so that a concurrent step causes a
/// version conflict.
package struct PhoneTicket: Sendable, Equatable, Codable {
    /// Seconds until the ticket expires.
    package static let lifetime: TimeInterval = 600

    /// The id of the authenticator in which the phone is enrolled.
    package var authenticatorID: String
    package var digest: [UInt8]
    /// The ticket's secret, encrypted for the sign-in, so that a reload of the page can show it again.
    package var sealedSecret: [UInt8]
    /// The expiry of the ticket and of the token for which it is exchanged.
    package var expiresAt: Date
    /// The id of the grant for which the ticket was exchanged; `nil` before the exchange.
    package var grantID: String?
    /// The id of the future push method, if the classic API announced it before enrollment; `nil` on the hosted pages.
    package var methodID: String?

    package init(
        authenticatorID: String, digest: [UInt8], sealedSecret: [UInt8], expiresAt: Date, grantID: String? = nil, methodID: String? = nil
    ) {
        (self.authenticatorID, self.digest, self.sealedSecret, self.expiresAt) = (authenticatorID, digest, sealedSecret, expiresAt)
        (self.grantID, self.methodID) = (grantID, methodID)
    }

    /// Returns the URL of the QR code. A browser that opens the URL shows instructions. The secret is in the fragment, which browsers do
    /// not send and servers do not log.
    package static func uri(origin: String, authenticator: PushAuthenticator, secret: String) -> String {
        origin + path(reference(authenticator: authenticator, secret: secret))
    }

    /// Returns the QR code's URL without the origin.
    /// - Parameter reference: The URL's last part, as ``reference(authenticator:secret:)`` returns it.
    package static func path(_ reference: String) -> String { "/enroll/\(reference)" }

    /// Returns the last part of the QR code's URL: the authenticator's id, and the fragment with the app's client id and the secret.
    package static func reference(authenticator: PushAuthenticator, secret: String) -> String {
        let id = authenticator.id.addingPercentEncoding(withAllowedCharacters: plain) ?? ""
        let client = authenticator.clientID.addingPercentEncoding(withAllowedCharacters: plain) ?? ""
        return "\(id)#client_id=\(client)&ticket=\(secret)"
    }

    private static let plain = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
}

/// A sign-in that waits for a phone to be enrolled.
package struct AwaitedPhone: Sendable {
    package let signIn: StoredTransaction
    package let ticket: PhoneTicket
    package let authenticator: PushAuthenticator
    package let user: StoredUser
    let subject: SignInTransaction.Subject

    /// The time of the sign-in's last proof; the start of the sign-in if it has no proof.
    package var provedAt: Date { signIn.value.proofs.last?.time ?? signIn.value.createdAt }

    /// Returns the change that stores the sign-in with a changed ticket.
    package func writing(_ ticket: PhoneTicket) throws -> Change {
        var next = signIn.value
        next.phone = ticket
        return try signIn.writing(next)
    }

    /// Returns the change that stores the sign-in after the phone was enrolled.
    package func enrolled(_ enrollment: Enrollment, now: Date) throws -> Change {
        var (next, _, _) = signIn.value.step(.phoneEnrolled(enrollment.id, methods: authenticator.methods, subject), now: now)
        next.phone = nil
        return try signIn.writing(next)
    }
}

extension SignInTransaction {
    /// Returns the transaction after a phone was enrolled with its ticket. On the pages, a push to the phone follows. In the classic API,
    /// the enrollment counts as a proof, like the first code of an authenticator app, and the client learns of it by polling.
    func phoneEnrolled(_ proof: Proof, _ subject: Subject, now: Date) -> (SignInTransaction, Outcome, [Effect]) {
        guard now < expiresAt, isAbout(subject.user), let phone, allowsEnrollment(of: subject, now: now) else {
            return (self, .tooLate(.replaced), [])
        }
        var next = self
        if rules.contains(.countsEnrolledPhone) {
            next.proofs.append(proof)
            next.enrolledCount += 1
            next.enrolledPhone = phone.methodID
        }
        next.phone = nil
        return (next, .judged(.approved(userVerified: false)), [])
    }
}

extension StoreView {
    /// Returns the sign-in that waits for a phone. `nil` if the sign-in is unknown or has expired, does not wait for a phone, belongs to an
    /// inactive or locked account, or no longer permits the enrollment.
    package func awaitedPhone(signIn id: String, snapshot: OrgSnapshot, now: Date) throws -> AwaitedPhone? {
        guard let stored = try record(.transaction, id: id).map(StoredTransaction.init), let ticket = stored.value.phone,
            now < ticket.expiresAt, now < stored.value.expiresAt,
            let user = try stored.value.userID.flatMap({ try record(.user, id: $0) }).map(StoredUser.init),
            stored.value.isAbout(user.value), user.value.status == .active,
            let subject = try self.subject(user.value, of: stored.value, snapshot: snapshot, from: nil), !subject.isLocked(at: now),
            stored.value.allowsEnrollment(of: subject, now: now)
        else { return nil }
        // The proofs of a session count only while the session is open.
        if let session = stored.value.sessionID, try openSession(id: session, now: now) == nil { return nil }
        guard let authenticator = snapshot.phoneAuthenticators(for: user.value).first(where: { $0.id == ticket.authenticatorID }) else {
            return nil
        }
        return AwaitedPhone(signIn: stored, ticket: ticket, authenticator: authenticator, user: user, subject: subject)
    }
}

extension OrgSnapshot {
    /// Returns the active authenticators in which the user's phone can be enrolled during a sign-in. The authenticator's app must be
    /// allowed to use enrollment tickets, and the user must be permitted to sign in to the app.
    package func phoneAuthenticators(for user: User) -> [PushAuthenticator] {
        authenticators.filter { authenticator in
            guard authenticator.isActive, let application = application(authenticator.clientID) else { return false }
            return application.grantTypes.contains(GrantType.enrollmentTicket)
                && application.grantedAPIScopes.contains(DeviceScope.manage)
                && signOnDecision(for: user, application: application).assurance != .deny
        }
    }
}
