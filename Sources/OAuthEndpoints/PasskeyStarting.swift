internal import Foundation
internal import IdentityCore
internal import JOSE
internal import OAuthWire
internal import Store

/// Passkeys in direct authentication (Documentation/Protocol/OAuth.md §6.9). The client receives the options of a WebAuthn assertion, and
/// sends the passkey's signature to the token endpoint.
extension Engine {
    /// Returns whether the client requests a passkey: by `challenge_hint` at `/primary-authenticate`, by `challenge_types_supported` at
    /// `/challenge`. A client that names further types at `/challenge` gets another factor.
    static func asksForPasskey(_ request: TokenRequest) -> Bool {
        if request.parameters["challenge_hint"] == GrantType.webAuthn { return true }
        let types = request.parameters["challenge_types_supported"]?.spaceSeparated ?? []
        return types.contains(GrantType.secondFactorWebAuthn)
            && types.allSatisfy { $0 != GrantType.secondFactorOOB && $0 != GrantType.secondFactorOTP }
    }

    /// Starts a passkey as the second factor. `challenge_hint` and `challenge_types_supported` are equivalent here.
    func secondFactorPasskey(_ request: TokenRequest, context: RequestContext) async throws -> Result<StartedChallenge, Refusal> {
        let secret = request.parameters["mfa_token"] ?? ""
        return try await startPasskey(
            request, context: context, lookup: { Lookup(.signIn(.mfaToken, secret: secret)) }
        ) { [self] admitted, reading in
            let token = try admitted.required("mfa_token")
            try admitted.requireGrant(GrantType.secondFactorWebAuthn)
            let (stored, user) = try openTransaction(token, admitted, reading.view)
            return ChallengeStart(stored: stored, user: user, type: GrantType.secondFactorWebAuthn)
        }
    }

    /// Starts a passkey as the first factor of the named user. The response for an unknown name and for a user without a passkey names
    /// credentials that do not exist (WebAuthn Level 3 section 14.6.2). A user who cannot sign in to the application gets the response of
    /// the other applications, but no signature is accepted.
    func firstFactorPasskey(_ request: TokenRequest, context: RequestContext) async throws -> Result<StartedChallenge, Refusal> {
        try await startPasskey(request, context: context) { [self] in
            Lookup(rows(ofLogin: request.parameters["login_hint"] ?? "", with: .subject))
        } find: { [self] admitted, reading in
            let login = Self.possibleName(try admitted.required("login_hint"))
            try admitted.requireGrant(GrantType.webAuthn)
            let account = try namedAccount(login, in: reading.view)
            let transaction = SignInTransaction(
                id: try environment.random.identifier(prefix: "txn"), request: SignInRequest(admitted, scopes: []), now: context.now)
            var start = ChallengeStart(new: transaction, user: account.standIn)
            start.type = GrantType.webAuthn
            start.decoy = account.user == nil ? account.decoy : nil
            start.decoyCredentials = try decoyCredentials(of: login, in: reading.snapshot)
            if account.user?.value.status != .active {
                start.obstacle = "unknown or inactive user"
            } else if !admitted.application.assignment.includes(account.standIn.value) {
                start.obstacle = "user is not assigned to the application"
            }
            start.decoyNumber = start.obstacle == nil ? nil : account.decoy.number
            return start
        }
    }

    private func startPasskey(
        _ request: TokenRequest, context: RequestContext, lookup: @escaping @Sendable () -> Lookup,
        find: @escaping @Sendable (AdmittedRequest, Reading<Never>) throws -> ChallengeStart
    ) async throws -> Result<StartedChallenge, Refusal> {
        try await transact(request, context: context) { (refusal, admitted, _: PasskeyTarget?) in
            let isDenied = refusal.code == .accessDenied
            guard isDenied || admitted?.application.isConfidential == true else { return nil }
            return LoggedEvent(
                "user.mfa.webauthn.challenge", isDenied ? .denied : .failure, reason: refusal.reason, clientID: admitted?.application.id,
                server: request.server)
        } lookup: {
            lookup()
        } read: { admitted, reading in
            try PasskeyTarget(find(admitted, reading), admitted, reading.view)
        } decide: { [self] (found: PasskeyTarget) in
            try plan(found, now: context.now)
        }
    }

