internal import Foundation
public import JOSE

/// A challenge that was stored: what the client is told, and what is to be sent to the devices.
public struct StartedChallenge: Sendable {
    /// The members of the answer.
    public var members: [String: JSONValue]
    /// To be sent now; each at most once.
    public var pushes: [PushMessage]
    /// Likewise.
    public var messages: [OutgoingMessage] = []
}

extension IdentityEngine {
    /// Starts a second factor that takes a step of the server's (`/challenge`, oauth reference 2.6).
    ///
    /// - Parameters:
    ///   - request: The client and the parameters.
    ///   - context: When and from where it came.
    /// - Returns: What was started, on disk; or a refusal.
    /// - Throws: ``StoreError`` if the store failed; then nothing was started.
    public func challenge(_ request: TokenRequest, context: RequestContext) async throws -> Result<StartedChallenge, Refusal> {
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
        if let channel { return try await startCode(channel, request, context: context, find: find) }
        return try await start(request, context: context, find: find)
    }

    /// Starts a first factor that takes a step of the server's (`/primary-authenticate`, and `/oob-authenticate` as it was called;
    /// oauth reference 2.5).
    ///
    /// An unknown name, a user without a device and a user who may not use the application get the same answer.
    ///
    /// - Parameters:
    ///   - request: The client and the parameters.
    ///   - context: When and from where it came.
    /// - Returns: What was started, on disk; or a refusal.
    /// - Throws: ``StoreError`` if the store failed; then nothing was started.
    public func primaryAuthenticate(_ request: TokenRequest, context: RequestContext) async throws -> Result<StartedChallenge, Refusal> {
        if let hint = request.parameters["login_hint"], let snapshot = latestSnapshot {
            let client = (request.client.clientID ?? request.client.basic?.clientID).flatMap { snapshot.application($0) }
            let origin = client.map { RequestOrigin(context, application: $0) }
            let attempts = try await countFirstAttempt(
                login: Self.possibleName(hint), from: origin ?? .unknown, snapshot: snapshot, context: context)
            guard attempts.isAdmitted else { return .failure(.tooManySignIns(attempts)) }
        }
        let channel = Self.codeChannel(request)
        let find: @Sendable (AdmittedRequest, Reading<Never>) throws -> ChallengeStart = { [self] admitted, reading in
            let hint = admitted["challenge_hint"] ?? GrantType.oob
            guard hint == GrantType.oob else {
                guard hint == GrantType.webAuthn else {
                    throw Refusal(
                        .invalidRequest, "The challenge_hint is not supported. Use \(GrantType.oob).", reason: "challenge_hint")
                }
                throw ChallengePlan.unusable("WebAuthn is not enrolled")
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
        if let channel { return try await startCode(channel, request, context: context, find: find) }
        return try await start(request, context: context, isNamed: true, find: find)
    }

    /// The transaction that an `mfa_token` leads to, if it is this client's and open, and whose it is.
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

/// What a challenge is started for.
struct ChallengeStart: Sendable {
    var transaction: SignInTransaction
    /// The stored version; 0 for a new transaction.
    var version: Int64
    /// As a write must name them.
    var user: StoredUser
    /// The `challenge_type` of the answer; nil for a first factor.
    var type: String?
    var bindingMessage: String?
    var preferredAuthenticator: String?
    /// The one enrolment that is asked; nil for all that can be.
    var enrollmentID: String?
    var ticket = TicketKind.oobCode
    /// The reason for the log why the user can't be asked; `nil` if they can. The refusal follows all reads, as for a user without a device.
    var obstacle: String?
    /// Stands in for the user of an unknown name.
    var decoy: Decoy?

    init(stored: StoredTransaction, user: StoredUser, type: String) {
        (transaction, version, self.user, self.type) = (stored.value, stored.version, user, type)
    }

    init(new transaction: SignInTransaction, user: StoredUser) {
        (self.transaction, version, self.user) = (transaction, 0, user)
    }
}

extension ChallengeStart {
    /// Refuses a user who can't be asked, or whom the policy denies, after all reads.
    ///
    /// - Throws: ``Refusal``; errors of the store.
    func requireUsable(_ subject: SignInTransaction.Subject, in view: any StoreView) throws {
        // Reads decoy factors as for a known user.
        try decoy?.readFactors(in: view)
        if let obstacle { throw ChallengePlan.unusable(obstacle) }
        if subject.decision.assurance == .deny { throw transaction.denied(by: subject.decision) }
    }
}

extension AdmittedRequest {
    /// - Throws: ``Refusal`` with `unauthorized_client` if the client may not use the grant that a challenge leads to.
    func requireGrant(_ type: String) throws(Refusal) {
        guard application.grantTypes.contains(type) else {
            throw Refusal(
                .unauthorizedClient, "The client is not authorized to use the grant_type \"\(type)\". Enable it for the application.",
                reason: "grant.not_enabled")
        }
    }
}

extension Refusal {
    /// A person's sign-in attempts are over their limit, as the challenge endpoints spell it (oauth reference 2.16).
    static func tooManySignIns(_ status: RateLimitStatus) -> Refusal {
        Refusal(
            .invalidGrant, "Too many attempts. Wait and try again.", reason: "sign-in attempts for one user name or from one address",
            status: .tooManyRequests, rateLimit: status)
    }
}

extension String {
    var spaceSeparated: [String] { split(separator: " ").map(String.init) }
}
