internal import Foundation
internal import IdentityCore
internal import JOSE
internal import Store
internal import WebAuthn

/// Passkeys on the pages. As the first factor, the user chooses any passkey of the organization, and its user handle names the account. As
/// the second factor, one of the user's passkeys signs.
extension HostedState {
    // MARK: - First factor

    /// Returns the WebAuthn options of the first page in JSON; `nil` if the organization does not offer passkeys.
    func firstPasskeyOptions() throws -> String? {
        guard let policy = snapshot.pagePasskeys, let challenge = openPasskeyChallenge, challenge.credentials == nil else {
            return nil
        }
        return try challenge.options(policy.rpID(origin: snapshot.origin), allowed: []).text
    }

    /// Returns a step that checks the response of a passkey.
    func passkey(_ text: String, _ reading: Reading<HostedStep.Verdict>) throws -> HostedStep {
        // A form that is sent again after the proof changes nothing.
        guard transaction.proofs.isEmpty || hosted.awaited == .passkey else { return unchanged }
        guard let challenge = openPasskeyChallenge, let response = AuthenticationResponse(ofForm: text) else {
            return attempt(reading) { _ in try note(.wrongPasskey) }
        }
        guard let user, let subject else { return try firstPasskey(response, to: challenge, reading) }
        let verifier = PasskeyVerifier(snapshot: snapshot, challenge: challenge, enrollments: enrollments, isOnPages: true, now: now)
        let check = Check(
            .assertion(PasskeyAssertion(response)), of: user.value, enrollments: enrollments, policy: snapshot.passwordPolicy, by: verifier)
        return attempt(reading, check: check.map { .factor(try await $0()) }) { verdict in
            let (next, outcome, effects) = transaction.step(
                .judged(verifier.kind, verifier.factorClass, methods: verifier.methods, verdict.factor ?? .failed, subject), now: now)
            var writes = try Writes(effects, of: next, user: user)
            // The verdict may be old. Rewriting the user makes a lock or a new password since then cause a conflict.
            if !effects.writesUser { writes += [user.unchanged] }
            return try judgedPasskey(next, outcome, writes, login: user.value.login)
        }
    }

    /// Returns a step that checks the response of a passkey before the user is known. A response for an unknown user handle costs the same
    /// reads, computation and writes as one for a known handle.
    private func firstPasskey(
        _ response: AuthenticationResponse, to challenge: PasskeyChallenge, _ reading: Reading<HostedStep.Verdict>
    ) throws -> HostedStep {
        guard challenge.credentials == nil else { return unchanged }
        let found = try reading.view.record(.user, id: response.userID).map(StoredUser.init)
        // Attempts for an unknown handle are counted like those for an unknown user name.
        let login = found?.value.login ?? Base64URL.encode(response.userHandle ?? [])
        let first = try FirstFactor(
            login, by: .passkey, of: transaction, withEnrollments: true, after: reading.verdict?.factor, view: reading.view,
            snapshot: snapshot, context: context, engine: engine)
        let verifier = PasskeyVerifier(
            snapshot: snapshot, challenge: challenge, enrollments: first.account.enrollments, isOnPages: true, now: now)
        let count = { @Sendable in
            engine.countFirstAttempt(
                login: login, of: first.account.user?.value, from: RequestOrigin(context, application: application, isOnPages: true),
                snapshot: snapshot, context: context)
        }
        let check = first.check(.assertion(PasskeyAssertion(response)), by: verifier)
        return attempt(
            reading, count: count, check: check.map { .factor(try await $0()) },
            needsMore: { verdict in verdict.factor.map(first.needsMore) ?? false }
        ) { verdict in
            let (next, outcome, writes, _) = try first.step(verdict.factor ?? .failed, by: verifier, now: now)
            // The page must not reveal the user name to a client that knows only the handle.
            return try judgedPasskey(next, outcome, writes, login: next.proofs.isEmpty ? hosted.login : login)
        }
    }

    /// Returns the plan of a judged response. A response that was refused consumes its challenge.
    private func judgedPasskey(
        _ next: SignInTransaction, _ outcome: SignInTransaction.Outcome, _ writes: Writes, login: String
    ) throws -> Plan<HostedAnswer> {
        var next = next
        if case .tryAgain = outcome { next.passkeyChallenge?.secret = try engine.environment.random.passkeyChallenge() }
        return try judged(next, outcome, writes, wrong: .wrongPasskey, login: login)
    }

    // MARK: - Second factor

