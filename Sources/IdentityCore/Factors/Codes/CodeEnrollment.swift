internal import Foundation
package import Store

/// What setting up a telephone or a mailbox begins with.
package struct CodeEnrollmentRequest: Sendable {
    package var channel: CodeChannel
    /// As it was typed; nil for one that is verified already. Of no meaning for mail.
    package var phoneNumber: String?
    package var phoneExtension: String?
    /// Whether a number that is verified may be replaced by another.
    package var replaces = false
    /// The id of the transaction that it is a part of: the code is good for nothing else.
    package var owner: String

    package init(channel: CodeChannel, phoneNumber: String? = nil, phoneExtension: String? = nil, replaces: Bool = false, owner: String) {
        self.channel = channel
        self.phoneNumber = phoneNumber
        self.phoneExtension = phoneExtension
        self.replaces = replaces
        self.owner = owner
    }
}

/// What confirming a telephone or a mailbox came to.
package struct CodeConfirmation: Sendable {
    /// The writes, which the caller commits even with a refusal, so that wrong answers are counted.
    package var writes = Writes()
    /// The factor, if it is set up now.
    var enrollment: Enrollment?
    /// Why it is not.
    package var refusal: CodeRefusal?
}

/// Setting up a telephone or a mailbox as a factor: a code is sent there, and comes back. Whether the person may is for the caller to
/// judge, by what was proved.
extension Engine {
    /// Seconds that a telephone or mailbox waits for its code to come back.
    static let codeEnrollmentLifetime: TimeInterval = 600

    /// Makes the enrolment, which waits for its code. Nothing that the person has is replaced before it is confirmed.
    ///
    /// - Parameters:
    ///   - request: What is set up.
    ///   - user: For whom.
    ///   - enrollments: All that they have, pending ones too, as they were read.
    ///   - snapshot: The configuration.
    ///   - context: When and from where it is asked for.
    /// - Returns: What is committed, and then sent.
    /// - Throws: ``CodeRefusal``; what the random source throws.
    package func beginCodeEnrollment(
        _ request: CodeEnrollmentRequest, for user: User, holding enrollments: [Enrollment], snapshot: OrgSnapshot, context: RequestContext
    ) throws -> PreparedCode {
        let destination = try request.destination(of: user, holding: enrollments)
        if let number = destination.phoneNumber, !snapshot.permits(number) { throw CodeRefusal.foreignNumber }
        let waiting = enrollments.filter { $0.status == .pending && $0.code?.channel == request.channel }
        // Who begins again goes on with what waits, so that limits are not begun again; another number takes its place.
        var enrollment =
            try waiting.first { $0.code?.destination == destination }
            ?? Enrollment(
                id: environment.random.identifier(prefix: request.channel.idPrefix), userID: user.id, factor: request.channel.factor,
                status: .pending, createdAt: context.now)
        if enrollment.code == nil {
            enrollment.code = CodeMethod(channel: request.channel, destination: destination)
            enrollment.code?.sent = waiting.flatMap { $0.code?.sent ?? [] }.sorted()
            enrollment.code?.wrong = waiting.flatMap { $0.code?.wrong ?? [] }.sorted()
        }
        // Of the person too: who takes a number back must not begin anew with the next.
        let pace = messagePacer.refusal(
            request.channel, to: "enrollment \(user.id)", .known, limit: nil, requestID: context.requestID, now: context.now)
        if let pace { throw pace }
        enrollment.pendingUntil = context.now.addingTimeInterval(Self.codeEnrollmentLifetime)
        var prepared = try prepareCode(
            CodeRequest(
                purpose: .enrollment, owner: request.owner,
                isConfirmed: enrollments.contains { $0.status == .active && $0.code?.destination.phoneNumber == destination.phoneNumber }),
            for: enrollment, of: user, snapshot: snapshot, context: context)
        prepared.writes.changes = waiting.filter { $0.id != enrollment.id }.map(\.removal) + prepared.writes.changes
        return prepared
    }

