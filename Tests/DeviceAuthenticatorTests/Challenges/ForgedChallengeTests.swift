import AuthFoundation
import Foundation
import JOSE
import TestSupport
import Testing

@testable import DeviceAuthenticator

/// Challenges from a push service or a hostile app that the org did not issue for this enrollment.
@Suite("Attacks: forged challenges that reach the phone")
struct ForgedChallengeTests {
    typealias Forgery = HostileChallengeTests.Forgery

    /// Returns a challenge whose payload is an arbitrary text. The org's own key signs it, so that only its form is invalid.
    private static func text(_ name: String, _ make: @escaping @Sendable (String) -> String) -> Forgery {
        Forgery(name) { org in try TestOrg.signingKey.sign(payload: Array(make(org.claims().serializedString).utf8)) }
    }

    /// Returns a challenge whose payload has an additional member.
    private static func member(_ name: String, _ member: String) -> Forgery { text(name) { "\($0.dropLast()),\(member)}" } }

    private static let numbers: [(String, String)] = ["iat", "exp"].flatMap { name in
        [
            "1e400", "-1e400", "9223372036854775808", "-9223372036854775809", "18446744073709551616",
            "1099511627776", "-0.5", "NaN",
            "Infinity", "0x6B49D200", "01800000000", "\"1800000000\"", "[1800000000]",
            "{\"$numberLong\":\"1800000000\"}", "true", "null",
            String(repeating: "9", count: 4_000),
        ].map { (name, $0) }
    }

    private static let numberForgeries: [Forgery] =
        numbers.map { name, value in
            Forgery("\(name): \(value.prefix(30))") { org in
                let number = name == "iat" ? "1800000000" : "1800000300"
                let payload = org.claims().serializedString
                let forged = payload.replacing("\"\(name)\":\(number)", with: "\"\(name)\":\(value)")
                guard forged != payload else { throw InvalidAnswer() }
                return try TestOrg.signingKey.sign(payload: Array(forged.utf8))
            }
        }

    static let forgeries: [Forgery] = numberForgeries + otherForgeries

    private static let otherForgeries: [Forgery] = [
        text("two values of a claim, the good one last") { "{\"userId\":\"00u2\"," + String($0.dropFirst()) },
        member("two values of a claim, the good one first", "\"userId\":\"00u2\""),
        member("two values of a claim, one of them escaped", "\"\\u0075serId\":\"00u2\""),
        text("two values inside of the context") {
            $0.replacing("\"challengeContext\":{", with: "\"challengeContext\":{\"transactionType\":\"CIBA\",")
        },
        member(
            "arrays that are nested too deep", "\"x\":\(String(repeating: "[", count: 3_000))\(String(repeating: "]", count: 3_000))"),
        member(
            "objects that are nested too deep",
            "\"x\":\(String(repeating: "{\"a\":", count: 1_500))1\(String(repeating: "}", count: 1_500))"),
        text("a byte order mark") { "\u{FEFF}\($0)" }, text("two documents") { "\($0)\($0)" }, text("a comment") { "/**/\($0)" },
        text("a NUL at the end") { "\($0)\0" }, text("a trailing comma") { "\($0.dropLast()),}" },
        member("half of a surrogate pair", "\"x\":\"\\uD800\""),
        Forgery("bytes that are no UTF-8") { org in
            let open = Array(org.claims().serializedString.dropLast().utf8)
            return try TestOrg.signingKey.sign(payload: open + [0x2C, 0x22, 0xFF, 0x22, 0x3A, 0x31, 0x7D])
        },
        Forgery("the embedded key of the attacker (jwk)") { org in
            let key = TestOrg.foreignKey
            return try key.sign(
                org.claims(), header: ["typ": "okta-pushbind+jwt", "jwk": key.publicKey?.json() ?? .null])
        },
        Forgery("a key set of the attacker (jku)") { org in
            try TestOrg.foreignKey.sign(
                org.claims(), header: ["typ": "okta-pushbind+jwt", "jku": "https://evil.example/keys"])
        },
        Forgery("a certificate of the attacker (x5u)") { org in
            try TestOrg.foreignKey.sign(
                org.claims(), header: ["typ": "okta-pushbind+jwt", "x5u": "https://evil.example/cert"])
        },
        Forgery("an unencoded payload (b64)") { org in
            try TestOrg.signingKey.sign(
                org.claims(), header: ["typ": "okta-pushbind+jwt", "b64": false, "crit": ["b64"]])
        },
        Forgery("an access token's type") { try $0.challenge(type: "at+jwt") },
        Forgery("a DPoP proof's type") { try $0.challenge(type: "dpop+jwt") },
        Forgery("a logout token's type") { try $0.challenge(type: "logout+jwt") },
        Forgery("a type that is no text") { try $0.challenge(type: ["okta-pushbind+jwt"]) },
        Forgery("an ID token of the org without a type") { org in
            try TestOrg.signingKey.sign([
                "iss": .string(org.url), "aud": "client-1", "sub": "00u1", "iat": 1_800_000_000,
                "exp": 1_800_003_600, "nonce": "n",
            ])
        },
        Forgery("numbers to pick that are no numbers") {
            try $0.challenge(context: ["numberChoices": ["12", "<b>", "34"]])
        },
        Forgery("numbers to pick without end") {
            try $0.challenge(context: [
                "numberChoices": .array((0..<1_000).map { .string(String($0 % 100)) })
            ])
        },
        Forgery("two equal numbers to pick") {
            try $0.challenge(context: ["numberChoices": ["12", "12", "34"]])
        },
        .claim("verificationUri", "https://id.example.com.evil.example/verify"),
        .claim("verificationUri", "https://ID.EXAMPLE.COM.evil/"),
        .claim("verificationUri", "https://evil.example/#@id.example.com/"),
        .claim("verificationUri", "https://evil.example?id.example.com"),
        .claim("verificationUri", "https://evil.example\\@id.example.com/"),
        .claim("verificationUri", "javascript:alert(1)"),
        .claim("verificationUri", "//evil.example/verify"),
        .claim("verificationUri", "https:evil.example"),
        .claim("verificationUri", "data:text/plain,x"),
        .claim("verificationUri", "https://[::1]/verify"),
        .claim("iss", "https://id.example.com/oauth2/default/../../evil"),
        .claim("iss", "https://id.example.com/oauth2/default?x"),
        .claim("iss", "https://id.example.com#x"), .claim("iss", "https://id.example.com//"),
        .claim("iss", "https://user@id.example.com"),
        .claim("authorizationServerId", "default/../x"), .claim("authorizationServerId", "%2e%2e"),
        .claim("authorizationServerId", .string(String(repeating: "a", count: 101))),
        .claim("userId", "00U1"), .claim("methodEnrollmentId", "opf1 "), .claim("orgId", "00o1\u{0}"),
    ]

