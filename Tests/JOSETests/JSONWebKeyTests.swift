import JOSE
import Testing

@Suite("JSON Web Keys")
struct JSONWebKeyTests {
    @Test("A signing key of each algorithm can be exported as a JSON Web Key and imported unchanged", arguments: JWSAlgorithm.allCases)
    func roundTrip(algorithm: JWSAlgorithm) throws {
        let key = try SigningKey.generate(algorithm, keyID: "k1")
        let text = key.privateJWK.json(includingPrivateMembers: true).serialized()
        let copy = try SigningKey(JSONWebKey(parsing: text), algorithm: algorithm)
        #expect(copy.privateJWK == key.privateJWK)
        let message = Array("message".utf8)
        #expect(try key.verificationKey().isValidSignature(copy.signature(for: message), for: message))
        #expect(try !key.verificationKey().isValidSignature(copy.signature(for: message), for: message + [0]))
    }

    @Test(
        "The public key of a signing key contains no private member, and both keys have the same thumbprint",
        arguments: JWSAlgorithm.asymmetric)
    func publicKey(algorithm: JWSAlgorithm) throws {
        let key = try SigningKey.generate(algorithm, keyID: "k1")
        let publicKey = try #require(key.publicKey)
        let names = Set(try #require(publicKey.json(includingPrivateMembers: true).objectValue).keys)
        #expect(names.isDisjoint(with: ["d", "p", "q", "dp", "dq", "qi", "k"]))
        #expect(publicKey.thumbprint == key.privateJWK.thumbprint)
        #expect(publicKey.keyID == "k1")
        #expect(publicKey.algorithm == algorithm)
        #expect(!publicKey.isPrivate)
        #expect(throws: JOSEError(.invalidKey, "")) { try SigningKey(publicKey, algorithm: algorithm) }
    }

    @Test("A symmetric key appears neither in an exported key set nor in a description")
    func secretsStay() throws {
        let key = try SigningKey.secret(Array("0123456789abcdef0123456789abcdef".utf8), algorithm: .hs256, keyID: "s")
        let encoded = Base64URL.encode(Array("0123456789abcdef0123456789abcdef".utf8))
        #expect(key.publicKey == nil)
        #expect(JSONWebKeySet([key.privateJWK]).json() == ["keys": []])
        for text in ["\(key)", "\(key.privateJWK)", String(reflecting: key), String(reflecting: [key.privateJWK])] {
            #expect(!text.contains(encoded) && !text.contains("0123456789"))
        }
        var dumped = ""
        dump(key, to: &dumped)
        dump(key.privateJWK, to: &dumped)
        #expect(!dumped.contains("48, 49") && !dumped.contains("- 48\n"))
    }

    @Test("A JSON Web Key Set ignores unknown and invalid keys")
    func unknownKeys() throws {
        let good = try #require(try SigningKey.generate(.es256, keyID: "good").publicKey).json()
        let set = try JSONWebKeySet([
            "keys": [["kty": "XYZ"], good, ["kty": "EC", "crv": "P-256"], "text", ["kty": "OKP", "crv": "X25519", "x": "AA"]]
        ])
        #expect(set.keys.map(\.keyID) == ["good"])
        #expect(throws: JOSEError(.malformed, "")) { try JSONWebKeySet(parsing: "[]".utf8) }
        #expect(throws: JOSEError(.malformed, "")) { try JSONWebKeySet(parsing: #"{"keys":{}}"#.utf8) }
    }

    @Test(
        "A JSON Web Key with a missing or invalid member is rejected",
        arguments: [
            (#"{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}"#, JOSEError.Code.invalidKey),
            (#"{"kty":"EC","crv":"secp256k1","x":"AA","y":"AA"}"#, .invalidKey),
            (#"{"kty":"EC","crv":"Ed25519","x":"AA","y":"AA"}"#, .invalidKey),
            (#"{"kty":"OKP","crv":"P-256","x":"AA"}"#, .invalidKey),
            (#"{"kty":"oct","k":""}"#, .invalidKey), (#"{"kty":"oct","k":"A="}"#, .malformed), (#"{"kty":"oct"}"#, .malformed),
            (#"{"kty":"RSA","n":"AAAA","e":"AQAB"}"#, .invalidKey), (#"{"kty":"RSA","e":"AQAB"}"#, .malformed),
            (#"{"kty":"oct","k":"AAAA","kid":1}"#, .malformed), (#"{"kty":"oct","k":"AAAA","key_ops":"sign"}"#, .malformed),
            (#"[]"#, .malformed),
            (#"{"kty":7}"#, .malformed), (#"{}"#, .malformed),
        ])
    func damaged(text: String, code: JOSEError.Code) {
        #expect(throws: JOSEError(code, "")) { try JSONWebKey(parsing: text.utf8) }
    }

    @Test("An RSA key of 1024 bits is rejected for signing and for verification")
    func shortRSA() throws {
        let jwk = try JSONWebKey(parsing: WeakKey.rsa1024.utf8)
        #expect(jwk.modulusSize == 1024)
        #expect(throws: JOSEError(.invalidKey, "")) { try VerificationKey(jwk, algorithm: .rs256) }
        #expect(throws: JOSEError(.invalidKey, "")) { try SigningKey(jwk, algorithm: .rs256) }
        #expect(throws: JOSEError(.invalidKey, "")) { try SigningKey.generate(.rs256, keyID: nil, bits: 1024) }
    }

    @Test("An HMAC secret that is shorter than the digest is rejected", arguments: [(JWSAlgorithm.hs256, 32), (.hs384, 48), (.hs512, 64)])
    func shortSecret(algorithm: JWSAlgorithm, minimum: Int) throws {
        _ = try SigningKey.secret([UInt8](repeating: 7, count: minimum), algorithm: algorithm, keyID: nil)
        #expect(throws: JOSEError(.invalidKey, "")) {
            try SigningKey.secret([UInt8](repeating: 7, count: minimum - 1), algorithm: algorithm, keyID: nil)
        }
    }

    @Test("A JSON Web Key is rejected if its point is not on the curve, or if its private part belongs to another key")
    func mismatches() throws {
        let one = try SigningKey.generate(.es256, keyID: nil).privateJWK.json(includingPrivateMembers: true)
        let other = try SigningKey.generate(.es256, keyID: nil).privateJWK.json(includingPrivateMembers: true)
        var beside = one
        beside["y"] = other["y"]
        beside["d"] = nil
        #expect(throws: JOSEError(.invalidKey, "")) { try VerificationKey(JSONWebKey(beside), algorithm: .es256) }
        var mixed = one
        mixed["d"] = other["d"]
        #expect(throws: JOSEError(.invalidKey, "")) { try SigningKey(JSONWebKey(mixed), algorithm: .es256) }
    }

    @Test("A JSON Web Key is rejected for another algorithm or another curve, and a key for encryption is rejected for signatures")
    func ownAlgorithm() throws {
        let key = try SigningKey.generate(.rs256, keyID: nil).privateJWK
        #expect(throws: JOSEError(.invalidKey, "")) { try VerificationKey(key, algorithm: .ps256) }
        var encryption = key
        encryption.algorithm = nil
        encryption.use = "enc"
        #expect(throws: JOSEError(.invalidKey, "")) { try VerificationKey(encryption, algorithm: .rs256) }
        #expect(throws: JOSEError(.invalidKey, "")) { try VerificationKey(JSONWebKey(secret: [1, 2, 3]), algorithm: .rs256) }
        let curve = try SigningKey.generate(.es384, keyID: nil).privateJWK
        #expect(throws: JOSEError(.invalidKey, "")) { try VerificationKey(curve, algorithm: .es256) }
    }

    @Test(
        "A private or public key can be exported as PEM and imported unchanged, for each asymmetric algorithm",
        arguments: JWSAlgorithm.asymmetric)
    func pem(algorithm: JWSAlgorithm) throws {
        let key = try SigningKey.generate(algorithm, keyID: "k1")
        #expect(try SigningKey(pem: #require(key.privatePEM), algorithm: algorithm, keyID: "k1").privateJWK == key.privateJWK)
        let publicPEM = try #require(key.publicKey?.pemRepresentation)
        #expect(publicPEM.hasPrefix("-----BEGIN PUBLIC KEY-----"))
        #expect(try JSONWebKey(publicKeyPEM: publicPEM).thumbprint == key.privateJWK.thumbprint)
        #expect(throws: JOSEError(.invalidKey, "")) { try SigningKey(pem: publicPEM, algorithm: algorithm, keyID: nil) }
        #expect(throws: JOSEError(.invalidKey, "")) { try SigningKey(pem: "text", algorithm: algorithm, keyID: nil) }
    }

    @Test("An RSA key without its primes creates the same signature as the complete key")
    func withoutPrimes() throws {
        let key = try SigningKey.generate(.rs256, keyID: nil)
        var json = key.privateJWK.json(includingPrivateMembers: true)
        for name in ["p", "q", "dp", "dq", "qi"] { json[name] = nil }
        let copy = try SigningKey(JSONWebKey(json), algorithm: .rs256)
        #expect(try copy.signature(for: [1, 2, 3]) == key.signature(for: [1, 2, 3]))
    }
}

/// Weak keys, created with OpenSSL for these tests.
enum WeakKey {
    static let rsa1024 = #"""
        {"kty": "RSA", "n": "48DNGlTVOLUwu9DXRDj8VnNtuWcIOioRQXbGTBygw5x9W-krZD2sOVHWKNwT4NN4j0zDhPC5KgLtpWZ\#
        Yyaicfb4AZ6qUGV7UH8aqZ3wtTWBGKgkn2DfG7w7UOctP2ezNhgQOA1JBm9aDKtcClywL24M_d1oBeYMkzYfb9ZAjW2E", "e": \#
        "AQAB", "d": "SdD-aO9f4C5Rqj3o11LE7lwhDvtG3lsuFpKheJ-6t0usEbMD_kxC2p0clUenJbJEm-VcZWUEDoq-bWI7mriMZ1\#
        QKMpCqcYcY4PqErNONwUrJ-VgJFSDV11QqEUGeV3shF5Tcrd2gLZ5C_Qu9Q_m17SU_Eggj4jcPnR9kLR76mME", "p": "_ei2mI\#
        vV-ZUnRi2XqyyHBoIGpKgnkGb7drseSXbNPl_M7beRsuaDKandZn49PTY-pgcwF7GpeWOYT25qDFgv6Q", "q": "5aDyTGOFGO1\#
        BkcMxOCBadAAh37cIF969AoOPI7OBf09Oi_ObedlXAPEHjWPl9IxfnOs_55idkHa8QLdYpAlcuQ", "dp": "aedRmcjhg8tBaVU\#
        E6MGWxBEhwjXc4q8BfaFIXa3up3B_4jrpy2u4E32lOeW3lztz3_4pggh5Poda9O6BzwpNWQ", "dq": "gEG2NB5-D98s-XpZumy\#
        vuQz93pO_zH1Xetj6kUlI8k_comTNmXBgnSEDQ-DhZwckvGPVjMj8cN0w5sDBnNWx2Q", "qi": "fAnQsXB0bnNKpKaDT0m9mr-\#
        c593sJ5FZIN9G93hRpWo5ENJ4uK7Z_gVe33afNf0f-WM8C1c-CEbvLs-TCj4gAQ"}
        """#
}
