internal import Foundation
internal import JOSE

/// Verifies the signature and claims of a token with one key set.
struct LocalTokenCheck: Sendable {
    /// The token names a key that is missing from the set, which may be out of date.
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

    /// Throws ``UnknownKey`` or ``AccessTokenError``.
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

/// Distinguishes access tokens from other tokens that an issuer signs with the same keys (RFC 9068 §4).
/// A `typ` of another kind of token is rejected. RFC 9068 requires `at+jwt`, but Okta sets no `typ`, and other issuers set `JWT` for every
/// token. Such tokens are distinguished by their claims.
enum AccessTokenType {
    /// The `typ` of an access token.
    static let name = "at+jwt"

    /// Claims of an access token that an ID token lacks.
    private static let ownClaims = ["cid", "client_id", "scp", "scope"]
    /// Claims of an ID token that an access token lacks (OpenID Connect Core §2 and §3.3.2.11).
    private static let idTokenClaims = ["nonce", "at_hash", "c_hash", "s_hash"]
    /// The event in the `events` claim of a logout token (OpenID Connect Back-Channel Logout §2.4).
    private static let logoutEvent = "http://schemas.openid.net/event/backchannel-logout"

    /// Whether the claims include a client or scopes, as an access token does.
    static func hasOwnClaims(_ claims: [String: JSONValue]) -> Bool { ownClaims.contains { claims[$0] != nil } }

    /// Whether the claims belong to an ID token or a logout token.
    static func hasForeignClaims(_ claims: [String: JSONValue]) -> Bool {
        idTokenClaims.contains { claims[$0] != nil } || claims["events"]?[logoutEvent] != nil
    }

    /// Whether a header's `typ` may belong to an access token. Case and the prefix `application/` are ignored (RFC 7515 §4.1.9).
    static func isAccepted(_ type: String?) -> Bool {
        guard let type = type?.lowercased() else { return true }
        return ["jwt", name, "application/jwt", "application/\(name)"].contains(type)
    }

    /// Returns the error for a token of another type.
    static func refusal(underlying: (any Error)? = nil) -> AccessTokenError {
        AccessTokenError(.wrongType, "The token is no access token. Send the access_token of the token response.", underlying: underlying)
    }
}
