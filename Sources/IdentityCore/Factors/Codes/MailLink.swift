package import Foundation
internal import Store

/// What the page of a mail's link asks: is it you who signs in there?
package struct MailLinkQuestion: Sendable, Equatable {
    /// The name that the person signs in with.
    package var login: String
    /// When the mail was sent.
    package var sentAt: Date
    /// Whether it was answered with yes already.
    package var isApproved: Bool
    /// The application that they sign in to; nil if it is not known.
    package var applicationName: String?
    /// The address from which the mail was asked for; nil if it is not known.
    package var address: String?
    /// What the browser said of itself there; nil if it said nothing.
    package var userAgent: String?
}

/// The link that comes with a code by mail. Who opens it says on a page whether it is them, which takes a form: programs that look at
/// mails open links and send no forms. The sign-in that the mail was sent for goes on where it began, and nowhere else.
extension Engine {
    /// What the page of a link asks.
    ///
    /// - Parameters:
    ///   - token: The link's secret.
    ///   - context: When and from where it was opened.
    /// - Returns: Nil if the link is unknown, too old, replaced by another, or of a code that was used.
    /// - Throws: ``StoreError`` if the store failed.
    package func mailLink(_ token: String, context: RequestContext) async throws -> MailLinkQuestion? {
        try await store.read { try OpenMailLink(token, in: $0, now: context.now)?.question }
    }

    /// Takes the answer of a link's page: yes lets the sign-in go on; no ends it, and makes the code and the link good for nothing.
    ///
    /// - Parameters:
    ///   - token: The link's secret.
    ///   - isApproved: Whether it is them.
    ///   - context: When and from where it came.
    /// - Returns: Whether it was taken; false if the link is good for nothing.
    /// - Throws: ``StoreError`` if the store failed.
    package func answerMailLink(_ token: String, isApproved: Bool, context: RequestContext) async throws -> Bool {
        try await transact(context) { reading in
            try OpenMailLink(token, in: reading.view, now: context.now)
        } decide: { link in
            guard let link else { return Plan(false) }
            return Plan(true, try isApproved ? link.approval(now: context.now) : link.denial(now: context.now))
        }
    }
}

/// A link that can be answered, as one read finds it.
private struct OpenMailLink: Sendable {
    private let digest: TicketDigest
    private let enrollment: Enrollment
    private let code: CodeMethod.OpenCode
    private let login: String
    /// The sign-in that the mail was sent for.
    private let signIn: StoredTransaction?

    /// Returns `nil` if the link is unknown, expired or replaced, or if its code was consumed.
    init?(_ token: String, in view: any StoreView, now: Date) throws {
        guard token.utf8.count <= 64 else { return nil }
        digest = TicketDigest(of: token)
        guard case .fresh(let ticket) = try view.ticket(.mailLink, digest: digest, now: now), ticket.owner.kind == .enrollment,
            let enrollment = try view.record(.enrollment, id: ticket.owner.id).map(Enrollment.init), let code = enrollment.code?.open,
            code.link == digest.bytes, now < code.expiresAt,
            let user = try view.record(.user, id: enrollment.userID).map(StoredUser.init)
        else { return nil }
        (self.enrollment, self.code, login) = (enrollment, code, user.value.login)
        signIn = try view.record(.transaction, id: code.owner).map(StoredTransaction.init)
    }

    var question: MailLinkQuestion {
        MailLinkQuestion(
            login: login, sentAt: code.sentAt, isApproved: code.approvedAt != nil, applicationName: code.origin?.applicationName,
            address: code.origin?.address, userAgent: code.origin?.userAgent)
    }

    func approval(now: Date) throws -> Writes {
        var next = enrollment
        next.code?.open?.approvedAt = code.approvedAt ?? now
        var writes = Writes([.require(.mailLink, digest: digest, now: now), .put(try next.record())])
        writes.log("user.mfa.email.answer", .success, reason: "by the link", userID: next.userID)
        return writes
    }

    func denial(now: Date) throws -> Writes {
        var next = enrollment
        next.code?.open = nil
        var writes = Writes([
            .require(.mailLink, digest: digest, now: now), .put(try next.record()), .close(.mailLink, digest: digest),
        ])
        if let signIn, signIn.value.end == nil {
            var refused = signIn.value
            refused.end = .refused
            writes += [try signIn.writing(refused)]
        }
        writes.log("user.account.report_suspicious_activity", .denied, reason: "by the link: it was not me", userID: next.userID)
        return writes
    }
}
