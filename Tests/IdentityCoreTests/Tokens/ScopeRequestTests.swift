import Testing

@testable import IdentityCore

@Suite("Scopes (Documentation/Protocol/OAuth.md §3.4)")
struct ScopeRequestTests {
    private let server = AuthorizationServerDefinition(
        id: "default", name: "Default", scopes: [ScopeDefinition(name: "messages.read"), ScopeDefinition(name: "messages.write")])
    private let organization = AuthorizationServerDefinition(id: nil, name: "Organization")

    private func application(_ grants: [String] = ["password", "refresh_token"]) -> Application {
        Application(
            id: "app", name: "app", kind: .native, grantTypes: grants, signOnPolicy: "any",
            grantedAPIScopes: ["okta.users.read", "okta.myAccount.read"])
    }

    private func refused(_ body: () throws -> [String]) -> String? {
        do {
            _ = try body()
            return nil
        } catch let refusal as Refusal {
            return refusal.code == .invalidScope ? refusal.reason : "wrong code"
        } catch { return "wrong error" }
    }

    @Test(
        "A user's grant on a custom server gets the requested permitted scopes, each once and in the requested order",
        arguments: [
            ("openid", ["openid"]), ("openid profile email address phone", ["openid", "profile", "email", "address", "phone"]),
            ("profile  openid profile", ["profile", "openid"]), ("openid messages.read", ["openid", "messages.read"]),
            ("offline_access openid", ["offline_access", "openid"]), ("okta.myAccount.read", ["okta.myAccount.read"]),
        ])
    func granted(scope: String, expected: [String]) throws {
        #expect(try ScopeRequest(scope).grantedToUser(of: application(), by: server) == expected)
    }

    @Test(
        "A scope parameter that is missing or malformed, or names an unavailable scope, gets invalid_scope",
        arguments: [
            ("openid unknown", "scope.not_offered"), ("groups openid", "scope.not_offered"), ("okta.users.read", "scope.not_offered"),
            ("device_sso", "scope.not_offered"), ("", "scope.missing"), (nil, "scope.missing"), ("openid\tprofile", "scope.malformed"),
            ("openid \"x\"", "scope.malformed"), ("Openid", "scope.not_offered"),
        ] as [(String?, String)])
    func refused(scope: String?, reason: String) {
        #expect(refused { try ScopeRequest(scope).grantedToUser(of: application(), by: server) } == reason)
    }

    @Test("The org server grants groups and the API scopes that the client may use, and rejects other API scopes and custom scopes")
    func organizationServer() throws {
        let scopes = "openid groups okta.users.read"
        #expect(try ScopeRequest(scopes).grantedToUser(of: application(), by: organization) == ["openid", "groups", "okta.users.read"])
        #expect(refused { try ScopeRequest("okta.groups.read").grantedToUser(of: application(), by: organization) } == "scope.not_offered")
        #expect(refused { try ScopeRequest("messages.read").grantedToUser(of: application(), by: organization) } == "scope.not_offered")
    }

    @Test("The scope offline_access is omitted for a client without the refresh_token grant")
    func offlineAccess() throws {
        #expect(try ScopeRequest("openid offline_access").grantedToUser(of: application(["password"]), by: server) == ["openid"])
    }

    @Test("A request without a scope parameter gets the server's default scopes")
    func defaults() throws {
        var server = server
        server.scopes[1].isDefault = true
        #expect(try ScopeRequest(nil).grantedToUser(of: application(), by: server) == ["messages.write"])
        #expect(try ScopeRequest("").grantedToClient(application(), by: server) == ["messages.write"])
        #expect(try ScopeRequest("openid").grantedToUser(of: application(), by: server) == ["openid"])
    }

    @Test("A scope parameter of 4,096 characters is accepted, and a longer parameter is rejected")
    func length() throws {
        let longest = String(repeating: "openid ", count: 585) + "x"
        #expect(longest.count == 4096)
        #expect(try ScopeRequest(longest).names == ["openid", "x"])
        #expect(refused { try ScopeRequest(longest + "x").names } == "scope.too_long")
    }

    @Test(
        "A client_credentials grant gets custom scopes, and is rejected for unknown scopes and scopes that need a user",
        arguments: [
            ("messages.read", nil), ("messages.read messages.write", nil), ("openid", "scope.needs_user"),
            ("messages.read offline_access", "scope.needs_user"), ("groups", "scope.needs_user"), ("unknown", "scope.not_offered"),
            (nil, "scope.missing"),
        ] as [(String?, String?)])
    func clients(scope: String?, reason: String?) {
        #expect(refused { try ScopeRequest(scope).grantedToClient(application(), by: server) } == reason)
    }

    @Test("A refresh gets all original scopes or a requested part, and a request for more scopes is rejected")
    func narrowing() throws {
        #expect(try ScopeRequest(nil).narrowing(["a", "b"]) == ["a", "b"])
        #expect(try ScopeRequest("b").narrowing(["a", "b"]) == ["b"])
        #expect(refused { try ScopeRequest("b c").narrowing(["a", "b"]) } == "scope.wider_than_grant")
    }
}