    @Test(
        "A challenge with malformed claims, an attacker's key or a wrong token type is rejected when it is parsed, without a request",
        arguments: forgeries)
    func refused(forgery: Forgery) async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        let before = phone.org.routes
        let jwt = try forgery.make(phone.org)
        #expect(throws: (any Error).self) { try phone.parse(jwt) }
        #expect(phone.org.routes == before)
    }

    @Test("A challenge that combines the IDs of two enrollments of the phone is rejected")
    func otherEnrollment() async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        try await phone.enroll()
        // The org signed each challenge, but the challenge mixes the ids of two enrollments.
        for more: JSONValue in [
            ["authenticatorEnrollmentId": "pfd2"],
            ["authenticatorEnrollmentId": "pfd2", "userId": "00u2"],
            ["authenticatorEnrollmentId": "pfd2", "methodEnrollmentId": "opf2"],
            ["userId": "00u2", "methodEnrollmentId": "opf2"],
        ] {
            let jwt = try phone.org.challenge(more: more)
            #expect(throws: (any Error).self, "\(more)") { try phone.parse(jwt) }
        }
        #expect(phone.org.requests(.verify).isEmpty)
    }

    @Test(
        "A key ID that resembles a path or a known key ID matches no key, and causes only a fetch of the org's keys",
        arguments: [
            "../../oauth2/v1/keys", "srv-1\u{0}", " srv-1", "SRV-1", "srv-1\n",
            String(repeating: "k", count: 8_000), "%73rv-1",
        ])
    func keyConfusion(keyID: String) async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        let key = try SigningKey(
            pem: #require(TestOrg.foreignKey.privatePEM), algorithm: .rs256, keyID: keyID)
        let jwt = try phone.org.challenge(key: key)
        guard let challenge = try? phone.parse(jwt) else { return }
        #expect(
            await failure { try await challenge.resolve(onRemediation: approving) }?.reason
                == .untrustedChallenge)
        #expect(
            Set(phone.org.routes).isSubset(of: [.organization, .metadata, .enroll, .discovery, .keys]))
    }

    @Test("If an EC key and a symmetric key are published with the same key ID, neither key verifies a challenge")
    func mixedKeySet() async throws {
        let org = TestOrg()
        let elliptic = try SigningKey.generate(.es256, keyID: "srv-1")
        let shared = Array("a-secret-of-more-than-thirty-two-bytes".utf8)
        let symmetric: JSONValue = ["kty": "oct", "kid": "srv-1", "k": .string(Base64URL.encode(shared))]
        org.publish([TestOrg.signingKey], and: [elliptic.publicKey?.json() ?? .null, symmetric])
        let phone = try TestPhone(org: org)
        try await phone.enroll()
        for key in [elliptic, try SigningKey.secret(shared, algorithm: .hs256, keyID: "srv-1")] {
            let jwt = try org.challenge(key: key)
            #expect(throws: (any Error).self) { try phone.parse(jwt) }
        }
        #expect(try phone.parse(org.challenge()).isVerified)
    }
}
