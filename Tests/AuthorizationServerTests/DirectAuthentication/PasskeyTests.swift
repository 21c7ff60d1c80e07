import CountersignSandbox
import Foundation
import IdentityCore
import JOSE
import TestSupport
import Testing
import WebAuthn

/// The flows of Documentation/Protocol/OAuth.md §6.9 in raw requests.
@Suite("Passkeys in direct authentication")
struct PasskeyTests {
    /// A server where Jane has a passkey.
    private struct Scene: Sendable {
        let server: PushServer
        var authenticator = SoftwareAuthenticator()
        /// The origin that apps on Apple's systems sign.
        var origin = "https://id.example.com"
        private(set) var credentialID = ""

        init(_ server: PushServer, verifiesUser: Bool = true, isSynced: Bool = true) async throws {
            self.server = server
            authenticator.counts = !isSynced
            if !verifiesUser { authenticator.flags.remove(.userVerified) }
            if !isSynced { authenticator.flags.subtract([.backupEligible, .backupState]) }
            try await register(PushOrganization.jane)
        }

        mutating func register(_ login: String) async throws {
            let id = try #require(try await server.engine.user(login: login)?.id)
            let context = RequestContext(now: server.clock.now, requestID: "enrollment")
            var (authenticator, random) = (authenticator, SystemRandomNumberGenerator())
            let passkey = try await server.engine.grantPasskey(toUser: id, name: "Phone", context: context) { options, origin in
                try authenticator.create(options, origin: origin, using: &random)
            }
            self.authenticator = authenticator
            credentialID = try #require(passkey).credentialID
        }

        /// Signs the challenge of a response, and returns the parameters of the token request.
        mutating func sign(_ started: WireResponse) throws -> [String: String] {
            try #require(started.status == 200, "\(started.body)")
            let options = try #require(try started.json["publicKey"])
            let challenge = try Base64URL.decode(#require(options["challenge"]?.stringValue))
            let request = try RequestOptions(
                relyingPartyID: #require(options["rpId"]?.stringValue), challenge: challenge, allowed: [])
            let response = try #require(try authenticator.get(request, origin: origin)["response"]?.objectValue)
            return response.compactMapValues(\.stringValue)
        }
    }

    private static let organization = PushOrganization(passkeys: PasskeyPolicy())

    private static func start(_ client: DirectClient, _ login: String = PushOrganization.jane) async throws -> WireResponse {
        try await client.post("primary-authenticate", ["login_hint": login, "challenge_hint": PushOrganization.webAuthn])
    }

    private static func finish(_ client: DirectClient, _ parameters: [String: String]) async throws -> WireResponse {
        try await client.post("token", ["grant_type": PushOrganization.webAuthn, "scope": "openid"].merging(parameters) { $1 })
    }

    private static func finishSecond(_ client: DirectClient, _ token: String, _ parameters: [String: String]) async throws -> WireResponse {
        try await client.post(
            "token", ["grant_type": PushOrganization.secondFactorWebAuthn, "mfa_token": token].merging(parameters) { $1 })
    }

    @Test(
        "A passkey that verified its user signs in alone, also where two factors are required, and its challenge is valid once",
        arguments: [DirectClient.custom, DirectClient.org])
    func primary(_ base: String) async throws {
        try await PushServer.with(Self.organization) { server in
            var scene = try await Scene(server)
            let client = DirectClient(server, base: base)
            let started = try await Self.start(client)
            let members = try #require(try started.json.objectValue)
            #expect(Set(members.keys) == ["challengeType", "publicKey"])
            #expect(members["challengeType"] == .string(PushOrganization.webAuthn))
            let options = try #require(members["publicKey"])
            #expect(options["rpId"] == "id.example.com" && options["rpID"] == "id.example.com")
            #expect(options["timeout"] == 300_000 && options["userVerification"] == "required")
            #expect(
                options["allowCredentials"] == [
                    ["type": "public-key", "id": .string(scene.credentialID)]
                ])
            let signed = try scene.sign(started)
            let tokens = try await IssuedTokens(Self.finish(client, signed), keysFrom: base, server.wire)
            #expect(tokens.idToken["amr"] == ["pop", "mfa"])
            try expectRefusal(try await Self.finish(client, signed), 400, "invalid_grant")
        }
    }

    @Test("An administrator sees the name of a passkey")
    func overview() async throws {
        try await PushServer.with(Self.organization) { server in
            _ = try await Scene(server)
            let found = try await server.engine.overview(of: PushOrganization.jane, now: server.clock.now)
            #expect(found?.factors.map(\.label) == ["Phone"])
        }
    }

