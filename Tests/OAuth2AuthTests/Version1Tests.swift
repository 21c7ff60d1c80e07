import AuthFoundation
import Foundation
import TestSupport
import Testing

@testable import OAuth2Auth

/// The calls of an app of version 1. They go through a protocol, which avoids deprecation warnings.
private protocol FormerApp: Sendable {
    func signIn(_ client: OAuth2Client) async throws -> [String: String]
    func signOut(_ client: OAuth2Client) async throws -> [String: String]
    func clients() throws -> [OAuth2Client]
}

private struct FormerNames: FormerApp {
    @available(*, deprecated)
    func signIn(_ client: OAuth2Client) async throws -> [String: String] {
        let flow = try AuthorizationCodeFlow(client: client)
        let context = AuthorizationCodeFlow.Context(state: "s", additionalParameters: ["brand": "a", "idp": "0oa1"])
        return Form.query(try await flow.start(with: context, additionalParameters: ["brand": "b"]))
    }

    @available(*, deprecated)
    func signOut(_ client: OAuth2Client) async throws -> [String: String] {
        let context = SessionLogoutFlow.Context(idToken: "a.b.c", additionalParameters: ["brand": "a", "idp": "0oa1"])
        return Form.query(try await SessionLogoutFlow(client: client).start(with: context, additionalParameters: ["brand": "b"]))
    }

    @available(*, deprecated)
    func clients() throws -> [OAuth2Client] {
        let issuer = try url(ScriptedIssuer.base)
        return [
            AuthorizationCodeFlow(issuer: issuer, clientId: "app", scopes: "a b", redirectUri: issuer, logoutRedirectUri: issuer).client,
            try SessionTokenFlow(issuer: issuer, clientId: "app", scopes: "a b", redirectUri: issuer).client,
            SessionLogoutFlow(issuer: issuer, clientId: "app", scopes: "a b", logoutRedirectUri: issuer).client,
            DeviceAuthorizationFlow(issuer: issuer, clientId: "app", scopes: "a b").client,
            JWTAuthorizationFlow(issuer: issuer, clientId: "app", scopes: "a b").client,
            ResourceOwnerFlow(issuer: issuer, clientId: "app", scopes: "a b").client,
            TokenExchangeFlow(issuer: issuer, clientId: "app", scopes: "a b").client,
        ]
    }
}

@Suite("Names of version 1 of the SDK")
struct Version1Tests {
    private let app: any FormerApp = FormerNames()

    @Test("The deprecated start calls of sign-in and sign-out send their additional parameters together with those of the context")
    func starts() async throws {
        let client = try ScriptedIssuer().client(logoutRedirectUri: "com.example.app:/")
        let signIn = try await app.signIn(client)
        #expect(signIn["brand"] == "b" && signIn["idp"] == "0oa1" && signIn["state"] == "s")
        let signOut = try await app.signOut(client)
        #expect(signOut["brand"] == "b" && signOut["idp"] == "0oa1" && signOut["id_token_hint"] == "a.b.c")
    }

    @Test("Each deprecated initializer creates a flow with the given issuer, client ID and scopes")
    func settings() throws {
        let settings = try app.clients().map(\.configuration)
        #expect(
            settings.allSatisfy { $0.issuerURL.absoluteString == ScriptedIssuer.base && $0.clientId == "app" && $0.scope == ["a", "b"] })
        #expect(settings.map { $0.redirectUri != nil } == [true, true, false, false, false, false, false])
        #expect(settings.map { $0.logoutRedirectUri != nil } == [true, false, true, false, false, false, false])
    }
}
