import Foundation
import JOSE
import Testing

@testable import AuthFoundation

@Suite("JSON Web Tokens")
struct JWTTests {
    @Test("A JWT's header and claims are decoded, and its description contains no claim values")
    func reads() throws {
        let text = try IssuerKeys.rs256.get().sign([
            "iss": "https://id.example.com", "aud": ["one", "two"], "sub": "00u1", "iat": 1_800_000_000, "exp": 1_800_003_600,
            "auth_time": 1_799_999_990, "scp": ["openid"], "acr": "level", "preferred_username": "jane",
        ])
        let token = try JWT(text)
        #expect(token.rawValue == text && token.header.keyId == "rsa-1" && token.header.algorithm == .rs256)
        #expect(token.issuer == "https://id.example.com" && token.audience == "one" && token.subject == "00u1")
        #expect(token.issuedAt == Date(timeIntervalSince1970: 1_800_000_000))
        #expect(token.expiresAt == token.expirationTime && token.authTime == Date(timeIntervalSince1970: 1_799_999_990))
        #expect(token.scope == ["openid"] && token.authenticationContext == "level" && token.preferredUsername == "jane")
        #expect(!"\(token)".contains("jane") && !String(reflecting: token).contains("00u1"))
        #expect(try JSONDecoder().decode(JWT.self, from: JSONEncoder().encode(token)) == token)
    }

    @Test("The expiresIn of a JWT counts down to the expiry, and is 0 for a JWT without exp")
    func countsDown() throws {
        let key = try IssuerKeys.rs256.get()
        let token = try JWT(key.sign(["iat": 1_800_000_000, "exp": 1_800_003_600]))
        #expect(token.expiresIn(at: Date(timeIntervalSince1970: 1_800_000_000)) == 3600)
        #expect(token.expiresIn(at: Date(timeIntervalSince1970: 1_800_003_500)) == 100)
        #expect(token.expiresIn(at: Date(timeIntervalSince1970: 1_800_003_610)) == -10)
        #expect(try JWT(key.sign(["iat": 1_800_000_000])).expiresIn == 0)
    }

    @Test(
        "A string that is not a well-formed JWT is rejected",
        arguments: [
            ("", JWTError.badTokenStructure), ("a.b", .badTokenStructure), ("a.b.c.d", .badTokenStructure),
            ("!!.e30.", .invalidBase64Encoding),
            ("e30.e30.", .badTokenStructure), ("eyJhbGciOiJSUzI1NiJ9.W10.", .badTokenStructure),
            ("eyJhbGciOiJSUzI1NiJ9.e30=.", .invalidBase64Encoding),
            ("eyJhbGciOjF9.e30.", .badTokenStructure),
        ])
    func refuses(text: String, error: JWTError) {
        #expect(throws: error) { try JWT(text) }
        #expect(JWT(rawValue: text) == nil)
    }

    @Test("A JWT with changed claims or a signature by another key fails validation")
    func detectsChange() throws {
        let keys = try JSONDecoder().decode(JWKS.self, from: Data(IssuerKeys.set([IssuerKeys.es256.get(), IssuerKeys.rs256.get()]).utf8))
        let token = try IssuerKeys.es256.get().sign(["sub": "a"])
        #expect(try JWT(token).validate(using: keys))
        let parts = token.split(separator: ".")
        let changed = "\(parts[0]).\(Data(#"{"sub":"b"}"#.utf8).base64URLEncoded).\(parts[2])"
        #expect(try !JWT(changed).validate(using: keys))
        #expect(try !JWT(IssuerKeys.stranger.get().sign(["sub": "a"])).validate(using: keys))
        #expect(throws: JWTError.invalidKey) { try JWT(IssuerKeys.rotated.get().sign(["sub": "a"])).validate(using: keys) }
        let jwk = try #require(keys["rsa-1"])
        #expect(jwk.rsaExponent == "AQAB" && jwk.rsaModulus?.isEmpty == false)
        #expect(try jwk.verify(token: JWT(IssuerKeys.rs256.get().sign(["sub": "a"]))))
    }

    @Test("A JWT without a key ID is validated with each key of the issuer")
    func anonymousKey() throws {
        let key = try SigningKey.generate(.es256)
        let text =
            #"{"keys":[\#(try #require(IssuerKeys.rs256.get().publicKey).json().serializedString),\#(try #require(key.publicKey).json().serializedString)]}"#
        let keys = try JSONDecoder().decode(JWKS.self, from: Data(text.utf8))
        let token = try JWT(key.sign(["sub": "a"]))
        #expect(token.header.keyId.isEmpty)
        #expect(try token.validate(using: keys))
    }
}
