internal import Foundation
internal import IdentityCore
internal import OAuthWire
internal import Store

/// An authenticator app's code as the first factor (`otp`; oauth reference 2.4.10).
struct OTPGrant: FirstFactorHandler {
    static let grantType = GrantType.otp

    let first: FirstFactorGrant

    init(_ request: AdmittedRequest, reading: Reading<GrantVerdict>) throws {
        let (login, code) = (try request.required("login_hint"), try request.required("otp"))
        first = try FirstFactorGrant(.code(code), of: login, withEnrollments: true, request, reading: reading) {
            TOTPVerifier(
                environment: reading.engine.environment, enrollments: $0.account.enrollments, now: request.context.now,
                decoyApps: $0.account.decoyApps)
        }
    }
}

/// An authenticator app's code as the second factor (`mfa-otp`; oauth reference 2.4.10). A wrong code leaves the sign-in open, up to a
/// limit, and counts towards lockout like a wrong password. The used time step, counters, transaction and tokens are committed in one
/// write, so that two concurrent requests cannot both use one code.
struct SecondFactorOTPGrant: GrantHandler {
    static let grantType = GrantType.secondFactorOTP

    private let request: AdmittedRequest
    private let token: String
    private let code: String
    private let stored: StoredTransaction
    private let user: StoredUser
    private let subject: SignInTransaction.Subject?

    init(_ request: AdmittedRequest, reading: Reading<GrantVerdict>) throws {
        let view = reading.view
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
    }

    func decide(_ engine: Engine, _ verdict: FactorVerdict?) throws -> TokenDecision {
        let verifier = TOTPVerifier(
            environment: engine.environment, enrollments: subject?.enrollments.usable ?? [], now: request.context.now)
        let typed = TypedCode(request: request, token: token, stored: stored, user: user, subject: subject)
        try typed.count(engine)
        let verdict = try verifier.verify(.code(code), of: user.value, policy: request.snapshot.passwordPolicy)
        return try typed.decide(engine, verdict, of: verifier)
    }
}
