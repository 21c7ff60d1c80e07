internal import Foundation
internal import JOSE

/// Checks a token by signature and claims, with one set of keys.
struct LocalTokenCheck: Sendable {
    /// The token names a key that is not in the set, which may be out of date.
    struct UnknownKey: Error {
        let refusal: AccessTokenError
    }

    private let configuration: AccessTokenVerifier.Configuration
    private let cache: VerifiedTokenCache

    init(configuration: AccessTokenVerifier.Configuration, keys: JSONWebKeySet) {
        self.configuration = configuration
        cache = VerifiedTokenCache(
            verifier: JWTVerifier(
                keys: keys, algorithms: configuration.algorithms, issuer: configuration.issuer, audience: [configuration.audience],
                leeway: configuration.leeway, maximumTokenSize: PresentedToken.maximumLength, expectedType: AccessTokenType.name,
                acceptsGeneralType: true))
    }

    /// - Throws: ``UnknownKey`` or ``AccessTokenError``.
    func check(_ token: String, now: Date) throws -> AccessToken {
        let claims: ClaimSet
        do {
            claims = try cache.verify(token, now: now)
        } catch {
            let refusal = refusal(for: error)
            if error.code == .unknownKey { throw UnknownKey(refusal: refusal) }
            throw refusal
        }
        let members = claims.json.objectValue ?? [:]
        guard AccessTokenType.hasOwnClaims(members), !AccessTokenType.hasForeignClaims(members) else {
            throw AccessTokenType.refusal()
        }
        if let clientID = configuration.clientID, claims.clientID != clientID {
            throw AccessTokenError(.wrongClient, "The access token was given to another client than \(clientID).")
        }
        return AccessToken(claims: members, expiresAt: claims.expirationDate ?? now)
    }

    private func refusal(for error: JOSEError) -> AccessTokenError {
        switch error.code {
        case .expired: AccessTokenError(.expired, "The access token expired. Refresh it.", underlying: error)
        case .notYetValid, .issuedInFuture:
            AccessTokenError(.notYetValid, "The access token is from the future: a clock is wrong.", underlying: error)
        case .wrongType: AccessTokenType.refusal(underlying: error)
        case .wrongIssuer:
            AccessTokenError(.wrongIssuer, "The access token is from another issuer than \(configuration.issuer).", underlying: error)
        case .wrongAudience: AccessTokenError(.wrongAudience, "The access token is not for \(configuration.audience).", underlying: error)
        case .unknownKey:
            AccessTokenError(.notGenuine, "The access token is signed with a key that the issuer does not publish.", underlying: error)
        case .badSignature: AccessTokenError(.notGenuine, "The access token's signature is wrong.", underlying: error)
        default: AccessTokenError(.notGenuine, "The access token is no JSON Web Token of the issuer's.", underlying: error)
        }
    }
}
