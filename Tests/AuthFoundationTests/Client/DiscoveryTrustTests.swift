import Foundation
import TestSupport
import Testing

@testable import AuthFoundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Trust in discovery documents")
struct DiscoveryTrustTests {
    private func document(issuer: String) -> ScriptedIssuer.Reply {
        .json(
            """
            {"issuer":"\(issuer)","authorization_endpoint":"https://evil.example.com/v1/authorize",
            "token_endpoint":"https://evil.example.com/v1/token","jwks_uri":"https://honest.example.com/v1/keys",
            "response_types_supported":["code"],"subject_types_supported":["public"],"id_token_signing_alg_values_supported":["RS256"]}
            """)
    }

    @Test("A discovery document of another issuer is rejected, and the error contains both issuers")
    func refusesOtherIssuer() async throws {
        let issuer = try IssuerFixture()
        issuer.session.on("/.well-known/openid-configuration") { _, _ in document(issuer: "https://honest.example.com") }
        let error = await #expect(throws: (any Error).self) { try await issuer.client.openIdConfiguration() }
        let text = error.map(technicalText(of:)) ?? ""
        #expect(text.contains("https://honest.example.com") && text.contains(ScriptedIssuer.base), "\(text)")
        #expect(issuer.client.openIdConfiguration == nil)
    }

    @Test("A discovery document is accepted if its issuer differs only in a trailing slash")
    func toleratesSlash() async throws {
        let issuer = try IssuerFixture()
        issuer.session.on("/.well-known/openid-configuration") { _, _ in document(issuer: ScriptedIssuer.base + "/") }
        #expect(try await issuer.client.openIdConfiguration().issuer.absoluteString == ScriptedIssuer.base + "/")
    }

    @Test("A discovery document of another issuer is accepted if the configuration trusts this issuer, and stored settings keep the trust")
    func trustedIssuers() async throws {
        let session = ScriptedIssuer()
        session.on("/.well-known/openid-configuration") { _, _ in document(issuer: "https://honest.example.com") }
        var configuration = try OAuth2Client.Configuration.fixture
        configuration.trustedIssuers = [try url("https://honest.example.com/")]
        let stored = try JSONDecoder().decode(OAuth2Client.Configuration.self, from: JSONEncoder().encode(configuration))
        #expect(stored == configuration)
        let client = OAuth2Client(stored, session: session)
        #expect(try await client.openIdConfiguration().issuer.absoluteString == "https://honest.example.com")
        configuration.trustedIssuers = [try url("https://other.example.com")]
        let other = OAuth2Client(configuration, session: session)
        await #expect(throws: IssuerMismatchError.self) { try await other.openIdConfiguration() }
        configuration.trustedIssuers = []
        #expect(try configuration == .fixture)
    }

    @Test("The Date header of a cached response is not used as the server's time")
    func ignoresDateOfCachedAnswer() async throws {
        let issuer = try IssuerFixture()
        let now = Int64(issuer.clock.now.timeIntervalSince1970)
        let keys = IssuerKeys.set([try IssuerKeys.rs256.get()])
        issuer.session.on("/v1/keys") { _, _ in .json(keys, headers: ["Date": httpDate(now - 3000), "Age": "3000"]) }
        let token = try await issuer.signIn(issuer.response(idToken: issuer.idToken()))
        #expect(token.issuedAt == issuer.clock.now)
    }
}
