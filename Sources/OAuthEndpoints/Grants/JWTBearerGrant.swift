internal import Foundation
internal import IdentityCore
internal import JOSE
internal import OAuthWire
internal import Store

/// The exchange of a trusted issuer's assertion for tokens (RFC 7523 section 2.1; Documentation/Protocol/OAuth.md §2.4.8). The handler of
/// the assertion's `iss` verifies it. A new kind of issuer is one type and a line in ``issuers``.
struct JWTBearerGrant: GrantHandler {
    static let grantType = GrantType.jwtBearer

    /// The handlers by `iss`.
    private static let issuers: [String: any AssertionHandler.Type] = [DeviceToken.maintenanceIssuer: MaintenanceTokenGrant.self]

    private let handler: any AssertionHandler

    init(_ request: AdmittedRequest, reading: Reading<GrantVerdict>) throws {
        let assertion = try request.required("assertion")
        // Only selects the handler, which verifies the assertion. So a missing and an unreadable issuer get the same response.
        guard let issuer = try? JSONWebSignature(parsing: assertion).unverifiedClaims().issuer else {
            throw Self.invalid("assertion.issuer")
        }
        // Other issuers may be trusted by the authorization server of this request.
        let type = Self.issuers[issuer] ?? UserAssertionGrant.self
        handler = try type.init(assertion, request, reading: reading.view)
    }

    func decide(_ engine: Engine, _ verdict: FactorVerdict?) throws -> TokenDecision { try handler.decide(engine) }

    /// Returns the same response for every invalid assertion.
    static func invalid(_ reason: String) -> Refusal {
        Refusal(.invalidGrant, "The assertion is invalid or expired.", reason: reason)
    }
}

/// Verifies the assertions of one kind of issuer.
protocol AssertionHandler: Sendable {
    /// Reads its state and verifies the assertion, in the request's only read. Throws ``Refusal`` or ``StoreError``.
    init(_ assertion: String, _ request: AdmittedRequest, reading view: any StoreView) throws

    /// Decides; the writes contain the use of the assertion. Throws ``Refusal`` or ``StoreError``.
    func decide(_ engine: Engine) throws -> TokenDecision
}
