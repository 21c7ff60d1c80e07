import Foundation
import JOSE
import Testing

@Suite("JWTVerifier")
struct JWTVerifierTests {
    static let now = Date(timeIntervalSince1970: 1_700_000_000)
    static let issuer = "https://id.example.com"

    static let claims: JSONValue = [
        "iss": .string(issuer), "aud": "api://default", "sub": "00u1", "iat": 1_700_000_000, "exp": 1_700_003_600,
        "scp": ["openid", "profile"], "cid": "app", "https://example.com/role": "admin",
    ]

    static func claims(with name: String, _ value: JSONValue?) -> JSONValue {
        var claims = claims
        claims[name] = value
        return claims
    }

    static func verifier(
        _ keys: SigningKey..., algorithms: Set<JWSAlgorithm> = [.es256], issuer: String? = issuer,
        audience: Set<String>? = ["api://default"],
        leeway: Double = 60, maximumTokenSize: Int = 16 << 10, expectedType: String? = nil, requiresExpiration: Bool = true
    ) -> JWTVerifier {
        JWTVerifier(
            keys: JSONWebKeySet(keys.map(\.privateJWK)), algorithms: algorithms, issuer: issuer, audience: audience, leeway: leeway,
            maximumTokenSize: maximumTokenSize, expectedType: expectedType, requiresExpiration: requiresExpiration)
    }

    // MARK: - Acceptance

    @Test("The JWT verifier accepts a token of each algorithm and decodes the claims", arguments: JWSAlgorithm.allCases)
    func roundTrip(algorithm: JWSAlgorithm) throws {
        let key = try SigningKey.generate(algorithm, keyID: "k1")
        let token = try key.sign(Self.claims, header: ["typ": "JWT"])
        let claims = try Self.verifier(key, algorithms: [algorithm]).verify(token, now: Self.now)
        #expect(claims.issuer == Self.issuer)
        #expect(claims.subject == "00u1")
        #expect(claims.audience == ["api://default"])
        #expect(claims.scopes == ["openid", "profile"])
        #expect(claims.clientID == "app")
        #expect(claims.issuedAt == 1_700_000_000)
        #expect(claims.expiresAt == 1_700_003_600)
        #expect(claims.expirationDate == Self.now + 3600)
        #expect(claims["https://example.com/role"] == "admin")
        #expect(claims["absent"] == nil)
        #expect(claims.json == Self.claims)
    }

    @Test(
        "The JWT verifier accepts a header with members in any order, with white space and with additional members",
        arguments: [
            #"{"alg":"ES256","kid":"k1"}"#, #"{"kid":"k1","alg":"ES256"}"#, #"{"typ":"JWT","kid":"k1","alg":"ES256"}"#,
            #"{"kid":"k1","typ":"at+jwt","alg":"ES256"}"#,
            #" { "alg" : "ES256" , "kid" : "k1" , "x5t":"AA", "jku":"https://evil.example" } "#,
            #"{"\u0061lg":"ES256","kid":"\u006b1"}"#, #"{"alg":"ES256"}"#,
        ])
    func headers(header: String) throws {
        let key = try SigningKey.generate(.es256, keyID: "k1")
        let token = try Forged.token(header: header, payload: Self.claims.serializedString, key: key)
        #expect(try Self.verifier(key).verify(token, now: Self.now).subject == "00u1")
    }

