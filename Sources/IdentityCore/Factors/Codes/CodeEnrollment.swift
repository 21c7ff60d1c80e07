internal import Foundation
package import Store

/// A request to enroll a phone or a mailbox.
package struct CodeEnrollmentRequest: Sendable {
    package var channel: CodeChannel
    /// The number as the user entered it. `nil` uses a number that is enrolled or pending already. Not used for mail.
    package var phoneNumber: String?
    package var phoneExtension: String?
    /// Whether the number may replace another verified one.
    package var replaces = false
    /// The id of the transaction; the code is valid for it only.
    package var owner: String

    package init(channel: CodeChannel, phoneNumber: String? = nil, phoneExtension: String? = nil, replaces: Bool = false, owner: String) {
        (self.channel, self.phoneNumber, self.phoneExtension, self.replaces) = (channel, phoneNumber, phoneExtension, replaces)
        self.owner = owner
    }
}

/// The result of confirming a phone or a mailbox.
package struct CodeConfirmation: Sendable {
    /// The writes, which the caller commits even with a refusal, so that wrong answers are counted.
    package var writes = Writes()
    /// The enrolled factor; `nil` after a refusal.
    var enrollment: Enrollment?
    /// The reason of a failure; `nil` after success.
    package var refusal: CodeRefusal?
}

/// Enrolls a phone or a mailbox: the server sends a code, and the user enters it. The caller checks that the user's proofs permit the
/// enrollment.
extension Engine {
    /// Seconds for which a pending phone or mailbox can be confirmed.
    static let codeEnrollmentLifetime: TimeInterval = 600

    /// Creates a pending enrollment and its code. Existing factors stay until the confirmation. `enrollments` must contain all enrollments
    /// of the user, including pending ones. Throws ``CodeRefusal``.
    package func beginCodeEnrollment(
        _ request: CodeEnrollmentRequest, for user: User, holding enrollments: [Enrollment], snapshot: OrgSnapshot, context: RequestContext
    ) throws -> PreparedCode {
        let destination = try request.destination(of: user, holding: enrollments)
        if let number = destination.phoneNumber, !snapshot.permits(number) { throw CodeRefusal.foreignNumber }
        let waiting = enrollments.filter { $0.status == .pending && $0.sentCode?.channel == request.channel }
        // A restart with the same destination reuses the pending enrollment. Another number replaces it. Neither resets the limits.
        var method = SentCodeMethod(channel: request.channel, destination: destination)
        method.sent = waiting.flatMap { $0.sentCode?.sent ?? [] }.sorted()
        method.wrong = waiting.flatMap { $0.sentCode?.wrong ?? [] }.sorted()
        var enrollment =
            try waiting.first { $0.sentCode?.destination == destination }
            ?? Enrollment(
                id: environment.random.identifier(prefix: request.channel.idPrefix), userID: user.id, method: .sentCode(method),
                status: .pending, createdAt: context.now)
        // Also limited per user, because a user could otherwise switch to another number for a new limit.
        let counts = try messagePacer.count(request.channel, to: "enrollment \(user.id)", .known, limit: nil, now: context.now)
        enrollment.pendingUntil = context.now.addingTimeInterval(Self.codeEnrollmentLifetime)
        var prepared = try prepareCode(
            CodeRequest(
                purpose: .enrollment, owner: request.owner,
                isConfirmed: enrollments.contains {
                    $0.status == .active && $0.sentCode?.destination.phoneNumber == destination.phoneNumber
                }),
            for: enrollment, of: user, snapshot: snapshot, context: context)
        prepared.writes.changes = waiting.filter { $0.id != enrollment.id }.map(\.removal) + prepared.writes.changes + counts
        return prepared
    }

