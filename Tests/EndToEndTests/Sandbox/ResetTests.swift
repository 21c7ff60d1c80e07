import CountersignSandbox
import Delivery
import Foundation
import JOSE
import TestSupport
import Testing

/// Tests `POST /sandbox/reset` between two tests that share a sandbox.
@Suite("Resetting the sandbox", .timeLimit(.minutes(10)))
struct ResetTests {
    /// The place where a sandbox stores its data: memory, or a folder with SQLite.
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

    @Test("A reset of the sandbox unlocks a user that wrong passwords have locked", arguments: Kept.allCases)
    func lockout(_ kept: Kept) async throws {
        try await withSandbox(kept) { sandbox in
            for _ in 0..<12 { _ = try await sandbox.passwordGrant("jane.doe@example.com", "wrong") }
            #expect(try await sandbox.passwordGrant().status == 400, "Jane is not locked, so this test proves nothing.")
            try await reset(sandbox)
            let answer = try await sandbox.passwordGrant()
            #expect(answer.status == 200, "\(answer.text)")
        }
    }

    @Test("A reset of the sandbox removes the virtual phones and their enrollments at the server", arguments: Kept.allCases)
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

    @Test("A reset of the sandbox ends browser sessions and revokes access tokens and refresh tokens", arguments: Kept.allCases)
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

    @Test("A reset of the sandbox restores passwords, users, factors and the signing key")
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

    @Test("A reset of the sandbox clears message counts, faults of the outbox, and clock changes")
    func counters() async throws {
        let start = Date(timeIntervalSince1970: 1_750_000_000)
        try await EndToEndTests.withSandbox(.init(clock: SandboxClock(.standing, startingAt: start))) { sandbox in
            func askForMail() async throws -> Answer {
                try await sandbox.send(
                    "POST", "/api/v1/authn/recovery/password",
                    Data((["username": "jane.doe@example.com", "factorType": "EMAIL"] as JSONValue).serialized()),
                    headers: ["Content-Type": "application/json"])
            }
            func push() async throws {
                _ = try await sandbox.phone(for: SandboxUser.jane.login)
                let waiting = try await PushSignIn(sandbox).begin()
                defer { waiting.cancel() }
                while sandbox.pushGateway.received.isEmpty { await Task.yield() }
            }
            try await push()
            sandbox.pushGateway.misbehave(.answer(status: 410, reason: "Unregistered"), times: 5)
            // The server sends four recovery mails per hour.
            for _ in 0..<4 {
                sandbox.outbox.fail(with: .refused(reason: "test"))
                _ = try await askForMail()
                sandbox.advance(by: 10)
            }
            sandbox.outbox.fail(with: .refused(reason: "test"))
            sandbox.advance(by: 100 * 86_400)
            try await reset(sandbox)
            #expect(sandbox.clock.now == start)
            let answer = try await askForMail()
            #expect(answer.status == 200, "\(answer.text)")
            let mail = try await sandbox.outbox.next(to: "jane.doe@example.com", by: .mail)
            #expect(mail.link != nil || mail.code != nil)
            #expect(try await sandbox.passwordGrant().status == 200)
            #expect(sandbox.pushGateway.received.isEmpty)
            try await push()
            #expect(sandbox.pushGateway.received.map(\.status) == [200])
        }
    }

    @Test("A reset of the sandbox succeeds after the control API has rejected an invalid user")
    func afterRefusedUser() async throws {
        try await withSandbox(.inMemory) { sandbox in
            #expect(try await sandbox.control("POST", "users", ["login": "short@example.com", "password": "x"]).status == 400)
            #expect(
                try await sandbox.control("POST", "users", ["login": "fine@example.com", "password": "First-Password-1"]).status == 200)
            try await reset(sandbox)
            #expect(sandbox.users.map(\.login) == ["jane.doe@example.com", "john.roe@example.com"])
        }
    }

    @Test("Requests during a reset of the sandbox never get a 5xx response")
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
