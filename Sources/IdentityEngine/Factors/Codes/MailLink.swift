public import Foundation

/// What the page of a mail's link asks: is it you who signs in there?
public struct MailLinkQuestion: Sendable, Equatable {
    /// The name that the person signs in with.
    public var login: String
    /// When the mail was sent.
    public var sentAt: Date
    /// Whether it was answered with yes already.
    public var isApproved: Bool
    /// The application that they sign in to; nil if it is not known.
    public var applicationName: String?
    /// The address from which the mail was asked for; nil if it is not known.
    public var address: String?
    /// What the browser said of itself there; nil if it said nothing.
    public var userAgent: String?
}

/// The link that comes with a code by mail. Who opens it says on a page whether it is them, which takes a form: programs that look at
/// mails open links and send no forms. The sign-in that the mail was sent for goes on where it began, and nowhere else.
extension IdentityEngine {
    /// What the page of a link asks.
    ///
    /// - Parameters:
    ///   - token: The link's secret.
    ///   - context: When and from where it was opened.
    /// - Returns: Nil if the link is unknown, too old, replaced by another, or of a code that was used.
    /// - Throws: ``StoreError`` if the store failed.
    public func mailLink(_ token: String, context: RequestContext) async throws -> MailLinkQuestion? {
        try await openMailLink(token, context: context).map { found in
            MailLinkQuestion(
                login: found.login, sentAt: found.open.sentAt, isApproved: found.open.approvedAt != nil,
                applicationName: found.open.origin?.applicationName, address: found.open.origin?.address,
                userAgent: found.open.origin?.userAgent)
        }
    }

    /// Takes the answer of a link's page: yes lets the sign-in go on; no ends it, and makes the code and the link good for nothing.
    ///
    /// - Parameters:
    ///   - token: The link's secret.
    ///   - isApproved: Whether it is them.
    ///   - context: When and from where it came.
    /// - Returns: Whether it was taken; false if the link is good for nothing.
    /// - Throws: ``StoreError`` if the store failed.
    public func answerMailLink(_ token: String, isApproved: Bool, context: RequestContext) async throws -> Bool {
        for _ in 0..<Self.attempts {
            guard let found = try await openMailLink(token, context: context) else { return false }
            var next = found.enrollment
            if isApproved { next.code?.open?.approvedAt = found.open.approvedAt ?? context.now } else { next.code?.open = nil }
            let log = try logEntry(
                isApproved ? "user.mfa.email.answer" : "user.account.report_suspicious_activity", isApproved ? .success : .denied,
                reason: isApproved ? "by the link" : "by the link: it was not me", userID: next.userID, context: context)
            var changes: [Change] = [.require(.mailLink, digest: TicketDigest(of: token), now: context.now), .put(try next.record()), log]
            if !isApproved {
                changes.append(.close(.mailLink, digest: TicketDigest(of: token)))
                if var refused = found.signIn?.value, refused.end == nil {
                    refused.end = .refused
                    changes += try [found.signIn?.writing(refused)].compactMap(\.self)
                }
            }
            if try await store.commit(changes) == .committed { return true }
        }
        throw StoreError(.unavailable, "The factor changed on every attempt to write it. Try again.")
    }

    private struct FoundLink: Sendable {
        var enrollment: Enrollment
        var open: CodeMethod.OpenCode
        var login: String
        /// What it was sent for.
        var signIn: StoredTransaction?
    }

    private func openMailLink(_ token: String, context: RequestContext) async throws -> FoundLink? {
        guard token.utf8.count <= 64 else { return nil }
        let digest = TicketDigest(of: token)
        return try await store.read { [self] view in
            guard case .fresh(let ticket) = try view.ticket(.mailLink, digest: digest, now: context.now), ticket.owner.kind == .enrollment,
                let enrollment = try view.record(.enrollment, id: ticket.owner.id).map(Enrollment.init), let open = enrollment.code?.open,
                open.link == digest.bytes, context.now < open.expiresAt, let user = try user(id: enrollment.userID, in: view)
            else { return nil }
            let signIn = try view.record(.transaction, id: open.owner).map(StoredTransaction.init)
            return FoundLink(enrollment: enrollment, open: open, login: user.value.login, signIn: signIn)
        }
    }
}
