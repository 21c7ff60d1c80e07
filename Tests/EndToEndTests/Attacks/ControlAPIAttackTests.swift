import CountersignSandbox
import Foundation
import JOSE
import TestSupport
import Testing

/// Malformed, oversized and hostile requests to `/sandbox/`.
@Suite("Attacks: the sandbox's control API", .timeLimit(.minutes(10)))
struct ControlAPIAttackTests {
    /// A call with a body that the sandbox must refuse, and a word of the reason.
    struct Bad: Sendable, CustomTestStringConvertible {
        var path: String
        var body: String
        var says: String

        init(_ path: String, _ body: String, says: String) { (self.path, self.body, self.says) = (path, body, says) }

        var testDescription: String { "\(path) \(body.prefix(80))" }
    }

    static let bad: [Bad] = [
        Bad("users", "", says: "JSON object"), Bad("users", "[]", says: "JSON object"), Bad("users", "{", says: "JSON object"),
        Bad("users", #"{"login": 5}"#, says: "login"), Bad("users", #"{"login": ""}"#, says: "login"), Bad("users", "{}", says: "login"),
        Bad("users", #"{"login": "a@example.com", "password": 12345678}"#, says: "password"),
        Bad("users", #"{"login": "a@example.com", "password": "short"}"#, says: "password"),
        Bad("users", #"{"login": "a@example.com", "password": "Long-Enough-1", "groups": ["No such group"]}"#, says: "No such group"),
        Bad("users", #"{"login": "a@example.com", "password": "Long-Enough-1", "groups": "Everyone"}"#, says: "groups"),
        Bad("users", #"{"login": "a@example.com", "password": "Long-Enough-1", "profile": []}"#, says: "profile"),
        Bad("users", #"{"login": "a@example.com", "password": "Long-Enough-1", "totp_secret": "not base 32!"}"#, says: "totp"),
        Bad("users", #"{"login": "a@example.com", "password": "Long-Enough-1", "status": "asleep"}"#, says: "status"),
        Bad("users", #"{"login": "a@example.com", "pasword": "Long-Enough-1"}"#, says: "pasword"),
        Bad("users", #"{"login": "a@example.com", "must_change_password": "yes"}"#, says: "must_change_password"),
        Bad("users", #"{"login": "nul\u0000@example.com", "password": "Long-Enough-1"}"#, says: "login"),
        Bad("users", #"{"login": "\#(String(repeating: "a", count: 400))@example.com", "password": "Long-Enough-1"}"#, says: "login"),
        Bad("applications", "{}", says: "id"),
        Bad("applications", #"{"id": "an-app"}"#, says: "sign_on_policy"),
        Bad("applications", #"{"id": "an-app", "sign_on_policy": "no such policy"}"#, says: "no such policy"),
        Bad("applications", #"{"id": "an-app", "sign_on_policy": "one-factor", "grant_types": ["magic"]}"#, says: "magic"),
        Bad("applications", #"{"id": "an-app", "sign_on_policy": "one-factor", "redirect_uri": "x:/y"}"#, says: "redirect_uri"),
        Bad(
            "applications", #"{"id": "an-app", "sign_on_policy": "one-factor", "redirect_uris": ["javascript:alert(1)"]}"#, says: "redirect"
        ),
        Bad("applications", #"{"id": ["x"], "sign_on_policy": "one-factor"}"#, says: "id"),
        Bad("applications", #"{"id": "an-app", "sign_on_policy": "one-factor", "secret": "${HOME}"}"#, says: "HOME"),
        Bad("activation-tokens", "{}", says: "login"),
        Bad("activation-tokens", #"{"login": "unknown@example.com"}"#, says: "unknown@example.com"),
        Bad("activation-tokens", #"{"login": "jane.doe@example.com"}"#, says: "jane.doe@example.com"),
        Bad("sign-out", #"{"login": ["x"]}"#, says: "login"), Bad("sign-out", #"{"login": "x", "tokens": 1}"#, says: "tokens"),
        Bad("clock", #"{"advance": "3600"}"#, says: "advance"), Bad("clock", #"{"advance": 1, "set": 2}"#, says: "advance"),
        Bad("faults", #"{"endpoint": "token", "effect": "status", "status": 503, "count": 1e300}"#, says: "count"),
        Bad("faults", #"{"endpoint": "token", "effect": "status", "status": 503, "often": 2}"#, says: "often"),
        Bad("faults", #"{"endpoint": "token", "effect": "content-type", "type": "text/html\r\nX-Evil: 1"}"#, says: "type"),
        Bad("phones", #"{"login": "jane.doe@example.com", "uri": 5}"#, says: "uri"),
        Bad("phones", #"{"login": "jane.doe@example.com", "uri": "https://evil.example.com"}"#, says: "code"),
        Bad("authenticator-apps", #"{"login": "jane.doe@example.com", "uri": "otpauth://hotp/x"}"#, says: "otpauth"),
        Bad("authenticator-apps", #"{"login": "jane.doe@example.com", "uri": 7}"#, says: "uri"),
        Bad("phones/jane.doe%40example.com/approve", #"{"id": 7}"#, says: "id"),
        Bad("phones/jane.doe%40example.com/approve", #"{"number": 42, "id": "x"}"#, says: "number"),
        Bad("phones/jane.doe%40example.com/deny", #"{"within": 1e300}"#, says: "within"),
        Bad("phones/jane.doe%40example.com/settings", #"{"offlin": true}"#, says: "offlin"),
    ]

    @Test("The sandbox's control API responds to invalid input with 400 and the reason, and changes no user, application or fault")
    func badInput() async throws {
        try await withSandbox { sandbox in
            _ = try await sandbox.phone(for: "jane.doe@example.com")
            let (users, applications) = (sandbox.users, sandbox.applications)
            for bad in Self.bad {
                let answer = try await sandbox.send(
                    "POST", "/sandbox/" + bad.path, Data(bad.body.utf8), headers: ["Content-Type": "application/json"])
                #expect(answer.status == 400, "\(bad.testDescription): \(answer.text)")
                #expect(answer.reason.contains(bad.says) && !answer.reason.isEmpty, "\(bad.testDescription): \(answer.text)")
            }
            #expect(sandbox.users == users && sandbox.applications == applications && sandbox.pendingFaults.isEmpty)
            let answer = try await sandbox.control("POST", "users", ["login": "good@example.com", "password": "Long-Enough-1"])
            #expect(answer.status == 200, "\(answer.text)")
        }
    }

    @Test("The sandbox's control API responds to an invalid outbox query with 400, and to a body beyond the size limit with 413")
    func queriesAndSizes() async throws {
        try await withSandbox { sandbox in
            for query in ["after=x", "after=", "after=99999999999999999999", "after=-1", "before=3"] {
                let answer = try await sandbox.send("GET", "/sandbox/outbox?" + query)
                #expect(answer.status == 400 && !answer.reason.isEmpty, "\(query): \(answer.text)")
            }
            let large = Data(#"{"login": "\#(String(repeating: "a", count: 4 << 20))"}"#.utf8)
            let answer = try await sandbox.send("POST", "/sandbox/users", large, headers: ["Content-Type": "application/json"])
            #expect(answer.status == 413 && !answer.reason.isEmpty, "\(answer.text)")
        }
    }

    @Test("A user name with control characters causes no 5xx response of the sandbox's control API")
    func inFolder() async throws {
        let folder = try TemporaryFolder()
        try await withSandbox(.init(folder: folder.url)) { sandbox in
            for login in [#"nul\u0000@example.com"#, #"line\u000a@example.com"#, #" @example.com"#] {
                let answer = try await sandbox.send(
                    "POST", "/sandbox/users", Data(#"{"login": "\#(login)", "password": "Long-Enough-1"}"#.utf8),
                    headers: ["Content-Type": "application/json"])
                #expect(answer.status == 400 && !answer.reason.isEmpty, "\(login): \(answer.text)")
            }
            #expect(sandbox.users.map(\.login) == ["jane.doe@example.com", "john.roe@example.com"])
        }
    }
}
