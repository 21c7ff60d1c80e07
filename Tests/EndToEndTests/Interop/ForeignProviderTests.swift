import AuthFoundation
import Foundation
import OAuth2Auth
import TestSupport
import Testing

/// Tests our flows at an independent provider with pushed requests, the `iss` parameter and rotated refresh tokens.
@Suite(
    "Sign-in flows at the independent provider Glewlwyd",
    .enabled(if: OutsidePart.glewlwyd.isEnabled, Comment(rawValue: OutsidePart.glewlwyd.missingNote)))
struct ForeignProviderTests {
    @Test(
        "At the provider Glewlwyd, the SDK exchanges a code with PKCE for tokens, reads the user info, and refreshes the tokens",
        arguments: [true, false])
    func code(isPushed: Bool) async throws {
        try await ForeignProvider.with { (provider) async throws in
            let client = provider.client()
            let flow = try AuthorizationCodeFlow(client: client)
            var context = AuthorizationCodeFlow.Context()
            context.pushedAuthorizationRequestEnabled = isPushed
            let url = try await flow.start(with: context)
            #expect(url.absoluteString.contains("request_uri=") == isPushed)
            #expect(url.absoluteString.contains("code_challenge=") == !isPushed)
            let token = try await flow.resume(with: try await provider.approve(url))
            let subject = try #require(token.idToken?.subject)
            #expect(token.idToken?.issuer == provider.issuer.absoluteString)
            let info = try await client.userInfo(token: token)
            #expect(info.subject == subject)
            #expect(info.name == provider.name)
            let refreshed = try await client.refresh(token)
            #expect(refreshed.accessToken != token.accessToken)
            #expect(refreshed.refreshToken != nil && refreshed.refreshToken != token.refreshToken)
            #expect(try await client.userInfo(token: refreshed).subject == subject)
            // The provider accepts each refresh token only once.
            await #expect(throws: (any Error).self) { try await client.refresh(token) }
        }
    }

    @Test("At the provider Glewlwyd, a flow rejects the redirect of another sign-in, and then accepts its own redirect")
    func foreignAnswer() async throws {
        try await ForeignProvider.with { (provider) async throws in
            let (other, flow) = (
                try AuthorizationCodeFlow(client: provider.client()), try AuthorizationCodeFlow(client: provider.client())
            )
            let (foreign, own) = (try await other.start(), try await flow.start())
            let injected = try await provider.approve(foreign)
            await #expect(throws: OAuth2Error.self) { try await flow.resume(with: injected) }
            #expect(try await flow.resume(with: try await provider.approve(own)).idToken?.subject != nil)
        }
    }

    @Test("At the provider Glewlwyd, the device flow signs in after the user approves on another device")
    func device() async throws {
        try await ForeignProvider.with { (provider) async throws in
            let client = provider.client()
            let flow = DeviceAuthorizationFlow(client: client)
            let verification = try await flow.start()
            let page = try #require(verification.verificationUriComplete)
            #expect(page.absoluteString.contains(verification.userCode))
            _ = try await provider.approve(page)
            let token = try await flow.resume()
            #expect(try await client.userInfo(token: token).name == provider.name)
            #expect(token.refreshToken != nil)
        }
    }

    @Test("At the provider Glewlwyd, tokens are bound to the client's DPoP key, and userinfo accepts the tokens with a proof")
    func bound() async throws {
        try await ForeignProvider.with { (provider) async throws in
            let client = provider.client(usesDPoP: true)
            let flow = try AuthorizationCodeFlow(client: client)
            let token = try await flow.resume(with: try await provider.approve(try await flow.start()))
            #expect(token.tokenType == "DPoP")
            #expect(try await client.userInfo(token: token).name == provider.name)
        }
    }
}
