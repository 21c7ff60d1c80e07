import CountersignSandbox
import Delivery
import Foundation
import JOSE
import TestSupport
import Testing

/// Tests `POST /sandbox/reset` between two tests that share a sandbox.
@Suite("Resetting the sandbox", .timeLimit(.minutes(10)))
struct ResetTests {
    /// One sandbox in memory, and one in a folder with SQLite.
    enum Kept: String, CaseIterable, Sendable {
        case inMemory, inFolder
    }

    private func withSandbox(_ kept: Kept, _ body: (Sandbox) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        var configuration = Sandbox.Configuration(clock: SandboxClock(.standing))
        if kept == .inFolder { configuration.folder = folder.url }
        try await EndToEndTests.withSandbox(configuration, body)
    }

    private func reset(_ sandbox: Sandbox) async throws {
        let answer = try await sandbox.control("POST", "reset")
        #expect(answer.status == 200, "\(answer.text)")
    }

    @Test("A reset unlocks a user whom wrong passwords locked", arguments: Kept.allCases)
    func lockout(_ kept: Kept) async throws {
        try await withSandbox(kept) { sandbox in
            for _ in 0..<12 { _ = try await sandbox.passwordGrant("jane.doe@example.com", "wrong") }
            #expect(try await sandbox.passwordGrant().status == 400, "Jane is not locked, so this test proves nothing.")
            try await reset(sandbox)
            let answer = try await sandbox.passwordGrant()
            #expect(answer.status == 200, "\(answer.text)")
        }
    }

    @Test("A reset removes phones, on the server and in the sandbox", arguments: Kept.allCases)
    func phones(_ kept: Kept) async throws {
        try await withSandbox(kept) { sandbox in
            #expect(try await sandbox.control("POST", "phones", ["login": "jane.doe@example.com"]).status == 200)
            try await reset(sandbox)
            #expect(try await sandbox.control("GET", "phones").json == ["phones": []])
            #expect(sandbox.allPhones.isEmpty)
            // The user has no factor left, so the server offers none.
            let answer = try await sandbox.token([
                "grant_type": "password", "client_id": "directauth-app", "username": "jane.doe@example.com", "password": "Correct-Horse-7",
                "scope": "openid",
            ])
            #expect(answer.json["mfa_token"] == nil, "\(answer.text)")
            // The same phone can be enrolled again.
            let again = try await sandbox.control("POST", "phones", ["login": "jane.doe@example.com"])
            #expect(again.status == 200, "\(again.text)")
        }
    }

