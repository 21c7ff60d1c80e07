import Foundation
import IdentityCore
import JOSE
import TestSupport
import Testing

/// Attackers who want the server to treat their requests as the owner's, or the owner's requests as those of an unknown origin.
@Suite("Attacks: known origins")
struct KnownOriginAttacks {
    private static let attacker = "203.0.113.66"
    private static let home = "198.51.100.7"
    private static let backEnd = "10.1.2.3"
    private static let apiToken = "a-token-of-the-portal-0123456789"

    private static func attack(
        _ classic: ClassicPolicy = ClassicPolicy(signOnPolicy: "one factor"), isBehindProxy: Bool = true,
        _ body: @Sendable (PushServer) async throws -> Void
    ) async throws {
        var organization = PushOrganization(classic: classic)
        organization.trustsForwardedAddresses = isBehindProxy
        try await PushServer.with(organization, body)
    }

    /// Returns a client of an app that requires one factor and has no back end.
    private static func easy(_ server: PushServer, _ address: String) -> DirectClient { DirectClient(server, id: "easy-app").at(address) }

    /// Locks Jane's account for unknown origins.
    private static func lock(_ server: PushServer) async throws {
        for _ in 0..<5 { _ = try await easy(server, attacker).password(["password": "wrong"]) }
    }

    @Test(
        "An account lock for unknown origins applies to sign-ins through a back end, except from devices that the user has signed in with")
    func backEndOfClient() async throws {
        try await Self.attack { server in
            let app = DirectClient(server, id: "mute-desk", additional: ["client_secret": "mute-desk-secret-0123"]).at(Self.backEnd)
            #expect(try await app.password().status == 200)
            #expect(try await app.with(device: "a-device-of-jane").password().status == 200)
            try await Self.lock(server)
            try expectRefusal(try await app.password(), 400, "invalid_grant")
            try expectRefusal(try await app.with(device: "another-device").password(), 400, "invalid_grant")
            #expect(try await app.with(device: "a-device-of-jane").password().status == 200)
        }
    }

