import Foundation
import IdentityCore
import JOSE
import Testing

@Suite("Authenticator kinds (Documentation/Protocol/Devices.md §2.4)")
struct AuthenticatorKindTests {
    @Test(
        "The authenticator kinds custom_app and okta_verify have different keys, and their phones enroll and answer challenges in the same way",
        arguments: [(PushAuthenticator.Kind.customApp, "custom_app"), (.oktaVerify, "okta_verify")])
    func kinds(kind: PushAuthenticator.Kind, key: String) async throws {
        try await DeviceServer.with {
            $0.authenticators[0].kind = kind
        } _: { server in
            let path = "/.well-known/app-authenticator-configuration?oauthClientId=phone-app"
            let list = try await server.call("GET", path, token: server.accessToken()).json
            #expect(list.arrayValue?.map { $0["key"] } == [.string(key)])
            #expect(list.arrayValue?.first?["supportedMethods"]?.arrayValue?.map { $0["type"] } == ["push"])
            #expect(try await server.enrolledPhone().methodID.isEmpty == false)
        }
        try await PushServer.with(PushOrganization(kind: kind)) { server in
            let phone = try await server.enroll()
            let client = DirectClient(server)
            // Both kinds use the same channel; only the amr claim names the kind.
            let challenge = try await client.challenge(try await client.mfaToken())
            #expect(try challenge.json["channel"] == "push")
            #expect(try challenge.json["challenge_type"] == .string(PushOrganization.secondFactorOOB))
            try await phone.approve()
        }
    }
}
