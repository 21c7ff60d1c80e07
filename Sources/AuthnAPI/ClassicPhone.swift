internal import Foundation
package import IdentityCore
internal import JOSE
internal import Store

/// A permitted phone enrollment, before its ticket is created.
struct PhoneSetup: Sendable {
    fileprivate let authenticator: PushAuthenticator
    /// The time at which the last proof becomes too old.
    fileprivate let end: Date
    /// The method id of the ticket to renew; `nil` for a new enrollment.
    fileprivate let methodID: String?
}

/// The enrollment of a phone for push in a classic sign-in (Documentation/Protocol/Authn.md §4.6 and §5.5). The phone gets the same ticket
/// as on the hosted pages, by a QR code or a link. It exchanges the ticket and enrolls (`EnrollmentTicketGrant`) while the client polls.
extension Engine {
    /// Checks that a phone can be enrolled now, and counts the attempt; throws ``ClassicRefusal``.
    func phoneSetup(_ state: ClassicState, methodID: String?) throws -> PhoneSetup {
        guard let proof = state.transaction.proofs.last,
            let authenticator = state.snapshot.phoneAuthenticators(for: state.user.value).first
        else { throw ClassicRefusal.invalid("factorEnrollRequest", ["factorType: No phone can be set up now."]) }
        let end = proof.time.addingTimeInterval(Enrollment.freshness)
        guard Enrollment.isFresh(proof.time, at: state.context.now) else {
            throw ClassicRefusal.invalidToken("authn: proved too long ago to set anything up")
        }
        try countClassicAttempt(state)
        return PhoneSetup(authenticator: authenticator, end: end, methodID: methodID)
    }

    /// Returns the progress of the enrollment of a phone.
    /// - Returns: The state; or a refusal: `E0000079` if no phone is being enrolled, `E0000007` for another factor id.
    package func classicPollActivation(
        factorID: String, stateToken: String, context: RequestContext
    ) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        try await classicStep(stateToken, context: context) { [self] state, _ in
            try countPoll(state)
        } decide: { state, _ in
            if let phone = state.phone {
                guard phone.methodID == factorID else { throw ClassicRefusal.unknownFactor }
            } else if state.transaction.enrolledPhone != factorID {
                throw ClassicRefusal.notAllowed(in: state.status(of: state.transaction)?.rawValue ?? "none")
            }
            return try state.show(state.transaction)
        }
    }

    /// Sends the content of the QR code as a link to open on the phone: by text message to `phoneNumber`, or by mail to the user's own
    /// address.
    /// - Returns: The state; or a refusal: `E0000079` if no phone is being enrolled, or that of a message that cannot be sent.
    package func classicSendActivation(
        factorID: String, by channel: CodeChannel, phoneNumber: String?, stateToken: String, context: RequestContext
    ) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        try await classicStep(stateToken, context: context) { [self] state in
            guard let phone = state.phone else {
                throw ClassicRefusal.notAllowed(in: state.status(of: state.transaction)?.rawValue ?? "none")
            }
            guard phone.methodID == factorID else { throw ClassicRefusal.unknownFactor }
            guard phone.isShown(at: context.now), let authenticator = state.authenticator(of: phone) else {
                throw ClassicRefusal.notAllowed(in: "activation that has ended")
            }
            var writes: Writes
            do {
                writes = try activationMessage(phone, authenticator, by: channel, phoneNumber: phoneNumber, state)
            } catch let refusal as CodeRefusal {
                throw ClassicRefusal(refusal, context: context)
            }
            let reason = "\(channel.rawValue), \(OutgoingMessage.Purpose.activation.rawValue)"
            writes.log("user.mfa.code.send", .success, reason: reason, userID: state.user.value.id)
            return try state.show(state.transaction, writes: writes)
        }
    }

    private func activationMessage(
        _ phone: PhoneTicket, _ authenticator: PushAuthenticator, by channel: CodeChannel, phoneNumber: String?, _ state: ClassicState
    ) throws -> Writes {
        let (user, context) = (state.user.value, state.context)
        let destination = try Self.destination(channel, phoneNumber, of: user)
        // This limit counts per user, so that another sign-in or another number does not reset it.
        let counts = try messagePacer.count(channel, to: "activation " + user.id, .known, limit: nil, now: context.now)
        let secret = try phone.secret(of: state.transaction.id, environment: environment)
        return try linkMessage(
            .activation, by: channel, to: destination, token: PhoneTicket.reference(authenticator: authenticator, secret: secret),
            expiresAt: phone.expiresAt, user: user,
            isConfirmed: state.allEnrollments.contains {
                $0.status == .active && $0.sentCode?.destination.phoneNumber == destination.phoneNumber
            }, snapshot: state.snapshot, context: context) + counts
    }

    private static func destination(
        _ channel: CodeChannel, _ phoneNumber: String?, of user: User
    ) throws(CodeRefusal) -> CodeDestination {
        guard channel != .email else {
            guard let address = user.mailAddress else { throw .noAddress }
            return CodeDestination(address)
        }
        guard let phoneNumber, !phoneNumber.isEmpty else { throw .noNumber }
        guard let number = PhoneNumber(phoneNumber) else { throw .invalidNumber }
        return CodeDestination(number)
    }

    /// Returns the content of the QR code that enrolls a phone; `nil` if the token is invalid or expired.
    func phonePicture(userID: String, factorID: String, token: String, context: RequestContext) async throws -> String? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let code = try? Base64URL.decode(String(parts[1])) else { return nil }
        let id = String(parts[0])
        return try await store.read {
            Lookup(.record(.transaction, id: id, .account, .named(.session, byKey: "session")))
        } _: { [self] view -> String? in
            let snapshot = try snapshot(view)
            guard let waiting = try view.awaitedPhone(signIn: id, snapshot: snapshot, now: context.now), waiting.user.value.id == userID,
                waiting.ticket.methodID == factorID, waiting.ticket.isShown(at: context.now),
                environment.masterKeys.isCode(code, for: waiting.ticket.pictureMaterial(of: id))
            else { return nil }
            return PhoneTicket.uri(
                origin: snapshot.origin, authenticator: waiting.authenticator,
                secret: try waiting.ticket.secret(of: id, environment: environment))
        }
    }
}

