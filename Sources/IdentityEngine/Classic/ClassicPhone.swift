internal import Crypto
internal import Foundation
internal import JOSE

/// Setting up a phone with push in a classic sign-in (authn reference 4.6 and 5.5): the same ticket as on the hosted pages, shown as a
/// picture or sent as a link. The phone exchanges it and enrols (``EnrollmentTicketGrant``), and the client, which asks now and then, goes on.
extension IdentityEngine {
    /// Begins it, or begins it anew with another ticket. The one before is worth nothing from then on, nor what it gave.
    ///
    /// - Returns: The answer; nil if somebody else was faster.
    func beginPhone(_ state: ClassicState, methodID: String?, context: RequestContext) async throws -> ClassicAnswer? {
        let user = state.user.value
        guard let proof = state.transaction.proofs.last, let authenticator = state.snapshot.phoneAuthenticators(for: user).first else {
            throw ClassicRefusal.invalid("factorEnrollRequest", ["factorType: No phone can be set up now."])
        }
        let fresh = proof.time.addingTimeInterval(EnrollmentPermission.freshness)
        guard context.now < fresh else { throw ClassicRefusal.invalidToken("authn: proved too long ago to set anything up") }
        try countClassicAttempt(state, context: context)
        let secret = try environment.random.secret()
        let owner = RecordReference(.transaction, state.transaction.id)
        let expiresAt = min(context.now.addingTimeInterval(PhoneTicket.lifetime), fresh)
        let ticket = Ticket(
            kind: .enrollmentTicket, digest: TicketDigest(of: secret), owner: owner, use: .once, expiresAt: expiresAt)
        var next = state.transaction
        next.classic?.phone = PhoneTicket(
            authenticatorID: authenticator.id, digest: ticket.digest.bytes,
            sealedSecret: try RecordCoding.seal(Array(secret.utf8), for: owner, environment: environment), expiresAt: expiresAt,
            methodID: try methodID ?? environment.random.identifier(prefix: "opf"))
        let changes: [Change] =
            state.transaction.closingPhone + [
                .issue(ticket),
                try logEntry("user.mfa.factor.begin", .success, reason: "push, by a code", userID: user.id, context: context),
            ]
        return try await show(next, of: state, closing: changes, context: context)
    }

    /// Shows a phone's code again, or another one once that is too old.
    func restart(
        _ phone: PhoneTicket, named factorID: String, _ state: ClassicState, context: RequestContext
    ) async throws -> ClassicAnswer? {
        guard phone.methodID == factorID else { throw ClassicRefusal.unknownFactor }
        guard context.now >= phone.expiresAt else { return try await show(state.transaction, of: state, context: context) }
        return try await beginPhone(state, methodID: factorID, context: context)
    }

