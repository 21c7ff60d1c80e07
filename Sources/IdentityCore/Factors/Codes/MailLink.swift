package import Foundation
internal import Store

/// The content of the page behind a mailed link, which asks the user to confirm the sign-in. Unknown properties are `nil`.
package struct MailLinkQuestion: Sendable, Equatable {
    package var login: String
    /// The time when the mail was sent.
    package var sentAt: Date
    /// Whether the user has already confirmed.
    package var isApproved: Bool
    package var applicationName: String?
    /// The IP address from which the mail was requested.
    package var address: String?
    /// The browser and the operating system from which the mail was requested.
    package var userAgent: String?
}

/// The link that is mailed with a code. The user confirms the sign-in on a page with a form, because mail scanners open links but do not
/// submit forms. The sign-in continues only in the browser or app that started it.
extension Engine {
    /// Returns the content of a link's page; `nil` if the link is unknown, expired or replaced, or its code was consumed.
    package func mailLink(_ token: String, context: RequestContext) async throws -> (question: MailLinkQuestion, snapshot: OrgSnapshot)? {
        try await store.read {
            OpenMailLink.lookup(token)
        } _: { [self] view in
            try OpenMailLink(token, in: view, now: context.now).map { ($0.question, try snapshot(view)) }
        }
    }

    /// Records the user's response on a link's page. An approval lets the sign-in continue; a denial ends it and invalidates code and link.
    /// Returns the configuration; `nil` if the link is invalid.
    package func answerMailLink(_ token: String, isApproved: Bool, context: RequestContext) async throws -> OrgSnapshot? {
        try await transact(context) {
            OpenMailLink.lookup(token)
        } read: { reading in
            try OpenMailLink(token, in: reading.view, endsSignIn: !isApproved, now: context.now).map {
                (link: $0, snapshot: try reading.snapshot)
            }
        } decide: { found in
            guard let (link, snapshot) = found else { return Plan(nil) }
            return Plan(snapshot, try isApproved ? link.approval(now: context.now) : link.denial(now: context.now))
        }
    }
}

/// A link that can be answered, from one read.
private struct OpenMailLink: Sendable {
    private let digest: TicketDigest
    private let enrollment: Enrollment
    private let code: SentCodeMethod.OpenCode
    private let login: String
    /// The sign-in that the mail was sent for, if a denial ends it.
    private let signIn: StoredTransaction?

    /// The link with its enrollment and user. The sign-in is known only after the enrollment.
    static func lookup(_ token: String) -> Lookup {
        Lookup(.ticket(.mailLink, TicketDigest(of: token), .owner(.named(.user, byKey: "user"))))
    }

    /// Opens a link; `nil` if it is unknown, expired or replaced, or its code was consumed.
    init?(_ token: String, in view: any StoreView, endsSignIn: Bool = false, now: Date) throws {
        guard token.utf8.count <= 64 else { return nil }
        digest = TicketDigest(of: token)
        guard case .fresh(let ticket) = try view.ticket(.mailLink, digest: digest, now: now), ticket.owner.kind == .enrollment,
            let enrollment = try view.record(.enrollment, id: ticket.owner.id).map(Enrollment.init), let code = enrollment.sentCode?.open,
            code.link == digest.bytes, now < code.expiresAt,
            let user = try view.record(.user, id: enrollment.userID).map(StoredUser.init)
        else { return nil }
        (self.enrollment, self.code, login) = (enrollment, code, user.value.login)
        signIn = try endsSignIn ? view.record(.transaction, id: code.owner).map(StoredTransaction.init) : nil
    }

    var question: MailLinkQuestion {
        MailLinkQuestion(
            login: login, sentAt: code.sentAt, isApproved: code.approvedAt != nil, applicationName: code.origin?.applicationName,
            address: code.origin?.address, userAgent: code.origin?.userAgent)
    }

    func approval(now: Date) throws -> Writes {
        var next = enrollment
        next.sentCode?.open?.approvedAt = code.approvedAt ?? now
        var writes = Writes([.require(.mailLink, digest: digest, now: now), .put(try next.record())])
        writes.log("user.mfa.email.answer", .success, reason: "by the link", userID: next.userID)
        return writes
    }

    func denial(now: Date) throws -> Writes {
        var next = enrollment
        next.sentCode?.open = nil
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
