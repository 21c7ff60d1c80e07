import Foundation
import JOSE
import Testing

@testable import IdentityCore

@Suite("The device enrollment scope")
struct InteractiveScopeTests {
    private let org: PushFixture

    init() async throws {
        org = try await PushFixture()
    }

    private func signIn(_ scope: String = DeviceFixture.manage, at seconds: TimeInterval, _ more: [String: String] = [:]) async throws
        -> Result<TokenResponse, Refusal>
    {
        try await org.signIn(scope: scope, client: "phone-app", server: nil, at: seconds, more)
    }

    @Test("The device enrollment scope requires one factor, or two if the user has a second factor, regardless of the sign-on policy")
    func twoFactors() async throws {
        #expect(try await signIn(at: 0).get().scopes == [DeviceFixture.manage])
        _ = try await org.enroll()
        #expect(try await signIn(at: 10).refused == .mfaRequired)
        #expect(try await signIn("openid", at: 11).refused == nil)
    }

    @Test(
        "The device enrollment scope requires two factors even if the client supports or requests only one factor",
        arguments: ["password", "http://auth0.com/oauth/grant-type/mfa-otp"])
    func claims(grants: String) async throws {
        _ = try await org.enroll()
        #expect(try await signIn(at: 10, ["grant_types_supported": grants]).refused == .accessDenied)
        #expect(try await signIn(at: 11, ["acr_values": "urn:okta:loa:1fa:any"]).refused == .mfaRequired)
    }

    @Test("The device enrollment scope is denied if the client may not use the user's second factor")
    func clientWithoutGrant() async throws {
        _ = try await org.enroll()
        let answer = try await org.signIn(scope: DeviceFixture.manage, client: "no-push-app", server: nil, at: 10)
        #expect(answer.refused == .accessDenied)
    }

    @Test(
        "A push as the only factor grants the device enrollment scope only if the user verification key signs the approval",
        arguments: [false, true])
    func firstFactor(isVerified: Bool) async throws {
        let phone = try await org.enroll(userVerification: true)
        let code = try await org.primary(server: nil, at: 11).get().secret()
        let consent = isVerified ? "APPROVED_USER_VERIFICATION" : "APPROVED_CONSENT_PROMPT"
        _ = try await org.answer(phone, consent: consent, with: isVerified ? .userVerification : .proofOfPossession, at: 12).get()
        let poll = try await org.pollFirst(code, scope: DeviceFixture.manage, server: nil, at: 17)
        #expect(poll.refused == (isVerified ? nil : .accessDenied))
    }

    @Test("The access token of a sign-in contains the device enrollment scope, and the access token of a refresh does not")
    func refresh() async throws {
        let scope = "openid offline_access \(DeviceFixture.manage) \(DeviceFixture.maintenanceRead)"
        let tokens = try await signIn(scope, at: 0).get()
        #expect(tokens.scopes.contains(DeviceFixture.manage))
        #expect(try IdentityCoreTests.claims(of: tokens.accessToken)["scp"]?.stringArrayValue?.contains(DeviceFixture.manage) == true)
        func refresh(_ token: String?, scope: String? = nil, at seconds: TimeInterval) async throws -> Result<TokenResponse, Refusal> {
            var parameters = ["grant_type": "refresh_token", "refresh_token": token ?? ""]
            parameters["scope"] = scope
            return try await org.token(parameters, client: "phone-app", server: nil, at: seconds)
        }
        #expect(try await refresh(tokens.refreshToken, scope: DeviceFixture.manage, at: 10).refused == .invalidScope)
        let next = try await refresh(tokens.refreshToken, at: 20).get()
        #expect(next.scopes == ["openid", "offline_access", DeviceFixture.maintenanceRead])
        let scopes = try IdentityCoreTests.claims(of: next.accessToken)["scp"]?.stringArrayValue
        #expect(scopes == ["openid", "offline_access", DeviceFixture.maintenanceRead])
        #expect(try await refresh(next.refreshToken, at: 30).get().scopes.contains(DeviceFixture.manage) == false)
    }

    @Test("The device enrollment scope gets invalid_scope at a custom authorization server, even after an approved push")
    func customServer() async throws {
        #expect(try await org.signIn(scope: DeviceFixture.manage, client: "phone-app", at: 0).refused == .invalidScope)
        let phone = try await org.enroll()
        let code = try await org.primary(at: 11).get().secret()
        _ = try await org.answer(phone, at: 12).get()
        #expect(try await org.pollFirst(code, scope: DeviceFixture.manage, at: 17).refused == .invalidScope)
        #expect(
            try await org.backchannel(["login_hint": PushFixture.jane, "scope": "openid \(DeviceFixture.manage)"]).refused == .invalidScope)
    }
}