    /// Looks whether a phone was set up by now.
    ///
    /// - Parameters:
    ///   - factorID: The factor, from the path.
    ///   - stateToken: Leads to the sign-in.
    ///   - context: When and from where it came.
    /// - Returns: Where the sign-in stands; or a refusal: `E0000079` where no phone is being set up, `E0000007` for another one.
    /// - Throws: ``StoreError`` if the store failed.
    public func classicPollActivation(
        factorID: String, stateToken: String, context: RequestContext
    ) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        var isCounted = false
        return try await classicStep(stateToken, context: context) { [self] state in
            if !isCounted {
                isCounted = true
                try countPoll(of: state.transaction, context: context)
            }
            if let phone = try state.phone() {
                guard phone.methodID == factorID else { throw ClassicRefusal.unknownFactor }
            } else if state.classic.enrolledPhone != factorID {
                throw ClassicRefusal.notAllowed(in: state.status(of: state.transaction)?.rawValue ?? "none")
            }
            return try await show(state.transaction, of: state, context: context)
        }
    }

    /// Sends what a phone could scan as a link, to be opened on it.
    ///
    /// - Parameters:
    ///   - factorID: The factor, from the path.
    ///   - channel: By text or by mail, which goes to the person's own address.
    ///   - phoneNumber: Where a text goes, as it was typed.
    ///   - stateToken: Leads to the sign-in.
    ///   - context: When and from where it came.
    /// - Returns: Where the sign-in stands; or a refusal: as of other messages, `E0000079` where no phone is waited for.
    /// - Throws: ``StoreError`` if the store failed.
    public func classicSendActivation(
        factorID: String, by channel: CodeChannel, phoneNumber: String?, stateToken: String, context: RequestContext
    ) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        try await classicStep(stateToken, context: context) { [self] state in
            guard let phone = try state.phone() else {
                throw ClassicRefusal.notAllowed(in: state.status(of: state.transaction)?.rawValue ?? "none")
            }
            guard phone.methodID == factorID else { throw ClassicRefusal.unknownFactor }
            guard phone.isShown(at: context.now), let authenticator = state.authenticator(of: phone) else {
                throw ClassicRefusal.notAllowed(in: "activation that is over")
            }
            let user = state.user.value
            let message: OutgoingMessage
            do {
                let destination = try Self.destination(channel, phoneNumber, of: user)
                // Also by the person: who signs in again and again, or names another number each time, sends no more.
                let pace = messagePacer.refusal(
                    channel, to: "activation " + user.id, .known, limit: nil, requestID: context.requestID, now: context.now)
                if let pace { throw pace }
                let secret = try phone.secret(of: state.transaction.id, environment: environment)
                message = try linkMessage(
                    .activation, by: channel, to: destination,
                    token: PhoneTicket.reference(authenticator: authenticator, secret: secret),
                    expiresAt: phone.expiresAt, user: user,
                    isConfirmed: state.allEnrollments.contains {
                        $0.status == .active && $0.code?.destination.phoneNumber == destination.phoneNumber
                    }, snapshot: state.snapshot, context: context)
            } catch let refusal as CodeRefusal {
                throw ClassicRefusal(refusal, context: context)
            }
            let log = try logEntry(
                "user.mfa.code.send", .success, reason: "\(channel.rawValue), \(OutgoingMessage.Purpose.activation.rawValue)",
                userID: user.id, context: context)
            guard var answer = try await show(state.transaction, of: state, closing: [log], context: context) else { return nil }
            answer.messages = [message]
            return answer
        }
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

    /// What the picture shows by which a phone is set up; nil if the path leads to none.
    func phonePicture(userID: String, factorID: String, token: String, context: RequestContext) async throws -> String? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let code = try? Base64URL.decode(String(parts[1])) else { return nil }
        let id = String(parts[0])
        return try await store.read { [self] view -> String? in
            let snapshot = try snapshot(view)
            guard let waiting = try view.awaitedPhone(signIn: id, snapshot: snapshot, now: context.now), waiting.user.value.id == userID,
                waiting.ticket.methodID == factorID, waiting.ticket.isShown(at: context.now),
                HMAC<SHA256>.isValidAuthenticationCode(
                    code, authenticating: waiting.ticket.pictureMaterial(of: id), using: environment.masterKey)
            else { return nil }
            return PhoneTicket.uri(
                origin: snapshot.origin, authenticator: waiting.authenticator,
                secret: try waiting.ticket.secret(of: id, environment: environment))
        }
    }
}

extension PhoneTicket {
    /// Whether a phone can still come for it.
    func isShown(at now: Date) -> Bool { grantID == nil && now < expiresAt }

    /// What the QR code holds that nobody else knows.
    fileprivate func secret(of transactionID: String, environment: EngineEnvironment) throws -> String {
        let owner = RecordReference(.transaction, transactionID)
        return String(decoding: try RecordCoding.open(sealedSecret, for: owner, masterKey: environment.masterKey), as: UTF8.self)
    }

    /// What the picture's address is made from: nobody else can, and with another ticket it is another.
    fileprivate func pictureMaterial(of transactionID: String) -> [UInt8] {
        Array("authn phone \(transactionID) ".utf8) + digest
    }

    fileprivate func pictureToken(of transactionID: String, environment: EngineEnvironment) -> String {
        let code = HMAC<SHA256>.authenticationCode(for: pictureMaterial(of: transactionID), using: environment.masterKey)
        return "\(transactionID).\(Base64URL.encode(Array(code)))"
    }
}

extension ClassicState {
    /// The phone that is being set up; nil if something else is, or nothing.
    func phone() throws -> PhoneTicket? {
        guard status(of: transaction) == .factorEnrollActivate else { return nil }
        return classic.phone
    }

    func authenticator(of phone: PhoneTicket) -> PushAuthenticator? {
        snapshot.phoneAuthenticators(for: user.value).first { $0.id == phone.authenticatorID }
    }

    /// How the client sees the phone that is being set up.
    func phoneFactor(_ transaction: SignInTransaction, now: Date) -> ClassicFactor? {
        guard let phone = transaction.classic?.phone else { return nil }
        var factor = ClassicFactor(id: phone.methodID, type: "push", provider: "OKTA", profile: [:])
        factor.isSetUp = false
        let isWaiting = now < phone.expiresAt && authenticator(of: phone) != nil
        factor.activation = ClassicActivation(
            pictureToken: isWaiting && phone.isShown(at: now) ? phone.pictureToken(of: transaction.id, environment: environment) : nil,
            expiresAt: phone.expiresAt, result: isWaiting ? .waiting : .timeout)
        return factor
    }
}
