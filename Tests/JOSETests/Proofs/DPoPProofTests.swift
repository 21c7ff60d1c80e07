import Foundation
import JOSE
import TestSupport
import Testing

@Suite("DPoP proofs (RFC 9449 section 4)")
struct DPoPProofTests {
    private static let uri = "https://id.test/oauth2/v1/token"
    private static let now = Date(timeIntervalSince1970: 1_700_000_000)
    private static let seconds = now.timeIntervalSince1970

    private static func refusal(_ body: () throws -> Void) -> JOSEError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? JOSEError)?.code ?? JOSEError.Code(rawValue: "\(error)")
        }
    }

    // MARK: - The RFC's examples

    private static let exampleHeader =
        "eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZOXpDa0RscEJoRjQyVVFVZldWQVdC"
        + "RnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JEQSIsImNydiI6IlAtMjU2In19"

    @Test("The example DPoP proof for a token request in RFC 9449 is valid for that request, and later expires")
    func exampleOfTokenRequest() throws {
        let proof = try DPoPProof(
            verifying: Self.exampleHeader
                + ".eyJqdGkiOiItQndDM0VTYzZhY2MybFRjIiwiaHRtIjoiUE9TVCIsImh0dSI6Imh0dHBzOi8vc2VydmVyLmV4YW1wbGUuY29tL3Rva2VuIiwiaWF0IjoxNTYyMjYyNjE2fQ"
                + ".2-GxA6T8lP4vfrg8v-FdWP0A0zdrj8igiMLvqRMUvwnQg4PtFLbdLXiOSsX0x7NVY-FNyJK70nfbV37xRZT3Lg")
        #expect(proof.thumbprint == "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I")
        #expect(proof.jwtID == "-BwC3ESc6acc2lTc")
        #expect(proof.nonce == nil)
        try proof.check(method: "POST", uri: "https://server.example.com/token", now: 1_562_262_616)
        #expect(Self.refusal { try proof.check(method: "POST", uri: "https://server.example.com/token", now: Self.seconds) } == .expired)
    }

    @Test("The example DPoP proof for a resource in RFC 9449 is valid only with its access token")
    func exampleOfResource() throws {
        let proof = try DPoPProof(
            verifying: Self.exampleHeader
                + ".eyJqdGkiOiJlMWozVl9iS2ljOC1MQUVCIiwiaHRtIjoiR0VUIiwiaHR1IjoiaHR0cHM6Ly9yZXNvdXJjZS5leGFtcGxlLm9yZy9wcm90ZWN0ZWRyZXNvdXJjZSIs"
                + "ImlhdCI6MTU2MjI2MjYxOCwiYXRoIjoiZlVIeU8ycjJaM0RaNTNFc05yV0JiMHhXWG9hTnk1OUlpS0NBcWtzbVFFbyJ9"
                + ".2oW9RP35yRqzhrtNP86L-Ey71EOptxRimPPToA1plemAgR6pxHF8y6-yqyVnmcw6Fy1dqd-jfxSYoMxhAJpLjA")
        let uri = "https://resource.example.org/protectedresource"
        try proof.check(method: "GET", uri: uri, accessToken: "Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU", now: 1_562_262_618)
        #expect(Self.refusal { try proof.check(method: "GET", uri: uri, accessToken: "Kz", now: 1_562_262_618) } == .invalidClaim)
    }

    // MARK: - Form

    @Test("A DPoP proof of each supported algorithm is valid", arguments: DPoPProof.algorithms)
    func algorithms(algorithm: JWSAlgorithm) throws {
        let maker = try ProofMaker(algorithm)
        let proof = try DPoPProof(verifying: try maker.proof("POST", Self.uri, at: Self.now, nonce: "n"))
        #expect(proof.thumbprint == maker.thumbprint)
        #expect(proof.nonce == "n")
        try proof.check(method: "POST", uri: Self.uri, now: Self.seconds)
    }

    struct Wrong: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var code: JOSEError.Code
        var claims: [String: JSONValue?] = [:]
        var header: [String: JSONValue?] = [:]
    }

    static let wrongForms = [
        Wrong(testDescription: "no typ", code: .wrongType, header: ["typ": nil]),
        Wrong(testDescription: "another typ", code: .wrongType, header: ["typ": "JWT"]),
        Wrong(testDescription: "no jwk", code: .invalidKey, header: ["jwk": nil]),
        Wrong(testDescription: "a jwk that is none", code: .invalidKey, header: ["jwk": "key"]),
        Wrong(testDescription: "a jwk of no kind", code: .malformed, header: ["jwk": [:]]),
        Wrong(testDescription: "a secret as jwk", code: .invalidKey, header: ["jwk": ["kty": "oct", "k": "c2VjcmV0"]]),
        Wrong(testDescription: "a critical extension", code: .criticalHeader, header: ["crit": ["b64"]]),
        Wrong(testDescription: "no jti", code: .missingClaim, claims: ["jti": nil]),
        Wrong(testDescription: "an empty jti", code: .missingClaim, claims: ["jti": ""]),
        Wrong(testDescription: "a long jti", code: .missingClaim, claims: ["jti": .string(String(repeating: "x", count: 201))]),
        Wrong(testDescription: "no htm", code: .missingClaim, claims: ["htm": nil]),
        Wrong(testDescription: "no htu", code: .missingClaim, claims: ["htu": nil]),
        Wrong(testDescription: "no iat", code: .missingClaim, claims: ["iat": nil]),
        Wrong(testDescription: "an iat in text", code: .invalidClaim, claims: ["iat": "now"]),
        Wrong(testDescription: "a nonce that is no text", code: .invalidClaim, claims: ["nonce": 1]),
        Wrong(testDescription: "an ath that is no text", code: .invalidClaim, claims: ["ath": ["a"]]),
    ]

    @Test("A DPoP proof with a missing or invalid header parameter or claim is rejected with the matching error", arguments: wrongForms)
    func wrongForm(wrong: Wrong) throws {
        let text = try ProofMaker().proof("POST", Self.uri, at: Self.now, changing: wrong.claims, header: wrong.header)
        #expect(Self.refusal { _ = try DPoPProof(verifying: text) } == wrong.code)
    }

    @Test("A DPoP proof whose key contains a private member is rejected", arguments: ["d", "p", "q", "dp", "dq", "qi", "oth", "k"])
    func privateMember(name: String) throws {
        let maker = try ProofMaker()
        var jwk = maker.jwk
        jwk[name] = "AQAB"
        let text = try maker.proof("POST", Self.uri, at: Self.now, header: ["jwk": jwk])
        let error = try #require(throws: JOSEError.self) { try DPoPProof(verifying: text) }
        #expect(error.code == .invalidKey)
        #expect(error.message.contains("private"))
    }

    @Test("A DPoP proof that is unsigned, or was signed by another key than its jwk, is rejected")
    func foreignSignature() throws {
        let maker = try ProofMaker()
        let other = try ProofMaker()
        let text = try maker.proof("POST", Self.uri, at: Self.now, header: ["jwk": other.jwk])
        #expect(Self.refusal { _ = try DPoPProof(verifying: text) } == .badSignature)
        let header: JSONValue = ["alg": "none", "typ": "dpop+jwt", "jwk": maker.jwk]
        let parts = text.split(separator: ".")
        let unsigned = "\(Base64URL.encode(header.serialized())).\(parts[1])."
        #expect(Self.refusal { _ = try DPoPProof(verifying: unsigned) } == .malformed)
        #expect(Self.refusal { _ = try DPoPProof(verifying: unsigned + "AA") } == .unsupportedAlgorithm)
    }

    @Test("A DPoP proof that a symmetric key signed is rejected, even if the caller allows the algorithm")
    func symmetric() throws {
        let maker = try ProofMaker()
        let secret = try SigningKey.secret(maker.jwk.serialized(), algorithm: .hs256)
        let text = try secret.sign(
            ["jti": "1", "htm": "POST", "htu": .string(Self.uri), "iat": 1_700_000_000], header: ["typ": "dpop+jwt", "jwk": maker.jwk])
        #expect(Self.refusal { _ = try DPoPProof(verifying: text) } == .algorithmNotAllowed)
        #expect(Self.refusal { _ = try DPoPProof(verifying: text, algorithms: [.hs256]) } == .algorithmNotAllowed)
    }

    @Test("A DPoP proof with an algorithm that the caller does not allow is rejected")
    func notAccepted() throws {
        let text = try ProofMaker(.edDSA).proof("POST", Self.uri, at: Self.now)
        #expect(Self.refusal { _ = try DPoPProof(verifying: text) } == .algorithmNotAllowed)
        #expect(Self.refusal { _ = try DPoPProof(verifying: text, algorithms: [.edDSA]) } == nil)
    }

    @Test("A DPoP proof that is not a token or is too long is rejected", arguments: ["", ".", "a.b.c", "ü.ü.ü"])
    func noTokens(text: String) {
        #expect(Self.refusal { _ = try DPoPProof(verifying: text) } == .malformed)
        #expect(Self.refusal { _ = try DPoPProof(verifying: text + String(repeating: "a", count: 9_000)) } == .tooLarge)
    }

    // MARK: - Judging

    @Test(
        "A DPoP proof is valid from five minutes before its iat until five minutes after its iat",
        arguments: [(0, nil), (-300, nil), (300, nil), (301, .expired), (-301, .issuedInFuture)] as [(Double, JOSEError.Code?)])
    func window(age: Double, code: JOSEError.Code?) throws {
        let proof = try DPoPProof(verifying: try ProofMaker().proof("POST", Self.uri, at: Self.now))
        #expect(Self.refusal { try proof.check(method: "POST", uri: Self.uri, now: Self.seconds + age) } == code)
    }

    @Test("A DPoP proof is valid only for its exact method and URL, and needs the claim ath if an access token is sent")
    func otherRequest() throws {
        let proof = try DPoPProof(verifying: try ProofMaker().proof("POST", Self.uri, at: Self.now))
        #expect(Self.refusal { try proof.check(method: "GET", uri: Self.uri, now: Self.seconds) } == .invalidClaim)
        #expect(Self.refusal { try proof.check(method: "post", uri: Self.uri, now: Self.seconds) } == .invalidClaim)
        #expect(Self.refusal { try proof.check(method: "POST", uri: Self.uri + "s", now: Self.seconds) } == .invalidClaim)
        #expect(Self.refusal { try proof.check(method: "POST", uri: Self.uri, accessToken: "t", now: Self.seconds) } == .missingClaim)
    }

    @Test(
        "A DPoP proof is valid for every equivalent spelling of its URL, with any query or fragment, and for no other URL",
        arguments: [
            ("https://id.test/oauth2/v1/token", true), ("HTTPS://ID.Test/oauth2/v1/token", true),
            ("https://id.test:443/oauth2/v1/token", true), ("https://id.test:/oauth2/v1/token", true),
            ("https://id.test/oauth2/v1/token?a=b", true), ("https://id.test/oauth2/v1/token#a?b", true),
            ("https://id.test/oauth2/v1/%74oken", true), ("https://id.test/a/../oauth2/./v1/token", true),
            ("http://id.test/oauth2/v1/token", false), ("https://id.test:80/oauth2/v1/token", false),
            ("https://id.test:8443/oauth2/v1/token", false), ("https://id.test/oauth2/v1/Token", false),
            ("https://id.test/oauth2/v1/token/", false), ("https://id.test//oauth2/v1/token", false),
            ("https://id.test/oauth2/v1%2Ftoken", false), ("https://id.test./oauth2/v1/token", false),
            ("https://user@id.test/oauth2/v1/token", false), ("https://id.test@evil.test/oauth2/v1/token", false),
            ("https://id.test\\@evil.test/oauth2/v1/token", false), ("//id.test/oauth2/v1/token", false),
            ("/oauth2/v1/token", false), ("", false), ("https://", false), ("https:///oauth2/v1/token", false),
            ("https://id.test/oauth2/v1/token%", false), ("https://id.test/oauth2/v1/tok en", false),
            ("https://id.test:44x3/oauth2/v1/token", false), ("urn:id.test", false),
        ])
    func spelling(uri: String, isSame: Bool) throws {
        let proof = try DPoPProof(verifying: try ProofMaker().proof("POST", uri, at: Self.now))
        #expect((Self.refusal { try proof.check(method: "POST", uri: Self.uri, now: Self.seconds) } == nil) == isSame)
    }

    @Test(
        "In the URL comparison of DPoP proofs, IP addresses are valid hosts, the default port is ignored, and an empty path equals the root path"
    )
    func otherHosts() throws {
        for (one, other) in [
            ("http://[::1]:80/a", "http://[::1]/a"), ("http://127.0.0.1:8000", "http://127.0.0.1:8000/"),
            ("https://id.test/%c3%bc", "https://id.test/%C3%BC"), ("https://id.test/..", "https://id.test"),
        ] {
            let proof = try DPoPProof(verifying: try ProofMaker().proof("GET", one, at: Self.now))
            #expect(Self.refusal { try proof.check(method: "GET", uri: other, now: Self.seconds) } == nil, "\(one)")
        }
    }

    @Test("isThumbprint accepts a DPoP key's thumbprint, and rejects a text of another length or alphabet")
    func thumbprints() throws {
        #expect(DPoPProof.isThumbprint(try ProofMaker().thumbprint))
        #expect(!DPoPProof.isThumbprint(""))
        #expect(!DPoPProof.isThumbprint(String(repeating: "=", count: 43)))
        #expect(!DPoPProof.isThumbprint(try ProofMaker().thumbprint + "A"))
    }

    @Test("The description of a DPoP proof does not contain the nonce")
    func description() throws {
        let proof = try DPoPProof(verifying: try ProofMaker().proof("POST", Self.uri, at: Self.now, nonce: "secret-nonce"))
        var dumped = ""
        dump(proof, to: &dumped)
        #expect(!(dumped + "\(proof)" + String(reflecting: proof)).contains("secret-nonce"))
    }
}

