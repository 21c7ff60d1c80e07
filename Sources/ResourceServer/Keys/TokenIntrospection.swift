internal import Foundation
internal import JOSE

/// Asks the issuer whether a token is active (RFC 7662).
struct TokenIntrospection {
    let configuration: AccessTokenVerifier.Configuration
    let fetcher: any ResourceFetcher

    func check(
        _ token: String, at endpoint: URL?, as client: AccessTokenVerifier.IntrospectionClient, now: Date
    ) async throws -> AccessToken {
        // Reads only the type. The issuer verifies the token.
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
