internal import Foundation
package import IdentityCore
internal import JOSE
package import OAuthWire
package import Store

/// A grant that starts a sign-in with a user name and one factor.
package protocol FirstFactorHandler: GrantHandler {
    var first: FirstFactorGrant { get }
}

extension FirstFactorHandler {
    func check(_ engine: Engine) throws -> Check<GrantVerdict>? { try first.check(engine) }
    func needsMore(_ verdict: GrantVerdict) -> Bool { first.needsMore(verdict) }
    func decide(_ engine: Engine, _ verdict: FactorVerdict?) throws -> TokenDecision { try first.decide(engine, verdict) }
}

/// The read, check and decision that all grants with a first factor share.
package struct FirstFactorGrant: Sendable, Redacted {
    private let request: AdmittedRequest
    private let login: String
    private let response: FactorResponse
    private let scopes: [String]
    private let first: FirstFactor
    private let verifier: any FactorVerifier
    /// The verdict of an earlier check of the same request; `nil` for none.
    private let known: GrantVerdict?

    /// Reads the account of a user name as typed. With `withEnrollments`, the user's enrollments verify the factor. Throws ``Refusal``.
    package init(
        _ response: FactorResponse, of kind: FactorKind, username: String, withEnrollments: Bool = false, _ request: AdmittedRequest,
        reading: Reading<GrantVerdict>, by verifier: (FirstFactor) -> any FactorVerifier
    ) throws {
        self.request = request
        self.response = response
        known = reading.verdict
        login = Engine.possibleName(username)
        scopes = try ScopeRequest(request["scope"]).grantedToUser(of: request.application, by: request.server)
        let transaction = SignInTransaction(
            id: try reading.engine.environment.random.identifier(prefix: "txn"), request: SignInRequest(request, scopes: scopes),
            now: request.context.now, lifetime: TimeInterval(request.snapshot.mfaTokenLifetime))
        first = try FirstFactor(
            login, by: kind, of: transaction, withEnrollments: withEnrollments, after: try? reading.verdict?.get(),
            view: reading.view, snapshot: request.snapshot, context: request.context, engine: reading.engine)
        self.verifier = verifier(first)
    }

    /// Counts the attempt, and returns the check of the factor. Throws ``Refusal`` over a limit.
    func check(_ engine: Engine) throws -> Check<GrantVerdict> {
        // A refusal over a limit is kept after a conflict, because the retry is not counted and could succeed.
        if case .failure(let refusal)? = known { throw refusal }
        if !request.isRepeated {
            let attempts = engine.countFirstAttempt(
                login: login, of: first.account.user?.value, from: first.origin, snapshot: request.snapshot, context: request.context)
            guard attempts.isAdmitted else {
                throw Refusal.tooManyRequests(attempts, reason: "sign-in attempts for one user name or from one address")
            }
        }
        return first.check(response, by: verifier).unlessBusy(at: request.context.now)
    }

    func needsMore(_ verdict: GrantVerdict) -> Bool { if case .success(let verdict) = verdict { first.needsMore(verdict) } else { false } }

    /// Applies the verdict to the sign-in. Issues tokens if the sign-in is complete, and an `mfa_token` if it requires a second factor.
    func decide(_ engine: Engine, _ verdict: FactorVerdict?) throws -> TokenDecision {
        let now = request.context.now
        let (next, outcome, writes, user) = try first.step(verdict ?? .failed, by: verifier, now: now)
        switch outcome {
        case .authenticated(let authentication):
            guard let user else { throw Refusal.overTransaction }
            return try UserGrant(request: request, user: user, authentication: authentication, scopes: scopes).issue(
                afterProof: writes, engine)
        case .refused(let refusal): return .refused(refusal, writes, userID: nil, isGuess: true)
        case .factorRequired(let kinds):
            let token = try engine.environment.random.secret(prefix: "mfa_")
            return .refused(
                .factorRequired(kinds, token: token), writes + [.put(try next.record()), .issue(next.mfaTicket(token))], userID: nil)
        case .enrollmentRequired, .enrollmentOffered, .setupOffered, .passwordDue, .recovering, .unlocked, .tryAgain, .challenged, .pending,
            .judged,
            .tooLate, .cancelled:
            return .refused(.overTransaction, writes, userID: nil)
        }
    }
}

