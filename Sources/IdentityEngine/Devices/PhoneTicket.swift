internal import Foundation
internal import JOSE

/// A phone that a person sets up in the middle of a sign-in on the pages: the ticket that the page shows as a QR code, and how far a
/// phone has come with it. A part of its ``HostedSignIn``.
///
/// The phone's app exchanges the ticket, once, for an access token that can enrol one device of this person and nothing else
/// (``EnrollmentTicketGrant``). Ticket and token are good only as long as the sign-in waits for them: each of the three steps (showing,
/// exchanging, enrolling) asks ``StoreView/awaitedPhone(signIn:snapshot:now:)`` anew, and writes the sign-in, so that of two steps at one
/// moment the second sees the first.
struct PhoneTicket: Sendable, Equatable, Codable {
    /// Seconds in which it can be exchanged.
    static let lifetime: TimeInterval = 600

    /// The authenticator that the phone is enrolled in.
    var authenticatorID: String
    /// The digest of its secret.
    var digest: [UInt8]
    /// The secret, sealed for the sign-in: the page shows it again when it is loaded again.
    var sealedSecret: [UInt8]
    /// When it ends, and what it gave with it.
    var expiresAt: Date
    /// The grant that it was exchanged for; nil as long as no phone has come.
    var grantID: String?

    /// What the phone reads: an address of the organization that says what to do to who opens it in a browser. The secret is in its
    /// fragment, which no browser sends and no log sees.
    static func uri(origin: String, authenticator: PushAuthenticator, secret: String) -> String {
        let id = authenticator.id.addingPercentEncoding(withAllowedCharacters: plain) ?? ""
        let client = authenticator.clientID.addingPercentEncoding(withAllowedCharacters: plain) ?? ""
        return "\(origin)/enroll/\(id)#client_id=\(client)&ticket=\(secret)"
    }

    private static let plain = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
}

/// A sign-in on the pages that waits for a phone to be set up.
struct AwaitedPhone: Sendable {
    let signIn: StoredTransaction
    let ticket: PhoneTicket
    let authenticator: PushAuthenticator
    let user: StoredUser

    /// When the person proved the password that permits it.
    var provedAt: Date { signIn.value.proofs.last?.time ?? signIn.value.createdAt }

    /// The sign-in with another state of the ticket; nil for none any more.
    func writing(_ ticket: PhoneTicket?) throws -> Change {
        var next = signIn.value
        next.hosted?.phone = ticket
        next.hosted?.notice = nil
        return try signIn.writing(next)
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
    func awaitedPhone(signIn id: String, snapshot: OrgSnapshot, now: Date) throws -> AwaitedPhone? {
        guard let stored = try record(.transaction, id: id).map(StoredTransaction.init), let hosted = stored.value.hosted,
            let ticket = hosted.phone, now < ticket.expiresAt, now < stored.value.expiresAt,
            let user = try stored.value.userID.flatMap({ try record(.user, id: $0) }).map(StoredUser.init),
            stored.value.isAbout(user.value), user.value.status == .active,
            user.value.lockedAt == nil || user.value.isLockOver(policy: snapshot.passwordPolicy, now: now),
            let subject = try self.subject(user.value, of: stored.value, snapshot: snapshot),
            stored.value.allowsEnrollment(of: subject, now: now)
        else { return nil }
        // What a session brought counts as long as it is open.
        if let session = hosted.session, try openSession(id: session, now: now) == nil { return nil }
        guard let authenticator = snapshot.phoneAuthenticators(for: user.value).first(where: { $0.id == ticket.authenticatorID }) else {
            return nil
        }
        return AwaitedPhone(signIn: stored, ticket: ticket, authenticator: authenticator, user: user)
    }
}

extension OrgSnapshot {
    /// The authenticators that a person's phone can be set up in from a page: on, their app the person's, and enabled for it.
    func phoneAuthenticators(for user: User) -> [PushAuthenticator] {
        authenticators.filter { authenticator in
            guard authenticator.isActive, let application = application(authenticator.clientID) else { return false }
            return application.grantTypes.contains(GrantType.enrollmentTicket)
                && application.grantedAPIScopes.contains(DeviceScope.manage)
                && signOnDecision(for: user, application: application).assurance != .deny
        }
    }
}
