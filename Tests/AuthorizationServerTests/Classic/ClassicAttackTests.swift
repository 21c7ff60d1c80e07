import Foundation
import IdentityCore
import JOSE
import TestSupport
import Testing

/// Attacks with raw requests: the server rejects each of them, and the system log records it.
@Suite("Attacks on the classic API")
struct ClassicAttackTests {
    private static let portal = "a-token-of-the-portal-0123456789"
    private static let noted = "security.request.refused"

    private static func with(
        _ policy: ClassicPolicy = ClassicPolicy(signOnPolicy: "two factors"), limits: RateLimits? = nil,
        _ body: @Sendable (ClassicClient, PushServer) async throws -> Void
    ) async throws {
        var policy = policy
        policy.trustedCallers = [.init(name: "portal", token: portal, gateways: ["127.0.0.1"])]
        var organization = PushOrganization(classic: policy)
        if let limits { organization.rateLimits = limits }
        try await PushServer.with(organization) { server in try await body(ClassicClient(server), server) }
    }

    /// Returns a client whose requests come from an address, through a trusted caller.
    private static func client(_ server: PushServer, at address: String) -> ClassicClient {
        ClassicClient(server, headers: [("Authorization", "SSWS \(portal)"), ("X-Forwarded-For", address)])
    }

    private static func jane(_ server: PushServer) async throws -> String {
        try #require(try await server.engine.user(login: PushOrganization.jane)?.id)
    }