    @Test("A push sign-in through a back end requires a number challenge even after an earlier approval, unless the device is known")
    func numberThroughBackEnd() async throws {
        var organization = PushOrganization(numberChallenge: .risky)
        organization.trustsForwardedAddresses = true
        try await PushServer.with(organization) { server in
            let phone = try await server.enroll(.init(answersNumbers: true))
            let app = DirectClient(server, id: "back-end", additional: ["client_secret": "back-end-secret-01234"]).at(Self.backEnd)
            /// Signs in, and returns whether the push required a number.
            func asksNumber(_ client: DirectClient) async throws -> Bool {
                let token = try await client.mfaToken()
                let sent = try await client.challenge(token).json
                let number = sent["binding_code"]?.stringValue
                let challenge = try #require(try await phone.waiting().last)
                #expect(try await phone.answer(challenge, number.map { .pick($0) } ?? .approve).status == 200)
                let code = try #require(sent["oob_code"]?.stringValue)
                #expect(try await client.poll(.init(mfaToken: token, oobCode: code)).status == 200)
                return number != nil
            }
            for _ in 0..<2 { #expect(try await asksNumber(app)) }
            let own = app.with(device: "a-device-of-jane")
            #expect(try await asksNumber(own))
            #expect(try await !asksNumber(own))
            #expect(try await asksNumber(app.with(device: "another-device")))
        }
    }

    @Test("An account lock for unknown origins applies to a back end that has an API token but does not forward user addresses")
    func backEndWithAPIToken() async throws {
        try await Self.attack(
            ClassicPolicy(signOnPolicy: "one factor", trustedCallers: [.init(name: "portal", token: Self.apiToken)])
        ) { server in
            let portal = ClassicClient(server, headers: [("X-Forwarded-For", Self.backEnd), ("Authorization", "SSWS \(Self.apiToken)")])
            #expect(try await portal.begin().name == "SUCCESS")
            try await Self.lock(server)
            try expectClassicRefusal(try await portal.signIn(), 401, "E0000004")
        }
    }

    @Test("A user address that a back end with an API token forwards through its gateway becomes a known origin after a sign-in")
    func forwardedAddress() async throws {
        try await Self.attack(
            ClassicPolicy(
                signOnPolicy: "one factor", trustedCallers: [.init(name: "portal", token: Self.apiToken, gateways: ["127.0.0.1"])]),
            isBehindProxy: false
        ) { server in
            func portal(_ address: String) -> ClassicClient {
                ClassicClient(server, headers: [("X-Forwarded-For", address), ("Authorization", "SSWS \(Self.apiToken)")])
            }
            #expect(try await portal(Self.home).begin().name == "SUCCESS")
            for _ in 0..<5 { _ = try await portal(Self.attacker).signIn(PushOrganization.jane, "wrong") }
            try expectClassicRefusal(try await portal("192.0.2.44").signIn(), 401, "E0000004")
            #expect(try await portal(Self.home).begin().name == "SUCCESS")
        }
    }

    @Test(
        "An attacker who writes the owner's and the gateway's address into X-Forwarded-For is still treated as an unknown origin",
        arguments: [true, false])
    func forgedGateway(isBehindProxy: Bool) async throws {
        let gateway = isBehindProxy ? Self.backEnd : "127.0.0.1"
        try await Self.attack(
            ClassicPolicy(signOnPolicy: "one factor", trustedCallers: [.init(name: "portal", token: Self.apiToken, gateways: [gateway])]),
            isBehindProxy: isBehindProxy
        ) { server in
            /// Returns the back end's client for a user at an address who sent this header to the back end.
            func portal(_ address: String, sent header: String? = nil) -> ClassicClient {
                // A proxy in front of the server appends the address of the back end.
                let all = [header, address, isBehindProxy ? gateway : nil].compactMap(\.self).joined(separator: ", ")
                return ClassicClient(server, headers: [("X-Forwarded-For", all), ("Authorization", "SSWS \(Self.apiToken)")])
            }
            #expect(try await portal(Self.home).begin().name == "SUCCESS")
            for _ in 0..<5 { _ = try await portal(Self.attacker).signIn(PushOrganization.jane, "wrong") }
            let forged = portal(Self.attacker, sent: "\(Self.home), \(gateway)")
            try expectClassicRefusal(try await forged.signIn(), 401, "E0000004")
            #expect(try await portal(Self.home).begin().name == "SUCCESS")
        }
    }

    @Test("After a password change, origins that are known only by the old password become unknown, except the origin of the change")
    func passwordChange() async throws {
        try await Self.attack { server in
            let new = "Another-Horse-8"
            let device = DirectClient(server, id: "mute-desk", additional: ["client_secret": "mute-desk-secret-0123"]).at(Self.backEnd)
                .with(device: "a-device-of-the-attacker")
            let network = Self.easy(server, Self.attacker)
            for thief in [device, network] { #expect(try await thief.password().status == 200) }
            #expect(try await Self.easy(server, Self.home).password().status == 200)
            let id = try #require(try await server.engine.user(login: PushOrganization.jane)?.id)
            let context = RequestContext(now: server.clock.now, requestID: "expiry")
            _ = try await server.engine.expirePassword(userID: id, context: context)
            let owner = ClassicClient(server, headers: [("X-Forwarded-For", Self.home)])
            let due = try await owner.begin()
            let change: [String: JSONValue] = ["oldPassword": .string(PushOrganization.janesPassword), "newPassword": .string(new)]
            #expect(try ClassicStatus(try await owner.follow(due.next, of: due, change)).name == "SUCCESS")
            for _ in 0..<5 { _ = try await Self.easy(server, "192.0.2.44").password(["password": "wrong"]) }
            // If these origins were still known, the lock for unknown origins would not apply to them.
            for thief in [device, network] { try expectRefusal(try await thief.password(["password": new]), 400, "invalid_grant") }
            #expect(try await Self.easy(server, Self.home).password(["password": new]).status == 200)
        }
    }

    @Test("On the hosted pages, a network that the user has signed in from is a known origin, even if the client has a back end")
    func pagesOfClientWithBackEnd() async throws {
        try await Self.attack { server in
            func browser() -> WireBrowser {
                let browser = WireBrowser(server.wire)
                browser.headers = [("X-Forwarded-For", Self.home)]
                return browser
            }
            let app = WireRelyingParty.webApp
            let first = browser()
            _ = try app.code(try await first.signIn(try await app.begin(first)))
            try await Self.lock(server)
            let second = browser()
            _ = try app.code(try await second.signIn(try await app.begin(second)))
        }
    }

    @Test("Password-only sign-ins from 25 addresses do not make the server forget a network where the owner proved a second factor")
    func evictionByPassword() async throws {
        try await Self.attack { server in
            let app = try await ClassicClient(server).app()
            let strict = DirectClient(server).at(Self.home)
            let code = [
                "grant_type": PushOrganization.secondFactorOTP, "mfa_token": try await strict.mfaToken(), "otp": app.code(),
            ]
            #expect(try await strict.post("token", code).status == 200)
            for number in 1...25 { #expect(try await Self.easy(server, "203.0.113.\(number)").password().status == 200) }
            try await Self.lock(server)
            try expectRefusal(try await DirectClient(server).at("192.0.2.44").password(), 400, "invalid_grant")
            _ = try await strict.mfaToken()
        }
    }

    @Test("When the server forgets a known network, earlier wrong codes from that network count as wrong codes from unknown origins")
    func evictionKeepsCounts() async throws {
        try await Self.attack { server in
            let app = try await ClassicClient(server).app()
            func first(_ code: String, _ address: String) async throws -> WireResponse {
                try await Self.easy(server, address).post(
                    "token", ["grant_type": PushOrganization.otp, "login_hint": PushOrganization.jane, "otp": code, "scope": "openid"])
            }
            func guess(_ count: Int) async throws {
                for _ in 0..<count {
                    try expectRefusal(try await first(app.wrongCode, Self.home), 400, "invalid_grant")
                    server.clock.advance(by: 900)
                }
            }
            #expect(try await first(app.code(), Self.home).status == 200)
            server.clock.advance(by: 30)
            try await guess(60)
            // The owner proves a second factor at so many networks that the server forgets the first network.
            for number in 1...20 {
                #expect(try await first(app.code(), "192.0.2.\(number)").status == 200)
                server.clock.advance(by: 30)
            }
            try await guess(40)
            try expectRefusal(try await first(app.code(), Self.home), 400, "invalid_grant")
            server.clock.advance(by: 30)
            #expect(try await first(app.code(), "192.0.2.20").status == 200)
        }
    }
}
