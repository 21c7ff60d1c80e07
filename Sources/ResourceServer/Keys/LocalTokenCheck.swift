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

/// Distinguishes access tokens from other tokens that an issuer signs with the same keys (RFC 9068 section 4).
///
/// A token whose `typ` says that it is another kind is refused. Issuers that follow RFC 9068 set `at+jwt`; Okta sets no `typ`, and others
/// set `JWT` for every token. Such tokens are told apart by their claims.
enum AccessTokenType {
    /// The `typ` of an access token.
    static let name = "at+jwt"

    /// Claims of an access token that an ID token lacks.
    private static let ownClaims = ["cid", "client_id", "scp", "scope"]
    /// Claims of an ID token (OpenID Connect Core sections 2 and 3.3.2.11) that an access token lacks.
    private static let idTokenClaims = ["nonce", "at_hash", "c_hash", "s_hash"]
    /// The event that a logout token names in `events` (OpenID Connect Back-Channel Logout section 2.4).
    private static let logoutEvent = "http://schemas.openid.net/event/backchannel-logout"

    /// Whether claims name the client of a token or its scopes.
    static func hasOwnClaims(_ claims: [String: JSONValue]) -> Bool { ownClaims.contains { claims[$0] != nil } }

    /// Whether claims are those of an ID token or a logout token.
    static func hasForeignClaims(_ claims: [String: JSONValue]) -> Bool {
        idTokenClaims.contains { claims[$0] != nil } || claims["events"]?[logoutEvent] != nil
    }

    /// Whether a header's `typ` may be an access token's. Case and the prefix `application/` do not matter (RFC 7515 section 4.1.9).
    static func isAccepted(_ type: String?) -> Bool {
        guard let type = type?.lowercased() else { return true }
        return ["jwt", name, "application/jwt", "application/\(name)"].contains(type)
    }

    /// The refusal of a token of another type.
    static func refusal(underlying: (any Error)? = nil) -> AccessTokenError {
        AccessTokenError(.wrongType, "The token is no access token. Send the access_token of the token response.", underlying: underlying)
    }
}
