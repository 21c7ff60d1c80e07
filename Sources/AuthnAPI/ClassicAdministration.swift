internal import Foundation
package import IdentityCore
internal import Store

/// The administration of a user by back ends with an API token: ending sessions, remembered devices, activation, unlock. `user` is the
/// user's id or login. Every function refuses an unknown API token (`E0000011`), an unknown user (`E0000007`), and all requests if the API
/// is off (`E0000015`).
extension Engine {
    /// Signs a user out of every browser, and notifies the applications.
    /// - Parameters:
    ///   - revokesGrants: Whether the tokens of the user's applications are revoked too.
    ///   - forgetsDevices: Whether the user's remembered devices are forgotten.
    package func classicEndSessions(
        of user: String, revokesGrants: Bool, forgetsDevices: Bool, apiToken: String?, context: RequestContext
    ) async throws -> Result<Void, ClassicRefusal> {
        try await administer(user, apiToken) { [self] id, caller in
            try await signOutEverywhere(userID: id, revokesGrants: revokesGrants, context: context)
            if forgetsDevices { _ = try await forgetRememberedDevices(ofUser: id, context: context) }
            let parts = ["sessions"] + (revokesGrants ? ["tokens"] : []) + (forgetsDevices ? ["devices"] : [])
            let reason = "by \(caller.name): \(parts.joined(separator: ", "))"
            let event = LoggedEvent("user.session.clear", .success, reason: reason, userID: id)
            try await write(Writes(events: [event]), context: context)
        }
    }

    package func classicDevices(of user: String, apiToken: String?) async throws -> Result<[RememberedDeviceSummary], ClassicRefusal> {
        try await administer(user, apiToken) { [self] id, _ in try await rememberedDevices(ofUser: id) }
    }

    /// Forgets one remembered device of a user, or all devices if `device` is `nil`. Returns the number of forgotten devices. Refuses an
    /// unknown device (`E0000007`).
    package func classicForget(
        device: String?, of user: String, apiToken: String?, context: RequestContext
    ) async throws -> Result<Int, ClassicRefusal> {
        try await administer(user, apiToken) { [self] id, _ in
            let count = try await forgetRememberedDevices(ofUser: id, id: device, context: context)
            guard count > 0 || device == nil else { throw ClassicRefusal.nothing("authn: unknown device") }
            return count
        }
    }

    /// Creates an activation token. With `isMailed`, the server mails the link to the user, and the function returns `nil`. Otherwise the
    /// function returns the token, which the caller passes on to the user. Refusals:
    /// - `E0000016`: the user can sign in already.
    /// - `E0000001`: the user has no mail address (only with `isMailed`).
    /// - `E0000047` or `E0000118`: too many messages were sent, or one was sent a moment ago.
    package func classicActivate(
        _ user: String, isMailed: Bool, apiToken: String?, context: RequestContext
    ) async throws -> Result<String?, ClassicRefusal> {
        try await administer(user, apiToken) { [self] id, _ in
            do {
                if isMailed {
                    guard try await sendActivation(toUser: id, context: context) else { throw ClassicRefusal.alreadyActive }
                    return nil
                }
                guard let token = try await activationToken(forUser: id, context: context) else { throw ClassicRefusal.alreadyActive }
                return token
            } catch let refusal as CodeRefusal {
                throw ClassicRefusal(refusal, context: context)
            }
        }
    }

    /// Unlocks an account after wrong passwords or codes, and a security question after wrong answers. Refuses if nothing is locked
    /// (`E0000032`).
    package func classicUnlock(_ user: String, apiToken: String?, context: RequestContext) async throws -> Result<Void, ClassicRefusal> {
        try await administer(user, apiToken) { [self] id, caller in
            guard try await unlockIfClosed(userID: id, by: caller.name, context: context) else { throw ClassicRefusal.notLocked }
        }
    }

    /// Authenticates the caller, then looks up the user and runs `body`. In this order, a caller without an API token learns nothing.
    private func administer<Value: Sendable>(
        _ user: String, _ apiToken: String?, _ body: (_ id: String, _ caller: ClassicPolicy.TrustedCaller) async throws -> Value
    ) async throws -> Result<Value, ClassicRefusal> {
        do {
            let (id, trusted) = try await store.read {
                let key = User.key(forLogin: Self.possibleName(user))
                return Lookup(.record(.user, id: user), .records(.user, where: "login", is: key, limit: 1))
            } _: { [self] view in
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

extension ClassicRefusal {
    fileprivate static let alreadyActive = ClassicRefusal(
        code: "E0000016", status: 403, summary: "Activation failed because the user is already active.",
        reason: "activation: the user can sign in already")

    fileprivate static let notLocked = ClassicRefusal(
        code: "E0000032", status: 403, summary: "Unlock is not allowed for this user.", reason: "unlock: nothing is locked")

    fileprivate static func nothing(_ reason: String) -> ClassicRefusal {
        ClassicRefusal(code: "E0000007", status: 404, summary: "Not found: there is nothing of that name.", reason: reason)
    }
}
