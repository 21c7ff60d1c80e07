package import Foundation
package import Store

/// A phone that a person sets up in the middle of a sign-in, on the pages or by the classic API: the ticket that is shown as a QR code, and
/// how far a phone has come with it. A part of its ``HostedSignIn`` or ``ClassicSignIn``.
///
/// The phone's app exchanges the ticket, once, for an access token that can enrol one device of this person and nothing else
/// (``EnrollmentTicketGrant``). Ticket and token are good only as long as the sign-in waits for them: each of the three steps (showing,
/// exchanging, enrolling) asks ``StoreView/awaitedPhone(signIn:snapshot:now:)`` anew, and writes the sign-in, so that of two steps at one
/// moment the second sees the first.
package struct PhoneTicket: Sendable, Equatable, Codable {
    /// Seconds in which it can be exchanged.
    package static let lifetime: TimeInterval = 600

    /// The authenticator that the phone is enrolled in.
    package var authenticatorID: String
    /// The digest of its secret.
    package var digest: [UInt8]
    /// The secret, sealed for the sign-in: the page shows it again when it is loaded again.
    package var sealedSecret: [UInt8]
    /// When it ends, and what it gave with it.
    package var expiresAt: Date
    /// The grant that it was exchanged for; nil as long as no phone has come.
    package var grantID: String?
    /// What the phone's push will be called, where that is told before there is one; nil on the pages.
    package var methodID: String?

    package init(
        authenticatorID: String, digest: [UInt8], sealedSecret: [UInt8], expiresAt: Date, grantID: String? = nil, methodID: String? = nil
    ) {
        self.authenticatorID = authenticatorID
        self.digest = digest
        self.sealedSecret = sealedSecret
        self.expiresAt = expiresAt
        self.grantID = grantID
        self.methodID = methodID
    }

    /// What the phone reads: an address of the organization that says what to do to who opens it in a browser. The secret is in its
    /// fragment, which no browser sends and no log sees.
    package static func uri(origin: String, authenticator: PushAuthenticator, secret: String) -> String {
        "\(origin)/enroll/\(reference(authenticator: authenticator, secret: secret))"
    }

    /// The last part of that address.
    package static func reference(authenticator: PushAuthenticator, secret: String) -> String {
        let id = authenticator.id.addingPercentEncoding(withAllowedCharacters: plain) ?? ""
        let client = authenticator.clientID.addingPercentEncoding(withAllowedCharacters: plain) ?? ""
        return "\(id)#client_id=\(client)&ticket=\(secret)"
    }

    private static let plain = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
}

/// A sign-in that waits for a phone to be set up.
package struct AwaitedPhone: Sendable {
    package let signIn: StoredTransaction
    package let ticket: PhoneTicket
    package let authenticator: PushAuthenticator
    package let user: StoredUser
    let subject: SignInTransaction.Subject

    /// When the person proved the password that permits it.
    package var provedAt: Date { signIn.value.proofs.last?.time ?? signIn.value.createdAt }

    /// The sign-in with another state of the ticket.
    package func writing(_ ticket: PhoneTicket) throws -> Change {
        var next = signIn.value
        next.phone = ticket
        next.hosted?.notice = nil
        return try signIn.writing(next)
    }

    /// The sign-in once the phone is enrolled.
    package func enrolled(_ enrollment: Enrollment, now: Date) throws -> Change {
        var (next, _, _) = signIn.value.step(.phoneEnrolled(enrollment.id, methods: authenticator.methods, subject), now: now)
        next.phone = nil
        next.hosted?.notice = nil
        return try signIn.writing(next)
    }
}

extension SignInTransaction {
    /// The phone that is being set up in it.
    package var phone: PhoneTicket? {
        get { hosted?.phone ?? classic?.phone }
        set {
            hosted?.phone = newValue
            classic?.phone = newValue
        }
    }

    /// A phone was enrolled by the ticket of this sign-in. On the pages a push to it comes next; the classic API takes it as it takes an
    /// app's first code: it proves that the phone is there. The client is told when it asks.
    func phoneEnrolled(_ proof: Proof, _ subject: Subject, now: Date) -> (SignInTransaction, Outcome, [Effect]) {
        guard now < expiresAt, isAbout(subject.user), let phone, allowsEnrollment(of: subject, now: now) else {
            return (self, .tooLate(.replaced), [])
        }
        var next = self
        if classic != nil {
            next.proofs.append(proof)
            next.classic?.enrolled += 1
            next.classic?.enrolledPhone = phone.methodID
        }
        next.phone = nil
        return (next, .judged(.approved(userVerified: false)), [])
    }
}

extension StoreView {
    /// The sign-in that waits for a phone.
    ///
    /// - Parameters:
    ///   - id: The sign-in.
    ///   - snapshot: The configuration that decides.
    ///   - now: When.
    /// - Returns: Nil if there is none, it is over, somebody set something up in the meantime, or what it proved no longer permits it.
    /// - Throws: ``StoreError`` if the store failed.
    package func awaitedPhone(signIn id: String, snapshot: OrgSnapshot, now: Date) throws -> AwaitedPhone? {
        guard let stored = try record(.transaction, id: id).map(StoredTransaction.init), let ticket = stored.value.phone,
            now < ticket.expiresAt, now < stored.value.expiresAt,
            let user = try stored.value.userID.flatMap({ try record(.user, id: $0) }).map(StoredUser.init),
            stored.value.isAbout(user.value), user.value.status == .active,
            let subject = try self.subject(user.value, of: stored.value, snapshot: snapshot, from: nil), !subject.isLocked(at: now),
            stored.value.allowsEnrollment(of: subject, now: now)
        else { return nil }
        // What a session brought counts as long as it is open.
        if let session = stored.value.hosted?.session, try openSession(id: session, now: now) == nil { return nil }
        guard let authenticator = snapshot.phoneAuthenticators(for: user.value).first(where: { $0.id == ticket.authenticatorID }) else {
            return nil
        }
        return AwaitedPhone(signIn: stored, ticket: ticket, authenticator: authenticator, user: user, subject: subject)
    }
}

extension OrgSnapshot {
    /// The authenticators that a person's phone can be set up in from a sign-in: on, their app the person's, and enabled for it.
    package func phoneAuthenticators(for user: User) -> [PushAuthenticator] {
        authenticators.filter { authenticator in
            guard authenticator.isActive, let application = application(authenticator.clientID) else { return false }
            return application.grantTypes.contains(GrantType.enrollmentTicket)
                && application.grantedAPIScopes.contains(DeviceScope.manage)
                && signOnDecision(for: user, application: application).assurance != .deny
        }
    }
}
