internal import Crypto
package import Foundation
internal import JOSE
internal import Store

/// Creates the signed tokens of a grant (Documentation/Protocol/OAuth.md §3.1 to §3.3, §3.6). Signing is expensive: create tokens between
/// the store's read and its commit.
package struct TokenIssuer: Sendable {
    package let snapshot: OrgSnapshot
    package let server: AuthorizationServerDefinition
    package let application: Application
    package let random: any RandomSource
    package let now: Date
    /// The thumbprint of the key to which access tokens are bound (RFC 9449 section 6); `nil` for bearer tokens.
    package var keyThumbprint: String?

    package init(
        snapshot: OrgSnapshot, server: AuthorizationServerDefinition, application: Application, random: any RandomSource, now: Date,
        keyThumbprint: String? = nil
    ) {
        (self.snapshot, self.server, self.application, self.random, self.now) = (snapshot, server, application, random, now)
        self.keyThumbprint = keyThumbprint
    }

    /// The lifetime of ID tokens in seconds.
    package static let idTokenLifetime = 3600
    /// The `typ` of access tokens (RFC 9068 section 2.1). ID tokens have none.
    private static let accessTokenType = "at+jwt"

    private var issuedAt: Int { Int(now.numericDate) }

    /// Signs the tokens of one response. Throws ``Refusal`` if a claim cannot be created; ``StoreError`` if there is no signing key.
    /// - Parameters:
    ///   - user: The user; `nil` for a client that acts for itself.
    ///   - scopes: A subset of the grant's scopes.
    ///   - nonce: The `nonce` of an authorize request; `nil` for a refresh or a grant without one.
    package func response(
        for grant: Grant, user: User?, scopes: [String], refreshToken: String?, nonce: String? = nil
    ) throws -> TokenResponse {
        let accessToken = try accessToken(for: grant, user: user, scopes: scopes)
        var idToken: String?
        if let user, let authentication = grant.authentication, scopes.contains(ScopeRequest.openID) {
            idToken = try self.idToken(
                for: grant, user: user, authentication: authentication, scopes: scopes, accessToken: accessToken, nonce: nonce)
        }
        return TokenResponse(
            tokenType: keyThumbprint == nil ? "Bearer" : "DPoP", expiresIn: grant.accessTokenLifetime, accessToken: accessToken,
            scopes: scopes, refreshToken: refreshToken, idToken: idToken)
    }

    /// Returns the value of `at_hash`: the left half of the SHA-256, in base64url (Documentation/Protocol/OAuth.md §3.6).
    static func halfHash(of text: String) -> String {
        Base64URL.encode(Array(SHA256.hash(data: Array(text.utf8)).prefix(16)))
    }

    private func accessToken(for grant: Grant, user: User?, scopes: [String]) throws -> String {
        var claims = try ClaimSource.custom(of: server, for: .accessToken, scopes: scopes, user: user)
        claims["ver"] = 1
        claims["jti"] = .string(try TokenID(.access, of: grant, random: random).text)
        claims["iss"] = .string(snapshot.issuer(of: server))
        claims["aud"] = .string(snapshot.audience(of: server))
        claims["iat"] = .integer(Int64(issuedAt))
        claims["exp"] = .integer(Int64(issuedAt + grant.accessTokenLifetime))
        claims["cid"] = .string(application.id)
        // RFC 9068 section 2.2 requires the name `client_id`.
        claims["client_id"] = claims["cid"]
        claims["scp"] = JSONValue(scopes)
        claims["sub"] = .string(user?.login ?? application.id)
        // Assigned even if `nil`, so that a configured claim cannot replace an absent standard claim.
        claims["uid"] = (user?.id).map(JSONValue.string)
        claims["auth_time"] = grant.authentication.map { .integer(Int64($0.time)) }
        claims["acr"] = grant.authentication?.contextClass.map(JSONValue.string)
        claims["cnf"] = keyThumbprint.map { ["jkt": .string($0)] }
        return try sign(claims, with: server.accessTokenAlgorithm, type: Self.accessTokenType)
    }

    private func idToken(
        for grant: Grant, user: User, authentication: Grant.Authentication, scopes: [String], accessToken: String, nonce: String?
    ) throws -> String {
        let about = ClaimSource(user: user, server: server, scopes: scopes)
        var claims = try ClaimSource.custom(of: server, for: .idToken, scopes: scopes, user: user)
        claims.merge(try about.forIDToken()) { _, standard in standard }
        claims["ver"] = 1
        claims["jti"] = .string(try TokenID(.id, of: grant, random: random).text)
        claims["iss"] = .string(snapshot.issuer(of: server))
        claims["aud"] = .string(application.id)
        claims["sub"] = .string(user.id)
        claims["iat"] = .integer(Int64(issuedAt))
        claims["exp"] = .integer(Int64(issuedAt + Self.idTokenLifetime))
        claims["auth_time"] = .integer(Int64(authentication.time))
        claims["amr"] = JSONValue(authentication.methods)
        claims["idp"] = .string(snapshot.id)
        claims["at_hash"] = .string(Self.halfHash(of: accessToken))
        claims["acr"] = authentication.contextClass.map(JSONValue.string)
        claims["nonce"] = nonce.map(JSONValue.string)
        claims["sid"] = grant.sessionID.map(JSONValue.string)
        claims["ds_hash"] = grant.deviceSecret.map { .string(DeviceSecret.hash($0)) }
        return try sign(claims, with: application.idTokenAlgorithm)
    }

    private func sign(_ claims: [String: JSONValue], with algorithm: JWSAlgorithm, type: String? = nil) throws -> String {
        try snapshot.keyRing.signer(algorithm, now: now).sign(
            payload: JSONValue.object(claims).serialized(), header: type.map { ["typ": .string($0)] } ?? [:])
    }
}
