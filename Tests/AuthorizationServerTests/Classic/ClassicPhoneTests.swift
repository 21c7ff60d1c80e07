import AuthnAPI
import DeviceAPI
import Foundation
import IdentityCore
import JOSE
import TestSupport
import Testing

/// Documentation/Protocol/Authn.md §4.6 and §5.5 in raw requests.
@Suite("Phone enrollment in the classic API")
struct ClassicPhoneTests {
    private static let twoFactors = ClassicPolicy(signOnPolicy: "two factors")

    @Test("A phone that is enrolled during a classic sign-in is the second factor of that sign-in and of later sign-ins")
    func setsUp() async throws {
        try await ClassicPhone.with(Self.twoFactors) { client, server in
            let status = try await ClassicPhone.begin(client, try await client.begin(["relayState": "r"]))
            #expect(status.embedded["factor"]?["profile"] == [:])
            let phone = try await ClassicPhone.enroll(server, by: try await ClassicPhone.mailed(client, status))
            let done = try ClassicStatus(try await client.follow(status.next, of: status))
            #expect(done.name == "SUCCESS" && done.json["relayState"] == "r")
            let app = WireRelyingParty.browserApp
            let token = try #require(done.json["sessionToken"]?.stringValue)
            let code = try app.code(
                try await WireBrowser(server.wire).get(app.authorizeURL(["sessionToken": token, "prompt": "none"])))
            let tokens = try await IssuedTokens(try await app.exchange(code, server.wire), keysFrom: app.base, server.wire)
            #expect(tokens.idToken["amr"] == ["pwd", "okta_verify", "swk", "mfa"])

            let next = try await client.begin()
            let asked = try ClassicStatus(try await client.follow(next.factor("push")["_links"]?["verify"], of: next))
            try await phone.approve()
            #expect(try ClassicStatus(try await client.follow(asked.next, of: asked)).name == "SUCCESS")
        }
    }

    @Test(
        "The QR code of a phone enrollment contains the same link as the enrollment message, and returns 404 after a phone redeems the ticket"
    )
    func picture() async throws {
        try await ClassicPhone.with(Self.twoFactors) { client, server in
            let status = try await ClassicPhone.begin(client, try await client.begin())
            let link = try #require(ClassicPhone.activation(status)?["_links"]?["qrcode"])
            #expect(link["type"] == "image/png" && ClassicPhone.activation(status)?["factorResult"] == "WAITING")
            let path = String(try #require(link["href"]?.stringValue).dropFirst(RunningServer.origin.count))
            let parts = path.split(separator: "/").map(String.init)
            let text = try await server.engine.classicPicture(
                userID: parts[3], factorID: parts[5], token: parts[7], context: RequestContext(now: server.clock.now, requestID: "look"))
            let ticket = try await ClassicPhone.mailed(client, status)
            #expect(text == RunningServer.origin + "/enroll/autphone1#client_id=phone-app&ticket=" + ticket)
            let image = try await server.wire.bytes("GET", path, headers: [("Accept", "application/json")])
            #expect(image.starts(with: [0x89, 0x50, 0x4E, 0x47]))
            let plain = try await server.wire.call("GET", path, headers: [("Accept", "text/plain")])
            #expect(
                plain.body == text && plain["Content-Type"] == "text/plain; charset=utf-8" && plain["Cache-Control"] == "no-cache, no-store"
            )
            let last = path.last == "A" ? "B" : "A"
            try expectClassicRefusal(try await server.wire.get(path.dropLast(2) + last + String(path.last ?? "A")), 404, "E0000007")
            // After a phone redeemed the ticket, no other phone can, and the sign-in waits for the first one.
            #expect(try await ClassicPhone.exchange(server, ticket).status == 200)
            try expectClassicRefusal(try await server.wire.get(path), 404, "E0000007")
            let taken = try ClassicStatus(try await client.follow(status.next, of: status))
            #expect(taken.json["factorResult"] == "WAITING" && taken.linkNames == ["cancel", "next(poll)", "prev"])
            #expect(ClassicPhone.activation(taken)?["_links"] == [:])
        }
    }

