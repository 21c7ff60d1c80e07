import Foundation
import JOSE
import Testing

@testable import IdentityCore
@testable import OAuthEndpoints

@Suite("Sent codes as first factor")
struct CodeFirstTests {
    private func begin(_ fixture: CodeFixture, client: String = "one-factor-app", at seconds: TimeInterval = 11) async throws -> (
        String, String
    ) {
        let started = try await fixture.organization.primary(PushFixture.jane, client: client, at: seconds, ["channel_hint": "sms"]).get()
        return (try #require(started.members["oob_code"]?.stringValue), try #require(fixture.organization.outbox.messages.last?.code))
    }

    private func present(
        _ code: String, _ oobCode: String, _ fixture: CodeFixture, client: String = "one-factor-app", at seconds: TimeInterval = 20
    ) async throws -> Result<TokenResponse, Refusal> {
        try await fixture.organization.token(
            ["grant_type": PushFixture.firstFactor, "oob_code": oobCode, "binding_code": code, "scope": "openid"], client: client,
            at: seconds)
    }

    @Test("A code by text message as first factor signs the user in if the policy requires one factor, even after a wrong code")
    func oneFactor() async throws {
        let fixture = try await CodeFixture()
        let (oobCode, code) = try await begin(fixture)
        #expect(try await present(CodeFixture.other(than: code), oobCode, fixture).refused == .invalidGrant)
        let tokens = try await present(code, oobCode, fixture).get()
        #expect(try claims(of: tokens.idToken)["amr"] == ["sms"])
        #expect(try await present(code, oobCode, fixture).refused == .invalidGrant)
    }

    @Test("A code by text message as first factor is rejected if the policy requires a second factor that the user lacks")
    func twoFactors() async throws {
        let fixture = try await CodeFixture()
        let (oobCode, code) = try await begin(fixture, client: "direct-app")
        #expect(try await present(code, oobCode, fixture, client: "direct-app").refused == .accessDenied)
    }
}