    @Test("The JWT verifier uses the key with the token's key ID, or tries every suitable key if the token has no key ID")
    func keyChoice() throws {
        let keys = try ["a", "b", "c"].map { try SigningKey.generate(.es256, keyID: $0) }
        let nameless = try SigningKey.generate(.es256, keyID: nil)
        let verifier = Self.verifier(keys[0], keys[1], keys[2], nameless)
        for key in keys {
            #expect(try verifier.verify(key.sign(Self.claims), now: Self.now).subject == "00u1")
            let token = try Forged.token(header: #"{"alg":"ES256"}"#, payload: Self.claims.serializedString, key: key)
            #expect(try verifier.verify(token, now: Self.now).subject == "00u1")
        }
        let token = try Forged.token(header: #"{"alg":"ES256","kid":"other"}"#, payload: Self.claims.serializedString, key: nameless)
        #expect(try verifier.verify(token, now: Self.now).subject == "00u1")
        let misnamed = try Forged.token(header: #"{"alg":"ES256","kid":"a"}"#, payload: Self.claims.serializedString, key: keys[1])
        #expect(throws: JOSEError(.badSignature, "")) { try verifier.verify(misnamed, now: Self.now) }
    }

    @Test(
        "The JWT verifier compares the token type case-insensitively, and ignores the prefix application/",
        arguments: ["at+jwt", "AT+JWT", "application/at+jwt"])
    func types(type: String) throws {
        let key = try SigningKey.generate(.es256, keyID: "k1")
        let verifier = Self.verifier(key, expectedType: "at+jwt")
        #expect(try verifier.verify(key.sign(Self.claims, header: ["typ": .string(type)]), now: Self.now).subject == "00u1")
        #expect(throws: JOSEError(.wrongType, "")) { try verifier.verify(key.sign(Self.claims), now: Self.now) }
        #expect(throws: JOSEError(.wrongType, "")) { try verifier.verify(key.sign(Self.claims, header: ["typ": "JWT"]), now: Self.now) }
    }

    // MARK: - Claims

    @Test(
        "The JWT verifier rejects a missing, invalid or out-of-range claim with the matching error",
        arguments: [
            ("exp", nil, JOSEError.Code.missingClaim), ("exp", 1_699_999_940, .expired), ("exp", 0, .expired), ("exp", -1, .expired),
            ("exp", "1700003600", .invalidClaim), ("exp", .null, .invalidClaim), ("exp", true, .invalidClaim),
            ("exp", [1_700_003_600], .invalidClaim),
            ("nbf", 1_700_000_061, .notYetValid), ("nbf", 1e300, .notYetValid), ("nbf", "0", .invalidClaim),
            ("iat", 1_700_000_061, .issuedInFuture), ("iat", .null, .invalidClaim),
            ("iss", "https://id.example.com/", .wrongIssuer), ("iss", nil, .wrongIssuer),
            ("iss", ["https://id.example.com"], .invalidClaim),
            ("iss", "https://id.example.co\u{212A}", .wrongIssuer),
            ("aud", nil, .wrongAudience), ("aud", "", .wrongAudience), ("aud", [], .wrongAudience),
            ("aud", ["other", "api://default2"], .wrongAudience),
            ("aud", [1, "api://default"], .invalidClaim), ("aud", 1, .invalidClaim), ("sub", 7, .invalidClaim), ("jti", 7, .invalidClaim),
        ] as [(String, JSONValue?, JOSEError.Code)])
    func refusedClaims(name: String, value: JSONValue?, code: JOSEError.Code) throws {
        let key = try SigningKey.generate(.es256, keyID: "k1")
        let token = try key.sign(Self.claims(with: name, value))
        #expect(throws: JOSEError(code, "")) { try Self.verifier(key).verify(token, now: Self.now) }
    }

    @Test(
        "The JWT verifier accepts claims within their bounds",
        arguments: [
            ("exp", 1_699_999_941), ("exp", 1_700_003_600.5), ("exp", 1e300), ("exp", .integer(.max)), ("nbf", 1_700_000_060),
            ("nbf", -1e300), ("iat", 1_700_000_060),
            ("iat", nil), ("sub", nil), ("aud", ["other", "api://default"]), ("aud", ["api://default"]),
        ] as [(String, JSONValue?)])
    func acceptedClaims(name: String, value: JSONValue?) throws {
        let key = try SigningKey.generate(.es256, keyID: "k1")
        let token = try key.sign(Self.claims(with: name, value))
        #expect(try Self.verifier(key).verify(token, now: Self.now).json == Self.claims(with: name, value))
    }

    @Test("The JWT verifier checks the unescaped form of a claim whose name or value contains escapes")
    func escapedClaims() throws {
        let key = try SigningKey.generate(.es256, keyID: "k1")
        let payload = #"{"iss":"https:\/\/id.example.com","a\u0075d":["api:\/\/default"],"e\u0078p":1699999000}"#
        let token = try key.sign(payload: Array(payload.utf8))
        #expect(throws: JOSEError(.expired, "")) { try Self.verifier(key).verify(token, now: Self.now) }
        #expect(try Self.verifier(key).verify(token, now: Self.now - 1000).issuer == Self.issuer)
    }

    @Test("The JWT verifier does not check issuer, audience or expiry if its configuration does not require them")
    func unchecked() throws {
        let key = try SigningKey.generate(.es256, keyID: "k1")
        let verifier = Self.verifier(key, issuer: nil, audience: nil, requiresExpiration: false)
        #expect(try verifier.verify(key.sign([:]), now: Self.now).names == [])
        #expect(throws: JOSEError(.wrongAudience, "")) { try Self.verifier(key, audience: []).verify(key.sign(Self.claims), now: Self.now) }
    }

    @Test("Without leeway, a token is valid until the exact second of its expiry")
    func noLeeway() throws {
        let key = try SigningKey.generate(.es256, keyID: "k1")
        let verifier = Self.verifier(key, leeway: 0)
        let token = try key.sign(Self.claims)
        #expect(try verifier.verify(token, now: Date(timeIntervalSince1970: 1_700_003_599)).subject == "00u1")
        #expect(throws: JOSEError(.expired, "")) { try verifier.verify(token, now: Date(timeIntervalSince1970: 1_700_003_600)) }
        #expect(throws: JOSEError(.issuedInFuture, "")) { try verifier.verify(token, now: Date(timeIntervalSince1970: 1_699_999_999)) }
    }

    @Test(
        "The scopes of a token are read from the claims scp and scope, as a list or as a string",
        arguments: [
            (["scp": ["a", "b"]], ["a", "b"]), (["scp": "a b"], ["a", "b"]), (["scope": "a  b"], ["a", "b"]), (["scope": ["a"]], ["a"]),
            (["scp": ["a"], "scope": "b"], ["a"]), ([:], []), (["scp": 1], []),
        ] as [(JSONValue, [String])])
    func scopes(claims: JSONValue, expected: [String]) throws {
        #expect(try ClaimSet(claims).scopes == expected)
    }

    @Test("A payload with 300 claims is decoded, and a duplicate among 300 claims is rejected")
    func manyClaims() throws {
        let members = (0..<300).map { "\"c\($0)\":\($0)" }
        let claims = try ClaimSet(parsing: Array("{\(members.joined(separator: ","))}".utf8))
        #expect(claims["c299"] == 299)
        #expect(throws: JOSEError(.malformed, "")) {
            try ClaimSet(parsing: Array("{\((members + ["\"c7\":1"]).joined(separator: ","))}".utf8))
        }
    }
}