    @Test("A reset ends browser sessions and revokes every token", arguments: Kept.allCases)
    func sessionsAndTokens(_ kept: Kept) async throws {
        try await withSandbox(kept) { sandbox in
            let tokens = try await sandbox.passwordGrant().json
            let session = try await sandbox.send(
                "POST", "/api/v1/sessions",
                Data(
                    (["sessionToken": .string(try #require(try await sandbox.sessionToken(for: "jane.doe@example.com")))] as JSONValue)
                        .serialized()),
                headers: ["Content-Type": "application/json"])
            let cookie = try #require(session.header("Set-Cookie")?.prefix { $0 != ";" }, "\(session.text)")
            let query =
                "client_id=browser-app&response_type=code&scope=openid&prompt=none&state=s&redirect_uri=com.example.app:/callback"
                + "&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256"
            func arrival() async throws -> String {
                let answer = try await sandbox.send(
                    "GET", "/oauth2/default/v1/authorize?" + query, headers: ["Cookie": String(cookie)])
                return answer.header("Location") ?? answer.text
            }
            #expect(try await arrival().contains("code="))
            try await reset(sandbox)
            let refreshed = try await sandbox.token([
                "grant_type": "refresh_token", "client_id": "password-app", "refresh_token": tokens["refresh_token"]?.stringValue ?? "",
            ])
            #expect(refreshed.status == 400 && refreshed.json["error"] == "invalid_grant", "\(refreshed.text)")
            let userInfo = try await sandbox.send(
                "GET", "/oauth2/default/v1/userinfo",
                headers: ["Authorization": "Bearer \(tokens["access_token"]?.stringValue ?? "")"])
            #expect(userInfo.status == 401)
            let location = try await arrival()
            #expect(location.contains("error=login_required"), "\(location)")
        }
    }

    @Test("A reset restores passwords, users, factors and the signing key")
    func accounts() async throws {
        try await withSandbox(.inMemory) { sandbox in
            let keys = try await sandbox.send("GET", "/oauth2/default/v1/keys").text
            #expect(
                try await sandbox.control("POST", "users", ["login": "jane.doe@example.com", "password": "Another-Horse-8"]).status == 200)
            #expect(try await sandbox.control("POST", "users", ["login": "new@example.com", "password": "First-Password-1"]).status == 200)
            #expect(try await sandbox.control("POST", "authenticator-apps", ["login": "john.roe@example.com"]).status == 200)
            try await sandbox.rotateKeys()
            try await reset(sandbox)
            #expect(try await sandbox.passwordGrant().status == 200)
            #expect(try await sandbox.passwordGrant("new@example.com", "First-Password-1").status == 400)
            #expect(try await sandbox.control("GET", "authenticator-apps").json == ["authenticator_apps": []])
            #expect(try await sandbox.send("GET", "/oauth2/default/v1/keys").text == keys)
        }
    }

    @Test("A reset clears message counts, faults of the outbox and the push gateway, and clock changes")
    func counters() async throws {
        let start = Date(timeIntervalSince1970: 1_750_000_000)
        try await EndToEndTests.withSandbox(.init(clock: SandboxClock(.standing, startingAt: start))) { sandbox in
            func askForMail() async throws -> Answer {
                try await sandbox.send(
                    "POST", "/api/v1/authn/recovery/password",
                    Data((["username": "jane.doe@example.com", "factorType": "EMAIL"] as JSONValue).serialized()),
                    headers: ["Content-Type": "application/json"])
            }
            sandbox.outbox.fail(with: .refused(reason: "test"))
            sandbox.pushGateway.misbehave(.dropConnection, times: 5)
            for _ in 0..<3 { _ = try await askForMail() }
            sandbox.advance(by: 100 * 86_400)
            try await reset(sandbox)
            #expect(sandbox.clock.now == start)
            let answer = try await askForMail()
            #expect(answer.status == 200, "\(answer.text)")
            let mail = try await sandbox.outbox.next(to: "jane.doe@example.com", by: .mail)
            #expect(mail.link != nil || mail.code != nil)
            #expect(try await sandbox.passwordGrant().status == 200)
            #expect(sandbox.pushGateway.received.isEmpty)
        }
    }

    @Test("A reset works after a user that could not be added")
    func afterRefusedUser() async throws {
        try await withSandbox(.inMemory) { sandbox in
            #expect(try await sandbox.control("POST", "users", ["login": "short@example.com", "password": "x"]).status == 400)
            #expect(
                try await sandbox.control("POST", "users", ["login": "fine@example.com", "password": "First-Password-1"]).status == 200)
            try await reset(sandbox)
            #expect(sandbox.users.map(\.login) == ["jane.doe@example.com", "john.roe@example.com"])
        }
    }

    @Test("Requests during a reset never meet a half-empty organization")
    func concurrentRequests() async throws {
        try await withSandbox(.inMemory) { sandbox in
            try await withThrowingTaskGroup(of: Int.self) { group in
                for index in 0..<30 {
                    group.addTask {
                        if index % 10 == 5 { return try await sandbox.control("POST", "reset").status }
                        return try await sandbox.passwordGrant().status
                    }
                }
                for try await status in group { #expect(status < 500) }
            }
        }
    }

    private typealias Answer = Sandbox.Answer
}
