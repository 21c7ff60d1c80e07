internal import Foundation
package import IdentityCore
package import JOSE
package import OAuthWire
internal import Store

/// The response to the client that started a challenge.
package struct StartedChallenge: Sendable {
    package var members: [String: JSONValue]
}

extension Engine {
    /// Starts a second factor by push, code or passkey (`/challenge`, Documentation/Protocol/OAuth.md §2.6).
    package func challenge(_ request: TokenRequest, context: RequestContext) async throws -> Result<StartedChallenge, Refusal> {
        if Self.asksForPasskey(request) { return try await secondFactorPasskey(request, context: context) }
        if Self.asksForCode(request) { return try await codeChallenge(request, context: context) }
        let channel = Self.codeChannel(request)
        let find: @Sendable (AdmittedRequest, Reading<Never>) throws -> ChallengeStart = { [self] admitted, reading in
            let token = try admitted.required("mfa_token")
            let types = try admitted.required("challenge_types_supported").spaceSeparated
            guard types.contains(GrantType.secondFactorOOB) else {
                throw ChallengePlan.unusable("the challenge type is not supported")
            }
            try admitted.requireGrant(GrantType.secondFactorOOB)
            if channel == nil { try Self.requirePushChannel(admitted) }
            let (stored, user) = try openTransaction(token, admitted, reading.view)
            return ChallengeStart(stored: stored, user: user, type: GrantType.secondFactorOOB)
        }
        let secret = request.parameters["mfa_token"] ?? ""
        if let channel {
            let lookup: @Sendable () -> Lookup = { Lookup(.signIn(.mfaToken, secret: secret)) }
            return try await startCode(channel, request, context: context, lookup: lookup, find: find)
        }
        return try await start(
            request, context: context, lookup: { Lookup(.signIn(.mfaToken, secret: secret, .challenges)) }, find: find)
    }

    /// Starts a first factor by push, code or passkey (`/primary-authenticate`, formerly `/oob-authenticate`; Documentation/Protocol/OAuth.md §2.5).
    /// An unknown user name, a user without a device and a user who may not use the application get the same response.
    package func primaryAuthenticate(_ request: TokenRequest, context: RequestContext) async throws -> Result<StartedChallenge, Refusal> {
        if let hint = request.parameters["login_hint"], let snapshot = latestSnapshot {
            let client = (request.client.clientID ?? request.client.basic?.clientID).flatMap { snapshot.application($0) }
            let origin = client.map { RequestOrigin(context, application: $0) }
            let attempts = try await countFirstAttempt(
                login: Self.possibleName(hint), from: origin ?? .unknown, snapshot: snapshot, context: context)
            guard attempts.isAdmitted else { return .failure(.tooManySignIns(attempts)) }
        }
        if Self.asksForPasskey(request) {
            // The official Swift client starts a second factor here, with an mfa_token in place of a user name.
            return request.parameters["mfa_token"] == nil
                ? try await firstFactorPasskey(request, context: context) : try await secondFactorPasskey(request, context: context)
        }
        let channel = Self.codeChannel(request)
        let find: @Sendable (AdmittedRequest, Reading<Never>) throws -> ChallengeStart = { [self] admitted, reading in
            let hint = admitted["challenge_hint"] ?? GrantType.oob
            guard hint == GrantType.oob else {
                throw Refusal(
                    .invalidRequest, "The challenge_hint is not supported. Use \(GrantType.oob) or \(GrantType.webAuthn).",
                    reason: "challenge_hint")
            }
            let login = Self.possibleName(try admitted.required("login_hint"))
            try admitted.requireGrant(GrantType.oob)
            if channel == nil { try Self.requirePushChannel(admitted) }
            let account = try namedAccount(login, in: reading.view)
            let transaction = SignInTransaction(
                id: try environment.random.identifier(prefix: "txn"), request: SignInRequest(admitted, scopes: []), now: context.now)
            var start = ChallengeStart(new: transaction, user: account.standIn)
            if account.user?.value.status != .active {
                start.obstacle = "unknown or inactive user"
            } else if !admitted.application.assignment.includes(account.standIn.value) {
                start.obstacle = "user is not assigned to the application"
            }
            start.decoy = account.user == nil ? account.decoy : nil
            return start
        }
        let lookup: @Sendable () -> Lookup = { [self] in
            let login = request.parameters["login_hint"] ?? ""
            return Lookup(rows(ofLogin: login, with: channel == nil ? [.subject, .challenges] : .subject))
        }
        if let channel { return try await startCode(channel, request, context: context, lookup: lookup, find: find) }
        return try await start(request, context: context, isNamed: true, lookup: lookup, find: find)
    }

    /// Returns the open transaction of an `mfa_token` of this client, and its user. Throws ``Refusal`` for an invalid token.
    func openTransaction(_ token: String, _ admitted: AdmittedRequest, _ view: any StoreView) throws -> (StoredTransaction, StoredUser) {
        let now = admitted.context.now
        guard case (let stored, .fresh)? = try view.transaction(.mfaToken, secret: token, now: now), now < stored.value.expiresAt,
            stored.value.applicationID == admitted.application.id, stored.value.server == admitted.server.id,
            let userID = stored.value.userID, let user = try user(id: userID, in: view)
        else { throw Refusal(.accessDenied, "The mfa_token is unknown or has expired. Begin again.", reason: "challenge: mfa_token") }
        return (stored, user)
    }

    private static func requirePushChannel(_ admitted: AdmittedRequest) throws(Refusal) {
        switch try admitted.required("channel_hint") {
        case "push": return
        default: throw Refusal(.invalidRequest, "The channel_hint is not supported. Use push, sms or voice.", reason: "channel_hint")
        }
    }
}
