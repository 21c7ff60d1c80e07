import Delivery
import JOSE
import TestSupport
import Testing

@Suite("Pending challenges (Documentation/Protocol/Devices.md §2.8)")
struct PendingChallengesTests {
    private static func path(_ id: String) -> String { DeviceServer.api + "/\(id)/push/notifications" }

    private static let notPermitted =
        "The access token does not permit this. It needs one of the scopes: okta.myAccount.appAuthenticator.maintenance.manage, "
        + "okta.myAccount.appAuthenticator.maintenance.read, okta.myAccount.appAuthenticator.manage, okta.myAccount.appAuthenticator.read."

    @Test("A listed pending challenge has the members payloadVersion and challenge, and the same transaction ID as its push")
    func elements() async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            _ = try await DirectClient(server).begin()
            let response = try await phone.pending()
            #expect(response.status == 200 && response["Content-Type"] == "application/json")
            let list = try #require(try response.json.arrayValue)
            #expect(list.count == 1 && list[0]["payloadVersion"] == "IDXv1")
            #expect(Set(try #require(list[0].objectValue).keys) == ["payloadVersion", "challenge"])
            let push = try #require(await server.pushes.next())
            let pushed = try WirePhone.Challenge(try #require(try JSONValue(parsing: push.payload)["challenge"]?.stringValue))
            // With the same transaction ID, a phone that gets the challenge both ways shows it once.
            let listed = try WirePhone.Challenge(try #require(list[0]["challenge"]?.stringValue))
            #expect(listed.claims["transactionId"] == pushed.claims["transactionId"])
        }
    }

    @Test(
        "A request for the pending challenges of an unknown enrollment or of another user's enrollment returns 404",
        arguments: [nil, "pfd00000000000000000", "x"])
    func others(id: String?) async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            let johns = try await server.enroll(login: PushOrganization.john, password: PushOrganization.johnsPassword)
            _ = try await DirectClient(server).begin()
            try expectDeviceError(
                await johns.pending(of: id ?? phone.enrollmentID), 404, "E0000007", "Not found: there is no such enrollment.")
            #expect(try await phone.waiting().count == 1)
        }
    }

    @Test("A maintenance token lists the pending challenges of its own enrollment, and gets 403 for another enrollment")
    func maintenance() async throws {
        try await DeviceServer.with { server in
            let first = try await server.enrolledPhone()
            var second = try EnrollingPhone(now: server.running.clock.now)
            try second.remember(try await server.enroll(second.enrollment(), token: server.strongToken()).json)
            let token = try await server.maintenanceToken(of: second)
            try expectDeviceError(
                await server.call("GET", Self.path(first.enrollmentID), token: token), 403, "E0000006",
                "The token is for another enrollment. Get one with this enrollment's key.")
            #expect(try await server.call("GET", Self.path(second.enrollmentID), token: token).body == "[]")
            let patched = try await server.patch(first.enrollmentID, ["pushToken": "AB"], token: token)
            #expect(patched.status == 403)
        }
    }

    @Test("An access token without an authenticator scope gets 403 for pending challenges")
    func scopes() async throws {
        try await DeviceServer.with { server in
            let phone = try await server.enrolledPhone()
            let plain = try await server.accessToken(scope: "openid")
            try expectDeviceError(
                await server.call("GET", Self.path(phone.enrollmentID), token: plain), 403, "E0000006", Self.notPermitted)
        }
    }
}
