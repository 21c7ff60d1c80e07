internal import Foundation
internal import JOSE

/// The resource owner's password (RFC 6749 section 4.3), the first factor of direct authentication (oauth reference 2.4.4).
struct PasswordGrant: GrantHandler {
    static let grantType = GrantType.password

    private let first: FirstFactorGrant

    init(_ request: AdmittedRequest, reading: Reading<GrantVerdict>) throws {
        let (username, password) = (try request.required("username"), try request.required("password"))
        first = try FirstFactorGrant(.password(password), of: username, withEnrollments: false, request, reading: reading)
    }

    func check(_ engine: IdentityEngine) throws -> Check<GrantVerdict>? { try first.check(engine, by: verifier(engine)) }

    func needsMore(_ verdict: GrantVerdict) -> Bool { first.needsMore(verdict) }

    func decide(_ engine: IdentityEngine, _ verdict: FactorVerdict?) throws -> TokenDecision {
        try first.decide(engine, verdict, by: verifier(engine))
    }

    private func verifier(_ engine: IdentityEngine) -> (FirstFactor) -> PasswordVerifier {
        { PasswordVerifier(environment: engine.environment, origin: $0.origin) }
    }
}