extension PhoneTicket {
    /// Whether a phone can still exchange the ticket.
    func isShown(at now: Date) -> Bool { grantID == nil && now < expiresAt }

    fileprivate func secret(of transactionID: String, environment: EngineEnvironment) throws -> String {
        let owner = RecordReference(.transaction, transactionID)
        return String(decoding: try RecordCoding.open(sealedSecret, for: owner, masterKeys: environment.masterKeys), as: UTF8.self)
    }

    /// Returns the input from which the secret path component of the QR code is derived. It changes with the ticket.
    fileprivate func pictureMaterial(of transactionID: String) -> [UInt8] {
        Array("authn phone \(transactionID) ".utf8) + digest
    }

    fileprivate func pictureToken(of transactionID: String, environment: EngineEnvironment) -> String {
        "\(transactionID).\(Base64URL.encode(environment.masterKeys.code(for: pictureMaterial(of: transactionID))))"
    }
}

extension ClassicState {
    /// The phone that is being enrolled; `nil` for none.
    var phone: PhoneTicket? { status(of: transaction) == .factorEnrollActivate ? transaction.phone : nil }

    /// Plans a new ticket for a phone. The previous ticket and its grant become invalid.
    func begin(_ setup: PhoneSetup) throws -> ClassicPlan {
        let secret = try environment.random.secret()
        let owner = RecordReference(.transaction, transaction.id)
        let expiresAt = min(context.now.addingTimeInterval(PhoneTicket.lifetime), setup.end)
        let ticket = Ticket(
            kind: .enrollmentTicket, digest: TicketDigest(of: secret), owner: owner, use: .once, expiresAt: expiresAt)
        var next = transaction
        next.phone = PhoneTicket(
            authenticatorID: setup.authenticator.id, digest: ticket.digest.bytes,
            sealedSecret: try RecordCoding.seal(Array(secret.utf8), for: owner, environment: environment), expiresAt: expiresAt,
            methodID: try setup.methodID ?? environment.random.identifier(prefix: PushMethod.idPrefix))
        var writes = Writes(transaction.closingPhone + [.issue(ticket)])
        writes.log("user.mfa.factor.begin", .success, reason: "push, by a code", userID: user.value.id)
        return try show(next, writes: writes)
    }

    func authenticator(of phone: PhoneTicket) -> PushAuthenticator? {
        snapshot.phoneAuthenticators(for: user.value).first { $0.id == phone.authenticatorID }
    }

    /// Returns the client's view of the phone that is being enrolled; `nil` for none.
    func phoneFactor(_ transaction: SignInTransaction) -> ClassicFactor? {
        let now = context.now
        guard let phone = transaction.phone else { return nil }
        var factor = ClassicFactor(id: phone.methodID, type: "push", provider: "OKTA", profile: [:])
        factor.isSetUp = false
        let isWaiting = now < phone.expiresAt && authenticator(of: phone) != nil
        factor.activation = ClassicActivation(
            pictureToken: isWaiting && phone.isShown(at: now) ? phone.pictureToken(of: transaction.id, environment: environment) : nil,
            expiresAt: phone.expiresAt, result: isWaiting ? .waiting : .timeout)
        return factor
    }
}
