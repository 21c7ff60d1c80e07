import AuthFoundation
import Foundation
import JOSE
import Testing

@testable import DeviceAuthenticator

@Suite("Hostile challenges (D5-6, Documentation/Protocol/Devices.md §3.6)")
struct HostileChallengeTests {
    /// A challenge that no conforming org sends, and the change that makes it invalid.
    struct Forgery: Sendable, CustomTestStringConvertible {
        let name: String
        let make: @Sendable (TestOrg) throws -> String
        var testDescription: String { name }

        init(_ name: String, _ make: @escaping @Sendable (TestOrg) throws -> String) {
            self.name = name
            self.make = make
        }

        static func claim(_ name: String, _ value: JSONValue) -> Forgery {
            Forgery("\(name): \(value.serializedString)") { try $0.challenge(more: [name: value]) }
        }
    }

    static func replacingHeader(_ jwt: String, _ header: JSONValue, signature: String? = nil) -> String {
        let parts = jwt.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        return [Base64URL.encode(header.serialized()), parts[1], signature ?? parts[2]].joined(separator: ".")
    }

    static let forgeries: [Forgery] = [
        Forgery("not a token") { _ in "hello" }, Forgery("an empty token") { _ in "" }, Forgery("two parts") { _ in "e30.e30" },
        Forgery("five parts") { "a.b." + (try $0.challenge()) },
        Forgery("a payload that is no JSON") { _ in try TestOrg.signingKey.sign(payload: Array("hello".utf8)) },
        Forgery("a payload that is no object") { _ in try TestOrg.signingKey.sign(payload: Array("[1]".utf8)) },
        Forgery("a payload with two values of a claim") { org in
            let text = org.claims().serializedString
            return try TestOrg.signingKey.sign(payload: Array(("{\"iss\":\"https://evil.example\"," + text.dropFirst()).utf8))
        },
        Forgery("a huge token") { try $0.challenge(more: ["loginHint": .string(String(repeating: "x", count: 20_000))]) },
        Forgery("alg none") {
            replacingHeader(try $0.challenge(), ["alg": "none", "kid": "srv-1", "typ": "okta-pushbind+jwt"], signature: "")
        },
        Forgery("alg none with a signature") { replacingHeader(try $0.challenge(), ["alg": "none", "kid": "srv-1"]) },
        Forgery("ES256 by a key of its own") { try $0.challenge(key: SigningKey.generate(.es256, keyID: "srv-1")) },
        Forgery("PS256 by the org's own key") { org in
            try org.challenge(key: SigningKey(pem: #require(TestOrg.signingKey.privatePEM), algorithm: .ps256, keyID: "srv-1"))
        },
        Forgery("HS256 with the public key as the secret") { org in
            let publicKey = try #require(TestOrg.signingKey.publicKey).json().serialized()
            return try org.challenge(key: SigningKey.secret(publicKey, algorithm: .hs256, keyID: "srv-1"))
        },
        Forgery("no kid") { try $0.challenge(key: SigningKey(pem: #require(TestOrg.signingKey.privatePEM), algorithm: .rs256)) },
        Forgery("an empty kid") {
            try $0.challenge(key: SigningKey(pem: #require(TestOrg.signingKey.privatePEM), algorithm: .rs256, keyID: ""))
        },
        Forgery("crit") { org in try TestOrg.signingKey.sign(org.claims(), header: ["typ": "okta-pushbind+jwt", "crit": ["x"], "x": 1]) },
        Forgery("another type") { try $0.challenge(type: "okta-devicebind+jwt") },
        Forgery("an id token") { try $0.challenge(type: "JWT") },
        Forgery("another key with the known kid") { try $0.challenge(key: TestOrg.foreignKey) },
        Forgery("a changed payload") { org in
            let good = try org.challenge().split(separator: ".")
            let bad = try org.challenge(more: ["appInstanceName": "Evil"]).split(separator: ".")
            return "\(good[0]).\(bad[1]).\(good[2])"
        },
        Forgery("a signature that is cut off") { String(try $0.challenge().dropLast(8)) },
        .claim("iss", "https://evil.example"), .claim("iss", "https://id.example.com.evil.example"), .claim("iss", "http://id.example.com"),
        .claim("iss", "https://id.example.com:8443"), .claim("iss", "https://id.example.com/oauth2/a/b"),
        .claim("iss", "https://id.example.com/oauth2/"), .claim("iss", "https://id.example.com/oauth2/..%2Fx"),
        .claim("iss", "https://id.example.com/other"), .claim("iss", ""), .claim("iss", nil), .claim("iss", ["https://id.example.com"]),
        .claim("authorizationServerId", "../evil"), .claim("authorizationServerId", ""), .claim("authorizationServerId", "a/b"),
        .claim("orgId", "00o2"), .claim("orgId", nil), .claim("userId", "00u2"), .claim("methodEnrollmentId", "opf2"),
        .claim("verificationUri", "https://evil.example/verify"), .claim("verificationUri", "http://id.example.com/verify"),
        .claim("verificationUri", "https://id.example.com@evil.example/verify"), .claim("verificationUri", "file:///etc/passwd"),
        .claim("verificationUri", "/verify"), .claim("verificationUri", ""), .claim("verificationUri", nil),
        .claim("iat", nil), .claim("iat", "1800000000"), .claim("iat", 1_800_000_000.5), .claim("iat", -1), .claim("iat", 1e18),
        .claim("exp", nil), .claim("exp", 1_800_000_300.5), .claim("exp", 9_007_199_254_740_992), .claim("nonce", nil), .claim("nonce", 1),
        .claim("transactionId", nil), .claim("aud", nil), .claim("aud", ["a", "b"]), .claim("method", nil), .claim("method", "totp"),
        .claim("authenticatorEnrollmentId", nil), .claim("challengeContext", nil), .claim("challengeContext", "x"),
    ]

    @Test(
        "A forged challenge is rejected when the phone parses it, and a pull of challenges omits the forged challenge", arguments: forgeries
    )
    func refused(forgery: Forgery) async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        let before = phone.org.routes
        let jwt = try forgery.make(phone.org)
        #expect(throws: (any Error).self) { try phone.parse(jwt) }
        #expect(phone.org.routes == before)
        // In a fetched list, the challenge is omitted.
        phone.org.wait(with: jwt, try phone.org.challenge("ft2"))
        let enrollment = try #require(try phone.authenticator.allEnrollments().first)
        let pulled = try await enrollment.retrievePushChallenges(authenticationToken: TestPhone.token)
        #expect(pulled.map(\.transactionId) == ["ft2"])
        #expect(phone.org.requests(.verify).isEmpty)
    }

    static let signatureForgeries: [Forgery] = [
        Forgery("another key with the known kid") { try $0.challenge(key: TestOrg.foreignKey) },
        Forgery("a kid that the org does not publish") { try $0.challenge(key: TestOrg.nextKey) },
        Forgery("a changed payload") { org in
            let good = try org.challenge().split(separator: ".")
            let bad = try org.challenge(more: ["appInstanceName": "Evil"]).split(separator: ".")
            return "\(good[0]).\(bad[1]).\(good[2])"
        },
    ]

    @Test(
        "A forged challenge that arrives while the org's keys are unavailable is rejected later, before the consent step",
        arguments: signatureForgeries)
    func refusedLater(forgery: Forgery) async throws {
        let phone = try TestPhone()
        phone.org.answer(.discovery, .offline)
        try await phone.enroll()
        let challenge = try phone.parse(try forgery.make(phone.org))
        let steps = Recorder<RemediationStep>()
        let error = await failure {
            try await challenge.resolve { step in
                steps.add(step)
                step.defaultProcess()
            }
        }
        #expect(error?.reason == .untrustedChallenge)
        #expect(steps.all.isEmpty)
        #expect(!challenge.isVerified && challenge.appInstanceName == nil)
        #expect(phone.org.requests(.verify).isEmpty)
    }

    @Test("A challenge with an invalid structure, claim or context causes the published error")
    func publishedErrors() async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        #expect(throws: SecurityError.jwtError("Invalid JWT structure")) { try phone.parse("a.b.c") }
        #expect(throws: SecurityError.jwtError("nonce claim isn't present in JWT payload")) {
            try phone.parse(phone.org.challenge(more: ["nonce": nil]))
        }
        #expect(throws: SecurityError.jwtError("verificationUri claim is invalid in JWT payload")) {
            try phone.parse(phone.org.challenge(more: ["verificationUri": ""]))
        }
        do {
            _ = try phone.parse(phone.org.challenge(more: ["authenticatorEnrollmentId": nil]))
            Issue.record("accepted")
        } catch DeviceAuthenticatorError.internalError(let text) {
            #expect(text == "Bad challenge")
        }
    }
}
