import Foundation
import JOSE
import Testing

@Suite("JWTVerifier")
struct JWTVerifierTests {
    static let now = Date(timeIntervalSince1970: 1_700_000_000)

    static func claims() -> JSONValue {
        [
            "iss": "https://id.example.com", "aud": "api://default", "sub": "00u1", "iat": 1_700_000_000, "exp": 1_700_003_600,
            "scp": ["openid", "profile"], "cid": "app",
        ]
    }

    @Test("a token of each algorithm is accepted, and its claims are read", arguments: JWSAlgorithm.allCases)
    func roundTrip(algorithm: JWSAlgorithm) throws {
        let key = try SigningKey.generate(algorithm, keyID: "k1")
        let token = try key.sign(Self.claims(), header: ["typ": "JWT"])
        let verifier = JWTVerifier(
            keys: JSONWebKeySet([key.publicKey ?? key.privateJWK]), algorithms: [algorithm], issuer: "https://id.example.com",
            audience: ["api://default"])
        let claims = try verifier.verify(token, now: Self.now)
        #expect(claims.subject == "00u1")
        #expect(claims.audience == ["api://default"])
        #expect(claims.scopes == ["openid", "profile"])
        #expect(claims.clientID == "app")
        #expect(claims.expiresAt == 1_700_003_600)
        #expect(claims.json == Self.claims())
    }
}
