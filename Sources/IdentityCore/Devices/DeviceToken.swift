package import Foundation
package import JOSE

/// What every token that a device signs is checked for (device-authenticator reference 3.3 and 3.4).
///
/// Pure. The key is found by the header's `kid` among the keys that its caller names and no others, the algorithm follows from
/// the key that was registered, and the header only has to agree. What makes a token good once is the caller's to commit: ``use``.
package struct DeviceToken: Sendable {
    /// The `iss` of every assertion by which a device asks for a maintenance token; the key tells which device signed it.
    package static let maintenanceIssuer = "urn:okta:devices:app:authenticator"
    /// Seconds that a device's clock may differ.
    static let leeway: Double = 60
    /// Seconds from `iat` to `exp`, at most.
    static let longestLife: Double = 600
    private static let longestID = 200

    package let claims: ClaimSet
    /// The `kid` of the key that signed it.
    package let keyID: String
    package let jwtID: String
    /// When the last clock that may differ has it expired.
    package let expiresAt: Date

    /// What a token must be.
    package struct Expectation: Sendable {
        /// The values of the header's `typ`, of which an empty one stands for its absence too.
        package var types: Set<String>
        /// The public keys that may have signed it.
        package var keys: [JSONValue]
        package var issuer: String
        package var subject: String
        /// What `aud` must be.
        package var audience: Set<String>

        package init(types: Set<String>, keys: [JSONValue], issuer: String, subject: String, audience: Set<String>) {
            self.types = types
            self.keys = keys
            self.issuer = issuer
            self.subject = subject
            self.audience = audience
        }
    }

    /// Checks a token.
    ///
    /// - Throws: ``JOSEError`` that says which check failed.
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
        guard claims.subject == expected.subject else { throw JOSEError(.invalidClaim, "The token is about somebody else (sub).") }
        guard let end = claims.expiresAt, let start = claims.issuedAt, claims.notBefore != nil else {
            throw JOSEError(.missingClaim, "The token must say when it was issued (iat), and from and to when it is good (nbf, exp).")
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

    /// The one algorithm that a registered key signs with.
    /// - Throws: ``JOSEError`` with ``JOSEError/Code/invalidKey`` for a key of another kind than P-256 and RSA.
    package static func algorithm(of key: JSONWebKey) throws(JOSEError) -> JWSAlgorithm {
        if key.curve == .p256 { return .es256 }
        guard key.keyType == .rsa else { throw JOSEError(.invalidKey, "A device's key is of the type EC with the curve P-256, or RSA.") }
        return .rs256
    }

    /// Its use. Ids are unique for each owner: an enrolment, or a client instance.
    package func use(by owner: String) -> AssertionUse { Self.use(ofJWTID: jwtID, by: owner, until: expiresAt) }

    package static func use(ofJWTID id: String, by owner: String, until end: Date) -> AssertionUse {
        AssertionUse(of: id, by: "device \(owner)", until: end.timeIntervalSince1970)
    }
}

extension OrgSnapshot {
    /// What devices name this organization by in `aud`; some write a slash at its end.
    package var deviceAudience: Set<String> { [origin, origin + "/"] }
}
