import CountersignSandbox
import Foundation
import JOSE
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("The sandbox's control API, over HTTP")
struct ControlAPITests {
    private func call(
        _ sandbox: Sandbox, _ method: String, _ path: String, _ body: JSONValue? = nil, origin: String? = nil, host: String? = nil
    ) async throws -> (status: Int, json: JSONValue) {
        var request = URLRequest(url: sandbox.origin.appending(path: "sandbox/\(path)"))
        request.httpMethod = method
        request.httpBody = body.map { Data($0.serialized()) }
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.setValue(origin, forHTTPHeaderField: "Origin")
        request.setValue(host, forHTTPHeaderField: "Host")
        let (data, response) = try await PlainHTTP.data(for: request)
        return (response.statusCode, try JSONValue(parsing: data))
    }

    @Test("The sandbox's control API can read, advance and set the clock, and rejects an unknown clock member with 400")
    func clock() async throws {
        let start = Date(timeIntervalSince1970: 1_750_000_000)
        try await withSandbox(.init(clock: SandboxClock(.standing, startingAt: start))) { sandbox in
            let read = try await call(sandbox, "GET", "clock")
            #expect(read.json == ["now": 1_750_000_000.0, "date": "2025-06-15T15:06:40Z", "mode": "standing"])
            let advanced = try await call(sandbox, "POST", "clock", ["advance": 90])
            #expect(advanced.json["date"] == "2025-06-15T15:08:10Z")
            _ = try await call(sandbox, "POST", "clock", ["set": 1_750_000_000])
            #expect(sandbox.clock.now == start)
            let wrong = try await call(sandbox, "POST", "clock", ["forward": 1])
            #expect(wrong.status == 400)
        }
    }

    static let spellings: [JSONValue] = [
        ["effect": "status", "status": 503, "endpoint": "token", "count": 2],
        ["effect": "delay", "seconds": 1.5, "endpoint": "keys", "count": 1],
        ["effect": "rate-limited", "reset_after": 5.0, "endpoint": "token", "count": 1],
        ["effect": "drop-before-commit", "endpoint": "revoke", "count": 1],
        ["effect": "drop-after-commit", "endpoint": "token", "count": 1],
        ["effect": "truncated-body", "endpoint": "*", "count": 1],
        ["effect": "content-type", "type": "text/html", "endpoint": "userinfo", "count": 1],
        ["effect": "forged-id-token", "forgery": "wrong-nonce", "endpoint": "token", "count": 1],
    ]

    @Test("The sandbox's control API can inject a fault, returns the pending faults, and can remove all faults", arguments: spellings)
    func faults(_ fault: JSONValue) async throws {
        try await withSandbox { sandbox in
            let injected = try await call(sandbox, "POST", "faults", fault)
            #expect(injected.status == 200)
            #expect(injected.json == ["faults": [fault]])
            #expect(sandbox.pendingFaults.count == 1)
            let cleared = try await call(sandbox, "DELETE", "faults")
            #expect(cleared.json == ["faults": []])
        }
    }

    @Test(
        "The sandbox's control API rejects an invalid fault with 400 and an error text",
        arguments: [
            ["effect": "explode", "endpoint": "token"], ["effect": "status", "status": 9, "endpoint": "token"],
            ["effect": "delay", "endpoint": "token"], ["effect": "truncated-body"],
        ] as [JSONValue])
    func unreadableFault(_ fault: JSONValue) async throws {
        try await withSandbox { sandbox in
            let refused = try await call(sandbox, "POST", "faults", fault)
            #expect(refused.status == 400)
            // The error names the valid values, or the missing member with an example.
            let hints: [String: [String]] = [
                "explode": ["one of status, delay, rate-limited, drop-before-commit"], "status": ["status", "200", "599"],
                "delay": ["the member seconds"], "truncated-body": ["endpoint", "token"],
            ]
            let error = try #require(refused.json["error"]?.stringValue)
            for hint in try #require(hints[fault["effect"]?.stringValue ?? ""]) { #expect(error.contains(hint), "\(error)") }
            #expect(sandbox.pendingFaults.isEmpty)
        }
    }

