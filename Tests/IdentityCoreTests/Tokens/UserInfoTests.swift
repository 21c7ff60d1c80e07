import Foundation
import JOSE
import Testing

@testable import IdentityCore

@Suite("User info (OpenID Connect Core 5.3, Documentation/Protocol/OAuth.md §2.11)")
struct UserInfoTests {
    @Test(
        "The userinfo response contains the claims of each requested scope, and always sub",
        arguments: [
            ("openid", []), ("openid email", ["email", "email_verified"]), ("openid phone", ["phone_number"]), ("openid address", []),
            (
                "openid profile",
                ["name", "family_name", "given_name", "preferred_username", "zoneinfo", "updated_at"]
            ),
        ])
    func claimsByScope(scope: String, names: [String]) async throws {
        let organization = try await TestOrganization()
        let tokens = try await organization.signIn(scope).get()
        let info = try await organization.userInfo(tokens.accessToken).get()
        #expect(Set(info.keys) == Set(names + ["sub"]))
        #expect(info["sub"] == (try await organization.janesID()).map(JSONValue.string))
        #expect(info["sub"] == (try claims(of: tokens.idToken)["sub"]))
    }

    @Test("Userinfo claims have the documented types, such as a Boolean for email_verified and a number for updated_at")
    func values() async throws {
        let organization = try await TestOrganization()
        let tokens = try await organization.signIn("openid profile email").get()
        let info = try await organization.userInfo(tokens.accessToken).get()
        #expect(info["name"] == "Jane Doe")
        #expect(info["preferred_username"] == "jane.doe@example.com")
        #expect(info["email_verified"] == true)
        #expect(info["updated_at"] == 1_699_996_400)
    }

    @Test("The userinfo endpoint rejects a missing, expired or foreign token, and a token that is not an access token, with invalid_token")
    func invalidTokens() async throws {
        let organization = try await TestOrganization()
        let tokens = try await organization.signIn().get()
        for token in [nil, "", "a.b.c", tokens.idToken, tokens.refreshToken] {
            #expect(try await organization.userInfo(token).refused == .invalidToken)
        }
        #expect(try await organization.userInfo(tokens.accessToken, server: nil).refused == .invalidToken)
        #expect(try await organization.userInfo(tokens.accessToken, server: "missing").refused == .notFound)
        #expect(try await organization.userInfo(tokens.accessToken, at: 3600).refused == .invalidToken)
    }

    @Test("The userinfo endpoint rejects a client's own access token with insufficient_scope")
    func clientToken() async throws {
        let organization = try await TestOrganization()
        let token = try await organization.service().get().accessToken
        #expect(try await organization.userInfo(token).refused == .insufficientScope)
    }

    @Test("With the access token of a narrowed refresh, userinfo returns only the claims of the narrowed scopes")
    func narrowed() async throws {
        let organization = try await TestOrganization()
        let tokens = try await organization.signIn("openid profile email offline_access").get()
        let narrowed = try await organization.refresh(tokens.refreshToken, scope: "openid email", at: 1).get()
        let info = try await organization.userInfo(narrowed.accessToken).get()
        #expect(Set(info.keys) == ["sub", "email", "email_verified"])
    }
}
