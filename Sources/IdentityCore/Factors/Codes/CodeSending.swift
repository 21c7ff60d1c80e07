package import Foundation
internal import JOSE
internal import Store

/// A code that was made: what is to be committed, and what is to be sent after that.
package struct PreparedCode: Sendable {
    /// As it is written, in the version that was read.
    package var enrollment: Enrollment
    /// The enrolment, the link, and a log event.
    package var writes: Writes
    /// To be sent once.
    package var message: OutgoingMessage
}

/// What a code is made for.
package struct CodeRequest: Sendable {
    package var purpose: OutgoingMessage.Purpose
    /// The id of the transaction: the code is good for nothing else.
    package var owner: String
    /// The way that it takes, where a telephone has two; nil for the factor's own.
    package var channel: CodeChannel?
    /// Whether the person has confirmed the number as another factor of theirs.
    var isConfirmed = false
    /// Whether a link comes with it, which does as well as the code.
    package var hasLink = false
    package var applicationName: String?

    package init(
        purpose: OutgoingMessage.Purpose, owner: String, channel: CodeChannel? = nil, isConfirmed: Bool = false, hasLink: Bool = false,
        applicationName: String? = nil
    ) {
        self.purpose = purpose
        self.owner = owner
        self.channel = channel
        self.isConfirmed = isConfirmed
        self.hasLink = hasLink
        self.applicationName = applicationName
    }
}

extension Engine {
    /// Makes a code for a factor. The one that was open is good no more when the changes are committed.
    ///
    /// Reads nothing and writes nothing; for use before a commit that is tried again. Asked again within one request, it counts once.
    ///
    /// - Parameters:
    ///   - request: What it is for.
    ///   - enrollment: The factor, as it was read.
    ///   - user: Whose it is.
    ///   - snapshot: The configuration.
    ///   - context: When and from where it is asked for.
    /// - Returns: What is committed, and then sent.
    /// - Throws: ``CodeRefusal`` if none may be sent now; what the random source throws.
    package func prepareCode(
        _ request: CodeRequest, for enrollment: Enrollment, of user: User, snapshot: OrgSnapshot, context: RequestContext
    ) throws -> PreparedCode {
        guard let method = enrollment.code else { throw CodeRefusal.notPending }
        let channel = request.channel ?? method.channel
        if let number = method.destination.phoneNumber, !snapshot.permits(number) { throw CodeRefusal.foreignNumber }
        let occasion = request.purpose.occasion
        // Whose number is set up is not known before it is: until then it has what is left for strangers.
        let isConfirmed = enrollment.status == .active || request.isConfirmed
        if let refusal = method.refusal(at: context.now, for: occasion)
            ?? pace(channel, to: method.destination, of: user, occasion, isConfirmed: isConfirmed, snapshot: snapshot, context: context)
        {
            throw refusal
        }
        let code = try environment.makeCode()
        let link = request.hasLink && channel == .email ? try environment.random.secret(prefix: "ml_") : nil
        let expiresAt = context.now.addingTimeInterval(CodeMethod.lifetime)
        var next = enrollment
        var lane = method[occasion]
        let replaced = lane.open
        lane.open = CodeMethod.OpenCode(
            digest: environment.digest(ofCode: code, enrollment: enrollment.id, owner: request.owner), owner: request.owner,
            sentAt: context.now, expiresAt: expiresAt, link: link.map { TicketDigest(of: $0).bytes },
            origin: link.map { _ in
                CodeMethod.Origin(
                    applicationName: request.applicationName, address: context.address,
                    userAgent: SignInOrigin.browser(context.userAgent))
            })
        lane.sent = lane.sent.filter { $0 > context.now.addingTimeInterval(-CodeMethod.sendingWindow) } + [context.now]
        next.code?[occasion] = lane
        var writes = Writes()
        if let old = replaced?.link { writes += [.close(.mailLink, digest: TicketDigest(bytes: old))] }
        writes += [.put(try next.record())]
        if let link {
            let ticket = Ticket(
                kind: .mailLink, digest: TicketDigest(of: link), owner: RecordReference(.enrollment, enrollment.id), use: .untilClosed,
                expiresAt: expiresAt)
            writes += [.issue(ticket)]
        }
        writes.log("user.mfa.code.send", .success, reason: "\(channel.rawValue), \(request.purpose.rawValue)", userID: user.id)
        let message = OutgoingMessage(
            id: try environment.random.identifier(prefix: "msg"), channel: channel, destination: method.destination,
            purpose: request.purpose, code: code, linkToken: link, expiresAt: expiresAt, recipient: .init(user),
            organizationName: snapshot.organization.name, applicationName: request.applicationName,
            origin: .init(requestID: context.requestID, address: context.address, time: context.now))
        return PreparedCode(enrollment: next, writes: writes, message: message)
    }

    /// Counts a message; returns why it must not be sent.
    private func pace(
        _ channel: CodeChannel, to destination: CodeDestination, of user: User, _ occasion: CodeMethod.Occasion, isConfirmed: Bool,
        snapshot: OrgSnapshot, context: RequestContext
    ) -> CodeRefusal? {
        messagePacer.refusal(
            channel, to: "\(user.id) \(destination.key)", occasion, limit: snapshot.rateLimits.messages,
            unconfirmed: isConfirmed ? nil : destination.phoneNumber?.e164, requestID: context.requestID, now: context.now)
    }

    /// A message that brings a link and no code, such as one by which a password is set again.
    ///
    /// - Parameters:
    ///   - purpose: What it is about.
    ///   - channel: The way that it takes.
    ///   - destination: Where it goes.
    ///   - token: The secret of the link, whose ticket the caller issues.
    ///   - expiresAt: Until when that is good.
    ///   - user: To whom.
    ///   - isConfirmed: Whether the number is known to be theirs; of no meaning for mail, which goes to their own address.
    ///   - snapshot: The configuration.
    ///   - context: When and from where it is asked for.
    /// - Returns: What is sent after the commit.
    /// - Throws: ``CodeRefusal`` if none may be sent now; what the random source throws.
    package func linkMessage(
        _ purpose: OutgoingMessage.Purpose, by channel: CodeChannel, to destination: CodeDestination, token: String, expiresAt: Date,
        user: User, isConfirmed: Bool = false, snapshot: OrgSnapshot, context: RequestContext
    ) throws -> OutgoingMessage {
        if let number = destination.phoneNumber, !snapshot.permits(number) { throw CodeRefusal.foreignNumber }
        let refusal = pace(
            channel, to: destination, of: user, purpose.occasion, isConfirmed: isConfirmed, snapshot: snapshot, context: context)
        if let refusal { throw refusal }
        return OutgoingMessage(
            id: try environment.random.identifier(prefix: "msg"), channel: channel, destination: destination, purpose: purpose,
            code: nil, linkToken: token, expiresAt: expiresAt, recipient: .init(user), organizationName: snapshot.organization.name,
            applicationName: nil, origin: .init(requestID: context.requestID, address: context.address, time: context.now))
    }
}

extension User {
    /// Where mail reaches the person: the address of their profile, or the name that they sign in with, if that is one.
    package var mailAddress: MailAddress? {
        profile["email"]?.stringValue.flatMap(MailAddress.init) ?? MailAddress(login)
    }
}
