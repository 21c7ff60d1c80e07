import Foundation
import IdentityCore
import JOSE
import TestSupport
import Testing

/// An attacker who sends raw requests without any proof, to learn which user names have an account.
@Suite("Attacks: account enumeration")
struct AccountEnumerationAttacks {
    static let unknown = "unknown@example.com"

    /// The parts of a response that the attacker can compare: the status, the names of the headers, and the body without random values.
    private struct Visible: Hashable {
        let status: Int
        let headers: Set<String>
        let body: JSONValue?

        init(_ response: WireResponse) {
            status = response.status
            headers = Set(response.headers.map { $0.name.lowercased() })
            var members = (try? response.json)?.objectValue
            for name in ["errorId", "stateToken", "_links"] { members?[name] = nil }
            body = members.map(JSONValue.object)
        }

        func hash(into hasher: inout Hasher) { hasher.combine(status) }
    }

    @Test(
        "The primary-authenticate endpoint returns the same response for a user who is not assigned to the client and for an unknown user name",
        arguments: ["push", "sms", "voice"])
    func unassigned(channel: String) async throws {
        try await PushServer.with { server in
            _ = try await server.enroll()
            try await server.give(.sms, "+15551234821")
            try await server.give(.voice, "+15551234821")
            let client = DirectClient(server, id: "staff-app")
            let own = try await client.primary(["channel_hint": channel])
            try expectRefusal(own, 403, "access_denied")
            #expect(try await Visible(client.primary(["channel_hint": channel, "login_hint": Self.unknown])) == Visible(own))
        }
    }

    @Test(
        "The primary-authenticate endpoint returns the same response for a user denied by the sign-on policy and for an unknown user name",
        arguments: ["push", "sms", "voice"])
    func deniedByPolicy(channel: String) async throws {
        try await PushServer.with { server in
            _ = try await server.enroll()
            try await server.give(.sms, "+15551234821")
            try await server.give(.voice, "+15551234821")
            let client = DirectClient(server, id: "denying-app")
            let own = try await client.primary(["channel_hint": channel])
            try expectRefusal(own, 403, "access_denied")
            #expect(try await Visible(client.primary(["channel_hint": channel, "login_hint": Self.unknown])) == Visible(own))
        }
    }

    @Test(
        "If a client denies a user who exceeded the push limit, primary-authenticate returns the same response as for an unknown user name")
    func flooded() async throws {
        try await PushServer.with { server in
            _ = try await server.enroll()
            for _ in 0..<5 { _ = try await DirectClient(server).begin() }
            for client in ["staff-app", "denying-app"].map({ DirectClient(server, id: $0) }) {
                let own = try await client.primary()
                try expectRefusal(own, 403, "access_denied")
                #expect(try await Visible(client.primary(["login_hint": Self.unknown])) == Visible(own))
            }
        }
    }

    @Test("The backchannel endpoint returns the same response for a user who is not assigned to the client and for an unknown user name")
    func backchannel() async throws {
        try await PushServer.with { server in
            _ = try await server.enroll(.init(transactionTypes: ["LOGIN", "CIBA"]))
            let desk = BackchannelClient(server, .staffDesk)
            let own = try await desk.authorize()
            try expectRefusal(own, 400, "unknown_user_id")
            #expect(try await Visible(desk.authorize(["login_hint": Self.unknown])) == Visible(own))
        }
    }

    /// An endpoint that accepts a user name from an unauthenticated caller.
    enum Door: String, CaseIterable, Sendable, CustomTestStringConvertible {
        case password, passwordElsewhere, code, push, text, call, backchannel, classic, recoveryByMail, recoveryByText, unlock

        var testDescription: String { rawValue }

        func send(_ login: String, to server: PushServer) async throws -> WireResponse {
            let direct = DirectClient(server, id: "easy-app")
            let wrong = ["grant_type": "password", "username": login, "password": "wrong", "scope": "openid"]
            let classic = ClassicClient(server)
            func recover(_ path: String, _ channel: String) async throws -> WireResponse {
                try await classic.post("/recovery/\(path)", ["username": .string(login), "factorType": .string(channel)])
            }
            switch self {
            case .password: return try await direct.post("token", wrong)
            case .passwordElsewhere: return try await DirectClient(server, id: "staff-app").post("token", wrong)
            case .code:
                return try await direct.post(
                    "token", ["grant_type": PushOrganization.otp, "login_hint": login, "otp": "000000", "scope": "openid"])
            case .push: return try await DirectClient(server, id: "staff-app").primary(["login_hint": login])
            case .text: return try await DirectClient(server, id: "staff-app").primary(["login_hint": login, "channel_hint": "sms"])
            case .call: return try await DirectClient(server, id: "staff-app").primary(["login_hint": login, "channel_hint": "voice"])
            case .backchannel: return try await BackchannelClient(server, .staffDesk).authorize(["login_hint": login])
            case .classic: return try await classic.signIn(login, "wrong")
            case .recoveryByMail: return try await recover("password", "EMAIL")
            case .recoveryByText: return try await recover("password", "SMS")
            case .unlock: return try await recover("unlock", "EMAIL")
            }
        }
    }

    @Test(
        "A request with a user name but no valid credential causes the same store writes and user lookups for known and unknown users",
        arguments: Door.allCases)
    func sameWork(door: Door) async throws {
        let classic = ClassicPolicy(signOnPolicy: "one factor", recovery: [.email, .sms], unlocksBySelfService: true)
        let store = MeteredStore()
        try await PushServer.with(PushOrganization(classic: classic), store: store) { server in
            var works: Set<[String: Int]> = []
            for login in [PushOrganization.john, "suspended@example.com", PushOrganization.newcomer, Self.unknown, "none@example.com"] {
                // The first failure of an unknown name inserts a record. Later failures replace the record.
                _ = try await DirectClient(server, id: "easy-app").password(["username": login, "password": "wrong"])
                _ = store.take()
                _ = try await door.send(login, to: server)
                // Store maintenance of the server runs concurrently and is not part of the request.
                works.insert(
                    store.take().filter {
                        $0.key.hasPrefix("put ") || $0.key.hasPrefix("issue ")
                            || $0.key == "records user by login"
                            // Only authenticated clients can call the backchannel endpoint, which reads enrollments of existing users only.
                            || $0.key == "records enrollment by user" && door != .backchannel
                    })
            }
            #expect(works.count == 1, "\(works)")
            #expect(works.first?["put logEvent"] ?? 0 >= 1)
        }
    }

    @Test(
        "Every endpoint that accepts a user name returns the same response for active, suspended, staged and unknown users",
        arguments: Door.allCases)
    func everyDoor(door: Door) async throws {
        let classic = ClassicPolicy(signOnPolicy: "one factor", recovery: [.email, .sms], unlocksBySelfService: true)
        try await PushServer.with(PushOrganization(classic: classic)) { server in
            _ = try await server.enroll(.init(transactionTypes: ["LOGIN", "CIBA"]))
            try await server.give(.sms, "+15551234821")
            var answers: Set<Visible> = []
            for login in [
                PushOrganization.jane, PushOrganization.john, "suspended@example.com", PushOrganization.newcomer, Self.unknown,
            ] {
                answers.insert(Visible(try await door.send(login, to: server)))
            }
            #expect(answers.count == 1, "\(answers)")
        }
    }
}
