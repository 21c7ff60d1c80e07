internal import Foundation
internal import IdentityCore
internal import OAuthWire
internal import Store

/// An authenticator app's code as the first factor (`otp`; Documentation/Protocol/OAuth.md §2.4.10).
struct OTPGrant: FirstFactorHandler {
    static let grantType = GrantType.otp

    let first: FirstFactorGrant

    static func lookup(_ parameters: [String: String], isProved: Bool, _ engine: Engine) -> Lookup {
        Lookup(engine.rows(ofLogin: parameters["login_hint"] ?? "", with: isProved ? [.factors, .subject] : .factors))
    }

    init(_ request: AdmittedRequest, reading: Reading<GrantVerdict>) throws {
        let (login, code) = (try request.required("login_hint"), try request.required("otp"))
        first = try FirstFactorGrant(.code(code), of: .totp, username: login, withEnrollments: true, request, reading: reading) {
            TOTPVerifier(
                environment: reading.engine.environment, enrollments: $0.account.enrollments, now: request.context.now,
                decoyApps: $0.account.decoyApps)
        }
    }
}

/// An authenticator app's code as the second factor (`mfa-otp`; Documentation/Protocol/OAuth.md §2.4.10). A wrong code leaves the sign-in
/// open, up to a limit, and counts towards lockout like a wrong password. The used time step, counters, transaction and tokens are
/// committed in one write, so that two concurrent requests cannot both use one code.
struct SecondFactorOTPGrant: GrantHandler {
    static let grantType = GrantType.secondFactorOTP

    private let code: String
    private let typed: TypedCode

    static func lookup(_ parameters: [String: String], isProved: Bool, _ engine: Engine) -> Lookup {
        Lookup(.signIn(.mfaToken, secret: parameters["mfa_token"] ?? ""))
    }

    init(_ request: AdmittedRequest, reading: Reading<GrantVerdict>) throws {
        code = try request.required("otp")
        typed = try TypedCode(ofSecondFactor: request, reading: reading.view)
    }

    func decide(_ engine: Engine, _ verdict: FactorVerdict?) throws -> TokenDecision {
        let verifier = TOTPVerifier(
            environment: engine.environment, enrollments: typed.subject?.enrollments.usable ?? [], now: typed.request.context.now)
        try typed.count(engine)
        let verdict = try verifier.verify(.code(code), of: typed.user.value, policy: typed.request.snapshot.passwordPolicy)
        return try typed.decide(engine, verdict, of: verifier)
    }
}