    @Test("A phone enrollment ticket enrolls no phone after the user goes back or cancels, or after it is redeemed twice")
    func worthless() async throws {
        try await ClassicPhone.with(Self.twoFactors) { client, server in
            let begun = try await client.begin()
            let first = try await ClassicPhone.begin(client, begun)
            let old = try await ClassicPhone.mailed(client, first)
            _ = try await client.follow(first.links["prev"], of: first)
            try expectClassicRefusal(try await client.follow(first.next, of: first), 403, "E0000079", causes: 1)
            #expect(try await ClassicPhone.exchange(server, old).status == 400)
            server.clock.advance(by: 60)
            let second = try await ClassicPhone.begin(client, begun)
            #expect(second.embedded["factor"]?["id"] != first.embedded["factor"]?["id"])
            try expectClassicRefusal(try await client.follow(first.next, of: first), 404, "E0000007")
            let ticket = try await ClassicPhone.mailed(client, second)
            let token = try #require(try await ClassicPhone.exchange(server, ticket).json["access_token"]?.stringValue)
            _ = try await client.follow(second.links["cancel"], of: second)
            let refused = try await WirePhone.enrolling(server.wire, accessToken: token)
            #expect(refused.status == 403, "\(refused.body)")
            // A ticket that is redeemed twice may have been copied, so its access token is revoked.
            server.clock.advance(by: 60)
            let third = try await ClassicPhone.begin(client, try await client.begin())
            let twice = try await ClassicPhone.mailed(client, third)
            let given = try #require(try await ClassicPhone.exchange(server, twice).json["access_token"]?.stringValue)
            #expect(try await ClassicPhone.exchange(server, twice).status == 400)
            #expect(try await WirePhone.enrolling(server.wire, accessToken: given).status == 401)
            let id = try #require(try await server.engine.user(login: PushOrganization.jane)?.id)
            #expect(try await server.engine.deviceEnrollments(ofUser: id).isEmpty)
        }
    }

    @Test("Phone enrollment links go only to valid numbers, at limited intervals, while the enrollment is pending")
    func links() async throws {
        try await ClassicPhone.with(Self.twoFactors) { client, server in
            let status = try await ClassicPhone.begin(client, try await client.begin())
            let id = try #require(status.embedded["factor"]?["id"]?.stringValue)
            let token: [String: JSONValue] = ["stateToken": .string(try #require(status.token))]
            func send(_ number: String?, by way: String = "sms", to factor: String? = nil) async throws -> WireResponse {
                let profile: [String: JSONValue] = ["profile": number.map { ["phoneNumber": .string($0)] } ?? [:]]
                return try await client.post(
                    "/factors/\(factor ?? id)/lifecycle/activate/\(way)", .object(token.merging(profile) { $1 }))
            }
            try expectClassicRefusal(try await send(nil), 400, "E0000001", causes: 1)
            try expectClassicRefusal(try await send("12"), 400, "E0000098", causes: 1)
            try expectClassicRefusal(try await send("+49 30 5550123", to: "opfOfSomebodyElse000"), 404, "E0000007")
            #expect(try await send("+49 30 5550123").status == 200)
            // The limit includes other numbers. Otherwise a client could send texts to any number.
            try expectClassicRefusal(try await send("+49 30 5550124"), 429, "E0000109")
            #expect(try await send(nil, by: "email").status == 200)
            try expectClassicRefusal(try await send(nil, by: "email"), 429, "E0000118")
            server.clock.advance(by: 31)
            #expect(try await send("+49 30 5550124").status == 200)
            #expect(server.messages.sent.count <= 3)
            _ = try await client.follow(status.links["prev"], of: status)
            try expectClassicRefusal(try await send(nil, by: "email"), 403, "E0000079", causes: 1)
        }
    }

    @Test("Phone enrollment requires an app that accepts tickets, and proof of the factor that the user already has")
    func notOffered() async throws {
        try await PushServer.with(PushOrganization(classic: Self.twoFactors)) { server in
            let client = ClassicClient(server)
            let status = try await client.begin()
            #expect(status.factors.map { $0["factorType"] } == ["token:software:totp"])
            try expectClassicRefusal(
                try await client.follow(status.factors[0]["_links"]?["enroll"], of: status, ClassicPhone.push), 400, "E0000001", causes: 1)
        }
        try await ClassicPhone.with(ClassicPolicy(signOnPolicy: "one factor", factors: [.push: .required])) { client, server in
            let app = try await client.app()
            let status = try await client.begin()
            #expect(status.name == "MFA_REQUIRED")
            let token: [String: JSONValue] = ["stateToken": .string(try #require(status.token))]
            try expectClassicRefusal(
                try await client.post("/factors", .object(token.merging(ClassicPhone.push) { $1 })), 403, "E0000079", causes: 1)
            let verify = try status.factor("token:software:totp")["_links"]?["verify"]
            let offered = try ClassicStatus(try await client.follow(verify, of: status, ["passCode": .string(app.code())]))
            #expect(offered.name == "MFA_ENROLL")
            let begun = try await ClassicPhone.begin(client, offered)
            _ = try await ClassicPhone.enroll(server, by: try await ClassicPhone.mailed(client, begun))
            #expect(try ClassicStatus(try await client.follow(begun.next, of: begun)).name == "SUCCESS")
        }
    }
}
