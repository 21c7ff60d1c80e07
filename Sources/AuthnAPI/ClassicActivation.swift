package import Foundation
package import IdentityCore
internal import Store

/// Signing in for the first time, by a token that an administrator gave (authn reference 2.2 and 4.2).
extension Engine {
    /// Seconds that an activation token is good for, unless the administrator says something else.
    package static let activationTokenLifetime: TimeInterval = 7 * 86_400

    /// Makes the token by which a person who never could sign in does: one who is staged, or who has no password.
    ///
    /// It is good once. Who has a password goes on with the sign-in as if they had typed it; who has none sets one. The account is staged
    /// until then. Another token, or mail, closes this one; so does ending all sessions of the person.
    ///
    /// - Parameters:
    ///   - userID: The person.
    ///   - lifetime: Seconds that it is good for, 60 to 2,592,000.
    ///   - context: The request.
    /// - Returns: The token; nil if there is no such user, or they can sign in already.
    /// - Throws: ``StoreError`` if the store failed.
    package func activationToken(
        forUser userID: String, lifetime: TimeInterval = activationTokenLifetime, context: RequestContext
    ) async throws -> String? {
        try await activate(userID, lifetime: lifetime, isMailed: false, context: context)?.token
    }

    /// Makes such a token, and the mail that brings it as a link: to its page, on which the person sets their account up.
    ///
    /// It is good on that page only, as long as this is the person's address, and closes what was made before it.
    ///
    /// - Parameters:
    ///   - userID: The person.
    ///   - lifetime: Seconds that the link is good for, 60 to 2,592,000.
    ///   - context: The request.
    /// - Returns: The mail, to be sent; nil if there is no such user, or they can sign in already.
    /// - Throws: ``CodeRefusal`` if they have no address, or were sent too much; ``StoreError`` if the store failed.
    package func activationMail(
        forUser userID: String, lifetime: TimeInterval = activationTokenLifetime, context: RequestContext
    ) async throws -> OutgoingMessage? {
        try await activate(userID, lifetime: lifetime, isMailed: true, context: context)?.mail
    }

    /// Makes a token and, if it is mailed, its mail; `nil` if the user can sign in already.
    private func activate(
        _ userID: String, lifetime: TimeInterval, isMailed: Bool, context: RequestContext
    ) async throws -> (token: String, mail: OutgoingMessage?)? {
        let token = try environment.random.secret(prefix: ClassicRecovery.activationPrefix)
        return try await transact(context) { [self] reading in
            (user: try user(id: userID, in: reading.view), snapshot: try reading.snapshot)
        } decide: { found in
            guard let application = found.snapshot.classicApplication, let stored = found.user, stored.value.awaitsActivation else {
                return Plan(nil)
            }
            var user = stored.value
            var transaction = SignInTransaction(
                id: try environment.random.identifier(prefix: "txn"),
                request: SignInRequest(application: application, server: nil, scopes: []),
                now: context.now, lifetime: min(max(lifetime, 60), 30 * 86_400))
            transaction.meet(user)
            user.activationID = transaction.id
            transaction.classic = ClassicSignIn()
            transaction.classic?.recovery = ClassicRecovery(kind: .activation, stage: .token)
            var mail: OutgoingMessage?
            if isMailed {
                guard let address = user.mailAddress else { throw CodeRefusal.noAddress }
                transaction.classic?.recovery?.mailedTo = address.text
                mail = try linkMessage(
                    .welcome, by: .email, to: CodeDestination(address), token: token, expiresAt: transaction.expiresAt, user: user,
                    snapshot: found.snapshot, context: context)
            }
            var writes = Writes([
                .put(try transaction.record()), transaction.issue(.activationToken, token), .put(try stored.record(holding: user)),
            ])
            writes.log("user.lifecycle.activation_token", .success, userID: user.id)
            return Plan((token, mail), writes)
        }
    }

    /// Signs a person in by an activation token, to the organization itself.
    ///
    /// - Parameters:
    ///   - token: The token, good once.
    ///   - request: What else the client sent; its name and password do not count.
    ///   - caller: Who calls.
    ///   - context: When and from where it came.
    /// - Returns: Where the sign-in stands; or a refusal: `E0000004` for a token that is unknown, used or too old, that was mailed, or of an account
    ///   that it no longer is for; `E0000011` for an API token that is nobody's.
    /// - Throws: ``StoreError`` if the store failed.
    package func classicActivateAccount(
        by token: String, _ request: ClassicRequest, caller: ClassicCaller, context: RequestContext
    ) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        let device: [UInt8]?
        let renewsDevice: Bool
        do {
            let trusted = try admit(caller, snapshot: await snapshot()).trusted
            renewsDevice = caller.isPage && trusted == nil
            device = caller.device(isTrusted: trusted != nil).map { TicketDigest(of: $0).bytes }
        } catch let refusal as ClassicRefusal {
            return .failure(refusal)
        }
        let answer = try await exchange(.activationToken, token, context: context) { classic in
            classic.relayState = request.relayState
            classic.enrollsOptional = request.enrollsOptional
            classic.warnsBeforeExpiry = request.warnsBeforeExpiry
            classic.device = device
            classic.renewsDevice = renewsDevice ? true : nil
            classic.autoPush = caller.autoPush.isEmpty ? nil : Array(caller.autoPush.prefix(ClassicSignIn.mostAutoPush))
        }
        // As a wrong password: a primary credential is.
        if case .failure(let refusal) = answer, refusal.code == "E0000011" { return .failure(.authenticationFailed(refusal.reason)) }
        return answer
    }
}
