import Foundation
import JOSE
import ResourceServer
import Synchronization
import TestSupport
import Testing

@Suite("Messages service over HTTP")
struct MessagesServiceTests {
    let issuer: TestIssuer
    let time = ManualClock(TestIssuer.now)

    init() throws {
        issuer = try TestIssuer()
    }

    /// Runs the messages service on a free port until the body returns.
    func withService(requiredScopes: [String] = [], _ body: (_ ask: @escaping RunningMessages.Ask) async throws -> Void) async throws {
        try await RunningMessages.with(
            AccessTokenVerifier(issuer, time: time, requiredScopes: requiredScopes), time: time, { ask, _ in try await body(ask) })
    }

    @Test("With a valid token, the messages API returns two messages with dates in milliseconds, one hour apart")
    func messages() async throws {
        time.advance(by: 0.799)
        try await withService { ask in
            let answer = try await ask("/api/messages", ["Authorization": "Bearer \(issuer.token())"], "GET")
            #expect(answer.status == 200)
            #expect(answer.header("Content-Type") == "application/json")
            #expect(
                answer.json == [
                    "messages": [
                        ["date": "2025-06-15T15:06:40.799Z", "text": "I am a robot."],
                        ["date": "2025-06-15T14:06:40.799Z", "text": "Hello, world!"],
                    ]
                ])
        }
    }

    @Test("The path /secure of the messages API returns the claims of the token")
    func secure() async throws {
        try await withService { ask in
            let answer = try await ask("/secure", ["Authorization": "bearer \(issuer.token())"], "GET")
            #expect(answer.status == 200)
            #expect(answer.json?["sub"] == "jane.doe@example.com")
            #expect(answer.json?["scp"] == ["openid", "messages.read"])
        }
    }

    @Test("The root path of the messages API needs no token")
    func root() async throws {
        try await withService { ask in
            let root = try await ask("/", [:], "GET")
            #expect(root.status == 200)
            let nothing = try await ask("/nothing", [:], "GET")
            #expect(nothing.status == 404)
        }
    }

    @Test(
        "The messages API responds to a request without a token with 401 and a challenge without an error code",
        arguments: ["/api/messages", "/secure"])
    func challenge(_ path: String) async throws {
        try await withService { ask in
            for headers in [[:], ["Authorization": "Basic eDp5"]] {
                let answer = try await ask(path, headers, "GET")
                #expect(answer.status == 401)
                #expect(answer.header("WWW-Authenticate") == "Bearer realm=\"api://default\"")
            }
        }
    }

    static let bad: [(String, [String: JSONValue?], String)] = [
        ("expired", ["exp": 1_000], "The access token expired. Refresh it."),
        ("foreign", ["iss": "https://other.example.com"], "The access token is from another issuer than \(TestIssuer.url)."),
        ("wrong audience", ["aud": "api://other"], "The access token is not for api://default."),
        ("wrong client", ["cid": "other"], "The access token was given to another client than app."),
    ]

    @Test("The messages API responds to an invalid token with invalid_token and the reason in the challenge", arguments: bad)
    func badToken(_ name: String, _ changes: [String: JSONValue?], _ description: String) async throws {
        try await withService { ask in
            let answer = try await ask("/api/messages", ["Authorization": "Bearer \(issuer.token(changing: changes))"], "GET")
            #expect(answer.status == 401)
            #expect(
                answer.header("WWW-Authenticate")
                    == "Bearer realm=\"api://default\", error=\"invalid_token\", error_description=\"\(description)\"")
            #expect(answer.json == ["error": "invalid_token", "error_description": .string(description)])
        }
    }

    @Test("A token without the required scope gets 403 insufficient_scope, and the challenge names that scope")
    func insufficientScope() async throws {
        try await withService(requiredScopes: ["messages.write"]) { ask in
            let answer = try await ask("/api/messages", ["Authorization": "Bearer \(issuer.token())"], "GET")
            #expect(answer.status == 403)
            let challenge = try #require(answer.header("WWW-Authenticate"))
            #expect(challenge.contains("error=\"insufficient_scope\""))
            #expect(challenge.contains("scope=\"messages.write\""))
        }
    }

    @Test("The messages API rejects a valid token in the query")
    func tokenInQuery() async throws {
        try await withService { ask in
            let answer = try await ask("/api/messages?access_token=\(issuer.token())", [:], "GET")
            #expect(answer.status == 400)
            #expect(answer.header("WWW-Authenticate")?.contains("error=\"invalid_request\"") == true)
        }
    }

    @Test("The messages API responds to a malformed Authorization header with 400", arguments: ["Bearer", "Bearer a b", "Bearer ä"])
    func unreadableHeader(_ value: String) async throws {
        try await withService { ask in
            let answer = try await ask("/api/messages", ["Authorization": value], "GET")
            #expect(answer.status == 400)
            #expect(answer.json?["error"] == "invalid_request")
            #expect(answer.header("WWW-Authenticate")?.contains("error=\"invalid_request\"") == true)
        }
    }

    @Test("While the issuer responds with a server error, the messages API responds with 503 and does not reject the token")
    func issuerAway() async throws {
        issuer.state.withLock { $0.failure = 500 }
        try await withService { ask in
            let answer = try await ask("/api/messages", ["Authorization": "Bearer \(issuer.token())"], "GET")
            #expect(answer.status == 503)
            #expect(answer.header("WWW-Authenticate") == nil)
            #expect(answer.header("Retry-After") == "5")
        }
    }

    @Test("The messages API answers a browser's preflight request without a token")
    func preflight() async throws {
        try await withService { ask in
            let headers = ["Origin": "http://localhost:3000", "Access-Control-Request-Method": "GET"]
            let answer = try await ask("/api/messages", headers, "OPTIONS")
            #expect(answer.status == 204)
            #expect(answer.header("Access-Control-Allow-Origin") == "*")
            #expect(answer.header("Access-Control-Allow-Headers")?.lowercased().contains("authorization") == true)
            let refused = try await ask("/api/messages", ["Origin": "http://localhost:3000"], "GET")
            #expect(refused.status == 401)
            #expect(refused.header("Access-Control-Allow-Origin") == "*")
        }
    }
}