@Suite("DPoP nonces (RFC 9449 section 8)")
struct DPoPNoncesTests {
    private let nonces = DPoPNonces(secret: [UInt8](repeating: 1, count: 32))
    private let day: Double = 86_400
    private let start: Double = 20_000 * 86_400

    @Test("A DPoP nonce is issued for one day and is accepted for three more days")
    func lifetime() {
        let nonce = nonces.current(at: start)
        #expect(nonces.current(at: start + day - 1) == nonce)
        #expect(nonces.current(at: start + day) != nonce)
        #expect(nonces.accepts(nonce, at: start))
        #expect(nonces.accepts(nonce, at: start + 4 * day - 1))
        #expect(!nonces.accepts(nonce, at: start + 4 * day))
    }

    @Test("A DPoP nonce of the next day is accepted because clocks differ, and a nonce from two days ahead is rejected")
    func ahead() {
        #expect(nonces.accepts(nonces.current(at: start + day), at: start))
        #expect(!nonces.accepts(nonces.current(at: start + 2 * day), at: start))
    }

    @Test("A DPoP nonce is accepted by every instance with the same secret, and rejected by an instance with another secret")
    func keys() {
        let nonce = nonces.current(at: start)
        #expect(DPoPNonces(secret: [UInt8](repeating: 1, count: 32)).accepts(nonce, at: start))
        #expect(!DPoPNonces(secret: [UInt8](repeating: 2, count: 32)).accepts(nonce, at: start))
    }

    @Test("Forged and malformed DPoP nonces are rejected")
    func invented() {
        let nonce = nonces.current(at: start)
        let last = Base64URL.encode([UInt8](repeating: 255, count: 24))
        for text in ["", "x", nonce + "A", String(nonce.dropLast()), String(nonce.reversed()), last, String(repeating: "ü", count: 16)] {
            #expect(!nonces.accepts(text, at: start), "\(text)")
        }
    }
}
