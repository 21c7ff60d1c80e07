import Foundation
import IdentityCore
import JOSE
import TestSupport
import Testing

@Suite("Device authorization requests (Documentation/Protocol/OAuth.md §2.8)")
struct DeviceRequestTests {
    @Test(
        "An invalid device authorization request returns the OAuth error for its invalid parameter or client",
        arguments: [
            (["scope": ""], 400, "invalid_scope"), (["scope": "openid nothing"], 400, "invalid_scope"),
            (["client_id": "unknown"], 401, "invalid_client"), (["client_id": ""], 401, "invalid_client"),
            (["client_id": "reading-app"], 400, "unauthorized_client"),
            (["scope": PushOrganization.manageScope], 400, "invalid_scope"),
        ])
    func refused(changes: [String: String], status: Int, error: String) async throws {
        let server = try await PushServer.refusing().server
        try expectRefusal(try await WireDevice(server.wire).authorize(changes), status, error)
    }

    @Test("The device authorization endpoint accepts only POST forms without repeated parameters, and ignores unknown parameters")
    func shapes() async throws {
        let server = try await PushServer.refusing().server
        #expect(try await server.wire.get("/oauth2/default/v1/device/authorize").status == 405)
        #expect(try await server.wire.get("/oauth2/default/v1/device/other").status == 404)
        let answer = try await WireDevice(server.wire).authorize(["redirect_uri": "com.example.tv:/callback", "acr_values": "urn:x"])
        #expect(answer.status == 200)
        let path = "/oauth2/default/v1/device/authorize"
        let json = try await server.wire.call(
            "POST", path, headers: [("Content-Type", "application/json")], body: Array(#"{"client_id":"tv-app","scope":"openid"}"#.utf8))
        try expectRefusal(json, 400, "invalid_request")
        try expectRefusal(try await server.wire.post(path, "client_id=tv-app&scope=openid&scope=email"), 400, "invalid_request")
        #expect(try await server.wire.post("/oauth2/unknown/v1/device/authorize", "client_id=tv-app&scope=openid").status == 404)
    }

    @Test(
        "In a device authorization request, acr_values can require two factors although the policy requires one, and the ID token contains the acr"
    )
    func contextClass() async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            let device = WireDevice(server.wire)
            let (code, userCode) = try await device.begin(["acr_values": "urn:okta:loa:2fa:any"])
            let browser = WireBrowser(server.wire)
            let choice = try await browser.signIn(try await browser.enter(userCode))
            let waiting = try await browser.submit(choice, "factor", ["factor": "push"])
            try await phone.approve()
            let question = try await browser.get(try WireBrowser.form(waiting, "cancel").action.replacing("/cancel", with: ""))
            _ = try await browser.submit(question, "device", ["decision": "allow"])
            let tokens = try await IssuedTokens(try await device.poll(code), keysFrom: device.base, server.wire)
            #expect(tokens.idToken["acr"] == "urn:okta:loa:2fa:any")
        }
    }

    @Test(
        "If an address exceeds its request limit, device authorization requests and device polls return 429 and an API error", .onOneServer)
    func limits() async throws {
        var organization = PushOrganization()
        organization.rateLimits.perAddress = 1
        try await PushServer.with(organization) { server in
            let device = WireDevice(server.wire)
            #expect(try await device.authorize().status == 200)
            for answer in [try await device.authorize(), try await device.poll("dc_some")] {
                #expect(answer.status == 429)
                try expectAPIError(answer, code: "E0000047", summary: "Too many requests. Wait and try again.")
            }
        }
    }
}