    @Test("The sandbox's control API can add a user with a password, and its list of users contains no passwords")
    func users() async throws {
        try await withSandbox { sandbox in
            let added = try await call(sandbox, "POST", "users", ["login": "new@example.com", "password": "First-Password-1"])
            #expect(added.status == 200)
            #expect(
                added.json["users"]?.arrayValue?.compactMap { $0["login"]?.stringValue } == [
                    "jane.doe@example.com", "john.roe@example.com", "new@example.com",
                ])
            #expect(!added.json.serializedString.contains("Password-1"))
            _ = try await sandbox.signIn(SandboxUser(login: "new@example.com", password: "First-Password-1"))
        }
    }

    @Test("The sandbox's request log omits the password, and a reset restores the log, faults, clock and users")
    func requestsAndReset() async throws {
        try await withSandbox { sandbox in
            _ = try await sandbox.signIn()
            sandbox.inject(Fault(.status(500), at: .token))
            sandbox.advance(by: 86_400)
            try await sandbox.add(SandboxUser(login: "new@example.com", password: "First-Password-1"))
            let requests = try await call(sandbox, "GET", "requests")
            #expect(requests.json["requests"]?.arrayValue?.contains { $0["parameters"]?["grant_type"] == "password" } == true)
            #expect(!requests.json.serializedString.contains("Correct-Horse-7"))
            let reset = try await call(sandbox, "POST", "reset")
            #expect(reset.status == 200)
            #expect(sandbox.requests.isEmpty && sandbox.pendingFaults.isEmpty)
            #expect(abs(sandbox.clock.now.timeIntervalSinceNow) < 5)
            #expect(sandbox.users.map(\.login) == ["jane.doe@example.com", "john.roe@example.com"])
            let gone = await thrown { _ = try await sandbox.signIn(SandboxUser(login: "new@example.com", password: "First-Password-1")) }
            #expect(serverCode(of: gone) == "invalid_grant")
        }
    }

    @Test("The sandbox's outbox is empty at the start, and the control API responds to an unknown path with 404")
    func otherPaths() async throws {
        try await withSandbox { sandbox in
            let outbox = try await call(sandbox, "GET", "outbox")
            #expect(outbox.json == ["messages": [], "last": 0])
            let unknown = try await call(sandbox, "GET", "nothing")
            #expect(unknown.status == 404)
        }
    }

    @Test("A web page of another origin cannot use the sandbox's control API")
    func otherOrigin() async throws {
        try await withSandbox { sandbox in
            let port = try #require(sandbox.origin.port)
            for origin in [
                "https://evil.example.com", "http://localhost:3000", "http://127.0.0.1", "http://127.0.0.1:\(port + 1)",
                "https://127.0.0.1:\(port)", "http://localhost:\(port)", "http://127.0.0.1:\(port).evil.example.com", "null",
            ] {
                let refused = try await call(sandbox, "POST", "clock", ["advance": 90], origin: origin)
                #expect(refused.status == 403, "\(origin)")
            }
            let accepted = try await call(sandbox, "GET", "clock", origin: "http://127.0.0.1:\(port)")
            #expect(accepted.status == 200)
        }
    }

    @Test("The sandbox's control API rejects a Host header with another name or port, which prevents DNS rebinding")
    func reboundName() async throws {
        try await withSandbox { sandbox in
            let port = try #require(sandbox.origin.port)
            for host in ["evil.example.com:\(port)", "localhost.evil.example.com:\(port)", "localhost", "127.0.0.1:\(port + 1)"] {
                let refused = try await call(sandbox, "POST", "clock", ["advance": 90], host: host)
                #expect(refused.status == 403)
            }
            for host in ["localhost:\(port)", "127.0.0.1:\(port)", "[::1]:\(port)", "LOCALHOST:\(port)"] {
                let accepted = try await call(sandbox, "GET", "clock", host: host)
                #expect(accepted.status == 200)
            }
        }
    }
}