    /// Creates a challenge for the user's passkeys, and withdraws a pending push.
    func startPasskey() throws -> Plan<HostedAnswer> {
        let passkeys = presentablePasskeys
        guard let policy = snapshot.pagePasskeys, let subject, !passkeys.isEmpty else { return Plan(onward) }
        var next = transaction
        let closing = next.closingChallenge
        next.withdrawChallenge(now: now)
        next.hosted?.notice = nil
        next.hosted?.awaited = .passkey
        // A form that is sent twice keeps the challenge.
        if hosted.awaited != .passkey || openPasskeyChallenge == nil {
            next.passkeyChallenge = PasskeyChallenge(
                secret: try engine.environment.random.passkeyChallenge(), credentials: passkeys.map(\.id),
                requiresUserVerification: policy.mustVerifyUser(subject, in: transaction),
                expiresAt: min(now.addingTimeInterval(PasskeyChallenge.lifetime), transaction.expiresAt))
        }
        return try next == transaction ? Plan(onward) : moving(to: next, Writes(closing))
    }

    /// Returns the page on which the user's passkey signs; `nil` if no challenge is open.
    func passkeyPage(_ choices: [HostedFactorChoice], notice: HostedSignIn.Notice?) throws -> HostedAnswer? {
        guard hosted.awaited == .passkey, let challenge = openPasskeyChallenge, let policy = snapshot.pagePasskeys else {
            return nil
        }
        let passkeys = presentablePasskeys.filter { challenge.credentials?.contains($0.id) == true }.compactMap(\.passkey)
        guard !passkeys.isEmpty else { return nil }
        var options = try challenge.options(
            policy.rpID(origin: snapshot.origin), allowed: passkeys.map { CredentialDescriptor($0.credential) })
        options.timeout = Int(clamping: challenge.expiresAt.timeIntervalSince(now) * 1_000)
        return page(.passkey(options: options.text, hasOthers: choices.count > 1), notice: notice)
    }

    /// Whether a passkey belongs to the current relying party.
    func isUsable(_ passkey: PasskeyMethod) -> Bool {
        snapshot.pagePasskeys?.rpID(origin: snapshot.origin) == passkey.relyingParty
    }

    /// The passkeys that the user can present now as the second factor.
    private var presentablePasskeys: [Enrollment] {
        guard transaction.end == nil, !transaction.proofs.isEmpty, !transaction.isRejectedForGood, let subject,
            case .factor(let kinds) = transaction.requirement(for: subject), kinds.contains(.passkey)
        else { return [] }
        return enrollments.filter { $0.passkey.map(isUsable) ?? false }
    }

    /// The challenge that a passkey can sign now; `nil` for none.
    private var openPasskeyChallenge: PasskeyChallenge? {
        transaction.passkeyChallenge.flatMap { now < $0.expiresAt ? $0 : nil }
    }
}

extension SignInTransaction {
    /// Creates the challenge of the first page, if the organization offers passkeys. The browser may wait for the user's choice as long as
    /// the page is open, so the challenge is valid for the whole sign-in. A passkey can be the only factor, so it must verify the user.
    mutating func acceptPasskey(_ policy: PasskeyPolicy?, _ random: any RandomSource) throws {
        guard policy != nil else { return }
        passkeyChallenge = PasskeyChallenge(
            secret: try random.passkeyChallenge(), credentials: nil, requiresUserVerification: true, expiresAt: expiresAt)
    }
}

extension RandomSource {
    fileprivate func passkeyChallenge() throws -> String { Base64URL.encode(try bytes(32)) }
}

extension PasskeyChallenge {
    fileprivate func options(_ relyingPartyID: String, allowed: [CredentialDescriptor]) throws -> RequestOptions {
        try RequestOptions(
            relyingPartyID: relyingPartyID, challenge: Base64URL.decode(secret), allowed: allowed,
            userVerification: requiresUserVerification ? .required : .preferred)
    }
}

extension RequestOptions {
    fileprivate var text: String { String(decoding: json.serialized(), as: UTF8.self) }
}

/// The maximum length in bytes of a response that a form contains.
private let longestResponse = 32_768

extension AuthenticationResponse {
    /// Reads the field of a form; `nil` if the text is malformed or too long.
    fileprivate init?(ofForm text: String) {
        guard text.utf8.count <= longestResponse, let response = try? Self(parsing: text.utf8) else { return nil }
        self = response
    }

    /// The id of the user whom the handle names; empty for a handle that is no id.
    fileprivate var userID: String {
        let handle = userHandle ?? []
        return handle.allSatisfy { 0x21...0x7E ~= $0 } ? String(decoding: handle, as: UTF8.self) : ""
    }
}

extension RegistrationResponse {
    /// Reads the field of a form; `nil` if the text is malformed or too long.
    init?(ofForm text: String) {
        guard text.utf8.count <= longestResponse, let response = try? Self(parsing: text.utf8) else { return nil }
        self = response
    }
}

extension PasskeyAssertion {
    fileprivate init(_ response: AuthenticationResponse) {
        self.init(
            clientData: response.clientDataJSON, authenticatorData: response.authenticatorData, signature: response.signature,
            userHandle: response.userHandle, credentialID: response.id)
    }
}
