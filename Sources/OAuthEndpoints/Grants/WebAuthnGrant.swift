internal import Foundation
internal import IdentityCore
internal import JOSE
internal import OAuthWire
internal import Store

/// A passkey as the first factor (`webauthn`; Documentation/Protocol/OAuth.md §2.4.10). The challenge in the signed client data selects the
/// sign-in, because the request names neither the user nor the credential.
struct WebAuthnGrant: GrantHandler {
    static let grantType = GrantType.webAuthn

    private enum Answer: Sendable {
        case known(PasskeyAnswer)
        /// The user does not exist or cannot use the application. The decoy causes the same work as a user.
        case unknown(StoredTransaction, PasskeyVerifier, PasskeyAssertion, decoy: User)
    }

    private let answer: Answer
    private let policy: PasswordPolicy
    private let now: Date

    static func lookup(_ parameters: [String: String], isProved: Bool, _ engine: Engine) -> Lookup {
        Lookup(.signIn(.passkeyChallenge, secret: PasskeyAssertion.challenge(in: parameters["clientDataJSON"] ?? "") ?? ""))
    }

    init(_ request: AdmittedRequest, reading: Reading<GrantVerdict>) throws {
        let scopes = try ScopeRequest(request["scope"]).grantedToUser(of: request.application, by: request.server)
        let assertion = try PasskeyAssertion(request)
        let view = reading.view
        (now, policy) = (request.context.now, request.snapshot.passwordPolicy)
        guard let challenge = assertion.challenge,
            case (let stored, .fresh)? = try view.transaction(.passkeyChallenge, secret: challenge, now: now),
            stored.value.applicationID == request.application.id, stored.value.server == request.server.id, stored.value.end == nil
        else { throw Refusal(.invalidGrant, "The credentials provided were invalid.", reason: "webauthn: unknown challenge") }
        guard stored.value.proofs.isEmpty else {
            throw Refusal(
                .invalidGrant, "The challenge is of a second factor. Use it with its mfa_token.", reason: "webauthn: second factor")
        }
        guard let user = try stored.value.userID.flatMap({ try view.record(.user, id: $0) }).map(StoredUser.init) else {
            let open = stored.value.passkeyChallenge
            let decoy = try reading.engine.decodeDecoy(open?.standIns?.decoy ?? 0)
            let verifier = PasskeyVerifier(snapshot: request.snapshot, challenge: open, enrollments: [], now: now)
            answer = .unknown(stored, verifier, assertion, decoy: decoy)
            return
        }
        answer = .known(
            PasskeyAnswer(
                assertion: assertion,
                typed: TypedCode(
                    request: request, token: nil, stored: stored, user: user,
                    subject: try view.subject(
                        user.value, of: stored.value, scopes: scopes, snapshot: request.snapshot, from: request.context),
                    scopes: scopes)))
    }

    /// A wrong answer ends the sign-in, also of an unknown user, with the same writes. The start was counted for the user name, so the
    /// answer, which cannot be guessed, is not.
    func decide(_ engine: Engine, _ verdict: FactorVerdict?) throws -> TokenDecision {
        switch answer {
        case .known(let answer): return try answer.decide(engine)
        case .unknown(let stored, let verifier, let assertion, let decoy):
            _ = verifier.verify(.assertion(assertion), of: decoy, policy: policy)
            let (next, outcome, effects) = stored.value.step(
                .judged(.passkey, .possession, methods: [], .failed, nil), now: now)
            guard case .refused(let refusal) = outcome else { throw Refusal.overTransaction }
            let writes =
                try Writes([stored.writing(next)]) + Writes(effects, of: next, user: nil)
                + Writes([.closeTickets(of: RecordReference(.transaction, next.id))])
            return .refused(refusal, writes, userID: nil, isGuess: true)
        }
    }
}

/// A passkey as the second factor (`mfa-webauthn`; Documentation/Protocol/OAuth.md §2.4.10).
struct SecondFactorWebAuthnGrant: GrantHandler {
    static let grantType = GrantType.secondFactorWebAuthn

    private let answer: PasskeyAnswer

    static func lookup(_ parameters: [String: String], isProved: Bool, _ engine: Engine) -> Lookup {
        Lookup(.signIn(.mfaToken, secret: parameters["mfa_token"] ?? ""))
    }

    init(_ request: AdmittedRequest, reading: Reading<GrantVerdict>) throws {
        answer = PasskeyAnswer(
            assertion: try PasskeyAssertion(request), typed: try TypedCode(ofSecondFactor: request, reading: reading.view))
    }

    func decide(_ engine: Engine, _ verdict: FactorVerdict?) throws -> TokenDecision { try answer.decide(engine) }
}

/// A passkey's signature with its sign-in.
private struct PasskeyAnswer: Sendable, Redacted {
    let assertion: PasskeyAssertion
    let typed: TypedCode

    func decide(_ engine: Engine) throws -> TokenDecision {
        if typed.token != nil { try typed.count(engine) }
        let snapshot = typed.request.snapshot
        let verifier = PasskeyVerifier(
            snapshot: snapshot, challenge: typed.stored.value.passkeyChallenge, enrollments: typed.subject?.enrollments.usable ?? [],
            now: typed.request.context.now)
        let verdict = verifier.verify(.assertion(assertion), of: typed.user.value, policy: snapshot.passwordPolicy)
        return try typed.decide(engine, verdict, of: verifier)
    }
}

extension PasskeyAssertion {
    /// Reads the parameters of a token request. Throws ``Refusal`` if one is missing or is not base64.
    fileprivate init(_ request: AdmittedRequest) throws {
        func bytes(_ name: String) throws -> [UInt8] {
            guard let bytes = Self.decode(try request.required(name)) else {
                throw Refusal(.invalidRequest, "The parameter \(name) is not base64url.", reason: "webauthn: \(name)")
            }
            return bytes
        }
        let handle = try request["userHandle"].flatMap { $0.isEmpty ? nil : $0 }.map { _ in try bytes("userHandle") }
        self.init(
            clientData: try bytes("clientDataJSON"), authenticatorData: try bytes("authenticatorData"), signature: try bytes("signature"),
            userHandle: handle)
    }
}
