import Foundation
import JOSE
import ResourceServer
import Testing

@Suite("Required claims of access tokens (RFC 9068)")
struct RequiredClaimsTests {
    let issuer: TestIssuer
    let verifier: AccessTokenVerifier

    init() throws {
        issuer = try TestIssuer()
        verifier = AccessTokenVerifier(issuer)
    }

    static let missing: [(String, AccessTokenError.Code)] = [
        ("iss", .wrongIssuer), ("exp", .notGenuine), ("aud", .wrongAudience), ("sub", .missingClaim), ("client_id", .missingClaim),
        ("iat", .missingClaim), ("jti", .missingClaim),
    ]

    @Test(
        "An access token of the type at+jwt without one of the required claims is rejected, also if it is verified again",
        arguments: missing)
    func incomplete(_ claim: String, _ code: AccessTokenError.Code) async throws {
        for type in ["at+jwt", "AT+JWT", "application/at+jwt"] {
            let token = try issuer.token(changing: [claim: nil], type: type)
            for _ in 1...2 { #expect(await refusal { try await verifier.verify(token) } == code, "\(type) without \(claim)") }
            #expect(await refusal { try verifier.verifyNow(token) } == code)
        }
    }

    @Test("An access token of the type at+jwt with an empty required claim, or with one of another JSON type, is rejected")
    func mistyped() async throws {
        let cases: [(String, JSONValue, AccessTokenError.Code)] = [
            ("sub", "", .missingClaim), ("client_id", ["app"], .missingClaim), ("client_id", .null, .missingClaim),
            ("jti", "", .missingClaim), ("sub", 1, .notGenuine), ("jti", .null, .notGenuine), ("iat", "now", .notGenuine),
        ]
        for (claim, value, code) in cases {
            let token = try issuer.token(changing: [claim: value], type: "at+jwt")
            #expect(await refusal { try await verifier.verify(token) } == code, "\(claim)")
        }
    }

    @Test("The error for an incomplete access token names the missing claim")
    func named() async throws {
        let token = try issuer.token(changing: ["jti": nil], type: "at+jwt")
        let error = await #expect(throws: AccessTokenError.self) { try await verifier.verify(token) }
        #expect(error?.message == "The access token lacks the claim jti, which its type at+jwt requires.")
    }

    @Test(
        "An access token without a type or with the type JWT needs no client_id and no jti, because Okta's access tokens have no client_id")
    func otherTypes() async throws {
        for type in [nil, "JWT"] { _ = try await verifier.verify(issuer.token(type: type)) }
    }
}