    /// Judges a code that came back, and makes the factor the person's if it is right, in place of the one that they had.
    ///
    /// - Parameters:
    ///   - id: The enrolment that waits.
    ///   - code: As it was typed.
    ///   - owner: The transaction that it was begun in.
    ///   - user: The person, as they were read.
    ///   - enrollments: All that they have, as they were read.
    ///   - context: When and from where it came.
    /// - Returns: What is committed, and what came of it.
    /// - Throws: What encoding throws.
    package func confirmCodeEnrollment(
        id: String, code: String, owner: String, user: StoredUser, holding enrollments: [Enrollment], context: RequestContext
    ) throws -> CodeConfirmation {
        guard let pending = enrollments.first(where: { $0.id == id && $0.status == .pending }), let method = pending.code,
            let until = pending.pendingUntil, context.now < until
        else { return CodeConfirmation(refusal: .notPending) }
        if let until = method.closedUntil(at: context.now) {
            return CodeConfirmation(refusal: .tooMany(method.channel, until: until))
        }
        let verifier = CodeVerifier(
            environment: environment, channel: method.channel, enrollments: [pending], owner: owner, now: context.now)
        let type = "user.mfa.factor.activate"
        switch verifier.verify(.code(code), of: user.value, policy: PasswordPolicy()) {
        case .failed, .proved(_, nil):
            return CodeConfirmation(refusal: .wrongCode)
        case .wrong(let counted):
            var writes = Writes([.put(try counted.record())])
            writes.log(type, .failure, reason: "\(method.channel.rawValue): wrong code", userID: user.value.id)
            return CodeConfirmation(writes: writes, refusal: .wrongCode)
        case .proved(_, var confirmed?):
            confirmed.status = .active
            confirmed.pendingUntil = nil
            confirmed.updatedAt = context.now
            let others = enrollments.filter { $0.id != id && $0.code?.channel == method.channel && $0.status != .deleted }
            let isReplacing = others.contains { $0.status != .pending }
            let reason = method.channel.rawValue + (isReplacing ? ", replaced" : "")
            let writes = try user.enrolling(confirmed, replacing: others, reason: reason)
            return CodeConfirmation(writes: writes, enrollment: confirmed)
        }
    }

    /// Gives a user a telephone or a mailbox as a factor, without the ceremony that sets it up: for tests and the sandbox. It takes the
    /// place of the one that they had.
    ///
    /// - Parameters:
    ///   - channel: The way that codes take.
    ///   - destination: Where they go.
    ///   - userID: The user.
    ///   - context: The request.
    /// - Returns: The enrolment's id; nil if there is no such user.
    /// - Throws: ``StoreError`` if the store failed.
    package func grantCodeFactor(
        _ channel: CodeChannel, to destination: CodeDestination, userID: String, context: RequestContext
    ) async throws -> String? {
        var made = Enrollment(
            id: try environment.random.identifier(prefix: channel.idPrefix), userID: userID, factor: channel.factor, status: .active,
            createdAt: context.now)
        made.code = CodeMethod(channel: channel, destination: destination)
        let enrollment = made
        return try await grantFactor(userID: userID, context: context) { user, own in
            try user.enrolling(enrollment, replacing: own.filter { $0.code?.channel == channel }, reason: channel.rawValue)
        }.map { _ in enrollment.id }
    }
}

extension CodeEnrollmentRequest {
    /// Where the code goes; throws ``CodeRefusal``.
    fileprivate func destination(of user: User, holding enrollments: [Enrollment]) throws(CodeRefusal) -> CodeDestination {
        guard channel != .email else {
            guard let address = user.mailAddress else { throw .noAddress }
            return CodeDestination(address)
        }
        let verified = enrollments.filter { $0.status == .active && $0.code?.destination.phoneNumber != nil }
        let own = verified.first { $0.code?.channel == channel }?.code?.destination
        guard let typed = phoneNumber, !typed.isEmpty else {
            let waiting = enrollments.first { $0.status == .pending && $0.code?.channel == channel }?.code?.destination
            guard let known = own ?? waiting ?? verified.first?.code?.destination else { throw .noNumber }
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
    /// Whether texts and calls go to a number's country.
    func permits(_ number: PhoneNumber) -> Bool { organization.callingCodes?.contains(number.callingCode) ?? true }
}

extension CodeChannel {
    /// What the ids of its enrolments begin with (authn reference 5.1).
    var idPrefix: String {
        switch self {
        case .sms: "sms"
        case .voice: "clf"
        case .email: "emf"
        }
    }
}

extension Enrollment {
    /// Takes it away for good: no device must be told of it.
    package var removal: Change { .remove(.enrollment, id: id, version: version) }
}
