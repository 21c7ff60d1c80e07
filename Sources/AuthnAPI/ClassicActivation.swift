package import Foundation
package import IdentityCore
internal import Store

/// The first sign-in, by an activation token from an administrator (Documentation/Protocol/Authn.md §2.2 and §4.2).
extension Engine {
    /// The default lifetime of an activation token, in seconds.
    package static let activationTokenLifetime: TimeInterval = 7 * 86_400

    /// Creates a single-use activation token for a user who is staged or has no password. With the token, a user with a password signs in
    /// without entering it, and a user without a password sets one. The account stays staged until then. A later activation token or
    /// activation mail makes this token invalid, and so does ending all sessions of the user.
    /// - Parameter lifetime: The lifetime in seconds, 60 to 2,592,000.
    /// - Returns: The token; `nil` if the user is unknown or can sign in already, or if the classic API is off.
    package func activationToken(
        forUser userID: String, lifetime: TimeInterval = activationTokenLifetime, context: RequestContext
    ) async throws -> String? {
        try await activate(userID, lifetime: lifetime, isMailed: false, context: context)
    }

    /// Mails the user a link to the activation page, with a new activation token. The token is valid only on that page and only while the
    /// user has this mail address. It replaces earlier tokens.
    /// - Parameter lifetime: The lifetime of the link in seconds, 60 to 2,592,000.
    /// - Returns: `true` if the mail was queued; `false` if the user is unknown or can sign in already, or if the classic API is off.
    /// - Throws: ``CodeRefusal`` if the user has no address, or a limit on messages is reached.
    package func sendActivation(
        toUser userID: String, lifetime: TimeInterval = activationTokenLifetime, context: RequestContext
    ) async throws -> Bool {
        try await activate(userID, lifetime: lifetime, isMailed: true, context: context) != nil
    }

    /// Returns a new token; `nil` if the user is unknown or can sign in already, or if the classic API is off.
    private func activate(
        _ userID: String, lifetime: TimeInterval, isMailed: Bool, context: RequestContext
    ) async throws -> String? {
        let token = try environment.random.secret(prefix: Recovery.activationPrefix)
        return try await transact(context) {
            Lookup(.record(.user, id: userID))
        } read: { [self] reading in
            (user: try user(id: userID, in: reading.view), snapshot: try reading.snapshot)
        } decide: { found in
            guard let application = found.snapshot.classicApplication, let stored = found.user, stored.value.awaitsActivation else {
                return Plan(nil)
            }
            var user = stored.value
            var transaction = SignInTransaction(
                id: try environment.random.identifier(prefix: "txn"),
                request: SignInRequest(classic: application),
                now: context.now, lifetime: min(max(lifetime, 60), 30 * 86_400))
            transaction.meet(user)
            user.activationID = transaction.id
            transaction.door = ClassicSignIn().door
            transaction.recovery = Recovery(kind: .activation, stage: .token)
            var writes = Writes()
            if isMailed {
                guard let address = user.mailAddress else { throw CodeRefusal.noAddress }
                transaction.recovery?.mailedTo = address.text
                writes = try linkMessage(
                    .welcome, by: .email, to: CodeDestination(address), token: token, expiresAt: transaction.expiresAt, user: user,
                    snapshot: found.snapshot, context: context)
            }
            writes += [
                .put(try transaction.record()), transaction.issue(.activationToken, token), .put(try stored.record(holding: user)),
            ]
            writes.log("user.lifecycle.activation_token", .success, userID: user.id)
            return Plan(token, writes)
        }
    }

    /// Signs a user in to the organization by a single-use activation token. The user name and password of the request are ignored.
    /// - Returns: The state; or a refusal: `E0000004` for a token that is unknown, used, expired, mailed, or no longer valid for the
    ///   account; `E0000011` for an unknown API token.
    package func classicActivateAccount(
        by token: String, _ request: ClassicRequest, caller: ClassicCaller, context: RequestContext
    ) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        let answer: Result<ClassicAnswer, ClassicRefusal>
        do {
            answer = try await exchange(.activationToken, token, context: context) { [self] snapshot in
                do throws(ClassicRefusal) {
                    return try admit(caller, snapshot: snapshot).trusted != nil
                } catch {
                    throw RefusedCaller(refusal: error)
                }
            } _: { transaction, isTrusted in
                transaction.begin(
                    by: caller, isTrusted: isTrusted, relayState: request.relayState, enrollsOptional: request.enrollsOptional,
                    warnsBeforeExpiry: request.warnsBeforeExpiry)
            }
        } catch let refused as RefusedCaller {
            return .failure(refused.refusal)
        }
        // The same refusal as for a wrong password, because the token is a primary credential.
        if case .failure(let refusal) = answer, refusal.code == "E0000011" { return .failure(.authenticationFailed(refusal.reason)) }
        return answer
    }
}

/// The refusal of a caller, which does not concern its activation token.
private struct RefusedCaller: Error {
    let refusal: ClassicRefusal
}
