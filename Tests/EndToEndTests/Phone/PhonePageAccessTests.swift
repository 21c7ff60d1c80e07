import CountersignSandbox
import Foundation
import JOSE
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Tests the access control of the phone page. The browser tests cover its function.
@Suite("Access to the phone page", .timeLimit(.minutes(10)))
struct PhonePageAccessTests {
    private struct Answer {
        let status: Int
        let headers: [String: String]
        let body: String
    }

    private func ask(
        _ sandbox: Sandbox, _ method: String, _ path: String, headers: [String: String] = [:], body: String? = nil
    ) async throws -> Answer {
        let page = try #require(sandbox.phoneURL)
        var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(page.port ?? 0)\(path)")))
        request.httpMethod = method
        request.httpBody = body.map { Data($0.utf8) }
        for (name, value) in headers {
            request.setValue(value, forHTTPHeaderField: name)
        }
        let (data, response) = try await PlainHTTP.data(for: request)
        var fields: [String: String] = [:]
        for (name, value) in response.allHeaderFields { fields["\(name)".lowercased()] = "\(value)" }
        return Answer(status: response.statusCode, headers: fields, body: String(decoding: data, as: UTF8.self))
    }

    /// Returns the headers of the requests that the page sends.
    private func ownHeaders(_ sandbox: Sandbox) async throws -> [String: String] {
        let document = try await ask(sandbox, "GET", "/").body
        let token = try #require(try #/countersign-token" content="([\w-]+)"/#.firstMatch(in: document)?.1)
        return [
            "Origin": "http://127.0.0.1:\(sandbox.phoneURL?.port ?? 0)", "X-Countersign-Token": String(token),
            "Content-Type": "application/json",
        ]
    }

    @Test("A sandbox without a port for the phone page has no phone page URL")
    func none() async throws {
        try await withSandbox(.init(listening: .inProcess)) { #expect($0.phoneURL == nil) }
    }

    @Test("The sandbox's phone page contains no foreign URL, and its content security policy allows only the page's own resources")
    func policy() async throws {
        try await withSandbox(.init(listening: .inProcess, phonePort: 0)) { sandbox in
            for path in ["/", "/phone.css", "/phone.js", "/icon.svg", "/nothing"] {
                let answer = try await ask(sandbox, "GET", path)
                #expect(answer.status == (path == "/nothing" ? 404 : 200))
                let policy = try #require(answer.headers["content-security-policy"])
                #expect(policy.contains("default-src 'none'") && policy.contains("script-src 'self'") && !policy.contains("unsafe"))
                #expect(policy.contains("frame-ancestors 'none'") && policy.contains("require-trusted-types-for 'script'"))
                #expect(answer.headers["x-content-type-options"] == "nosniff" && answer.headers["cache-control"] == "no-store")
                #expect(answer.headers["cross-origin-resource-policy"] == "same-origin")
                // A browser does not load the address of an XML namespace.
                let loaded = answer.body.replacing("http://www.w3.org/2000/svg", with: "")
                #expect(!loaded.contains("http:") && !loaded.contains("https:") && !loaded.contains("//cdn"))
            }
        }
    }

    @Test("The phone page's server rejects a Host header with another name or port, which prevents DNS rebinding")
    func reboundName() async throws {
        try await withSandbox(.init(listening: .inProcess, phonePort: 0)) { sandbox in
            let port = try #require(sandbox.phoneURL?.port)
            for host in [
                "evil.example.com:\(port)", "localhost.evil.example.com:\(port)", "localhost", "127.0.0.1:\(port + 1)",
                "localhost:\(port).evil",
            ] {
                #expect(try await ask(sandbox, "GET", "/", headers: ["Host": host]).status == 403, "\(host)")
            }
            for host in ["localhost:\(port)", "127.0.0.1:\(port)", "[::1]:\(port)", "LOCALHOST:\(port)"] {
                #expect(try await ask(sandbox, "GET", "/", headers: ["Host": host]).status == 200, "\(host)")
            }
        }
    }

    @Test("The phone page's server rejects a command that lacks the page's origin, token or content type")
    func foreignCommand() async throws {
        try await withSandbox(.init(listening: .inProcess, phonePort: 0)) { sandbox in
            let own = try await ownHeaders(sandbox)
            let port = try #require(sandbox.phoneURL?.port)
            let body = #"{"login": "jane.doe@example.com"}"#
            let changes: [[String: String?]] = [
                ["Origin": nil], ["Origin": "null"], ["Origin": "https://evil.example.com"], ["Origin": "http://127.0.0.1:\(port + 1)"],
                ["Origin": "http://localhost:\(port)"], ["X-Countersign-Token": nil], ["X-Countersign-Token": "guess"],
                ["Content-Type": "text/plain"], ["Sec-Fetch-Site": "cross-site"], ["Sec-Fetch-Site": "same-site"],
            ]
            for change in changes {
                var headers = own
                for (name, value) in change { headers[name] = value }
                let refused = try await ask(sandbox, "POST", "/phones", headers: headers, body: body)
                #expect(refused.status == 403, "\(change)")
            }
            #expect(sandbox.allPhones.isEmpty)
            let accepted = try await ask(sandbox, "POST", "/phones", headers: own, body: body)
            #expect(accepted.status == 200 && sandbox.allPhones.count == 1)
            let events = try await ask(sandbox, "GET", "/events", headers: ["Sec-Fetch-Site": "cross-site"])
            #expect(events.status == 404)
        }
    }

    @Test("The phone page's server rejects an invalid command with an error message")
    func wrongCommand() async throws {
        try await withSandbox(.init(listening: .inProcess, phonePort: 0)) { sandbox in
            let own = try await ownHeaders(sandbox)
            _ = try await sandbox.phone(for: SandboxUser.jane.login)
            let jane = "/phones/jane.doe%40example.com"
            for (path, body, status) in [
                ("/phones", "{", 400), ("/phones", "{}", 400), ("/phones", #"{"login": "unknown@example.com"}"#, 409),
                (jane + "/approve", #"{"id": "ft123"}"#, 409), (jane + "/explode", "{}", 404), ("/phones/unknown/approve", "{}", 404),
                ("/elsewhere", "{}", 404),
            ] {
                let refused = try await ask(sandbox, "POST", path, headers: own, body: body)
                #expect(refused.status == status, "\(path) \(body)")
                #expect(try JSONValue(parsing: Array(refused.body.utf8))["error"]?.stringValue?.isEmpty == false)
            }
        }
    }
}