    @Test("A second factor by a passkey starts at both endpoints, and its response names the user's passkeys", arguments: [false, true])
    func secondFactor(isSwiftSpelling: Bool) async throws {
        try await PushServer.with(Self.organization) { server in
            var scene = try await Scene(server, verifiesUser: false)
            let client = DirectClient(server)
            let asked = try await client.password()
            #expect(try asked.json["supported_challenge_types"] == .string(PushOrganization.secondFactorWebAuthn))
            let token = try #require(try asked.json["mfa_token"]?.stringValue)
            let started =
                isSwiftSpelling
                ? try await client.post("primary-authenticate", ["mfa_token": token, "challenge_hint": PushOrganization.webAuthn])
                : try await client.post(
                    "challenge", ["mfa_token": token, "challenge_types_supported": PushOrganization.secondFactorWebAuthn])
            #expect(try started.json["challengeType"] == .string(PushOrganization.secondFactorWebAuthn))
            #expect(
                try started.json["authenticatorEnrollments"] == [
                    [
                        "credentialId": .string(scene.credentialID), "displayName": "Phone",
                        "profile": ["aaguid": "00000000-0000-0000-0000-000000000000"],
                    ]
                ])
            let tokens = try await IssuedTokens(
                Self.finishSecond(client, token, scene.sign(started)), keysFrom: client.base, server.wire)
            #expect(tokens.idToken["amr"] == ["pwd", "pop", "mfa"])
        }
    }

    @Test("A passkey without user verification does not sign in alone where two factors are required")
    func unverified() async throws {
        try await PushServer.with(Self.organization) { server in
            var scene = try await Scene(server, verifiesUser: false)
            let strict = DirectClient(server)
            try expectRefusal(try await Self.finish(strict, scene.sign(Self.start(strict))), 400, "invalid_grant")
            let easy = DirectClient(server, id: "easy-app")
            let started = try await Self.start(easy)
            #expect(try started.json["publicKey"]?["userVerification"] == "preferred")
            let tokens = try await IssuedTokens(Self.finish(easy, scene.sign(started)), keysFrom: easy.base, server.wire)
            #expect(tokens.idToken["amr"] == ["pop"])
        }
    }

