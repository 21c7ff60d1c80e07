import AuthorizationServer
import Foundation
import JOSE
import Testing

@Suite("Hostile requests")
struct HostileInputTests {
    private static let token = "/oauth2/default/v1/token"
    private static let formType = [("Content-Type", "application/x-www-form-urlencoded")]

    @Test(
        "A token request with a missing or wrong content type is rejected with invalid_request",
        arguments: [
            "application/json", "text/plain", "multipart/form-data; boundary=x", "application/x-www-form-urlencoded; charset=latin1",
            "application/x-www-form-urlencoded-not", nil,
        ])
    func contentType(type: String?) async throws {
        let response = try await RunningServer.with { running in
            try await running.wire.call(
                "POST", Self.token, headers: type.map { [("Content-Type", $0)] } ?? [], body: Array("client_id=password-app".utf8))
        }
        try expectOAuthError(
            response, 400, "invalid_request", "The request's content type must be application/x-www-form-urlencoded.")
    }

    @Test(
        "The content type of a token request is case-insensitive and may have the charset UTF-8",
        arguments: ["Application/X-WWW-Form-Urlencoded;CHARSET=\"UTF-8\"", "application/x-www-form-urlencoded ; charset=utf-8"])
    func lenientContentType(type: String) async throws {
        let response = try await RunningServer.with { running in
            try await running.wire.call("POST", Self.token, headers: [("Content-Type", type)], body: Array("client_id=password-app".utf8))
        }
        try expectOAuthError(response, 400, "invalid_request", "The request needs the parameter grant_type.")
    }

    @Test(
        "A request body that exceeds the size limit is rejected with 413, with or without a Content-Length header",
        arguments: [true, false])
    func oversize(isAnnounced: Bool) async throws {
        let form = "client_id=password-app&padding=" + String(repeating: "x", count: 70_000)
        let response = try await RunningServer.with { running in
            if isAnnounced { return try await running.wire.call("POST", Self.token, headers: Self.formType, body: Array(form.utf8)) }
            let chunk = String(form.utf8.count, radix: 16) + "\r\n" + form + "\r\n0\r\n\r\n"
            return try await running.wire.call(
                "POST", Self.token, headers: Self.formType + [("Transfer-Encoding", "chunked")], body: Array(chunk.utf8), sendsLength: false
            )
        }
        try expectOAuthError(response, 413, "invalid_request", "The request's body is larger than this server reads.")
        #expect(response["Connection"] == "close")
    }

    @Test(
        "A request body that exceeds a small limit is rejected with 413 even if the body arrives in one chunk without a Content-Length header"
    )
    func oversizeInOnePiece() async throws {
        var configuration = AuthorizationServer.Configuration(port: 0)
        configuration.limits.bodyBytes = 1_024
        let form = "client_id=password-app&padding=" + String(repeating: "x", count: 1_500)
        let chunk = String(form.utf8.count, radix: 16) + "\r\n" + form + "\r\n0\r\n\r\n"
        let response = try await RunningServer.fresh(configuration: configuration) { running in
            try await running.wire.call(
                "POST", Self.token, headers: Self.formType + [("Transfer-Encoding", "chunked")], body: Array(chunk.utf8), sendsLength: false
            )
        }
        try expectOAuthError(response, 413, "invalid_request", "The request's body is larger than this server reads.")
    }

    @Test("A request body of exactly the maximum size is accepted")
    func limit() async throws {
        let start = "client_id=password-app&padding="
        let form = start + String(repeating: "x", count: 65_536 - start.utf8.count)
        let response = try await RunningServer.with { try await $0.wire.post(Self.token, form) }
        try expectOAuthError(response, 400, "invalid_request", "The request needs the parameter grant_type.")
    }

    @Test("A request with 101 parameters is rejected with invalid_request")
    func tooManyParameters() async throws {
        let form = (1...101).map { "p\($0)=v" }.joined(separator: "&")
        let response = try await RunningServer.with { try await $0.wire.post(Self.token, form) }
        try expectOAuthError(response, 400, "invalid_request", "The request has more than 100 parameters.")
    }