    private static func telephone(_ server: PushServer) async throws -> String {
        let number = try #require(PhoneNumber("+49 30 5550123"))
        return try #require(
            try await server.engine.grantCodeFactor(
                .sms, to: CodeDestination(number), userID: try await jane(server),
                context: RequestContext(now: server.clock.now, requestID: "grant")))
    }

    private static func log(_ server: PushServer, _ type: String = noted) async throws -> [LogEvent] {
        try await server.engine.systemLog(SystemLogQuery(since: .distantPast, typePrefix: type, limit: 1_000)).events
    }

    @Test(
        "The classic API rejects consumed, cancelled and forged state tokens and MFA tokens, and the system log limits repeated events",
        .onOneServer)
    func replayedTokens() async throws {
        try await Self.with { client, server in
            let app = try await client.app()
            let finished = try await client.begin()
            let verify = try finished.factor("token:software:totp")["_links"]?["verify"]
            let code: [String: JSONValue] = ["passCode": .string(app.code())]
            #expect(try ClassicStatus(try await client.follow(verify, of: finished, code)).name == "SUCCESS")
            let cancelled = try await client.begin()
            #expect(try await client.follow(cancelled.links["cancel"], of: cancelled).status == 200)
            let ofPages = try await DirectClient(server).mfaToken()
            server.clock.advance(by: 30)
            let tokens = [try #require(finished.token), try #require(cancelled.token), "00made-up", ofPages]
            let right: JSONValue = .string(app.code())
            for token in tokens {
                for path in ["", "/factors/\(app.id)/verify", "/skip", "/previous", "/cancel"] {
                    let body: JSONValue = ["stateToken": .string(token), "passCode": right]
                    try expectClassicRefusal(try await client.post(path, body), 401, "E0000011")
                }
            }
            let events = try await Self.log(server)
            // The log keeps ten events of a kind per minute and address; the last one says that more are not logged.
            #expect(events.count == 10)
            #expect(events.allSatisfy { $0.outcome == .denied && $0.address == "127.0.0.1" && $0.reason?.contains("E0000011") == true })
            #expect(events.count { $0.reason?.hasSuffix("more of these are not noted in this minute") == true } == 1)
            #expect(events.last?.reason?.hasSuffix("more of these are not noted in this minute") == true)
            // Requests from another address are still logged.
            let other = Self.client(server, at: "198.51.100.7")
            try expectClassicRefusal(try await other.post("/skip", ["stateToken": "00made-up"]), 401, "E0000011")
            #expect(try await Self.log(server).last?.address == "198.51.100.7")
        }
    }

    @Test("A sign-in cannot verify, resend or activate another user's factor, and each attempt is logged")
    func foreignFactor() async throws {
        try await Self.with { client, server in
            _ = try await client.app()
            let johns = try await client.app(PushOrganization.john)
            let status = try await client.begin()
            let body: JSONValue = ["stateToken": .string(try #require(status.token)), "passCode": .string(johns.code())]
            for path in ["/verify", "/verify/resend"] {
                try expectClassicRefusal(try await client.post("/factors/\(johns.id)\(path)", body), 404, "E0000007")
            }
            try expectClassicRefusal(try await client.post("/factors/\(johns.id)/lifecycle/activate", body), 403, "E0000079", causes: 1)
            let jane = try await Self.jane(server)
            let events = try await Self.log(server)
            #expect(events.map(\.userID) == [jane, jane, jane])
            #expect(
                Set(events.compactMap(\.reason)) == [
                    "authn/factors/{id}/verify: E0000007, authn: unknown factor",
                    "authn/factors/{id}/verify/resend: E0000007, authn: unknown factor",
                    "authn/factors/{id}/lifecycle/activate: E0000079, authn: not in MFA_REQUIRED",
                ])
        }
    }

    @Test("Skip, password, recovery and session requests cannot bypass a required factor or enrollment")
    func skippedFactor() async throws {
        try await Self.with { client, server in
            func refused(_ status: ClassicStatus) async throws {
                let token: JSONValue = .string(try #require(status.token))
                let bodies: [(String, [String: JSONValue])] = [
                    ("/skip", [:]), ("/credentials/change_password", ["oldPassword": "Correct-Horse-7", "newPassword": "Another-Horse-8"]),
                    ("/credentials/reset_password", ["newPassword": "Another-Horse-8"]), ("/recovery/answer", ["answer": "x"]),
                    ("/recovery/factors/sms/verify", ["passCode": "123456"]), ("/recovery/factors/sms/resend", [:]),
                ]
                for (path, body) in bodies {
                    let answer = try await client.post(path, .object(body.merging(["stateToken": token]) { $1 }))
                    try expectClassicRefusal(answer, 403, "E0000079", causes: 1)
                }
                let sessions = try await server.wire.call(
                    "POST", "/api/v1/sessions", headers: [("Content-Type", "application/json")],
                    body: JSONValue.object(["sessionToken": token]).serialized())
                #expect(sessions.status == 401)
                #expect(try ClassicStatus(try await client.post("", ["stateToken": token])).name == status.name)
            }
            let unequipped = try await client.begin()
            try #require(unequipped.name == "MFA_ENROLL")
            try await refused(unequipped)
            server.clock.advance(by: 60)
            _ = try await client.app()
            let asked = try await client.begin()
            try #require(asked.name == "MFA_REQUIRED")
            let enroll: JSONValue = [
                "stateToken": .string(try #require(asked.token)), "factorType": "token:software:totp", "provider": "GOOGLE",
            ]
            try expectClassicRefusal(try await client.post("/factors", enroll), 403, "E0000079", causes: 1)
            try await refused(asked)
            let jane = try await Self.jane(server)
            let events = try await Self.log(server)
            let steps = events.filter { $0.reason?.contains("E0000079") == true }
            #expect(steps.count == 13 && steps.allSatisfy { $0.userID == jane })
            #expect(events.count { $0.reason?.hasPrefix("sessions: E0000011") == true } == 2)
        }
    }

    @Test("Wrong codes from several sign-ins and addresses count together and lock the account", arguments: [true, false])
    func bruteForce(isSent: Bool) async throws {
        try await Self.with { _, server in
            let home = ClassicClient(server)
            let app = isSent ? nil : try await home.app()
            let factor = if let app { app.id } else { try await Self.telephone(server) }
            for number in 1...5 {
                let client = Self.client(server, at: "198.51.100.\(number)")
                let status = try await client.begin()
                try #require(status.name == "MFA_REQUIRED", "\(number)")
                if isSent {
                    server.clock.advance(by: 31)
                    let asked = try await client.follow(try status.factor("sms")["_links"]?["verify"], of: status)
                    #expect(try ClassicStatus(asked).name == "MFA_CHALLENGE")
                }
                let guess: JSONValue = ["stateToken": .string(try #require(status.token)), "passCode": .string(app?.wrongCode ?? "123456")]
                let answer = try await client.post("/factors/\(factor)/verify", guess)
                // A guess is correct with a probability of one in a million.
                if number < 5 {
                    try expectClassicRefusal(answer, 403, "E0000068", causes: 1)
                } else {
                    try expectClassicRefusal(answer, 403, "E0000069")
                }
            }
            // The correct password is rejected too, so an attacker learns nothing from a sixth guess.
            try expectClassicRefusal(try await Self.client(server, at: "198.51.100.6").signIn(), 401, "E0000004")
            let failures = try await Self.log(server, "user.authentication.").filter {
                $0.outcome == .failure && $0.address?.hasPrefix("198.51.100.") == true
            }
            #expect(Set(failures.compactMap(\.address)).count >= 5)
            #expect(try await server.logged("user.account.lock") == 1)
        }
    }

    @Test("Sign-in and recovery attempts from one address are limited across user names, and rejections are logged", .onOneServer)
    func spraying() async throws {
        let limits = RateLimits(perClient: 1_000, perAddress: 1_000, perAddressSignIns: 5, perUser: 100)
        try await Self.with(limits: limits) { _, server in
            let client = Self.client(server, at: "198.51.100.7")
            for number in 0..<5 { try expectClassicRefusal(try await client.signIn("user\(number)@example.com", "x"), 401, "E0000004") }
            try expectClassicRefusal(try await client.signIn(), 429, "E0000047")
            try expectClassicRefusal(
                try await client.post("/recovery/password", ["username": "user9@example.com", "factorType": "SMS"]), 429, "E0000047")
            #expect(try await Self.client(server, at: "198.51.100.8").signIn().status == 200)
            #expect(try await Self.log(server).map(\.address) == ["198.51.100.7", "198.51.100.7"])
        }
    }

    @Test(
        "Recovery and unlock responses are the same for active, locked, suspended and unknown accounts", arguments: ["password", "unlock"])
    func enumeration(operation: String) async throws {
        let policy = ClassicPolicy(
            signOnPolicy: "two factors", recovery: [.sms, .voice, .email], unlocksBySelfService: true)
        try await Self.with(policy) { client, server in
            _ = try await Self.telephone(server)
            for _ in 0..<5 { _ = try await client.signIn(PushOrganization.john, "wrong") }
            let names = [PushOrganization.jane, PushOrganization.john, "suspended@example.com", "unknown@example.com"]
            for way in ["SMS", "CALL", "EMAIL"] {
                server.clock.advance(by: 60)
                var answers: Set<String> = []
                for name in names {
                    func ask() async throws -> WireResponse {
                        try await client.post("/recovery/\(operation)", ["username": .string(name), "factorType": .string(way)])
                    }
                    /// Records a response without its random values, and returns its state token.
                    func note(_ response: WireResponse) throws -> JSONValue? {
                        let json = try response.json
                        let token = json["stateToken"]?.stringValue
                        var text = "\(way) \(response.status) \(response.body)"
                        for secret in [token, response["x-okta-request-id"]].compactMap({ $0 }) { text = text.replacing(secret, with: "…") }
                        answers.insert(text)
                        return json["stateToken"]
                    }
                    let token = try note(try await ask())
                    // Repeats the request at once, then sends wrong codes until the state token is invalid.
                    _ = try note(try await ask())
                    guard let token else { continue }
                    for _ in 0..<6 {
                        let guess: JSONValue = ["stateToken": token, "passCode": "123456"]
                        _ = try note(try await client.post("/recovery/factors/\(way)/verify", guess))
                    }
                }
                // The five answers are those to the start, over the rate limit, to a wrong code, to the last wrong code, and to the invalid
                // state token.
                #expect(answers.count == (way == "EMAIL" ? 2 : 5), "\(answers.sorted())")
            }
            let events = try await Self.log(server, "user.account.recovery")
            #expect(Set(events.compactMap(\.reason)).isSuperset(of: ["unknown user", "account is not open to it"]))
            #expect(events.contains { $0.outcome == .denied })
        }
    }

    @Test("Rejecting an unknown or suspended user takes at least a third of the time of rejecting a wrong password")
    func timing() async throws {
        var organization = PushOrganization()
        organization.passwordPolicy.scryptLogN = 14
        organization.passwordPolicy.lockoutAttempts = 0
        try await PushServer.with(organization) { server in
            let client = ClassicClient(server)
            var shortest: [String: Duration] = [:]
            for _ in 0..<5 {
                for name in [PushOrganization.jane, "unknown@example.com", "suspended@example.com"] {
                    let start = ContinuousClock.now
                    try expectClassicRefusal(try await client.signIn(name, "wrong"), 401, "E0000004")
                    shortest[name] = min(shortest[name] ?? .seconds(60), ContinuousClock.now - start)
                }
            }
            let known = try #require(shortest[PushOrganization.jane])
            // Without the password hash, a response would take about a fiftieth of the time.
            for (name, time) in shortest { #expect(time > known / 3, "\(name): \(time), \(known)") }
        }
    }

    @Test("Repeated sign-ins and resends send at most eight text messages per hour to a user")
    func flooding() async throws {
        try await Self.with { client, server in
            _ = try await Self.telephone(server)
            var refused: [String: Int] = [:]
            for _ in 0..<120 {
                let status = try await client.begin()
                let answer = try await client.follow(try status.factor("sms")["_links"]?["verify"], of: status)
                if answer.status == 200 {
                    try expectClassicRefusal(
                        try await client.follow(ClassicStatus(answer).links["resend"]?[0], of: status), 429, "E0000109")
                } else {
                    refused[try #require(try answer.json["errorCode"]?.stringValue), default: 0] += 1
                    #expect(answer.status == 429 && answer["Retry-After"] != nil)
                }
                server.clock.advance(by: 30)
            }
            // The server sends eight messages per hour, however many requests arrive.
            let sent = try await Self.log(server, "user.mfa.code.send").filter { $0.outcome == .success }
            #expect(sent.count == 8)
            #expect(refused == ["E0000047": 112])
            let noted = try await Self.log(server)
            #expect(
                noted.contains { $0.reason?.contains("E0000109") == true } && noted.contains { $0.reason?.contains("E0000047") == true })
        }
    }

    @Test("Repeated recovery requests send only four text messages and do not block codes for sign-ins")
    func recoveryFlooding() async throws {
        try await Self.with(ClassicPolicy(signOnPolicy: "two factors", recovery: [.sms])) { client, server in
            _ = try await Self.telephone(server)
            let status = try await client.begin()
            let verify = try status.factor("sms")["_links"]?["verify"]
            for round in 0..<60 {
                _ = try await client.post("/recovery/password", ["username": .string(PushOrganization.jane), "factorType": "SMS"])
                if round == 0 {
                    // The recovery's message does not delay the sign-in's code.
                    #expect(try ClassicStatus(try await client.follow(verify, of: status)).name == "MFA_CHALLENGE")
                }
                server.clock.advance(by: 31)
            }
            let sent = try await Self.log(server, "user.mfa.code.send").filter { $0.outcome == .success }.compactMap(\.reason)
            #expect(sent.count { $0 == "sms, recovery" } == 4)
            let again = try await client.begin()
            #expect(
                try ClassicStatus(try await client.follow(try again.factor("sms")["_links"]?["verify"], of: again)).name == "MFA_CHALLENGE")
            #expect(try await Self.log(server).contains { $0.reason?.contains("authn/recovery/password: E0000047") == true })
        }
    }

    @Test("The polls of a phone enrollment are limited to 60 per minute", .onOneServer)
    func enrollmentPolling() async throws {
        var organization = PushOrganization(classic: ClassicPolicy(signOnPolicy: "two factors"))
        organization.enrollsByTicket = true
        try await PushServer.with(organization) { server in
            let client = ClassicClient(server)
            let status = try await client.begin()
            let enroll: [String: JSONValue] = ["factorType": "push", "provider": "OKTA"]
            let waiting = try ClassicStatus(
                try await client.follow(try status.factor("push")["_links"]?["enroll"], of: status, enroll))
            #expect(waiting.next?["name"] == "poll")
            for _ in 0..<60 { #expect(try await client.follow(waiting.next, of: status).status == 200) }
            try expectClassicRefusal(try await client.follow(waiting.next, of: status), 429, "E0000047")
            server.clock.advance(by: 60)
            #expect(try await client.follow(waiting.next, of: status).status == 200)
        }
    }

    @Test("The push polls of a sign-in are limited to 60 per minute", .onOneServer)
    func polling() async throws {
        try await Self.with { client, server in
            _ = try await server.enroll()
            let status = try await client.begin()
            let waiting = try ClassicStatus(try await client.follow(try status.factor("push")["_links"]?["verify"], of: status))
            for _ in 0..<60 { #expect(try await client.follow(waiting.next, of: status).status == 200) }
            let refused = try await client.follow(waiting.next, of: status)
            try expectClassicRefusal(refused, 429, "E0000047")
            #expect(refused["Retry-After"] == "60")
            #expect(try await Self.log(server).compactMap(\.reason) == ["authn/factors/{id}/verify: E0000047, polls of one sign-in"])
            server.clock.advance(by: 60)
            #expect(try ClassicStatus(try await client.follow(waiting.next, of: status)).json["factorResult"] == "WAITING")
        }
    }
}
