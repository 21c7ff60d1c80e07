public import Foundation

/// What an issuer says about itself in its discovery document (OpenID Connect Discovery 1.0, 3).
public struct OpenIdConfiguration: Codable, Sendable, JSONClaimContainer {
    /// The names of its members.
    public typealias ClaimType = ProviderMetadata

    /// The document as it was received.
    public let json: JSON

    /// The issuer, exactly as its tokens name it.
    public let issuer: URL

    /// Where a browser is sent to sign in.
    public let authorizationEndpoint: URL

    /// Where tokens are asked for.
    public let tokenEndpoint: URL

    /// Where the issuer's keys are.
    public let jwksUri: URL

    /// The response types that the issuer supports.
    public let responseTypesSupported: [String]

    /// The kinds of subject identifiers that the issuer supports.
    public let subjectTypesSupported: [String]

    /// The algorithms that the issuer signs ID tokens with.
    public let idTokenSigningAlgValuesSupported: [JWK.Algorithm]

    /// Takes a document.
    ///
    /// - Parameter json: The document.
    /// - Throws: ``ClaimError/missingRequiredValue(key:)`` if a required member is missing or of another type.
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

    /// Where a browser is sent to sign out.
    public var endSessionEndpoint: URL? { self[.endSessionEndpoint] }

    /// Where tokens are looked up.
    public var introspectionEndpoint: URL? { self[.introspectionEndpoint] }

    /// Where a device without browser asks for a code.
    public var deviceAuthorizationEndpoint: URL? { self[.deviceAuthorizationEndpoint] }

    /// Where clients are registered.
    public var registrationEndpoint: URL? { self[.registrationEndpoint] }

    /// Where tokens are revoked.
    public var revocationEndpoint: URL? { self[.revocationEndpoint] }

    /// Where the person's profile is read.
    public var userinfoEndpoint: URL? { self[.userinfoEndpoint] }

    /// The scopes that the issuer knows.
    public var scopesSupported: [String]? { self[.scopesSupported] }

    /// The response modes that the issuer supports.
    public var responseModesSupported: [String]? { self[.responseModesSupported] }

    /// The claims that the issuer can make.
    public var claimsSupported: [JWTClaim]? { self[.claimsSupported] }

    /// The grants that the issuer supports.
    public var grantTypesSupported: [GrantType]? { self[.grantTypesSupported] }
}

extension OpenIdConfiguration: Equatable {
    /// Whether both are the same document.
    public static func == (lhs: OpenIdConfiguration, rhs: OpenIdConfiguration) -> Bool { lhs.json == rhs.json }
}
