import Crypto
import Foundation
import JOSE
import Testing

/// Malformed and hostile tokens that our signers never create.
enum Forged {
    static func token(header: String, payload: String, key: SigningKey) throws -> String {
        let input = Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(Array(payload.utf8))
        return input + "." + Base64URL.encode(try key.signature(for: Array(input.utf8)))
    }

    static func token(header: String, signature: [UInt8]) -> String {
        [Array(header.utf8), JWTVerifierTests.claims.serialized(), signature].map { Base64URL.encode($0) }.joined(separator: ".")
    }
}

@Suite("Hostile tokens")
struct HostileTokenTests {
    let key: SigningKey
    let verifier: JWTVerifier
    let good: String

    init() throws {
        key = try SigningKey.generate(.es256, keyID: "k1")
        verifier = JWTVerifierTests.verifier(key)
        good = try key.sign(JWTVerifierTests.claims)
    }

    private func refusal(of token: String, by verifier: JWTVerifier? = nil) -> JOSEError.Code? {
        do throws(JOSEError) {
            _ = try (verifier ?? self.verifier).verify(token, now: JWTVerifierTests.now)
            return nil
        } catch {
            return error.code
        }
    }

    @Test("A token with a member name whose hashing takes quadratic time is rejected as too large, whether the name is escaped or not")
    func costlyNames() throws {
        let marks = String(repeating: "\u{301}\u{323}", count: 500)
        for name in [marks, String(repeating: #"\u0301\u0323"#, count: 100)] {
            #expect(
                refusal(of: try Forged.token(header: #"{"alg":"ES256","kid":"k1","\#(name)":1}"#, payload: "{}", key: key)) == .tooLarge)
            #expect(
                refusal(of: try Forged.token(header: #"{"alg":"ES256","kid":"k1"}"#, payload: #"{"\#(name)":1}"#, key: key)) == .tooLarge)
            let error = #expect(throws: JOSEError.self) { try JSONValue(parsing: Array(#"[{"\#(name)":1}]"#.utf8)) }
            #expect(error?.code == .tooLarge)
        }
        #expect(throws: Never.self) { try JSONValue(parsing: Array(#"{"\#(String(repeating: "x", count: 5_000))":"é"}"#.utf8)) }
    }

    @Test(
        "A token with an invalid or forbidden header is rejected, even if its signature is valid",
        arguments: [
            (#"{"alg":"none"}"#, JOSEError.Code.unsupportedAlgorithm), (#"{"alg":"None","kid":"k1"}"#, .unsupportedAlgorithm),
            (#"{"alg":"","kid":"k1"}"#, .unsupportedAlgorithm), (#"{"alg":"es256","kid":"k1"}"#, .unsupportedAlgorithm),
            (#"{"kid":"k1"}"#, .malformed),
            (#"{"alg":null,"kid":"k1"}"#, .malformed), (#"{"alg":["ES256"],"kid":"k1"}"#, .malformed),
            (#"{"alg":"RS256","kid":"k1"}"#, .algorithmNotAllowed),
            (#"{"alg":"HS256","kid":"k1"}"#, .algorithmNotAllowed), (#"{"alg":"ES384","kid":"k1"}"#, .algorithmNotAllowed),
            (#"{"alg":"ES256","kid":"k2"}"#, .unknownKey), (#"{"alg":"ES256","kid":""}"#, .unknownKey),
            (#"{"alg":"ES256","kid":1}"#, .malformed),
            (#"{"alg":"ES256","kid":"k1","crit":["exp"]}"#, .criticalHeader), (#"{"alg":"ES256","kid":"k1","crit":[]}"#, .criticalHeader),
            (#"{"alg":"ES256","kid":"k1","b64":false,"crit":["b64"]}"#, .criticalHeader),
            (#"{"alg":"ES256","kid":"k1","crit":null}"#, .criticalHeader),
            (#"{"alg":"ES256","alg":"ES256","kid":"k1"}"#, .malformed), (#"{"alg":"ES256","kid":"k1","kid":"k1"}"#, .malformed),
            (#"{"alg":"ES256","kid":"k1"} "x"#, .malformed), (#"["ES256"]"#, .malformed), (#""ES256""#, .malformed),
            (#"{"alg":"ES256","kid":"k1""#, .malformed),
            (#"{"alg":"ES256","kid":"k1","x":[[[[[[[[1]]]]]]]]}"#, .tooDeep), (#"{"alg":"ES256","kid":"k1","typ":1}"#, .malformed),
        ])
    func headers(header: String, code: JOSEError.Code) throws {
        let token = try Forged.token(header: header, payload: JWTVerifierTests.claims.serializedString, key: key)
        #expect(refusal(of: token) == code)
    }

    @Test("A token without a signature is rejected")
    func unsigned() {
        for header in [#"{"alg":"none"}"#, #"{"alg":"ES256","kid":"k1"}"#, #"{"alg":"nOnE","typ":"JWT"}"#] {
            #expect(refusal(of: Forged.token(header: header, signature: [])) == .malformed)
        }
        // RFC 7515, appendix A.5.
        let example = "eyJhbGciOiJub25lIn0.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ."
        #expect(refusal(of: example) == .malformed)
    }

    @Test(
        "A token that is not three base64url segments is rejected",
        arguments: [
            "", ".", "..", "...", "a", "a.b", "a.b.c", "....", "é.é.é", "\u{0}.\u{0}.\u{0}", " . . ",
        ])
    func noToken(token: String) { #expect(refusal(of: token) == .malformed) }

    @Test("A valid token to which characters, padding or segments are added or removed is rejected")
    func respelled() {
        let parts = good.split(separator: ".").map(String.init)
        let respelled: [String] = [
            " " + good, good + " ", good + "\n", good + "=", good + ".", "." + good, good + ".AAAA", good + "." + parts[2],
            parts[0] + "=" + "." + parts[1] + "." + parts[2], "\(parts[0]).\(parts[1])==.\(parts[2])", ".\(parts[1]).\(parts[2])",
            "\(parts[0]).\(parts[1]).", "\(parts[0]).\(parts[1])", "\(parts[0]). \(parts[1]).\(parts[2])",
            "\(parts[0]).\(parts[1]).\(parts[2].dropLast())", good.replacingOccurrences(of: ".", with: "\u{2024}"),
        ]
        for token in respelled {
            #expect(refusal(of: token) == .malformed, "\(token)")
        }
        for token in ["\(parts[0])..\(parts[2])", "\(parts[0]).\(parts[1]).\(parts[2])A"] { #expect(refusal(of: token) == .badSignature) }
    }

    @Test("A token whose last base64url character has unused bits set is rejected")
    func trailingBits() throws {
        // 64 bytes take 86 characters. Only two bits of the last character count.
        let last = try #require(good.last)
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        let value = try #require(alphabet.firstIndex(of: last))
        #expect(value % 16 == 0)
        for bits in 1..<16 { #expect(refusal(of: good.dropLast() + String(alphabet[value + bits])) == .malformed) }
    }

    @Test("A token with a single changed bit is rejected")
    func bitFlips() throws {
        let bytes = Array(good.utf8)
        for position in bytes.indices {
            var changed = bytes
            changed[position] ^= 1 << UInt8(position % 7)
            #expect(refusal(of: String(decoding: changed, as: UTF8.self)) != nil)
        }
    }

    @Test("A token with an ES256 signature of the wrong length or form is rejected")
    func ecdsaForms() throws {
        let header = #"{"alg":"ES256","kid":"k1"}"#
        let parsed = try JSONWebSignature(parsing: good)
        let der = try P256.Signing.ECDSASignature(rawRepresentation: parsed.signature).derRepresentation
        let order = try #require(Data(base64Encoded: "/////wAAAAD//////////7zm+q2nF56E87nKwvxjJVE="))
        let prefix = good.split(separator: ".").prefix(2).joined(separator: ".") + "."
        let zeros = [UInt8](repeating: 0, count: 32)
        let first = Array(parsed.signature[..<32])
        let second = Array(parsed.signature[32...])
        let forms: [[UInt8]] = [
            Array(der), Array(parsed.signature.dropLast()), parsed.signature + [0], [0] + parsed.signature, zeros + zeros, [0],
            [UInt8](repeating: 255, count: 64), zeros + second, first + zeros, Array(order) + second, second + first,
            parsed.signature + parsed.signature,
        ]
        for signature in forms {
            #expect(refusal(of: prefix + Base64URL.encode(signature)) == .badSignature)
        }
        #expect(refusal(of: Forged.token(header: header, signature: [UInt8](repeating: 0, count: 64))) == .badSignature)
    }

    @Test("A token with an RSA signature of the wrong length or value is rejected", arguments: [JWSAlgorithm.rs256, .ps256])
    func rsaForms(algorithm: JWSAlgorithm) throws {
        let key = try SigningKey.generate(algorithm, keyID: "k1")
        let verifier = JWTVerifierTests.verifier(key, algorithms: [algorithm])
        let good = try key.sign(JWTVerifierTests.claims)
        #expect(refusal(of: good, by: verifier) == nil)
        let prefix = good.split(separator: ".").prefix(2).joined(separator: ".") + "."
        let signature = try JSONWebSignature(parsing: good).signature
        let forms: [[UInt8]] = [
            [0] + signature, signature + [0], Array(signature.dropFirst()), Array(signature.dropLast()), [UInt8](repeating: 0, count: 256),
            [UInt8](repeating: 255, count: 256), [1],
        ]
        for changed in forms {
            #expect(refusal(of: prefix + Base64URL.encode(changed), by: verifier) == .badSignature)
        }
    }

    @Test("The JWT verifier rejects an HS256 token whose secret is the RSA public key")
    func confusion() throws {
        let rsa = try SigningKey.generate(.rs256, keyID: "k1")
        let publicKey = try #require(rsa.publicKey)
        let modulus = try #require(publicKey.json()["n"]?.stringValue)
        let pem = try #require(publicKey.pemRepresentation)
        let secrets = [publicKey.json().serialized(), Array(modulus.utf8), Array(pem.utf8)]
        for secret in secrets {
            let forger = try SigningKey.secret(secret, algorithm: .hs256, keyID: "k1")
            let token = try forger.sign(JWTVerifierTests.claims)
            let strict = JWTVerifierTests.verifier(rsa, algorithms: [.rs256])
            #expect(refusal(of: token, by: strict) == .algorithmNotAllowed)
            // Even a verifier that accepts both algorithms has no key for HS256.
            let careless = JWTVerifierTests.verifier(rsa, algorithms: [.rs256, .hs256])
            #expect(refusal(of: token, by: careless) == .unknownKey)
        }
    }

    @Test("The JWT verifier ignores a key or key URL in the token's header")
    func embeddedKey() throws {
        let forger = try SigningKey.generate(.es256, keyID: "k1")
        let jwk = try #require(forger.publicKey).json()
        #expect(refusal(of: try forger.sign(JWTVerifierTests.claims, header: ["jwk": jwk])) == .badSignature)
        #expect(refusal(of: try forger.sign(JWTVerifierTests.claims, header: ["jku": "https://evil.example/keys"])) == .badSignature)
    }

    @Test("PS256 and RS256 signatures of one key are not interchangeable")
    func paddings() throws {
        let rs = try SigningKey.generate(.rs256, keyID: "k1")
        var jwk = rs.privateJWK
        jwk.algorithm = nil
        let ps = try SigningKey(jwk, algorithm: .ps256)
        let verifier = JWTVerifier(keys: JSONWebKeySet([jwk]), algorithms: [.rs256, .ps256], issuer: nil, audience: nil)
        #expect(refusal(of: try rs.sign(JWTVerifierTests.claims), by: verifier) == nil)
        #expect(refusal(of: try ps.sign(JWTVerifierTests.claims), by: verifier) == nil)
        let crossed = try Forged.token(header: #"{"alg":"PS256","kid":"k1"}"#, payload: JWTVerifierTests.claims.serializedString, key: rs)
        #expect(refusal(of: crossed, by: verifier) == .badSignature)
    }

    @Test(
        "A token whose payload is not a valid JSON object is rejected, even if the signature is valid",
        arguments: [
            ("", JOSEError.Code.malformed), ("null", .malformed), ("[]", .malformed), (#""text""#, .malformed), ("{", .malformed),
            (#"{"exp":1,"exp":2}"#, .malformed),
            (#"{"exp":1,"\u0065xp":2}"#, .malformed), (#"{"a":{"b":1,"b":1}}"#, .malformed), (#"{"exp":1e999}"#, .malformed),
            ("{} {}", .malformed),
            ("\u{FEFF}{}", .malformed), (#"{"a":[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]}"#, .tooDeep),
            (#"{"exp":99999999999999999999999999,"sub":"\ud800"}"#, .malformed),
        ])
    func payloads(payload: String, code: JOSEError.Code) throws {
        #expect(refusal(of: try key.sign(payload: Array(payload.utf8))) == code)
    }

    @Test("A token whose payload is not UTF-8 is rejected, even if the signature is valid")
    func encoding() throws {
        for bytes in [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80]] as [[UInt8]] {
            let payload = Array(#"{"sub":""#.utf8) + bytes + Array(#"","exp":1700003600}"#.utf8)
            #expect(refusal(of: try key.sign(payload: payload)) == .malformed)
        }
    }

    @Test("A token up to the size limit is accepted, and a longer token is rejected")
    func size() throws {
        let count = good.utf8.count
        #expect(refusal(of: good, by: JWTVerifierTests.verifier(key, maximumTokenSize: count)) == nil)
        #expect(refusal(of: good, by: JWTVerifierTests.verifier(key, maximumTokenSize: count - 1)) == .tooLarge)
        #expect(refusal(of: String(repeating: "A", count: 1 << 20)) == .tooLarge)
        #expect(
            refusal(of: try key.sign(JWTVerifierTests.claims(with: "x", .string(String(repeating: "x", count: 16 << 10))))) == .tooLarge)
    }

    @Test("No error of the JWT verifier contains a part of the token")
    func errorTexts() throws {
        let token = try Forged.token(
            header: #"{"alg":"secret-alg","kid":"secret-kid"}"#, payload: #"{"sub":"secret-sub","exp":"secret"}"#, key: key)
        let tokens = [token, try key.sign(["sub": "secret-sub", "exp": "secret"]), try key.sign(["sub": 1, "iss": "secret", "exp": 1])]
        for token in tokens {
            let error = #expect(throws: JOSEError.self) { try verifier.verify(token, now: JWTVerifierTests.now) }
            #expect(error?.description.contains("secret") == false)
        }
    }
}
