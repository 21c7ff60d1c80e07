internal import Foundation
package import IdentityCore
internal import Store

/// What only back ends with an API token may do to a person: end their sessions, see and forget the devices that are remembered, have them set
/// up an account that was made for them, open one that was locked.
extension Engine {
    /// Signs a person out of every browser, by the word of a trusted caller.
    ///
    /// - Parameters:
    ///   - user: The person's id, or the name that they sign in with.
    ///   - revokesGrants: Whether the tokens of their apps end as well.
    ///   - forgetsDevices: Whether their devices stand in for the second factor no more.
    ///   - apiToken: What the caller shows; nil if it shows nothing.
    ///   - context: When and from where it came.
    /// - Returns: What applications are to be told; or a refusal: `E0000011` for a token that is nobody's, `E0000007` for a person that is not
    ///   there, `E0000015` if the API is off.
    /// - Throws: ``StoreError`` if the store failed.
    package func classicEndSessions(
        of user: String, revokesGrants: Bool, forgetsDevices: Bool, apiToken: String?, context: RequestContext
    ) async throws -> Result<[BackchannelLogout], ClassicRefusal> {
        try await administer(user, apiToken) { [self] id, caller in
            let logouts = try await signOutEverywhere(userID: id, revokesGrants: revokesGrants, context: context)
            if forgetsDevices { _ = try await forgetRememberedDevices(ofUser: id, context: context) }
            let parts = ["sessions"] + (revokesGrants ? ["tokens"] : []) + (forgetsDevices ? ["devices"] : [])
            let reason = "by \(caller.name): \(parts.joined(separator: ", "))"
            let event = LoggedEvent("user.session.clear", .success, reason: reason, userID: id)
            try await write(Writes(events: [event]), context: context)
            return logouts
        }
    }

    /// The devices that are remembered of a person, for a trusted caller.
    ///
    /// - Parameters:
    ///   - user: The person's id, or the name that they sign in with.
    ///   - apiToken: What the caller shows; nil if it shows nothing.
    /// - Returns: The devices; or a refusal, as of ``classicEndSessions(of:revokesGrants:forgetsDevices:apiToken:context:)``.
    /// - Throws: ``StoreError`` if the store failed.
    package func classicDevices(of user: String, apiToken: String?) async throws -> Result<[RememberedDeviceSummary], ClassicRefusal> {
        try await administer(user, apiToken) { [self] id, _ in try await rememberedDevices(ofUser: id) }
    }

    /// Forgets one device of a person, or all, by the word of a trusted caller.
    ///
    /// - Parameters:
    ///   - device: Its id; nil for all.
    ///   - user: The person's id, or the name that they sign in with.
    ///   - apiToken: What the caller shows; nil if it shows nothing.
    ///   - context: When and from where it came.
    /// - Returns: How many were forgotten; or a refusal, as of ``classicEndSessions(of:revokesGrants:forgetsDevices:apiToken:context:)``, and
    ///   `E0000007` for a device that is not there.
    /// - Throws: ``StoreError`` if the store failed.
    package func classicForget(
        device: String?, of user: String, apiToken: String?, context: RequestContext
    ) async throws -> Result<Int, ClassicRefusal> {
        try await administer(user, apiToken) { [self] id, _ in
            let count = try await forgetRememberedDevices(ofUser: id, id: device, context: context)
            guard count > 0 || device == nil else { throw ClassicRefusal.nothing("authn: unknown device") }
            return count
        }
    }

    /// Has a person set up the account that was made for them, by the word of a trusted caller.
    ///
    /// - Parameters:
    ///   - user: The person's id, or the name that they sign in with.
    ///   - isMailed: Whether they are sent the link; otherwise the caller gets it.
    ///   - apiToken: What the caller shows; nil if it shows nothing.
    ///   - context: When and from where it came.
    /// - Returns: What is to be sent, or the token; or a refusal, as of ``classicEndSessions(of:revokesGrants:forgetsDevices:apiToken:context:)``,
    ///   `E0000016` for who can sign in already, `E0000001` for who has no address, or a limit.
    /// - Throws: ``StoreError`` if the store failed.
    package func classicActivate(
        _ user: String, isMailed: Bool, apiToken: String?, context: RequestContext
    ) async throws -> Result<AccountActivation, ClassicRefusal> {
        try await administer(user, apiToken) { [self] id, _ in
            do {
                let answer: AccountActivation? =
                    isMailed
                    ? try await activationMail(forUser: id, context: context).map(AccountActivation.mail)
                    : try await activationToken(forUser: id, context: context).map(AccountActivation.token)
                guard let answer else { throw ClassicRefusal.alreadyActive }
                return answer
            } catch let refusal as CodeRefusal {
                throw ClassicRefusal(refusal, context: context)
            }
        }
    }

    /// Opens an account that wrong passwords or codes locked, and a question that was answered wrongly too often, by the word of a trusted
    /// caller.
    ///
    /// - Parameters:
    ///   - user: The person's id, or the name that they sign in with.
    ///   - apiToken: What the caller shows; nil if it shows nothing.
    ///   - context: When and from where it came.
    /// - Returns: Nothing; or a refusal, as of ``classicEndSessions(of:revokesGrants:forgetsDevices:apiToken:context:)``, and `E0000032` where
    ///   nothing is closed.
    /// - Throws: ``StoreError`` if the store failed.
    package func classicUnlock(_ user: String, apiToken: String?, context: RequestContext) async throws -> Result<Void, ClassicRefusal> {
        try await administer(user, apiToken) { [self] id, caller in
            guard try await unlockIfClosed(userID: id, by: caller.name, context: context) else { throw ClassicRefusal.notLocked }
        }
    }

    /// Admits the caller before it looks for the user, so that a caller without a token learns nothing.
    private func administer<Value: Sendable>(
        _ user: String, _ apiToken: String?, _ body: (_ id: String, _ caller: ClassicPolicy.TrustedCaller) async throws -> Value
    ) async throws -> Result<Value, ClassicRefusal> {
        do {
            let (id, trusted) = try await store.read { [self] view in
                guard let trusted = try admit(ClassicCaller(apiToken: apiToken), snapshot: snapshot(view)).trusted else {
                    throw ClassicRefusal.invalidToken("authn: no API token")
                }
                guard let found = try self.user(id: user, in: view) ?? self.user(login: Self.possibleName(user), in: view) else {
                    throw ClassicRefusal.nothing("authn: unknown user")
                }
                return (found.value.id, trusted)
            }
            return .success(try await body(id, trusted))
        } catch let refusal as ClassicRefusal {
            return .failure(refusal)
        }
    }
}

/// How somebody comes to set up the account that was made for them.
package enum AccountActivation: Sendable {
    /// By a mail, to be sent now.
    case mail(OutgoingMessage)
    /// By whoever asked, who brings it to them.
    case token(String)
}

extension ClassicRefusal {
    /// Who can sign in has nothing to set up.
    fileprivate static let alreadyActive = ClassicRefusal(
        code: "E0000016", status: 403, summary: "Activation failed because the user is already active.",
        reason: "activation: the user can sign in already")

    /// What is open needs no opening.
    fileprivate static let notLocked = ClassicRefusal(
        code: "E0000032", status: 403, summary: "Unlock is not allowed for this user.", reason: "unlock: nothing is locked")

    /// There is nothing of that id.
    fileprivate static func nothing(_ reason: String) -> ClassicRefusal {
        ClassicRefusal(code: "E0000007", status: 404, summary: "Not found: there is nothing of that name.", reason: reason)
    }
}