extension Check<FactorVerdict> {
    /// Returns the check, which refuses the request if too many passwords wait to be hashed.
    func unlessBusy(at now: Date) -> Check<GrantVerdict> {
        map { judge in
            do {
                return .success(try await judge())
            } catch is PasswordHasher.Overloaded {
                // The limit and the remaining number are 0, because the limit depends on the load and not on a count.
                let busy = RateLimitStatus(limit: 0, remaining: 0, reset: now.addingTimeInterval(1), isAdmitted: false)
                return .failure(.tooManyRequests(busy, reason: "too many passwords wait to be hashed"))
            }
        }
    }
}

extension SignInTransaction {
    package func mfaTicket(_ token: String) -> Ticket {
        Ticket(
            kind: .mfaToken, digest: TicketDigest(of: token), owner: RecordReference(.transaction, id), use: .untilClosed,
            expiresAt: expiresAt.addingTimeInterval(Self.keptAfter))
    }
}

extension SignInRequest {
    /// Creates the sign-in request of direct authentication.
    package init(_ request: AdmittedRequest, scopes: [String]) {
        self.init(
            application: request.application, server: request.server.id, scopes: scopes,
            contextClasses: request["acr_values"]?.spaceSeparated ?? [],
            presentable: request.application.secondFactors(supported: request["grant_types_supported"]?.spaceSeparated))
    }
}

extension FactorKind {
    /// The second factors that clients can present, and the grant type of each.
    fileprivate static let secondFactorGrantTypes: [FactorKind: String] = [
        .push: GrantType.secondFactorOOB, .sms: GrantType.secondFactorOOB, .voice: GrantType.secondFactorOOB,
        .totp: GrantType.secondFactorOTP, .savedCode: GrantType.secondFactorOTP, .passkey: GrantType.secondFactorWebAuthn,
    ]

    /// The grant type by which a client presents this factor as the second one; `nil` if clients cannot present it.
    package var secondFactorGrantType: String? { Self.secondFactorGrantTypes[self] }
}

extension Application {
    /// Returns the second factors that the client can present by its enabled grant types. `supported` are the grant types that the request
    /// names; `nil` for all.
    package func secondFactors(supported: [String]? = nil) -> Set<FactorKind> {
        Set(FactorKind.secondFactorGrantTypes.filter { grantTypes.contains($0.value) && supported?.contains($0.value) ?? true }.keys)
    }
}

extension Refusal {
    /// Returns `mfa_required` (Documentation/Protocol/OAuth.md §2.4.11).
    static func factorRequired(_ kinds: [FactorKind], token: String) -> Refusal {
        let grantTypes = Set(kinds.compactMap(\.secondFactorGrantType)).sorted()
        return Refusal(
            .mfaRequired, "Verify with an additional authenticator.",
            members: ["mfa_token": .string(token), "supported_challenge_types": .string(grantTypes.joined(separator: " "))],
            reason: "a second factor is asked for")
    }
}

/// The password grant (RFC 6749 section 4.3), a first factor of direct authentication (Documentation/Protocol/OAuth.md §2.4.4).
struct PasswordGrant: FirstFactorHandler {
    static let grantType = GrantType.password

    let first: FirstFactorGrant

    static func lookup(_ parameters: [String: String], isProved: Bool, _ engine: Engine) -> Lookup {
        Lookup(engine.rows(ofLogin: parameters["username"] ?? "", with: isProved ? .subject : []))
    }

    init(_ request: AdmittedRequest, reading: Reading<GrantVerdict>) throws {
        let (username, password) = (try request.required("username"), try request.required("password"))
        first = try FirstFactorGrant(.password(password), of: .password, username: username, request, reading: reading) {
            PasswordVerifier(environment: reading.engine.environment, origin: $0.origin)
        }
    }
}
