import AuthFoundation
import Foundation
import OktaDirectAuth
import TestSupport
import Testing

/// Tests the exact bytes of the requests in Documentation/Protocol/OAuth.md §6. Parameters are sorted by name, and all reserved characters
/// are escaped.
@Suite("Requests of a sign-in with a push")
struct PushWireTests {
    private let server = ScriptedIssuer.directAuthentication()

    private static let grants =
        "grant_types_supported=password+urn%3Aokta%3Aparams%3Aoauth%3Agrant-type%3Aoob+urn%3Aokta%3Aparams%3Aoauth%3Agrant-type%3Aotp"
        + "+http%3A%2F%2Fauth0.com%2Foauth%2Fgrant-type%2Fmfa-oob+http%3A%2F%2Fauth0.com%2Foauth%2Fgrant-type%2Fmfa-otp"
        + "+urn%3Aokta%3Aparams%3Aoauth%3Agrant-type%3Awebauthn+urn%3Aokta%3Aparams%3Aoauth%3Agrant-type%3Amfa-webauthn"
    private static let mfaOOB = "http%3A%2F%2Fauth0.com%2Foauth%2Fgrant-type%2Fmfa-oob"
    private static let oob = "urn%3Aokta%3Aparams%3Aoauth%3Agrant-type%3Aoob"

    @Test("A sign-in with a password and then a push sends the requests of OAuth.md §6.2")
    func passwordThenPush() async throws {
        let flow = try await server.challengedFlow()
        server.answer("challenge", .outOfBand(binding: "none"))
        server.answer("token", .pending, .tokens())
        _ = try await flow.resume(with: .oob(channel: .push))
        #expect(server.bodies("challenge") == ["challenge_types_supported=\(Self.mfaOOB)&channel_hint=push&client_id=app&mfa_token=mfa-1"])
        let poll =
            "client_id=app&grant_type=\(Self.mfaOOB)&\(Self.grants)&mfa_token=mfa-1&oob_code=oob-1&scope=openid+profile"
        #expect(
            server.bodies("token") == [
                "client_id=app&grant_type=password&\(Self.grants)&password=Correct-Horse-7&scope=openid+profile&username=jane", poll, poll,
            ])
        #expect(server.headers("token", "Content-Type") == Array(repeating: "application/x-www-form-urlencoded; charset=UTF-8", count: 3))
        #expect(server.headers("challenge", "Accept") == ["application/json; charset=UTF-8"])
        #expect(server.bodies("revoke").isEmpty && server.bodies("primary-authenticate").isEmpty)
    }

    @Test("A sign-in with a password and a number challenge sends the requests of OAuth.md §6.3, which do not contain the number")
    func passwordThenNumber() async throws {
        let flow = try await server.challengedFlow()
        server.answer("challenge", .outOfBand(binding: "transfer", more: #","binding_code":"95""#))
        guard case .continuation(.transfer(_, code: "95")) = try await flow.resume(with: .oob(channel: .push)) else {
            throw DirectAuthenticationFlowError.flowNotStarted
        }
        #expect(server.bodies("token").count == 1)
        server.answer("token", .pending, .tokens())
        guard case .success = try await flow.resume(with: .transfer) else { throw DirectAuthenticationFlowError.flowNotStarted }
        let poll =
            "client_id=app&grant_type=\(Self.mfaOOB)&\(Self.grants)&mfa_token=mfa-1&oob_code=oob-1&scope=openid+profile"
        #expect(server.bodies("token").dropFirst() == [poll, poll])
    }

    @Test(
        "A sign-in with a push as the first factor sends the requests of OAuth.md §6.7, with and without a number challenge",
        arguments: ["none", "transfer"])
    func primaryPush(binding: String) async throws {
        let flow = try DirectAuthenticationFlow(client: server.directClient())
        server.answer("primary-authenticate", .outOfBand(binding: binding, more: #","binding_code":"07""#))
        server.answer("token", .pending, .tokens())
        var status = try await flow.start("jane+x@example.com", with: .oob(channel: .push))
        if binding == "transfer" { status = try await flow.resume(with: .transfer) }
        guard case .success = status else { throw DirectAuthenticationFlowError.flowNotStarted }
        #expect(
            server.bodies("primary-authenticate") == [
                "challenge_hint=\(Self.oob)&channel_hint=push&client_id=app&login_hint=jane%2Bx%40example.com"
            ])
        let poll = "client_id=app&grant_type=\(Self.oob)&\(Self.grants)&oob_code=oob-1&scope=openid+profile"
        #expect(server.bodies("token") == [poll, poll])
    }

    @Test("Each request of a push sign-in has the client's secret and the context's parameters, and the revocation has the client's secret")
    func clientAndContext() async throws {
        let client = try server.directClient(authentication: .clientSecret("s3cret"), redirectUri: "com.app:/callback")
        let flow = DirectAuthenticationFlow(client: client, supportedGrants: [.oob, .oobMFA])
        server.answer("primary-authenticate", .outOfBand(binding: "none"))
        server.answer("token", .mfaRequired)
        server.answer("challenge", .outOfBand(binding: "transfer", more: #","binding_code":"07""#))
        server.answer("revoke", .init(body: ""))
        _ = try await flow.start("jane", with: .oob(channel: .push), context: .init(acrValues: ["phr", "b"], intent: .recovery))
        _ = try await flow.resume(with: .oob(channel: .push))
        await flow.reset()
        await server.awaits("revoke", 1)
        #expect(
            server.bodies("primary-authenticate") == [
                "acr_values=phr+b&challenge_hint=\(Self.oob)&channel_hint=push&client_id=app&client_secret=s3cret&login_hint=jane"
            ])
        #expect(
            server.bodies("token") == [
                "acr_values=phr+b&client_id=app&client_secret=s3cret&grant_type=\(Self.oob)&grant_types_supported=\(Self.oob)+\(Self.mfaOOB)"
                    + "&intent=recovery&oob_code=oob-1&redirect_uri=com.app%3A%2Fcallback&scope=okta.myAccount.password.manage"
            ])
        #expect(
            server.bodies("challenge") == [
                "acr_values=phr+b&challenge_types_supported=\(Self.mfaOOB)&channel_hint=push&client_id=app&client_secret=s3cret"
                    + "&mfa_token=mfa-1"
            ])
        #expect(server.bodies("revoke") == ["client_id=app&client_secret=s3cret&token=mfa-1"])
    }
}
