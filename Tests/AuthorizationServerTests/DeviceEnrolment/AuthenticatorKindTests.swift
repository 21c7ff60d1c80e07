import Foundation
import IdentityCore
import JOSE
import Testing

@Suite("Kinds of authenticator, over the wire (Documentation/Protocol/Devices.md §2.4)")
struct AuthenticatorKindTests {
    @Test(
        "both kinds of authenticator are named by their keys, and enrol and are asked alike (F-8)",
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
            // Asked for and answered by the channel, whichever app it is; which one it was is told by amr.
            let challenge = try await client.challenge(try await client.mfaToken())
            #expect(try challenge.json["channel"] == "push")
            #expect(try challenge.json["challenge_type"] == .string(PushOrganization.secondFactorOOB))
            try await phone.approve()
        }
    }
}
