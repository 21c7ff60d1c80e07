import Foundation
import JOSE
import Testing

@testable import IdentityCore

@Suite("User info (OpenID Connect Core 5.3, Documentation/Protocol/OAuth.md §2.11)")
struct UserInfoTests {
    @Test(
        "Each scope returns its claims, and sub is always present",
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

    @Test("Claims have the documented types")
    func values() async throws {
        let organization = try await TestOrganization()
        let tokens = try await organization.signIn("openid profile email").get()
        let info = try await organization.userInfo(tokens.accessToken).get()
        #expect(info["name"] == "Jane Doe")
        #expect(info["preferred_username"] == "jane.doe@example.com")
        #expect(info["email_verified"] == true)
        #expect(info["updated_at"] == 1_699_996_400)
    }

    @Test("A missing, invalid or foreign token, or one of another kind, is invalid_token")
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

    @Test("A client's own token is insufficient_scope")
    func clientToken() async throws {
        let organization = try await TestOrganization()
        let token = try await organization.service().get().accessToken
        #expect(try await organization.userInfo(token).refused == .insufficientScope)
    }

    @Test("A token with narrowed scopes returns only their claims")
    func narrowed() async throws {
        let organization = try await TestOrganization()
        let tokens = try await organization.signIn("openid profile email offline_access").get()
        let narrowed = try await organization.refresh(tokens.refreshToken, scope: "openid email", at: 1).get()
        let info = try await organization.userInfo(narrowed.accessToken).get()
        #expect(Set(info.keys) == ["sub", "email", "email_verified"])
    }
}
