import AuthFoundation
import Foundation
import OktaDirectAuth
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// `countersign sandbox` as a child process of the test.
private final class SandboxProcess: Sendable {
    /// The output of the command until it was ready.
    let overview: String
    private let process: ChildProcess

    init(_ arguments: [String], environment: [String: String] = [:]) async throws {
        process = try Command.start(["sandbox"] + arguments, environment: environment)
        overview = try await process.waitFor("Press Ctrl-C to stop.")
    }

    /// Returns the text that follows this name in the overview.
    func value(of name: String) throws -> String {
        let line = overview.split(separator: "\n").first { $0.trimmingPrefix("  ").hasPrefix(name + " ") }
        return try #require(line, "\(overview)").trimmingPrefix("  ").dropFirst(name.count).trimmingCharacters(in: .whitespaces)
    }

    /// Sends SIGINT, as Ctrl-C does.
    ///
    /// - Returns: The exit status, or the negative number of the signal that ended the process.
    func interrupt() async -> Int32 {
        process.interrupt()
        return await process.end().status
    }
}

/// Tests the command `sandbox` with the calls of the guides.
extension CommandTests {
    @Test("Without an org file, the command sandbox runs the default organization until Ctrl-C", .timeLimit(.minutes(5)))
    func sandbox() async throws {
        let sandbox = try await SandboxProcess(["--port", "0", "--messages-port", "0", "--phone-port", "0"])
        let issuer = try #require(URL(string: try sandbox.value(of: "Issuer")))
        #expect(issuer.host() == "localhost" && issuer.path() == "/oauth2/default")
        let people = try sandbox.value(of: "People")
        #expect(people == "jane.doe@example.com / Correct-Horse-7")

        let client = OAuth2Client(issuerURL: issuer, clientId: "password-app", scope: "openid offline_access")
        let discovery = try await client.openIdConfiguration()
        #expect(discovery.issuer == issuer)
        let flow = DirectAuthenticationFlow(client: client)
        guard case .success(let token) = try await flow.start("jane.doe@example.com", with: .password("Correct-Horse-7")) else {
            Issue.record("Jane's sign-in failed.")
            return
        }
        #expect(token.idToken?.subject != nil && token.refreshToken != nil)

        let phones = try #require(URL(string: try sandbox.value(of: "Phones")))
        #expect(try await PlainHTTP.data(for: URLRequest(url: phones)).1.statusCode == 200)

        let messages = try sandbox.value(of: "Messages")
        #expect(messages.hasPrefix("http://localhost:") && messages.hasSuffix("/api/messages"))
        var request = URLRequest(url: try #require(URL(string: messages)))
        let refused = try await PlainHTTP.data(for: request).1
        #expect(refused.statusCode == 401)
        request.setValue("Bearer \(token.accessToken)", forHTTPHeaderField: "Authorization")
        let (body, answer) = try await PlainHTTP.data(for: request)
        #expect(answer.statusCode == 200)
        #expect(String(decoding: body, as: UTF8.self).contains("I am a robot."))

        #expect(await sandbox.interrupt() == 0)
        let error = await thrown { try await client.revoke(token) }
        #expect(error != nil, "It still answers.")
    }

    @Test(
        "countersign sandbox --config runs the organization of an org file, and reports an invalid or missing file", .timeLimit(.minutes(5))
    )
    func sandboxOfFile() async throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let file = root.appending(path: "Examples/two-factors.yaml").path
        let ports = ["--port", "0", "--messages-port", "0", "--phone-port", "0"]
        let sandbox = try await SandboxProcess(["--config", file] + ports)
        #expect(try sandbox.value(of: "Apps") == "sso-app, phone-app")
        #expect(await sandbox.interrupt() == 0)

        let folder = try TemporaryFolder()
        let text = try String(contentsOfFile: file, encoding: .utf8)
        let other = folder.url.appending(path: "org.yaml")
        try Data(text.replacing("Correct-Horse-7", with: "${JANES_PASSWORD}").utf8).write(to: other)
        let second = try await SandboxProcess(["--config", other.path] + ports, environment: ["JANES_PASSWORD": "Correct-Horse-8"])
        #expect(second.overview.contains("jane.doe@example.com / Correct-Horse-8"))
        #expect(await second.interrupt() == 0)
        try Data(text.replacing("  - id: default\n", with: "  - id: another\n").utf8).write(to: other)
        let another = try await Command.run(["sandbox", "--config", other.path] + ports)
        #expect(another.status != 0 && another.errors.contains("org.yaml has no authorization server “default”"), "\(another.errors)")

        let missing = try await Command.run(["sandbox", "--config", file + ".missing"] + ports)
        #expect(missing.status != 0 && missing.errors.contains("two-factors.yaml.missing: ") && missing.errors.contains("can not be read"))
    }

    @Test(
        "The default ports of countersign sandbox are 8080, 8443, 8000 and 8081",
        arguments: [("--port", "8080"), ("--https-port", "8443"), ("--messages-port", "8000"), ("--phone-port", "8081")])
    func standardPorts(option: String, port: String) async throws {
        let help = try await Command.run(["sandbox", "--help"]).output.split(whereSeparator: \.isWhitespace)
        let start = try #require(help.lastIndex { $0 == option })
        let description = help[start...].prefix { $0 == Substring(option) || !$0.hasPrefix("--") }.joined(separator: " ")
        #expect(description.contains("(default: \(port))"), "\(description)")
    }
}
