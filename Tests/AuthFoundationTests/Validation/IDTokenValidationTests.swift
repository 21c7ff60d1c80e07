import Crypto
import Foundation
import JOSE
import TestSupport
import Testing

@testable import AuthFoundation

@Suite("ID-token validation")
struct IDTokenValidationTests {
    private static let now: Int64 = 1_800_000_000

    @Test(
        "A valid ID token is accepted with the algorithms RS256, ES256 and EdDSA",
        arguments: [IssuerKeys.rs256, IssuerKeys.es256, IssuerKeys.edDSA])
    func acceptsGoodToken(key: Result<SigningKey, any Error>) async throws {
        let issuer = try IssuerFixture()
        issuer.announce(["RS256", "ES256", "EdDSA"])
        let token = try await issuer.signIn(issuer.response(idToken: issuer.idToken(key: key.get())))
        #expect(token.idToken?.subject == "00u1")
        #expect(token.issuedAt == issuer.clock.now)
    }

    @Test("An ID token with an algorithm that the issuer does not announce is rejected")
    func refusesUnannouncedAlgorithm() async throws {
        let issuer = try IssuerFixture()
        await #expect(throws: JWTError.unsupportedAlgorithm(.es256)) {
            try await issuer.signIn(issuer.response(idToken: issuer.idToken(key: IssuerKeys.es256.get())))
        }
    }

    @Test(
        "An ID token with the algorithm none or HS256 is rejected even if the issuer announces the algorithm", arguments: ["none", "HS256"])
    func refusesWeakAlgorithms(name: String) async throws {
        let issuer = try IssuerFixture()
        issuer.announce(["RS256", name])
        let header = Data(#"{"alg":"\#(name)","kid":"rsa-1"}"#.utf8).base64URLEncoded
        let body = Data(issuer.claims().serialized()).base64URLEncoded
        await #expect(throws: JWTError.unsupportedAlgorithm(JWK.Algorithm(name: name))) {
            try await issuer.signIn(issuer.response(idToken: "\(header).\(body)."))
        }
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let changes: [String: JSONValue?]
        var nonce: String?
        var maxAge: TimeInterval?
        let error: JWTError?

        init(_ description: String, _ changes: [String: JSONValue?], nonce: String? = nil, maxAge: TimeInterval? = nil, error: JWTError?) {
            testDescription = description
            self.changes = changes
            self.nonce = nonce
            self.maxAge = maxAge
            self.error = error
        }
    }

    static let cases = [
        Case("another issuer", ["iss": "https://other.example.com"], error: .invalidIssuer),
        Case("no issuer", ["iss": .some(nil)], error: .invalidIssuer),
        Case("an issuer with a slash more", ["iss": .string(ScriptedIssuer.base + "/")], error: .invalidIssuer),
        Case("another audience", ["aud": "other"], error: .invalidAudience),
        Case("no audience", ["aud": .some(nil)], error: .invalidAudience),
        Case("an audience list of this client alone", ["aud": ["app"]], error: nil),
        Case("several audiences with azp", ["aud": ["other", "app"], "azp": "app"], error: nil),
        Case("several audiences without azp", ["aud": ["app", "other"]], error: .invalidAudience),
        Case("an azp of another client", ["azp": "other"], error: .invalidAudience),
        Case("expired", ["exp": .integer(now)], error: .expired),
        Case("no expiry", ["exp": .some(nil)], error: .expired),
        Case("an expiry that is no number", ["exp": "soon"], error: .expired),
        Case("issued 300 seconds ago", ["iat": .integer(now - 300)], error: nil),
        Case("issued 301 seconds ago", ["iat": .integer(now - 301)], error: .issuedAtTimeExceedsGraceInterval),
        Case("issued in the future", ["iat": .integer(now + 301)], error: .issuedAtTimeExceedsGraceInterval),
        Case("a time of issue with a fraction", ["iat": .double(1_800_000_000.5)], error: .issuedAtTimeExceedsGraceInterval),
        Case("good in an hour", ["nbf": .integer(now + 3600)], error: .issuedAtTimeExceedsGraceInterval),
        Case("the nonce that was sent", ["nonce": "n1"], nonce: "n1", error: nil),
        Case("another nonce", ["nonce": "n2"], nonce: "n1", error: .nonceMismatch),
        Case("no nonce although one was sent", [:], nonce: "n1", error: .nonceMismatch),
        Case("a nonce although none was sent", ["nonce": "n1"], error: .nonceMismatch),
        Case("authenticated within max_age", ["auth_time": .integer(now - 60)], maxAge: 60, error: nil),
        Case("authenticated before max_age", ["auth_time": .integer(now - 61)], maxAge: 60, error: .exceedsMaxAge),
        Case("no auth_time although max_age was sent", ["auth_time": .some(nil)], maxAge: 60, error: .invalidAuthenticationTime),
        Case("authenticated after issue", ["auth_time": .integer(now + 60)], maxAge: 60, error: .invalidAuthenticationTime),
        Case("max_age 0 and authenticated just now", ["auth_time": .integer(now - 30)], maxAge: 0, error: nil),
        Case("max_age 0 and authenticated an hour ago", ["auth_time": .integer(now - 3600)], maxAge: 0, error: .exceedsMaxAge),
        Case("no subject", ["sub": .some(nil)], error: .invalidSubject),
        Case("an empty subject", ["sub": ""], error: .invalidSubject),
    ]

    @Test("An ID token is rejected if its issuer, audience, times, nonce or subject is invalid", arguments: cases)
    func checksClaims(_ row: Case) async throws {
        let issuer = try IssuerFixture()
        let reply = issuer.response(idToken: try issuer.idToken(row.changes))
        do {
            _ = try await issuer.signIn(reply, nonce: row.nonce, maxAge: row.maxAge)
            #expect(row.error == nil)
        } catch {
            #expect(error as? JWTError == row.error)
        }
    }

    @Test("An ID token is rejected if its at_hash does not match the access token")
    func checksAccessTokenHash() async throws {
        let issuer = try IssuerFixture()
        let hash = Data(Data(SHA256.hash(data: Data("access-1".utf8))).prefix(16)).base64URLEncoded
        let good = try issuer.idToken(["at_hash": .string(hash)])
        _ = try await issuer.signIn(issuer.response(access: "access-1", idToken: good))
        await #expect(throws: JWTError.signatureInvalid) {
            try await issuer.signIn(issuer.response(access: "access-2", idToken: good))
        }
    }

    @Test("An ID token that was signed by another key with the same key ID is rejected")
    func refusesStrangersSignature() async throws {
        let issuer = try IssuerFixture()
        await #expect(throws: JWTError.signatureInvalid) {
            try await issuer.signIn(issuer.response(idToken: issuer.idToken(key: IssuerKeys.stranger.get())))
        }
    }

    @Test("An ID token whose issuer has a plain http URL is rejected, except on loopback")
    func refusesHTTPIssuer() throws {
        let issuer = try IssuerFixture()
        var validator = StandardIDTokenValidator()
        validator.now = { issuer.clock.now }
        for (name, isAccepted) in [("http://id.example.com", false), ("http://127.0.0.1:8080/x", true), ("http://localhost", true)] {
            let token = try JWT(issuer.idToken(["iss": .string(name)]))
            do {
                try validator.validate(token: token, issuer: url(name), clientId: "app", context: nil)
                #expect(isAccepted)
            } catch {
                #expect(!isAccepted && error as? JWTError == .issuerRequiresHTTPS)
            }
        }
    }

    @Test("An ID token that expired 30 seconds ago is rejected by default, and accepted with an expiration leeway of 60 seconds")
    func leeway() throws {
        let issuer = try IssuerFixture()
        let token = try JWT(issuer.idToken(["exp": .integer(Self.now - 30)]))
        var validator = StandardIDTokenValidator()
        validator.now = { issuer.clock.now }
        #expect(throws: JWTError.expired) {
            try validator.validate(token: token, issuer: url(ScriptedIssuer.base), clientId: "app", context: nil)
        }
        validator.expirationLeeway = 60
        try validator.validate(token: token, issuer: url(ScriptedIssuer.base), clientId: "app", context: nil)
    }

    @Test("If the device's clock is ten minutes slow, the client corrects the time with the server's Date header and accepts the ID token")
    func correctsDeviceClock() async throws {
        let issuer = try IssuerFixture()
        var reply = issuer.response(
            idToken: try issuer.idToken([
                "iat": .integer(Self.now + 600), "exp": .integer(Self.now + 4200), "auth_time": .integer(Self.now + 590),
            ]))
        reply.headers["Date"] = httpDate(Self.now + 600)
        let token = try await issuer.signIn(reply)
        #expect(token.issuedAt == Date(timeIntervalSince1970: TimeInterval(Self.now + 600)))
        #expect(issuer.client.clockOffset == 600)
    }

    @Test("If the corrected clock rejects an ID token, the error says how far the device's clock is behind")
    func namesWrongClock() async throws {
        let issuer = try IssuerFixture()
        var reply = issuer.response(idToken: try issuer.idToken())
        reply.headers["Date"] = httpDate(Self.now + 1200)
        let error = await #expect(throws: ClockSkewError.self) { try await issuer.signIn(reply) }
        #expect(error?.underlying == .issuedAtTimeExceedsGraceInterval)
        #expect(error?.userText.description.english == "The clock of this device is 20 minutes behind.")
        #expect(error?.debugDescription.contains("20 minutes behind") == true)
    }
}

/// Returns a date in the format of the `Date` header.
func httpDate(_ seconds: Int64) -> String {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = .gmt
    formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    return formatter.string(from: Date(timeIntervalSince1970: TimeInterval(seconds)))
}

extension IssuerFixture {
    /// Sets the signature algorithms in the discovery document.
    func announce(_ algorithms: [String]) {
        let names = algorithms.map { "\"\($0)\"" }.joined(separator: ",")
        session.on("/.well-known/openid-configuration") { _, _ in
            let issuer = ScriptedIssuer.base
            return .json(
                """
                {"issuer":"\(issuer)","authorization_endpoint":"\(issuer)/v1/authorize","token_endpoint":"\(issuer)/v1/token",
                "jwks_uri":"\(issuer)/v1/keys","response_types_supported":["code"],"subject_types_supported":["public"],
                "id_token_signing_alg_values_supported":[\(names)]}
                """)
        }
    }
}
