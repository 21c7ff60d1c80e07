package import Foundation
package import JOSE
package import Store

/// A validated token that a device signed (Documentation/Protocol/Devices.md §3.3 and §3.4). The header's `kid` selects the verification
/// key, only among the keys that the caller passes. The algorithm follows from the registered key; the header must match it. The caller
/// must commit ``use(by:)`` to reject a replay.
package struct DeviceToken: Sendable {
    /// The `iss` of every assertion that requests a maintenance token; the key identifies the device.
    package static let maintenanceIssuer = "urn:okta:devices:app:authenticator"
    /// Maximum clock difference of a device, in seconds.
    static let leeway: Double = 60
    /// Maximum seconds from `iat` to `exp`.
    static let longestLife: Double = 600
    private static let longestID = 200

    package let claims: ClaimSet
    /// The `kid` of the key that signed the token.
    package let keyID: String
    package let jwtID: String
    /// The end of the token's validity: `exp` plus the leeway.
    package let expiresAt: Date

    /// The required properties of a token.
    package struct Expectation: Sendable {
        /// The permitted values of the header's `typ`; an empty string also permits a token without `typ`.
        package var types: Set<String>
        package var keys: [JSONValue]
        package var issuer: String
        package var subject: String
        /// The permitted values of `aud`.
        package var audience: Set<String>

        package init(types: Set<String>, keys: [JSONValue], issuer: String, subject: String, audience: Set<String>) {
            (self.types, self.keys, self.issuer, self.subject, self.audience) = (types, keys, issuer, subject, audience)
        }
    }

    /// Validates a token. Throws a ``JOSEError`` that names the failed check.
    package init(verifying token: String, _ expected: Expectation, now: Date) throws(JOSEError) {
        let header = try JSONWebSignature(parsing: token)
        guard expected.types.contains(header.type ?? "") else { throw JOSEError(.wrongType, "The token's type (typ) is another's.") }
        guard let keyID = header.keyID, !keyID.isEmpty,
            let key = expected.keys.first(where: { $0["kid"]?.stringValue == keyID })
        else { throw JOSEError(.unknownKey, "The token names no key (kid) that is registered for this.") }
        let jwk = try JSONWebKey(key)
        let verifier = JWTVerifier(
            keys: JSONWebKeySet([jwk]), algorithms: [try Self.algorithm(of: jwk)], issuer: expected.issuer,
            audience: expected.audience, leeway: Self.leeway)
        claims = try verifier.verify(token, now: now)
        self.keyID = keyID
        guard claims.audience.count == 1 else { throw JOSEError(.wrongAudience, "The token has more than one audience.") }
        guard claims.subject == expected.subject else { throw JOSEError(.invalidClaim, "The token belongs to another user (sub).") }
        guard let end = claims.expiresAt, let start = claims.issuedAt, claims.notBefore != nil else {
            throw JOSEError(.missingClaim, "The token must say when it was issued (iat) and its period of validity (nbf, exp).")
        }
        guard end - start <= Self.longestLife else {
            throw JOSEError(.invalidClaim, "The token lives longer than \(Int(Self.longestLife)) seconds.")
        }
        guard let id = claims.jwtID, !id.isEmpty, id.utf8.count <= Self.longestID else {
            throw JOSEError(.missingClaim, "The token needs an id (jti) of at most \(Self.longestID) bytes.")
        }
        jwtID = id
        expiresAt = Date(clampingNumericDate: end + Self.leeway)
    }

    /// Returns the only algorithm that is permitted for a registered key. Throws ``JOSEError/Code/invalidKey`` unless the key is P-256 or
    /// RSA.
    package static func algorithm(of key: JSONWebKey) throws(JOSEError) -> JWSAlgorithm {
        if key.curve == .p256 { return .es256 }
        guard key.keyType == .rsa else { throw JOSEError(.invalidKey, "A device's key is of the type EC with the curve P-256, or RSA.") }
        return .rs256
    }

    /// Returns the use of this token, which can be committed only once. Token ids are unique for each owner: an enrollment or a client
    /// instance.
    package func use(by owner: String) -> AssertionUse { Self.use(ofJWTID: jwtID, by: owner, until: expiresAt) }

    package static func use(ofJWTID id: String, by owner: String, until end: Date) -> AssertionUse {
        AssertionUse(of: id, by: issuer(owner), until: end.timeIntervalSince1970)
    }

    /// The row that shows whether a token of an owner was used before. The claims are not verified here.
    package static func rowOfUse(_ claims: ClaimSet, by owner: String) -> Lookup.Node? {
        claims.jwtID.map { AssertionUse.row(of: $0, by: issuer(owner)) }
    }

    private static func issuer(_ owner: String) -> String { "device \(owner)" }
}

extension OrgSnapshot {
    /// The values of `aud` by which devices name this organization; some devices append a slash.
    package var deviceAudience: Set<String> { [origin, origin + "/"] }
}