    @Test(
        "For an unknown name and for a user without a passkey, the response names credentials that never change"
    )
    func decoys() async throws {
        try await PushServer.with(Self.organization) { server in
            let client = DirectClient(server, id: "easy-app")
            for login in ["unknown@example.com", PushOrganization.john, OrganizationBuilder.suspended.login] {
                var ids: Set<JSONValue?> = []
                for _ in 0..<2 {
                    let response = try await Self.start(client, login)
                    #expect(response.status == 200)
                    let credentials = try #require(try response.json["publicKey"]?["allowCredentials"]?.arrayValue)
                    #expect(
                        (1...8).contains(credentials.count) && credentials.allSatisfy { $0.objectValue?.keys.sorted() == ["id", "type"] })
                    ids.insert(.array(credentials))
                }
                #expect(ids.count == 1, "\(login)")
            }
            // The numbers and lengths differ, as those of passkeys.
            var shapes: Set<[Int]> = []
            for number in 0..<40 {
                let response = try await Self.start(client, "unknown\(number)@example.com")
                let ids = try response.json["publicKey"]?["allowCredentials"]?.arrayValue?.compactMap { $0["id"]?.stringValue } ?? []
                shapes.insert(try ids.map { try Base64URL.decode($0).count })
            }
            #expect(shapes.count > 4 && Set(shapes.map(\.count)).isSuperset(of: [1, 2]))
            var scene = try await Scene(server)
            let signed = try await scene.sign(Self.start(client, "unknown@example.com"))
            try expectRefusal(try await Self.finish(client, signed), 400, "invalid_grant")
        }
    }

    @Test("A user who cannot sign in to an app gets the same response as in other apps, but the server accepts no signature")
    func unassigned() async throws {
        try await PushServer.with(Self.organization) { server in
            var scene = try await Scene(server)
            for app in ["staff-passkey-app", "denying-passkey-app"] {
                let client = DirectClient(server, id: app)
                let started = try await Self.start(client)
                let named = try started.json["publicKey"]?["allowCredentials"]
                #expect(named == [["type": "public-key", "id": .string(scene.credentialID)]])
                try expectRefusal(try await Self.finish(client, scene.sign(started)), 400, "invalid_grant")
            }
        }
    }

    /// Changes of a response, and the reason that the system log contains.
    private enum Attack: String, CaseIterable {
        case otherOrigin, otherCeremony, otherChallenge, otherRelyingParty, absentUser, noVerification, wrongSignature, copiedKey
        case otherUsersHandle

        /// `nil` if a public client's request is not logged.
        var reason: String? {
            switch self {
            case .otherOrigin: "originNotAllowed"
            case .otherCeremony: "wrongClientDataType"
            case .otherChallenge: nil
            case .otherRelyingParty: "wrongRelyingPartyID"
            case .absentUser: "userNotPresent"
            case .noVerification: "userNotVerified"
            case .wrongSignature: "signature"
            case .copiedKey: "signCountNotIncreased"
            case .otherUsersHandle: "wrongUserHandle"
            }
        }
    }

    @Test(
        "A manipulated signature is refused as invalid_grant, and the system log names the failed check of a known challenge",
        arguments: Attack.allCases)
    private func attack(_ attack: Attack) async throws {
        try await PushServer.with(Self.organization) { server in
            var scene = try await Scene(server, isSynced: false)
            let client = DirectClient(server)
            // A first sign-in raises the stored counter.
            _ = try await IssuedTokens(Self.finish(client, scene.sign(Self.start(client))), keysFrom: client.base, server.wire)
            var copy = scene
            switch attack {
            case .otherOrigin: copy.origin = "https://id.example.com.attacker.example"
            case .otherCeremony: copy.authenticator.changes.clientData = { $0 = $0.with("type", "webauthn.create") }
            case .otherChallenge: copy.authenticator.changes.clientData = { $0 = $0.with("challenge", "AAAAAAAAAAAAAAAAAAAAAA") }
            case .otherRelyingParty: copy.authenticator.changes.authenticatorData = { $0[0] ^= 1 }
            case .absentUser: copy.authenticator.flags.remove(.userPresent)
            case .noVerification: copy.authenticator.flags.remove(.userVerified)
            case .wrongSignature: copy.authenticator.changes.signature = { $0[$0.count - 1] ^= 1 }
            case .copiedKey: copy.authenticator.changes.authenticatorData = { $0[36] = 1 }
            case .otherUsersHandle:
                copy.authenticator.changes.response = {
                    $0 = $0.with("response", ($0["response"] ?? [:]).with("userHandle", "b3RoZXI"))
                }
            }
            try expectRefusal(try await Self.finish(client, copy.sign(Self.start(client))), 400, "invalid_grant")
            let events = try await server.engine.systemLog(SystemLogQuery(since: .distantPast, typePrefix: "", limit: 1_000)).events
            if let reason = attack.reason {
                #expect(events.contains { $0.outcome != .success && $0.reason?.contains(reason) == true }, "\(events.map(\.reason))")
            }
            // The true passkey still signs in.
            scene.authenticator = copy.authenticator
            scene.authenticator.changes = .init()
            scene.authenticator.flags = [.userPresent, .userVerified]
            #expect(try await Self.finish(client, scene.sign(Self.start(client))).status == 200)
        }
    }

    @Test("If the policy only signals a counter that goes back, the sign-in succeeds, and the system log has a warning")
    func signalledCounter() async throws {
        try await PushServer.with(PushOrganization(passkeys: PasskeyPolicy(counter: .signal))) { server in
            var scene = try await Scene(server, isSynced: false)
            let client = DirectClient(server)
            #expect(try await Self.finish(client, scene.sign(Self.start(client))).status == 200)
            scene.authenticator.changes.authenticatorData = { $0[36] = 1 }
            #expect(try await Self.finish(client, scene.sign(Self.start(client))).status == 200)
            #expect(try await server.logged("user.mfa.webauthn.counter") == 1)
        }
    }

    @Test("A challenge of another client and a challenge after five minutes are refused, and a repeated request gets the open challenge")
    func challenges() async throws {
        try await PushServer.with(Self.organization) { server in
            var scene = try await Scene(server)
            let client = DirectClient(server)
            let signed = try await scene.sign(Self.start(client))
            try expectRefusal(try await Self.finish(DirectClient(server, id: "easy-app"), signed), 400, "invalid_grant")
            server.clock.advance(by: 301)
            try expectRefusal(try await Self.finish(client, signed), 400, "invalid_grant")
            let token = try await client.mfaToken()
            let first = try await client.post("primary-authenticate", ["mfa_token": token, "challenge_hint": PushOrganization.webAuthn])
            let second = try await client.post("primary-authenticate", ["mfa_token": token, "challenge_hint": PushOrganization.webAuthn])
            #expect(try first.json["publicKey"] == second.json["publicKey"])
            #expect(try await Self.finishSecond(client, token, scene.sign(second)).status == 200)
        }
    }

    @Test("After a wrong answer, the sign-in is over, for a known and an unknown user alike")
    func over() async throws {
        try await PushServer.with(Self.organization) { server in
            var scene = try await Scene(server)
            let client = DirectClient(server)
            for login in [PushOrganization.jane, "unknown@example.com"] {
                let started = try await Self.start(client, login)
                #expect(try started.json["publicKey"]?["userVerification"] == "required")
                scene.authenticator.changes.signature = { $0[$0.count - 1] ^= 1 }
                let wrong = try scene.sign(started)
                scene.authenticator.changes = .init()
                let before = try await server.logged("user.authentication.webauthn")
                try expectRefusal(try await Self.finish(client, wrong), 400, "invalid_grant")
                #expect(try await server.logged("user.authentication.webauthn") == before + 1)
                try expectRefusal(try await Self.finish(client, try scene.sign(started)), 400, "invalid_grant")
                #expect(try await server.logged("user.authentication.webauthn") == before + 1)
            }
        }
    }

    @Test("A passkey of one user does not sign another user in")
    func otherUser() async throws {
        try await PushServer.with(Self.organization) { server in
            var janes = try await Scene(server)
            var johns = janes
            johns.authenticator = SoftwareAuthenticator()
            try await johns.register(PushOrganization.john)
            let client = DirectClient(server)
            try expectRefusal(try await Self.finish(client, johns.sign(Self.start(client))), 400, "invalid_grant")
            try expectRefusal(
                try await Self.finish(client, janes.sign(Self.start(client, PushOrganization.john))), 400, "invalid_grant")
        }
    }

    @Test("A policy that requires a phishing-resistant factor accepts a passkey only, and phr and phrh are met by the fitting passkeys")
    func phishingResistant() async throws {
        try await PushServer.with(Self.organization) { server in
            var scene = try await Scene(server)
            let strict = DirectClient(server, id: "passkey-app")
            let asked = try await strict.password()
            #expect(try asked.json["supported_challenge_types"] == .string(PushOrganization.secondFactorWebAuthn))
            #expect(try await Self.finish(strict, scene.sign(Self.start(strict))).status == 200)
            let easy = DirectClient(server, id: "easy-app", additional: ["acr_values": "phr"])
            let tokens = try await IssuedTokens(Self.finish(easy, scene.sign(Self.start(easy))), keysFrom: easy.base, server.wire)
            #expect(tokens.idToken["acr"] == "phr")
            // A synced passkey is not protected by the hardware of one device.
            let hardware = DirectClient(server, id: "easy-app", additional: ["acr_values": "phrh"])
            try expectRefusal(
                try await Self.finish(hardware, scene.sign(Self.start(hardware))), 400, "unmet_authentication_requirements")
            try expectRefusal(
                try await DirectClient(server, id: "easy-app", additional: ["acr_values": "phr"]).post(
                    "token",
                    [
                        "grant_type": "password", "username": PushOrganization.john, "password": PushOrganization.johnsPassword,
                        "scope": "openid",
                    ]), 400, "unmet_authentication_requirements")
        }
    }

    @Test("A request with values that are not base64, are too long or are missing gets invalid_request, and standard base64 is accepted")
    func encodings() async throws {
        try await PushServer.with(Self.organization) { server in
            var scene = try await Scene(server)
            let client = DirectClient(server)
            let signed = try await scene.sign(Self.start(client))
            for name in ["clientDataJSON", "authenticatorData", "signature"] {
                for value in ["!", String(repeating: "A", count: 20_000), ""] {
                    let response = try await Self.finish(client, signed.merging([name: value]) { $1 })
                    #expect(response.status == 400, "\(name) \(value.prefix(5))")
                }
            }
            let standard = try signed.mapValues { Data(try Base64URL.decode($0)).base64EncodedString() }
            #expect(try await Self.finish(client, standard).status == 200)
        }
    }

    @Test("Without the section passkeys, the endpoints refuse a passkey as an authenticator that cannot be used")
    func off() async throws {
        try await PushServer.with(PushOrganization()) { server in
            try expectRefusal(try await Self.start(DirectClient(server)), 403, "access_denied")
        }
    }
}

extension JSONValue {
    /// Returns the object with another value of a member.
    fileprivate func with(_ name: String, _ value: JSONValue) -> JSONValue {
        .object((objectValue ?? [:]).merging([name: value]) { $1 })
    }
}
