import Foundation
import IdentityCore
import JOSE
import TestSupport
import Testing

@testable import AdminAPI

@Suite("System log endpoint")
struct LogsEndpointTests {
    private static let reader = "reader-token-for-tests-0123456789abcd"
    private static let portal = "portal-token-for-tests-0123456789abcd"

    private static func with(_ body: @Sendable (PushServer) async throws -> Void) async throws {
        let policy = ClassicPolicy(
            signOnPolicy: "one factor",
            trustedCallers: [.init(name: "reader", token: reader, readsLogs: true), .init(name: "portal", token: portal)])
        try await PushServer.with(PushOrganization(classic: policy), body)
    }

    /// Sends correct and wrong sign-ins, one second apart, so that the log has lines with several outcomes.
    private static func fill(_ server: PushServer, rounds: Int) async throws {
        for _ in 0..<rounds {
            for password in [PushOrganization.janesPassword, "wrong-password"] {
                let form = [
                    "grant_type": "password", "client_id": "easy-app", "username": PushOrganization.jane, "password": password,
                    "scope": "openid",
                ]
                _ = try await server.wire.post("/oauth2/default/v1/token", Form.encode(form))
                server.clock.advance(by: 1)
            }
        }
    }

    private static func get(
        _ server: PushServer, _ query: String = "", authorization: String? = "SSWS \(reader)"
    ) async throws -> WireResponse {
        try await server.wire.get("/api/v1/logs\(query)", headers: authorization.map { [("Authorization", $0)] } ?? [])
    }

