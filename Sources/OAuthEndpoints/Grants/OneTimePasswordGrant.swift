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

/// An authenticator app's code, or a saved recovery code, as the second factor (`mfa-otp`; Documentation/Protocol/OAuth.md §2.4.10). A wrong
/// code leaves the sign-in open, up to a limit, and counts towards lockout like a wrong password. The used code, counters, transaction and
/// tokens are committed in one write, so that two concurrent requests cannot both use one code.
struct SecondFactorOTPGrant: GrantHandler {
    static let grantType = GrantType.secondFactorOTP

    private let code: String
    private let typed: TypedCode
    /// The verifier of a text that has the form of a recovery code; `nil` for another text.
    private let savedCodes: SavedCodesVerifier?
    /// The verdict of an earlier check of the same request; `nil` for none.
    private let known: GrantVerdict?

    static func lookup(_ parameters: [String: String], isProved: Bool, _ engine: Engine) -> Lookup {
        Lookup(.signIn(.mfaToken, secret: parameters["mfa_token"] ?? ""))
    }

    init(_ request: AdmittedRequest, reading: Reading<GrantVerdict>) throws {
        code = try request.required("otp")
        typed = try TypedCode(ofSecondFactor: request, reading: reading.view)
        known = reading.verdict
        let subject = SavedCode.normalized(code) == nil ? nil : typed.subject
        savedCodes = subject.map {
            SavedCodesVerifier(environment: reading.engine.environment, enrollments: $0.enrollments.usable, origin: $0.origin)
        }
    }

    /// Returns the check of a recovery code, which takes time. Throws ``Refusal`` over a limit.
    func check(_ engine: Engine) throws -> Check<GrantVerdict>? {
        // A refusal is kept after a conflict, because the retry is not counted and could succeed.
        if case .failure(let refusal)? = known { throw refusal }
        guard let savedCodes, let subject = typed.subject else { return nil }
        try typed.count(engine)
        return Check(
            .code(code), of: typed.user.value, enrollments: subject.enrollments.usable, policy: typed.request.snapshot.passwordPolicy,
            by: savedCodes
        ).unlessBusy(at: typed.request.context.now)
    }

    func decide(_ engine: Engine, _ verdict: FactorVerdict?) throws -> TokenDecision {
        if let savedCodes { return try typed.decide(engine, verdict ?? .failed, of: savedCodes) }
        let verifier = TOTPVerifier(
            environment: engine.environment, enrollments: typed.subject?.enrollments.usable ?? [], now: typed.request.context.now)
        try typed.count(engine)
        let verdict = try verifier.verify(.code(code), of: typed.user.value, policy: typed.request.snapshot.passwordPolicy)
        return try typed.decide(engine, verdict, of: verifier)
    }
}
