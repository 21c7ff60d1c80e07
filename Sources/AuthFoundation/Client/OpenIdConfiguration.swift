public import Foundation

/// The discovery document of an issuer (OpenID Connect Discovery 1.0 §3).
public struct OpenIdConfiguration: Codable, Sendable, JSONClaimContainer {
    /// The names of the members.
    public typealias ClaimType = ProviderMetadata

    /// The document as received.
    public let json: JSON

    /// The issuer, exactly as it appears in tokens.
    public let issuer: URL

    /// The page at which the user signs in.
    public let authorizationEndpoint: URL

    /// The token endpoint.
    public let tokenEndpoint: URL

    /// The URL of the issuer's keys.
    public let jwksUri: URL

    /// The supported response types.
    public let responseTypesSupported: [String]

    /// The supported kinds of subject identifiers.
    public let subjectTypesSupported: [String]

    /// The algorithms with which the issuer signs ID tokens.
    public let idTokenSigningAlgValuesSupported: [JWK.Algorithm]

    /// Creates the configuration from a document.
    /// - Throws: ``ClaimError/missingRequiredValue(key:)`` if a required member is missing or has another type.
    public init(_ json: JSON) throws {
        let members = Members(payload: json.claimPayload)
        self.json = json
        issuer = try members.value(for: .issuer)
        authorizationEndpoint = try members.value(for: .authorizationEndpoint)
        tokenEndpoint = try members.value(for: .tokenEndpoint)
        jwksUri = try members.value(for: .jwksUri)
        responseTypesSupported = try members.value(for: .responseTypesSupported)
        subjectTypesSupported = try members.value(for: .subjectTypesSupported)
        idTokenSigningAlgValuesSupported = try members.value(for: .idTokenSigningAlgValuesSupported)
    }

    private struct Members: HasClaims {
        typealias ClaimType = ProviderMetadata
        let payload: [String: any Sendable]
    }

    /// The page at which the user signs out.
    public var endSessionEndpoint: URL? { self[.endSessionEndpoint] }

    /// The token introspection endpoint.
    public var introspectionEndpoint: URL? { self[.introspectionEndpoint] }

    /// The endpoint at which a device without a browser requests a code.
    public var deviceAuthorizationEndpoint: URL? { self[.deviceAuthorizationEndpoint] }

    /// The client registration endpoint.
    public var registrationEndpoint: URL? { self[.registrationEndpoint] }

    /// The token revocation endpoint.
    public var revocationEndpoint: URL? { self[.revocationEndpoint] }

    /// The endpoint of the user's profile.
    public var userinfoEndpoint: URL? { self[.userinfoEndpoint] }

    /// The supported scopes.
    public var scopesSupported: [String]? { self[.scopesSupported] }

    /// The supported response modes.
    public var responseModesSupported: [String]? { self[.responseModesSupported] }

    /// The claims that the issuer can provide.
    public var claimsSupported: [JWTClaim]? { self[.claimsSupported] }

    /// The supported grants.
    public var grantTypesSupported: [GrantType]? { self[.grantTypesSupported] }
}

extension OpenIdConfiguration: Equatable {
    /// Whether the two values contain the same document.
    public static func == (lhs: OpenIdConfiguration, rhs: OpenIdConfiguration) -> Bool { lhs.json == rhs.json }
}
