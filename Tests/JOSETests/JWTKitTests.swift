import Foundation
import JOSE
import JWTKit
import Testing

/// Compares our results with jwt-kit, an independent implementation.
@Suite("jwt-kit")
struct JWTKitTests {
    struct Payload: JWTPayload, Equatable {
        var iss: IssuerClaim
        var sub: SubjectClaim
        var aud: AudienceClaim
        var exp: ExpirationClaim
        var scp: [String]

        func verify(using _: some JWTKit.JWTAlgorithm) async throws { try exp.verifyNotExpired(currentDate: JWTVerifierTests.now) }
    }

    static let payload = Payload(
        iss: IssuerClaim(value: JWTVerifierTests.issuer), sub: "00u1", aud: AudienceClaim(value: ["api://default"]),
        exp: ExpirationClaim(value: JWTVerifierTests.now + 3600), scp: ["openid", "é😀\"\\/"])

    private static func collection(_ key: SigningKey, isPrivate: Bool) async throws -> JWTKeyCollection {
        let collection = JWTKeyCollection()
        let jwk = isPrivate ? key.privateJWK : key.publicKey ?? key.privateJWK
        let secret = jwk.json(includingPrivateMembers: true)["k"]?.stringValue
        switch key.algorithm {
        case .hs256:
            await collection.add(hmac: HMACKey(from: try Base64URL.decode(try #require(secret))), digestAlgorithm: .sha256, kid: "k1")
        case .hs384:
            await collection.add(hmac: HMACKey(from: try Base64URL.decode(try #require(secret))), digestAlgorithm: .sha384, kid: "k1")
        case .hs512:
            await collection.add(hmac: HMACKey(from: try Base64URL.decode(try #require(secret))), digestAlgorithm: .sha512, kid: "k1")
        default:
            let set: JSONValue = ["keys": [jwk.json(includingPrivateMembers: true)]]
            try await collection.add(jwksJSON: set.serializedString)
        }
        return collection
    }

    @Test(
        "The independent library jwt-kit accepts a token that SigningKey signed, for each algorithm", arguments: JOSE.JWSAlgorithm.allCases)
    func acceptsOurs(algorithm: JOSE.JWSAlgorithm) async throws {
        let key = try SigningKey.generate(algorithm, keyID: "k1")
        let token = try key.sign([
            "iss": .string(JWTVerifierTests.issuer), "sub": "00u1", "aud": ["api://default"], "exp": 1_700_003_600,
            "scp": ["openid", "é😀\"\\/"],
        ])
        let collection = try await Self.collection(key, isPrivate: false)
        #expect(try await collection.verify(token, as: Payload.self) == Self.payload)
    }

    @Test(
        "The JWT verifier accepts a token that the independent library jwt-kit signed, for each algorithm",
        arguments: JOSE.JWSAlgorithm.allCases)
    func signsForUs(algorithm: JOSE.JWSAlgorithm) async throws {
        let key = try SigningKey.generate(algorithm, keyID: "k1")
        let token = try await Self.collection(key, isPrivate: true).sign(Self.payload, kid: "k1")
        let claims = try JWTVerifierTests.verifier(key, algorithms: [algorithm]).verify(token, now: JWTVerifierTests.now)
        #expect(claims.subject == "00u1")
        #expect(claims.scopes == ["openid", "é😀\"\\/"])
        #expect(claims.expiresAt == 1_700_003_600)
    }
}
