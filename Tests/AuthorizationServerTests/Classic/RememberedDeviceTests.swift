import IdentityCore
import JOSE
import TestSupport
import Testing

/// Documentation/Protocol/Authn.md §6.4 in raw requests.
@Suite("Remembered devices in the classic API")
struct RememberedDeviceTests {
    private static let device = "9f2c7b1e4d6a4f0b8c3d5e7f90123456"
    private static let portal = "a-token-of-the-portal-0123456789"

    private static func with(
        _ remembering: ClassicPolicy.Remembering, _ body: @Sendable (PushServer) async throws -> Void
    ) async throws {
        let policy = ClassicPolicy(
            signOnPolicy: "two factors", remembering: remembering, trustedCallers: [.init(name: "portal", token: portal)])
        try await PushServer.with(PushOrganization(classic: policy), body)
    }

    private static func client(_ server: PushServer, _ device: String? = device) -> ClassicClient {
        ClassicClient(server, headers: device.map { [("Cookie", "other=1; DT=\($0)")] } ?? [])
    }

    /// Verifies the second factor, with or without a request to remember the device.
    private static func prove(_ client: ClassicClient, _ app: ClassicApp, remembers: Bool = true) async throws -> WireResponse {
        let status = try await client.begin()
        try #require(status.name == "MFA_REQUIRED")
        client.server.clock.advance(by: 30)
        let answer = try await client.follow(
            status.factor("token:software:totp")["_links"]?["verify"], of: status, ["passCode": .string(app.code())],
            query: remembers ? "?rememberDevice=true" : "?rememberDevice=false")
        #expect(try ClassicStatus(answer).name == "SUCCESS")
        return answer
    }

    @Test("A remembered device needs no second factor until the password changes, and other devices still need the second factor")
    func byDevice() async throws {
        try await Self.with(.device) { server in
            let client = Self.client(server)
            let app = try await client.app()
            let status = try await client.begin()
            #expect(
                status.embedded["policy"] == [
                    "allowRememberDevice": true, "rememberDeviceByDefault": false, "rememberDeviceLifetimeInMinutes": 0,
                    "factorsPolicyInfo": nil,
                ])
            #expect(try await Self.prove(client, app)["Set-Cookie"] == nil)
            server.clock.advance(by: 30 * 86_400)
            let done = try await client.begin()
            #expect(done.name == "SUCCESS")
            // The remembered device replaces the second factor only here; a client that requires two factors still requires both.
            let party = WireRelyingParty.browserApp
            let token = try #require(done.json["sessionToken"]?.stringValue)
            let answer = try await WireBrowser(server.wire).get(party.authorizeURL(["sessionToken": token, "prompt": "none"]))
            #expect(try party.error(answer) == "interaction_required")
            #expect(try await Self.client(server, nil).begin().name == "MFA_REQUIRED")
            #expect(try await Self.client(server, "0" + Self.device.dropFirst()).begin().name == "MFA_REQUIRED")
            let john = try ClassicStatus(try await client.signIn(PushOrganization.john, PushOrganization.johnsPassword)).name
            #expect(john != "SUCCESS")

            let id = try #require(try await server.engine.user(login: PushOrganization.jane)?.id)
            let context = RequestContext(now: server.clock.now, requestID: "test")
            #expect(try await server.engine.rememberedDevices(ofUser: id).count == 1)
            _ = try await server.engine.setPassword(userID: id, to: "Another-Horse-8", context: context)
            let again = try ClassicStatus(try await client.signIn(PushOrganization.jane, "Another-Horse-8"))
            #expect(again.name == "MFA_REQUIRED")
            #expect(again.embedded["policy"]?["rememberDeviceByDefault"] == true)
            #expect(try await server.engine.forgetRememberedDevices(ofUser: id, context: context) == 1)
            #expect(try await server.engine.rememberedDevices(ofUser: id).isEmpty)
        }
    }

    @Test("A device that is remembered for 60 minutes skips the second factor for exactly that time")
    func byTime() async throws {
        try await Self.with(.time(minutes: 60)) { server in
            let client = Self.client(server)
            let app = try await client.app()
            _ = try await Self.prove(client, app)
            server.clock.advance(by: 3_599)
            #expect(try await client.begin().name == "SUCCESS")
            server.clock.advance(by: 1)
            let status = try await client.begin()
            #expect(status.name == "MFA_REQUIRED")
            #expect(status.embedded["policy"]?["rememberDeviceByDefault"] == true)
            #expect(status.embedded["policy"]?["rememberDeviceLifetimeInMinutes"] == 60)
        }
    }

    @Test("A device is not remembered if the policy forbids it or the client does not ask for it", arguments: [true, false])
    func not(isAsked: Bool) async throws {
        try await Self.with(isAsked ? .never : .device) { server in
            let client = Self.client(server)
            let app = try await client.app()
            _ = try await Self.prove(client, app, remembers: isAsked)
            #expect(try await client.begin().name == "MFA_REQUIRED")
        }
    }

    @Test("A device that sends no device token, or a guessable device token, gets a new device token when the device is remembered")
    func given() async throws {
        try await Self.with(.device) { server in
            for own in [nil, "1234"] {
                let client = Self.client(server, own)
                let app = try await client.app()
                let cookie = try #require(try await Self.prove(client, app)["Set-Cookie"])
                let match = try #require(
                    cookie.wholeMatch(of: /DT=([0-9A-Za-z]{32}); Path=\/; Max-Age=31536000; HttpOnly; SameSite=Lax; Secure/))
                #expect(try await Self.client(server, String(match.1)).begin().name == "SUCCESS")
                #expect(try await client.begin().name == "MFA_REQUIRED")
            }
        }
    }

    @Test("A device token that an attacker planted in a browser is replaced by a new token and never remembered")
    func planted() async throws {
        try await Self.with(.device) { server in
            let page = ("Origin", "https://portal.example.com")
            let victim = ClassicClient(server, headers: [("Cookie", "DT=\(Self.device)"), page])
            let app = try await victim.app()
            let cookie = try #require(try await Self.prove(victim, app)["Set-Cookie"])
            let given = try #require(cookie.firstMatch(of: /DT=([0-9A-Za-z]{32});/)).1
            #expect(given != Self.device)
            // The attacker who planted the token also knows the password.
            #expect(try await Self.client(server).begin().name == "MFA_REQUIRED")
            let remembered = ClassicClient(server, headers: [("Cookie", "DT=\(given)"), page])
            #expect(try await remembered.begin().name == "SUCCESS")
        }
    }

    @Test("A device token in the request body is accepted only from a trusted caller")
    func context() async throws {
        try await Self.with(.device) { server in
            let known = Self.client(server)
            let app = try await known.app()
            _ = try await Self.prove(known, app)
            let context: [String: JSONValue] = ["context": ["deviceToken": .string(Self.device)]]
            #expect(try await ClassicClient(server).begin(context).name == "MFA_REQUIRED")
            let portal = ClassicClient(server, headers: [("Authorization", "SSWS \(Self.portal)")])
            #expect(try await portal.begin(context).name == "SUCCESS")
        }
    }
}
