internal import Foundation
internal import JOSE

/// The local check of tokens: verifies the signature and the claims with one key set.
struct LocalTokenCheck: Sendable {
    /// The error for a token whose key is missing from the key set. The key set may be out of date.
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

    /// Returns the verified token. Throws ``UnknownKey`` or ``AccessTokenError``.
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
        try AccessTokenType.checkRequiredClaims(members, of: token)
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

/// The rules that distinguish access tokens from other tokens that an issuer signs with the same keys (RFC 9068 §4).
/// A `typ` of another kind of token is rejected. RFC 9068 requires `at+jwt`, but Okta sets no `typ`, and other issuers set `JWT` for every
/// token. Such tokens are distinguished by their claims.
enum AccessTokenType {
    static let name = "at+jwt"

    /// Claims of an access token that an ID token lacks.
    private static let ownClaims = ["cid", "client_id", "scp", "scope"]
    /// Claims of an ID token that an access token lacks (OpenID Connect Core §2 and §3.3.2.11).
    private static let idTokenClaims = ["nonce", "at_hash", "c_hash", "s_hash"]
    /// The event in the `events` claim of a logout token (OpenID Connect Back-Channel Logout §2.4).
    private static let logoutEvent = "http://schemas.openid.net/event/backchannel-logout"

    /// Checks the claims that RFC 9068 §2.2 requires of a token with the type `at+jwt`; other checks require `iss`, `exp` and `aud` of every
    /// token. Tokens with another type or none need not be complete, because Okta's access tokens have no `client_id`.
    static func checkRequiredClaims(_ claims: [String: JSONValue], of token: String) throws(AccessTokenError) {
        let missing = ["sub", "client_id", "jti"].first { claims[$0]?.stringValue?.isEmpty ?? true }
        guard let missing = missing ?? (claims["iat"]?.doubleValue == nil ? "iat" : nil) else { return }
        // Only incomplete tokens are parsed again. The signature covers the header, and the caller has verified it.
        guard let type = (try? JSONWebSignature(parsing: token))?.type?.lowercased(), [name, "application/\(name)"].contains(type) else {
            return
        }
        throw AccessTokenError(.missingClaim, "The access token lacks the claim \(missing), which its type \(name) requires.")
    }

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

/// The introspection of a token: asks the issuer whether the token is active (RFC 7662).
struct TokenIntrospection {
    let configuration: AccessTokenVerifier.Configuration
    let fetcher: any ResourceFetcher

    func check(
        _ token: String, at endpoint: URL?, as client: AccessTokenVerifier.IntrospectionClient, now: Date
    ) async throws -> AccessToken {
        // Only the type is read here. The issuer verifies the token.
        if let parsed = try? JSONWebSignature(parsing: token), !AccessTokenType.isAccepted(parsed.type) { throw AccessTokenType.refusal() }
        guard let endpoint else {
            throw AccessTokenError(.issuerUnavailable, "The issuer's metadata names no introspection endpoint.")
        }
        let answer = try await ask(token, at: endpoint, as: client)
        guard answer["active"]?.boolValue == true else {
            throw AccessTokenError(.inactive, "The access token is not active: it ended or was revoked. Get a new one.")
        }
        var claims = answer.objectValue ?? [:]
        claims["active"] = nil
        guard !AccessTokenType.hasForeignClaims(claims) else { throw AccessTokenType.refusal() }
        if let issuer = claims["iss"]?.stringValue, issuer != configuration.issuer {
            throw AccessTokenError(.wrongIssuer, "The access token is from another issuer than \(configuration.issuer).")
        }
        let audiences = claims["aud"]?.stringArrayValue ?? claims["aud"]?.stringValue.map { [$0] } ?? []
        guard audiences.contains(configuration.audience) else {
            throw AccessTokenError(.wrongAudience, "The access token is not for \(configuration.audience).")
        }
        // If `exp` is missing, the issuer's response decides: the token is active now.
        let expiresAt = claims["exp"]?.doubleValue.map(Date.init(clampingNumericDate:)) ?? .distantFuture
        guard expiresAt.addingTimeInterval(configuration.leeway) > now else {
            throw AccessTokenError(.expired, "The access token expired. Refresh it.")
        }
        let verified = AccessToken(claims: claims, expiresAt: expiresAt)
        if let clientID = configuration.clientID, verified.clientID != clientID {
            throw AccessTokenError(.wrongClient, "The access token was given to another client than \(clientID).")
        }
        return verified
    }

    private func ask(_ token: String, at endpoint: URL, as client: AccessTokenVerifier.IntrospectionClient) async throws -> JSONValue {
        let basic = Data("\(Self.encoded(client.id)):\(Self.encoded(client.secret))".utf8).base64EncodedString()
        let request = FetchRequest(
            url: endpoint, form: "token=\(Self.encoded(token))&token_type_hint=access_token", authorization: "Basic \(basic)")
        let response: FetchResponse
        do {
            response = try await fetcher.fetch(request)
        } catch {
            throw AccessTokenError(.issuerUnavailable, "The issuer can't be reached at \(endpoint).", underlying: error)
        }
        guard response.status == 200, let answer = try? JSONValue(parsing: response.body) else {
            throw AccessTokenError(
                .issuerUnavailable,
                "The issuer answered the introspection with status \(response.status): check the introspection client's id and secret.")
        }
        return answer
    }

    /// Form-encodes a text (RFC 6749, Appendix B). Letters, digits and the four unreserved marks stay unchanged.
    private static func encoded(_ text: String) -> String {
        let unreserved = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
        return text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }
}
