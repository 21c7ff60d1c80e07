internal import Foundation
internal import IdentityCore
internal import JOSE
internal import OAuthWire
internal import Store

/// An assertion that somebody whom the server trusts has signed, in exchange for tokens (RFC 7523 section 2.1; oauth reference 2.4.8).
///
/// Who has signed decides what the assertion is good for: the handler reads its `iss` and hands it to the one that knows this
/// issuer. Another kind of issuer is one type and a line in ``issuers``.
struct JWTBearerGrant: GrantHandler {
    static let grantType = GrantType.jwtBearer

    /// By the `iss` of the assertions that they judge.
    private static let issuers: [String: any AssertionHandler.Type] = [DeviceToken.maintenanceIssuer: MaintenanceTokenGrant.self]

    private let handler: any AssertionHandler

    init(_ request: AdmittedRequest, reading: Reading<GrantVerdict>) throws {
        let assertion = try request.required("assertion")
        // Read to find who judges it, and believed by nobody: absent and unreadable mean the same here.
        guard let issuer = try? JSONWebSignature(parsing: assertion).unverifiedClaims().issuer else {
            throw Self.invalid("assertion.issuer")
        }
        // Whom nobody here knows may still be known to the server that was asked.
        let type = Self.issuers[issuer] ?? UserAssertionGrant.self
        handler = try type.init(assertion, request, reading: reading.view)
    }

    func decide(_ engine: Engine, _ verdict: FactorVerdict?) throws -> TokenDecision { try handler.decide(engine) }

    /// One answer for every assertion that is not good.
    static func invalid(_ reason: String) -> Refusal {
        Refusal(.invalidGrant, "The assertion is invalid or expired.", reason: reason)
    }
}

/// Judges the assertions of one kind of issuer.
protocol AssertionHandler: Sendable {
    /// Reads what it needs and checks the assertion, in the request's one read.
    ///
    /// - Throws: ``Refusal``, ``StoreError``.
    init(_ assertion: String, _ request: AdmittedRequest, reading view: any StoreView) throws

    /// Decides; the use of the assertion is among the changes.
    ///
    /// - Throws: ``Refusal``, ``StoreError``.
    func decide(_ engine: Engine) throws -> TokenDecision
}