    /// Checks the entered code. If the code is correct, activates the factor in place of the user's earlier factor. `enrollments` must
    /// contain all enrollments of the user, including pending ones.
    package func confirmCodeEnrollment(
        id: String, code: String, owner: String, user: StoredUser, holding enrollments: [Enrollment], context: RequestContext
    ) throws -> CodeConfirmation {
        guard let pending = enrollments.first(where: { $0.id == id && $0.status == .pending }), let method = pending.sentCode,
            let until = pending.pendingUntil, context.now < until
        else { return CodeConfirmation(refusal: .notPending) }
        if let until = method.closedUntil(at: context.now) {
            return CodeConfirmation(refusal: .tooMany(method.channel, until: until))
        }
        let verifier = CodeVerifier(
            environment: environment, channel: method.channel, enrollments: [pending], owner: owner, now: context.now)
        let type = "user.mfa.factor.activate"
        switch verifier.verify(.code(code), of: user.value, policy: PasswordPolicy()) {
        case .failed, .rejected, .proved(_, nil, _):
            return CodeConfirmation(refusal: .wrongCode)
        case .wrong(let counted):
            var writes = Writes([.put(try counted.record())])
            writes.log(type, .failure, reason: "\(method.channel.rawValue): wrong code", userID: user.value.id)
            return CodeConfirmation(writes: writes, refusal: .wrongCode)
        case .proved(_, var confirmed?, _):
            confirmed.status = .active
            confirmed.pendingUntil = nil
            confirmed.updatedAt = context.now
            let others = enrollments.filter { $0.id != id && $0.sentCode?.channel == method.channel && $0.status != .deleted }
            let isReplacing = others.contains { $0.status != .pending }
            let reason = method.channel.rawValue + (isReplacing ? ", replaced" : "")
            let writes = try user.enrolling(confirmed, replacing: others, reason: reason)
            return CodeConfirmation(writes: writes, enrollment: confirmed)
        }
    }

    /// Gives a user a phone or mailbox factor without verification, in place of an earlier factor; for tests and the sandbox. Returns the
    /// enrollment's id; `nil` if there is no such user.
    package func grantCodeFactor(
        _ channel: CodeChannel, to destination: CodeDestination, userID: String, context: RequestContext
    ) async throws -> String? {
        let enrollment = Enrollment(
            id: try environment.random.identifier(prefix: channel.idPrefix), userID: userID,
            method: .sentCode(SentCodeMethod(channel: channel, destination: destination)), status: .active, createdAt: context.now)
        return try await grantFactor(userID: userID, context: context) { user, own in
            try user.enrolling(enrollment, replacing: own.filter { $0.sentCode?.channel == channel }, reason: channel.rawValue)
        }.map { _ in enrollment.id }
    }
}

extension CodeEnrollmentRequest {
    /// Returns the destination of the code; throws ``CodeRefusal``.
    fileprivate func destination(of user: User, holding enrollments: [Enrollment]) throws(CodeRefusal) -> CodeDestination {
        guard channel != .email else {
            guard let address = user.mailAddress else { throw .noAddress }
            return CodeDestination(address)
        }
        let verified = enrollments.filter { $0.status == .active && $0.sentCode?.destination.phoneNumber != nil }
        let own = verified.first { $0.sentCode?.channel == channel }?.sentCode?.destination
        guard let typed = phoneNumber, !typed.isEmpty else {
            let waiting = enrollments.first { $0.status == .pending && $0.sentCode?.channel == channel }?.sentCode?.destination
            guard let known = own ?? waiting ?? verified.first?.sentCode?.destination else { throw .noNumber }
            return known
        }
        guard let number = PhoneNumber(typed) else { throw .invalidNumber }
        if let own, own.phoneNumber != number, !replaces { throw .otherNumber }
        guard let text = phoneExtension, !text.isEmpty else { return CodeDestination(number) }
        guard channel == .voice, CodeDestination.isExtension(text) else { throw .invalidExtension }
        return CodeDestination(number, phoneExtension: text)
    }
}

extension OrgSnapshot {
    /// Whether texts and calls to the number's country are enabled.
    func permits(_ number: PhoneNumber) -> Bool { organization.callingCodes?.contains(number.callingCode) ?? true }
}

extension CodeChannel {
    /// The prefix of the ids of enrollments with this channel (Documentation/Protocol/Authn.md §5.1).
    var idPrefix: String {
        switch self {
        case .sms: "sms"
        case .voice: "clf"
        case .email: "emf"
        }
    }
}

extension Enrollment {
    /// The change that removes the record at once; only for a factor without a device that must learn of the removal.
    package var removal: Change { .remove(.enrollment, id: id, version: version) }
}
