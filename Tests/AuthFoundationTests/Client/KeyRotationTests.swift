import Foundation
import JOSE
import TestSupport
import Testing

@testable import AuthFoundation

@Suite("Discovery and key rotation")
struct KeyRotationTests {
    @Test("If an ID token has an unknown key ID, the client fetches the issuer's keys again")
    func fetchesNewKey() async throws {
        let (old, new) = (try IssuerKeys.rs256.get(), try IssuerKeys.rotated.get())
        let issuer = try IssuerFixture(publishing: [old])
        _ = try await issuer.signIn(issuer.response(idToken: issuer.idToken(key: old)))
        let both = IssuerKeys.set([old, new])
        issuer.session.on("/v1/keys") { _, _ in .json(both) }
        let token = try await issuer.signIn(issuer.response(idToken: issuer.idToken(key: new)))
        #expect(token.idToken?.header.keyId == "rsa-2")
        #expect(issuer.session.requests("/v1/keys").count == 2)
    }

    @Test("ID tokens with unknown key IDs cause at most one additional fetch of the issuer's keys per minute")
    func limitsFetches() async throws {
        let issuer = try IssuerFixture()
        let unknown = try issuer.idToken(key: IssuerKeys.rotated.get())
        for _ in 0..<3 {
            await #expect(throws: JWTError.invalidKey) { try await issuer.signIn(issuer.response(idToken: unknown)) }
        }
        #expect(issuer.session.requests("/v1/keys").count == 2)
        issuer.clock.advance(by: 61)
        await #expect(throws: JWTError.invalidKey) { try await issuer.signIn(issuer.response(idToken: unknown)) }
        #expect(issuer.session.requests("/v1/keys").count == 3)
    }

    @Test("After a failed fetch of the issuer's keys, the next ID token with a new key causes another fetch immediately")
    func fetchesAgainAfterFailure() async throws {
        let (old, new) = (try IssuerKeys.rs256.get(), try IssuerKeys.rotated.get())
        let issuer = try IssuerFixture(publishing: [old])
        _ = try await issuer.signIn(issuer.response(idToken: issuer.idToken(key: old)))
        issuer.session.on("/v1/keys") { _, _ in ScriptedIssuer.Reply(status: 503) }
        await #expect(throws: APIClientError.statusCode(503)) {
            try await issuer.signIn(issuer.response(idToken: issuer.idToken(key: new)))
        }
        let both = IssuerKeys.set([old, new])
        issuer.session.on("/v1/keys") { _, _ in .json(both) }
        _ = try await issuer.signIn(issuer.response(idToken: issuer.idToken(key: new)))
    }

    @Test("Unsupported or malformed keys in a key set are ignored, and the other keys can validate tokens")
    func skipsUnknownKeys() throws {
        let good = try IssuerKeys.es256.get()
        let json = try #require(good.publicKey).json().serializedString
        let text = #"{"keys":[{"kty":"FUTURE","kid":"x"},{"kid":"y"},17,\#(json),{"kty":"OKP","crv":"Ed448","kid":"z"}]}"#
        let keys = try JSONDecoder().decode(JWKS.self, from: Data(text.utf8))
        #expect(keys.map(\.id) == ["ec-1"])
        #expect(keys["ec-1"]?.type == .ellipticCurve)
        let token = try JWT(good.sign(["sub": "x"]))
        #expect(try token.validate(using: keys))
        #expect(try JSONDecoder().decode(JWKS.self, from: JSONEncoder().encode(keys)) == keys)
    }

    @Test("Concurrent callers share one request for the discovery document")
    func sharesDiscovery() async throws {
        let issuer = try IssuerFixture()
        try await withThrowingTaskGroup(of: URL.self) { group in
            for _ in 0..<50 { group.addTask { try await issuer.client.openIdConfiguration().issuer } }
            for try await name in group { #expect(name.absoluteString == ScriptedIssuer.base) }
        }
        #expect(issuer.session.requests("openid-configuration").count == 1)
    }

    @Test("A failed discovery is not cached, and the next call sends a new request")
    func forgetsFailure() async throws {
        let issuer = try IssuerFixture()
        let good = try await issuer.client.openIdConfiguration().json.text
        let session = ScriptedIssuer()
        session.on("/.well-known/openid-configuration") { _, count in
            count == 0 ? .json("{}", status: 404) : .json(String(decoding: good ?? Data(), as: UTF8.self))
        }
        let client = OAuth2Client(try .fixture, session: session, clock: ManualClock(sleeps: .skipped))
        await #expect(throws: APIClientError.statusCode(404)) { try await client.openIdConfiguration() }
        #expect(client.openIdConfiguration == nil)
        #expect(try await client.openIdConfiguration().issuer.absoluteString == ScriptedIssuer.base)
    }

    @Test("Cancelling one caller of a shared discovery request does not affect another caller")
    func cancellationHarmsNobody() async throws {
        let issuer = try IssuerFixture()
        let document = try await issuer.client.openIdConfiguration().json
        let (arrived, gate) = (Gate(), Gate())
        let session = ScriptedIssuer()
        session.on("/.well-known/openid-configuration") { _, _ in
            arrived.open()
            await gate.wait()
            return .json(String(decoding: document.text ?? Data(), as: UTF8.self))
        }
        let client = OAuth2Client(try .fixture, session: session, clock: ManualClock(sleeps: .skipped))
        let first = Task { try await client.openIdConfiguration() }
        await arrived.wait()
        let second = Task { try await client.openIdConfiguration() }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        gate.open()
        #expect(try await second.value.json == document)
    }

    @Test("The error for a discovery document without a required member names the member")
    func namesMissingMember() async throws {
        let session = ScriptedIssuer()
        session.on("/.well-known/openid-configuration") { _, _ in .json(#"{"issuer":"https://id.example.com"}"#) }
        let client = OAuth2Client(try .fixture, session: session, clock: ManualClock(sleeps: .skipped))
        let error = await #expect(throws: APIClientError.self) { try await client.openIdConfiguration() }
        #expect(error == .cannotParseResponse(error: ClaimError.missingRequiredValue(key: "authorization_endpoint")))
        #expect(error?.debugDescription.contains("authorization_endpoint") == true)
    }

    @Test("Discovery over plain http from a host that is not loopback fails without a request")
    func refusesPlainHTTP() async throws {
        let session = ScriptedIssuer()
        let client = OAuth2Client(issuerURL: try url("http://id.example.com"), clientId: "app", scope: "openid", session: session)
        let error = await #expect(throws: InsecureURLError.self) { try await client.openIdConfiguration() }
        #expect(error?.debugDescription.contains("loopback") == true)
        #expect(session.requests("openid-configuration").isEmpty)
    }
}