    @Test("A request with too large or too many headers is rejected with 400, and the server answers later requests")
    func headers() async throws {
        try await RunningServer.with { running in
            let large = try await running.wire.get("/health/live", headers: [("X-Padding", String(repeating: "x", count: 20_000))])
            #expect(large.status == 400)
            let many = try await running.wire.get("/health/live", headers: (1...150).map { ("X-\($0)", "v") })
            #expect(many.status == 400)
            #expect(try await running.wire.get("/health/live").status == 200)
        }
    }

    @Test(
        "A form with CR LF or quotation marks in names or values cannot add a response header or break the JSON of the response",
        arguments: [
            "client_id=a%0D%0ASet-Cookie:%20x=y&grant_type=password", "client_id=password-app&grant_type=%22%7D%0D%0A%0D%0Ax",
            "client_id=password-app&%0D%0AInjected:%20y=1&%0D%0AInjected:%20y=2",
        ])
    func injection(form: String) async throws {
        let response = try await RunningServer.with { try await $0.wire.post(Self.token, form) }
        #expect(response["Set-Cookie"] == nil)
        #expect(response["Injected"] == nil)
        #expect(try response.json["error"]?.stringValue != nil)
        #expect(response.body.utf8.count == response["Content-Length"].flatMap { Int($0) })
    }

    @Test("An Origin header with control characters is not reflected in the response")
    func originInjection() async throws {
        try await RunningServer.with { running in
            let raw = "GET /oauth2/v1/keys HTTP/1.1\r\nHost: x\r\nConnection: close\r\nOrigin: https://a\rSet-Cookie: x=y\r\n\r\n"
            let answer = String(decoding: try await running.wire.send(Array(raw.utf8)), as: UTF8.self)
            #expect(answer.hasPrefix("HTTP/1.1 400 "), "\(answer)")
            for text in ["set-cookie", "x=y", "https://a"] { #expect(!answer.lowercased().contains(text), "\(answer)") }
        }
    }

    @Test(
        "An invalid HTTP request gets a 4xx response or no response, and the server answers later requests",
        arguments: [
            "\r\n\r\n\r\n", "GARBAGE\r\n\r\n", "GET / HTTP/9.9\r\n\r\n",
            "POST /oauth2/v1/token HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
            "POST /oauth2/v1/token HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\nConnection: close\r\n\r\nabcde",
            "POST /oauth2/v1/token HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\nzzz",
            "GET /\u{0} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        ])
    func noHTTP(bytes: String) async throws {
        try await RunningServer.fresh(configuration: .init(port: 0, limits: .init(idleTimeout: .milliseconds(1_500)))) { running in
            let answer = String(decoding: try await running.wire.send(Array(bytes.utf8)), as: UTF8.self)
            #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 4"))
            #expect(try await running.wire.get("/health/live").status == 200)
        }
    }

    @Test(
        "A connection whose request stalls in the head or the body is closed without a response",
        arguments: ["POST /oauth2/v1/tok", "POST /oauth2/v1/token HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc"])
    func stalled(bytes: String) async throws {
        let limits = AuthorizationServer.Configuration.Limits(idleTimeout: .milliseconds(200), bodyTimeout: .milliseconds(200))
        let answer = try await RunningServer.fresh(configuration: .init(port: 0, limits: limits)) { running in
            try await running.wire.send(Array(bytes.utf8))
        }
        #expect(answer.isEmpty)
    }

    @Test("An error response does not echo secrets of its request")
    func noEcho() async throws {
        let response = try await RunningServer.with { running in
            try await running.wire.post(
                Self.token,
                "client_id=service-app&client_secret=S3cret-Canary&grant_type=password&username=S3cret-Canary&password=S3cret-Canary&S3cret-Canary=1&S3cret-Canary=2"
            )
        }
        #expect(!response.body.contains("S3cret-Canary"))
        #expect(!response.headers.contains { $0.value.contains("S3cret-Canary") })
    }
}
