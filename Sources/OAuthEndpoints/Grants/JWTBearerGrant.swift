internal import Foundation
internal import IdentityCore
internal import JOSE
internal import OAuthWire
internal import Store

/// The exchange of a trusted issuer's assertion for tokens (RFC 7523 section 2.1; Documentation/Protocol/OAuth.md §2.4.8). The `iss` of the
/// assertion selects the handler, which verifies the assertion. A new kind of issuer needs a handler and a line in ``issuers``.
struct JWTBearerGrant: GrantHandler {
    static let grantType = GrantType.jwtBearer

    /// The handlers by `iss`. ``UserAssertionGrant`` handles all other issuers.
    private static let issuers: [String: any AssertionHandler.Type] = [DeviceToken.maintenanceIssuer: MaintenanceTokenGrant.self]

    private let handler: any AssertionHandler

    /// The rows of the push method or the user that an assertion names. The claims are not verified here.
    static func lookup(_ parameters: [String: String], isProved: Bool, _ engine: Engine) -> Lookup {
        guard let claims = try? JSONWebSignature(parsing: parameters["assertion"] ?? "").unverifiedClaims() else { return Lookup() }
        if claims.issuer == DeviceToken.maintenanceIssuer { return MaintenanceTokenGrant.lookup(claims) }
        return UserAssertionGrant.lookup(claims)
    }

    init(_ request: AdmittedRequest, reading: Reading<GrantVerdict>) throws {
        let assertion = try request.required("assertion")
        // The issuer only selects the handler, which verifies the assertion. So a missing and an unreadable issuer get the same response.
        guard let issuer = try? JSONWebSignature(parsing: assertion).unverifiedClaims().issuer else {
            throw Self.invalid("assertion.issuer")
        }
        // Other issuers may be trusted by the authorization server of this request.
        let type = Self.issuers[issuer] ?? UserAssertionGrant.self
        handler = try type.init(assertion, request, reading: reading.view)
    }

    func decide(_ engine: Engine, _ verdict: FactorVerdict?) throws -> TokenDecision { try handler.decide(engine) }

    /// Returns the refusal of an invalid assertion. The response is the same for every reason, which only the log shows.
    static func invalid(_ reason: String) -> Refusal {
        Refusal(.invalidGrant, "The assertion is invalid or expired.", reason: reason)
    }
}

/// Verifies the assertions of one kind of issuer.
protocol AssertionHandler: Sendable {
    /// Reads the required records and verifies the assertion, in the same read as the client authentication. Throws ``Refusal`` or
    /// ``StoreError``.
    init(_ assertion: String, _ request: AdmittedRequest, reading view: any StoreView) throws

    /// Returns the decision. Its writes contain the use of the assertion. Throws ``Refusal`` or ``StoreError``.
    func decide(_ engine: Engine) throws -> TokenDecision
}
