internal import Foundation

/// A code of an authenticator app as the first factor (`otp`; oauth reference 2.4.10).
struct OTPGrant: GrantHandler {
    static let grantType = GrantType.otp
    static let isQuick = false

    private let request: AdmittedRequest
    private let login: String
    private let code: String
    private let scopes: [String]

    init(_ request: AdmittedRequest, reading view: any StoreView) throws {
        self.request = request
        login = try request.required("login_hint")
        code = try request.required("otp")
        scopes = try ScopeRequest(request["scope"]).grantedToUser(of: request.application, by: request.server)
    }

    func decide(_ engine: IdentityEngine) async throws -> TokenDecision {
        let signIn = SignInRequest(request, scopes: scopes)
        switch try await engine.authenticate(
            username: login, code: code, for: signIn, snapshot: request.snapshot, context: request.context)
        {
        case .refused(let refusal): throw refusal
        case .authenticated(let user, let authentication):
            return try UserGrant(request: request, user: user, authentication: authentication, scopes: scopes).issue(engine)
        }
    }
}

/// A code of an authenticator app as the second factor (`mfa-otp`; oauth reference 2.4.10).
///
/// A wrong code leaves the sign-in open, up to a count, and counts towards the lockout as a wrong password does. Used step, counters,
/// transaction and tokens are committed in one write: of two who use one code, one has it.
struct SecondFactorOTPGrant: GrantHandler {
    static let grantType = GrantType.secondFactorOTP
    static let isQuick = true

    private let request: AdmittedRequest
    private let token: String
    private let code: String
    private let stored: StoredTransaction
    private let user: StoredUser
    private let subject: SignInTransaction.Subject?
    private let enrollments: [Enrollment]

    init(_ request: AdmittedRequest, reading view: any StoreView) throws {
        self.request = request
        token = try request.required("mfa_token")
        code = try request.required("otp")
        guard case (let stored, .fresh)? = try view.transaction(.mfaToken, secret: token, now: request.context.now),
            stored.value.applicationID == request.application.id, stored.value.server == request.server.id,
            let user = try stored.value.userID.flatMap({ try view.record(.user, id: $0) }).map(StoredUser.init)
        else { throw Refusal(.invalidGrant, "The mfa_token is unknown or has expired. Begin again.", reason: "mfa_token: unknown") }
        self.stored = stored
        self.user = user
        subject = try view.subject(user.value, of: stored.value, snapshot: request.snapshot, from: request.context)
        enrollments = try view.usableEnrollments(of: user.value.id, snapshot: request.snapshot)
    }

    func decide(_ engine: IdentityEngine) async throws -> TokenDecision {
        let verifier = TOTPVerifier(environment: engine.environment, enrollments: enrollments, now: request.context.now)
        let typed = TypedCode(request: request, token: token, stored: stored, user: user, subject: subject)
        try typed.count(engine)
        let verdict = try verifier.verify(.code(code), of: user.value, policy: request.snapshot.passwordPolicy)
        return try typed.decide(engine, verdict, of: verifier)
    }
}