    private func plan(_ target: PasskeyTarget, now: Date) throws -> Plan<Result<StartedChallenge, Refusal>> {
        let start = target.start
        var next = start.transaction
        // A repeated request gets the open challenge again and writes nothing.
        if let open = next.passkeyChallenge, open.isOpen(to: target.passkeys, mustVerifyUser: target.mustVerifyUser, at: now) {
            return Plan(.success(StartedChallenge(members: target.members(open, now: now))))
        }
        let challenge = PasskeyChallenge(
            secret: Base64URL.encode(try environment.random.bytes(32)), credentials: target.passkeys.map(\.id),
            requiresUserVerification: target.mustVerifyUser,
            expiresAt: min(now.addingTimeInterval(PasskeyChallenge.lifetime), next.expiresAt),
            standIns: target.passkeys.isEmpty ? PasskeyStandIns(credentials: target.named.count, decoy: start.decoyNumber) : nil)
        // The newest challenge replaces an earlier one of the same sign-in.
        var changes: [Change] = next.passkeyChallenge.map { [.close(.passkeyChallenge, digest: TicketDigest(of: $0.secret))] } ?? []
        next.passkeyChallenge = challenge
        if start.obstacle == nil { next.meet(start.user.value) }
        let ticket = Ticket(
            kind: .passkeyChallenge, digest: TicketDigest(of: challenge.secret), owner: RecordReference(.transaction, next.id),
            use: .untilClosed, expiresAt: challenge.expiresAt)
        changes += [.put(try next.record(version: start.version)), .issue(ticket)]
        return Plan(.success(StartedChallenge(members: target.members(challenge, now: now))), Writes(changes))
    }
}

/// The sign-in, and the passkeys that can sign its challenge.
private struct PasskeyTarget: Sendable {
    let start: ChallengeStart
    let passkeys: [Enrollment]
    /// The ids of the credentials that the response names.
    let named: [String]
    let mustVerifyUser: Bool
    private let rpID: String

    /// Reads the data for a challenge; throws ``Refusal`` if the client may not start one.
    init(_ start: ChallengeStart, _ admitted: AdmittedRequest, _ view: any StoreView) throws {
        guard let policy = admitted.snapshot.organization.passkeys else {
            throw ChallengePlan.unusable("the organization does not offer passkeys")
        }
        let rpID = policy.rpID(origin: admitted.snapshot.origin)
        (self.start, self.rpID) = (start, rpID)
        let transaction = start.transaction
        let user = start.user.value
        guard let subject = try view.subject(user, of: transaction, snapshot: admitted.snapshot, from: admitted.context) else {
            throw Refusal.overTransaction
        }
        try start.decoy?.readFactors(in: view)
        let usable = subject.enrollments.usable.filter { $0.passkey != nil }
        guard !transaction.proofs.isEmpty else {
            // Depends on the application only, so that it reveals nothing about the user.
            mustVerifyUser = policy.userVerification == .required || admitted.snapshot.canRequireTwoFactors(admitted.application)
            // A user who cannot sign in to the application gets the same response as in other applications. Different credentials would
            // tell that the user exists.
            passkeys = start.obstacle == nil && subject.decision.assurance != .deny ? usable : []
            named = usable.isEmpty ? start.decoyCredentials : usable.compactMap(\.passkey?.credentialID)
            return
        }
        mustVerifyUser = policy.mustVerifyUser(subject, in: transaction)
        guard transaction.end == nil, admitted.context.now < transaction.expiresAt, transaction.isAbout(user), user.status == .active else {
            throw Refusal.overTransaction
        }
        if transaction.isRejectedForGood { throw Refusal.rejectedOnDevice }
        guard case .factor(let kinds) = transaction.requirement(for: subject), kinds.contains(.passkey), !usable.isEmpty else {
            throw ChallengePlan.unusable("no passkey is asked for, or none is enrolled")
        }
        passkeys = usable
        named = usable.compactMap(\.passkey?.credentialID)
    }

    /// The response (Documentation/Protocol/OAuth.md §6.9). The official Swift client reads `rpID`; the standard's name is `rpId`.
    func members(_ challenge: PasskeyChallenge, now: Date) -> [String: JSONValue] {
        // Before the first proof, a user's passkeys must look like the credentials of an unknown name, which have no transports.
        let proved = start.transaction.proofs.isEmpty ? [] : passkeys.compactMap(\.passkey)
        let credentials = named.map { id in
            var members: [String: JSONValue] = ["type": "public-key", "id": .string(id)]
            // The official Swift client cannot decode a response with another value.
            let transports = (proved.first { $0.credentialID == id }?.transports ?? [])
                .filter { ["usb", "nfc", "ble", "internal", "smart-card", "hybrid"].contains($0) }
            if !transports.isEmpty { members["transports"] = .array(transports.map(JSONValue.string)) }
            return JSONValue.object(members)
        }
        let milliseconds = Int64(clamping: challenge.expiresAt.timeIntervalSince(now) * 1_000)
        var members: [String: JSONValue] = [
            "challengeType": .string(start.type ?? GrantType.webAuthn),
            "publicKey": [
                "challenge": .string(challenge.secret), "rpId": .string(rpID), "rpID": .string(rpID), "timeout": .integer(milliseconds),
                "userVerification": .string(mustVerifyUser ? "required" : "preferred"),
                "allowCredentials": .array(credentials),
            ],
        ]
        // The names of passkeys are personal, so they are listed only after the first factor.
        if !start.transaction.proofs.isEmpty {
            members["authenticatorEnrollments"] = .array(
                proved.map { passkey in
                    [
                        "credentialId": .string(passkey.credentialID), "displayName": .string(passkey.name),
                        "profile": ["aaguid": .string(passkey.aaguid)],
                    ]
                })
        }
        return members
    }
}