    private static func links(_ response: WireResponse) throws -> [String: String] {
        let header = try #require(response["Link"])
        #expect(header.hasPrefix("<https://id.example.com/api/v1/logs"))
        return try Dictionary(
            uniqueKeysWithValues: header.split(separator: ", ").map { link in
                let parts = link.split(separator: ">; rel=")
                return (String(try #require(parts.last)).trimmingCharacters(in: ["\""]), String(parts[0].dropFirst()))
            })
    }

    /// Returns the ids of all pages, and the number of pages.
    private static func all(_ server: PushServer, _ query: String) async throws -> (ids: [String], pages: Int) {
        var (ids, pages, next) = ([String](), 0, String?.some("?\(query)"))
        while let query = next, pages < 200 {
            let response = try await get(server, query)
            #expect(response.status == 200, "\(response.body)")
            ids += try #require(response.json.arrayValue).compactMap { $0["uuid"]?.stringValue }
            pages += 1
            next = try links(response)["next"].map { String($0.drop { $0 != "?" }) }
        }
        return (ids, pages)
    }

    @Test("A system log event names the user as actor, and its version, severity, timestamp and outcome reason have the documented format")
    func shape() async throws {
        try await Self.with { server in
            try await Self.fill(server, rounds: 1)
            let response = try await Self.get(server, "?filter=eventType%20eq%20%22user.authentication.password%22")
            #expect(response.status == 200)
            #expect(response["Cache-Control"]?.contains("no-store") == true && response["x-rate-limit-limit"] != nil)
            let events = try #require(response.json.arrayValue)
            #expect(events.map { $0["outcome"]?["result"] } == ["SUCCESS", "FAILURE"])
            let event = try #require(events.first)
            let jane = try #require(try await server.engine.user(login: PushOrganization.jane))
            #expect(event["version"] == "0" && event["severity"] == "INFO" && events.last?["severity"] == "WARN")
            let published = try #require(event["published"]?.stringValue)
            #expect(published.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil)
            #expect(
                event["actor"] == [
                    "id": .string(jane.id), "type": "User", "alternateId": .string(PushOrganization.jane),
                    "displayName": .string(PushOrganization.jane), "detailEntry": .null,
                ])
            #expect(event["client"]?["ipAddress"] == "127.0.0.1")
            #expect(event["request"]?["ipChain"]?[0]?["version"] == "V4")
            #expect(event["target"]?[1]?["type"] == "AppInstance")
            #expect(event["transaction"]?["type"] == "WEB" && event["transaction"]?["id"]?.stringValue?.isEmpty == false)
            for event in events {
                let reason = event["outcome"]?["reason"]
                #expect(reason == .null || (1...255).contains(reason?.stringValue?.count ?? 0))
            }
        }
    }

    @Test(
        "The system log endpoint accepts SSWS without a space before the API token, and checks the permission before the query parameters")
    func authorization() async throws {
        try await Self.with { server in
            #expect(try await Self.get(server, authorization: "SSWS\(Self.reader)").status == 200)
            for (authorization, status, code) in [
                (nil, 401, "E0000011"), ("SSWS wrong", 401, "E0000011"), ("Bearer \(Self.reader)", 401, "E0000011"),
                ("SSWS \(Self.portal)", 403, "E0000006"),
            ] as [(String?, Int, JSONValue)] {
                // The endpoint rejects a caller without permission before it checks the parameters.
                let response = try await Self.get(server, "?since=wrong", authorization: authorization)
                #expect(response.status == status, "\(response.body)")
                #expect(try response.json["errorCode"] == code)
                #expect(try response.json["errorCauses"] == [])
            }
            #expect(try await server.wire.post("/api/v1/logs", "").status == 405)
        }
    }

    @Test("System log pages contain each event once in either sort order, and the last page of a bounded query has no next link")
    func pages() async throws {
        try await Self.with { server in
            try await Self.fill(server, rounds: 12)
            let since = server.clock.now.addingTimeInterval(-3_600).formatted(.iso8601)
            let until = server.clock.now.addingTimeInterval(1).formatted(.iso8601)
            let lines = try await server.engine.systemLog(SystemLogQuery(since: .distantPast, limit: 1_000)).events.map(\.id)
            #expect(lines.count > 24)
            let bounds = "since=\(since)&until=\(until)"
            for limit in [1, 7, lines.count, 1_000] {
                let forwards = try await Self.all(server, "\(bounds)&limit=\(limit)")
                #expect(forwards.ids == lines)
                let backwards = try await Self.all(server, "\(bounds)&limit=\(limit)&sortOrder=DESCENDING")
                #expect(backwards.ids == lines.reversed(), "limit \(limit)")
            }
            let latest = try await Self.get(server, "?sortOrder=DESCENDING&limit=1")
            #expect(try latest.json[0]?["uuid"]?.stringValue == lines.last)
            let header = try #require(latest["Link"])
            #expect(header.contains("rel=\"self\", <") && header.hasSuffix("rel=\"next\""))
        }
    }

    @Test("A page cursor outside the since or until bound of a system log query returns no events beyond that bound")
    func foreignCursor() async throws {
        try await Self.with { server in
            try await Self.fill(server, rounds: 3)
            let all = try #require(try await Self.get(server).json.arrayValue)
            let (first, last) = (try #require(all.first?["uuid"]?.stringValue), try #require(all.last?["uuid"]?.stringValue))
            let middle = try #require(all[all.count / 2]["published"]?.stringValue)
            let since = try await Self.get(server, "?since=\(middle)&after=\(first)").json.arrayValue ?? []
            #expect(!since.isEmpty && since.allSatisfy { ($0["published"]?.stringValue ?? "") >= middle })
            let until = try await Self.get(server, "?until=\(middle)&after=\(last)&sortOrder=DESCENDING").json.arrayValue ?? []
            #expect(!until.isEmpty && until.allSatisfy { ($0["published"]?.stringValue ?? "") < middle })
        }
    }

    @Test("A system log query without an end time always has a next link, and the next page returns events that are logged later")
    func polling() async throws {
        try await Self.with { server in
            try await Self.fill(server, rounds: 1)
            var page = try await Self.get(server, "?q=jane")
            #expect(try page.json.arrayValue?.isEmpty == false)
            for _ in 0..<3 {
                let next = try #require(try Self.links(page)["next"])
                page = try await Self.get(server, String(next.drop { $0 != "?" }))
                #expect(try page.json == [])
            }
            try await Self.fill(server, rounds: 1)
            let next = try #require(try Self.links(page)["next"])
            #expect(next.contains("q=jane"))
            #expect(try await Self.get(server, String(next.drop { $0 != "?" })).json.arrayValue?.isEmpty == false)
        }
    }

    @Test("The system log event of a change by an administrator names the administrator as actor and the user as target")
    func administrator() async throws {
        try await Self.with { server in
            let jane = try #require(try await server.engine.user(login: PushOrganization.jane))
            var context = RequestContext(now: server.clock.now, requestID: "users-deactivate")
            context.administrator = "ops"
            _ = try await server.engine.setStatus(userID: jane.id, to: .deactivated, context: context)
            let event = try #require(try await Self.get(server, "?filter=actor.id%20eq%20%22ops%22").json[0])
            #expect(event["eventType"] == "user.lifecycle.deactivate" && event["actor"]?["alternateId"] == "ops")
            #expect(event["target"]?[0]?["id"] == .string(jane.id) && event["client"]?["ipAddress"] == .null)
        }
    }

    @Test(
        "An invalid system log parameter returns 400 with E0000030 for a date, E0000031 for a filter and E0000001 for any other parameter",
        arguments: [
            ("since=yesterday", "E0000030"), ("until=2026-13-45T00:00:00Z", "E0000030"), ("limit=-1", "E0000001"),
            ("limit=1001", "E0000001"), ("limit=ten", "E0000001"), ("limit=99999999999999999999", "E0000001"),
            ("sortOrder=ascending", "E0000001"), ("after=x", "E0000001"), ("after=%00%00%00%00", "E0000001"),
            ("q=\(String(repeating: "a", count: 41))", "E0000001"), ("q=\(String(repeating: "a%20", count: 11))", "E0000001"),
            ("limit=1&limit=2", "E0000001"), ("filter=eventType", "E0000031"), ("filter=published%20gt%20%222026%22", "E0000031"),
            ("filter=%28eventType%20pr", "E0000031"), ("filter=eventType%20like%20%22a%22", "E0000031"),
        ])
    func invalid(query: String, code: String) async throws {
        try await Self.with { server in
            let response = try await Self.get(server, "?\(query)")
            #expect(response.status == 400)
            #expect(try response.json["errorCode"] == .string(code), "\(response.body)")
        }
    }
}

@Suite("System log filters of the management API")
struct LogFilterTests {
    private static let event: JSONValue = [
        "eventType": "user.mfa.factor.activate", "severity": "INFO", "count": 3, "isNew": true, "none": .null,
        "actor": ["id": "00u1", "alternateId": "Jane@example.com"], "outcome": ["result": "SUCCESS"],
        "target": [["id": "00u1", "type": "User"], ["id": "app", "type": "AppInstance"]],
    ]

    @Test(
        "A system log filter selects an event only if the event's attributes match the expression",
        arguments: [
            (#"eventType eq "user.mfa.factor.activate""#, true), (#"eventType eq "USER.mfa.factor.activate""#, false),
            (#"eventType sw "user.mfa""#, true), (#"eventType ew "activate""#, true), (#"eventType co "factor""#, true),
            (#"eventType ne "x""#, true), (#"eventType NE "user.mfa.factor.activate""#, false), (#"target.id eq "app""#, true),
            (#"target.id eq "other""#, false), (#"target.id ne "app""#, false), ("target.type pr", true), ("none pr", false),
            ("missing pr", false), (#"missing ne "x""#, true), ("count gt 2", true), ("count le 2", false), ("count eq 3.0", true),
            ("isNew eq true", true), ("isNew eq false", false), (#"count eq "3""#, false),
            (#"severity eq "WARN" or severity eq "INFO""#, true), (#"severity eq "WARN" and severity eq "INFO""#, false),
            (#"severity eq "INFO" or severity eq "X" and count eq 9"#, true),
            (#"(severity eq "INFO" or severity eq "X") and count eq 9"#, false),
            (#"not (severity eq "INFO")"#, false), (#"not severity eq "WARN" AND outcome.result eq "SUCCESS""#, true),
            (#"actor.alternateId eq "Jane@example.com""#, true), (#"severity eq "\"quoted\" \\ ☃""#, false), (#"severity gt "A""#, true),
        ])
    func selects(expression: String, isSelected: Bool) throws {
        #expect(try LogFilter(parsing: expression).selects(Self.event) == isSelected)
    }

    @Test(
        "The system log filter parser rejects an invalid expression",
        arguments: [
            "", " ", "a", "a eq", "a eq b", #"a eq "b"#, #"a eq 'b'"#, #"a zz "b""#, #"a eq "b" c"#, #"a eq "b" and"#, #"and a eq "b""#,
            #"(a eq "b""#, #"a eq "b")"#, #"a..b eq "c""#, #".a eq "b""#, #"a.b.c.d.e.f eq "c""#, #"published eq "x""#,
            #"published.x eq "x""#, "a eq 1e", "a eq -", "not", "()", "a\teq\t\"b\"", "a eq \"\u{1}\"", #"ä eq "b""#, #"a eq "\x""#,
        ])
    func refuses(expression: String) {
        #expect(throws: LogFilter.Invalid.self) { try LogFilter(parsing: expression) }
    }

    @Test("The system log filter parser rejects expressions that are too long or too deeply nested")
    func limits() throws {
        let deep = String(repeating: "(", count: 1_000) + #"a eq "b""# + String(repeating: ")", count: 1_000)
        #expect(throws: LogFilter.Invalid.self) { try LogFilter(parsing: deep) }
        #expect(throws: LogFilter.Invalid.self) { try LogFilter(parsing: String(repeating: "not ", count: 500) + "a pr") }
        let long = Array(repeating: "a pr", count: 600).joined(separator: " or ")
        #expect(throws: LogFilter.Invalid.self) { try LogFilter(parsing: long) }
        let wide = Array(repeating: "a pr", count: 400).joined(separator: " or ")
        #expect(try !LogFilter(parsing: wide).selects(Self.event))
    }

    @Test("5,000 random expressions do not crash the system log filter parser")
    func noise() {
        var random = SeededBytes(seed: 7)
        var parsed = [true: 0, false: 0]
        let pieces = ["a", "eq", "and", "not", "(", ")", "\"", "\\", " ", "1", "-", ".", "true", "pr", "\u{0}", "ü"]
        for _ in 0..<5_000 {
            var text = (0..<random.below(20)).map { _ in pieces[random.below(pieces.count)] }.joined(
                separator: random.below(2) == 0 ? "" : " ")
            if random.below(4) == 0 { text += String(decoding: (0..<random.below(8)).map { _ in UInt8(random.below(256)) }, as: UTF8.self) }
            // A quarter of the expressions begins with a valid one.
            let valid = #"severity eq "INFO""#
            if random.below(4) == 0 { text = text.isEmpty ? valid : "\(valid) and \(text)" }
            guard let filter = try? LogFilter(parsing: text) else {
                parsed[false, default: 0] += 1
                continue
            }
            parsed[true, default: 0] += 1
            let negated = try? LogFilter(parsing: "not (\(text))")
            #expect(negated?.selects(Self.event) == !filter.selects(Self.event), "\(text.debugDescription)")
        }
        // Both paths of the parser ran.
        #expect(parsed.values.allSatisfy { $0 > 0 }, "\(parsed)")
    }
}

/// A small generator of pseudorandom bytes, which are the same in every run.
private struct SeededBytes {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func below(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % bound
    }
}
