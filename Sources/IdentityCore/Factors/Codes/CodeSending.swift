package import Foundation
internal import JOSE
internal import Store

/// A new code, which is sent after the commit of its writes.
package struct PreparedCode: Sendable {
    /// The enrollment to write, with the version that was read.
    package var enrollment: Enrollment
    /// The writes: the enrollment, the link, a log event and the message.
    package var writes: Writes
    package var expiresAt: Date
}

/// The purpose and options of a new code.
package struct CodeRequest: Sendable {
    package var purpose: OutgoingMessage.Purpose
    /// The id of the transaction; the code is valid for it only.
    package var owner: String
    /// The channel of this message, if the phone receives both texts and calls; `nil` for the factor's own channel.
    package var channel: CodeChannel?
    /// Whether the user has confirmed the number for another factor.
    var isConfirmed = false
    /// Whether the message contains a link that can replace the code.
    package var hasLink = false
    package var applicationName: String?

    package init(
        purpose: OutgoingMessage.Purpose, owner: String, channel: CodeChannel? = nil, isConfirmed: Bool = false, hasLink: Bool = false,
        applicationName: String? = nil
    ) {
        (self.purpose, self.owner, self.channel, self.isConfirmed, self.hasLink) = (purpose, owner, channel, isConfirmed, hasLink)
        self.applicationName = applicationName
    }
}

extension Engine {
    /// Creates a code for a factor; its commit invalidates the previous code. Does not access the store, so that a decision can be repeated
    /// after a conflict: only the committed code counts towards the limits. Throws ``CodeRefusal`` if no message may be sent now.
    package func prepareCode(
        _ request: CodeRequest, for enrollment: Enrollment, of user: User, snapshot: OrgSnapshot, context: RequestContext
    ) throws -> PreparedCode {
        guard let method = enrollment.sentCode else { throw CodeRefusal.notPending }
        let channel = request.channel ?? method.channel
        if let number = method.destination.phoneNumber, !snapshot.permits(number) { throw CodeRefusal.foreignNumber }
        let occasion = request.purpose.occasion
        // The owner of an unconfirmed number is unknown, so it uses the limit for unconfirmed numbers.
        let isConfirmed = enrollment.status == .active || request.isConfirmed
        if let refusal = method.refusal(at: context.now, for: occasion) { throw refusal }
        let counts = try count(
            channel, to: method.destination, of: user, occasion, isConfirmed: isConfirmed, snapshot: snapshot, context: context)
        let code = try environment.makeCode()
        let link = request.hasLink && channel == .email ? try environment.random.secret(prefix: "ml_") : nil
        let expiresAt = context.now.addingTimeInterval(SentCodeMethod.lifetime)
        var next = enrollment
        var lane = method[occasion]
        let replaced = lane.open
        lane.open = SentCodeMethod.OpenCode(
            digest: environment.digest(ofCode: code, enrollment: enrollment.id, owner: request.owner), owner: request.owner,
            sentAt: context.now, expiresAt: expiresAt, link: link.map { TicketDigest(of: $0).bytes },
            origin: link.map { _ in
                SentCodeMethod.Origin(
                    applicationName: request.applicationName, address: context.address,
                    userAgent: SignInOrigin.browser(context.userAgent))
            })
        lane.sent = lane.sent.filter { $0 > context.now.addingTimeInterval(-SentCodeMethod.sendingWindow) } + [context.now]
        next.sentCode?[occasion] = lane
        var writes = Writes()
        if let old = replaced?.link { writes += [.close(.mailLink, digest: TicketDigest(bytes: old))] }
        writes += [.put(try next.record())] + counts
        if let link {
            let ticket = Ticket(
                kind: .mailLink, digest: TicketDigest(of: link), owner: RecordReference(.enrollment, enrollment.id), use: .untilClosed,
                expiresAt: expiresAt)
            writes += [.issue(ticket)]
        }
        writes.log("user.mfa.code.send", .success, reason: "\(channel.rawValue), \(request.purpose.rawValue)", userID: user.id)
        writes.outbox = [
            .message(
                OutgoingMessage(
                    id: try environment.random.identifier(prefix: "msg"), channel: channel, destination: method.destination,
                    purpose: request.purpose, code: code, linkToken: link, expiresAt: expiresAt, recipient: .init(user),
                    organizationName: snapshot.organization.name, applicationName: request.applicationName,
                    origin: .init(requestID: context.requestID, address: context.address, time: context.now)))
        ]
        return PreparedCode(enrollment: next, writes: writes, expiresAt: expiresAt)
    }

    /// Returns the changes that count a message; throws ``CodeRefusal`` if it must not be sent.
    private func count(
        _ channel: CodeChannel, to destination: CodeDestination, of user: User, _ occasion: SentCodeMethod.Occasion, isConfirmed: Bool,
        snapshot: OrgSnapshot, context: RequestContext
    ) throws -> [Change] {
        try messagePacer.count(
            channel, to: "\(user.id) \(destination.key)", occasion, limit: snapshot.rateLimits.messages,
            unconfirmed: isConfirmed ? nil : destination.phoneNumber?.e164, now: context.now)
    }

    /// Returns the writes that send a message with a link and no code, such as a password reset link. The caller issues the ticket of the
    /// link. Throws ``CodeRefusal`` if no message may be sent now.
    /// - Parameter isConfirmed: Whether the user has confirmed the number; not used for mail.
    package func linkMessage(
        _ purpose: OutgoingMessage.Purpose, by channel: CodeChannel, to destination: CodeDestination, token: String, expiresAt: Date,
        user: User, isConfirmed: Bool = false, snapshot: OrgSnapshot, context: RequestContext
    ) throws -> Writes {
        if let number = destination.phoneNumber, !snapshot.permits(number) { throw CodeRefusal.foreignNumber }
        let counts = try count(
            channel, to: destination, of: user, purpose.occasion, isConfirmed: isConfirmed, snapshot: snapshot, context: context)
        let message = OutgoingMessage(
            id: try environment.random.identifier(prefix: "msg"), channel: channel, destination: destination, purpose: purpose,
            code: nil, linkToken: token, expiresAt: expiresAt, recipient: .init(user), organizationName: snapshot.organization.name,
            applicationName: nil, origin: .init(requestID: context.requestID, address: context.address, time: context.now))
        return Writes(counts, outbox: [.message(message)])
    }
}

extension User {
    /// The user's mail address: the profile's, or the login if it is an address.
    package var mailAddress: MailAddress? {
        profile["email"]?.stringValue.flatMap(MailAddress.init) ?? MailAddress(login)
    }
}
