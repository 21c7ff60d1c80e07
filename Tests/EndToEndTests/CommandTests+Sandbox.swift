import AuthFoundation
import Foundation
import OktaDirectAuth
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// `countersign sandbox` as a child of the test.
private final class SandboxProcess: Sendable {
    struct DidNotStart: Error { let output: String }

    /// What it wrote until it was ready.
    let overview: String
    private let process: Process
    private let ended: AsyncStream<Int32>

    init(_ arguments: [String]) async throws {
        let process = Process()
        process.executableURL = try Command.executable
        process.arguments = ["sandbox"] + arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        let (ended, end) = AsyncStream.makeStream(of: Int32.self)
        process.terminationHandler = {
            // A signal that nobody handled is no status.
            end.yield($0.terminationReason == .exit ? $0.terminationStatus : -$0.terminationStatus)
            end.finish()
        }
        let (chunks, chunk) = AsyncStream.makeStream(of: Data.self)
        pipe.fileHandleForReading.readabilityHandler = { handle in
            let data = handle.availableData
            chunk.yield(data)
            if data.isEmpty {
                handle.readabilityHandler = nil
                chunk.finish()
            }
        }
        self.process = process
        self.ended = ended
        try process.run()
        var text = ""
        for await data in chunks {
            text += String(decoding: data, as: UTF8.self)
            if text.contains("Press Ctrl-C to stop.") { break }
        }
        overview = text
        guard text.contains("Press Ctrl-C to stop.") else { throw DidNotStart(output: text) }
    }

    deinit {
        // A test that failed in between must not leave it behind.
        if process.isRunning { process.terminate() }
    }

    /// The words that follow a name in the overview.
    func value(of name: String) throws -> String {
        let line = overview.split(separator: "\n").first { $0.trimmingPrefix("  ").hasPrefix(name + " ") }
        return try #require(line, "\(overview)").trimmingPrefix("  ").dropFirst(name.count).trimmingCharacters(in: .whitespaces)
    }

    /// Presses Ctrl-C.
    ///
    /// - Returns: The status; negative for a signal that ended it.
    func interrupt() async -> Int32 {
        process.interrupt()
        for await status in ended { return status }
        return .min
    }
}

/// The sandbox as the guides' reader starts it.
extension CommandTests {
    @Test("the sandbox runs an organization without an account anywhere, until Ctrl-C", .timeLimit(.minutes(5)))
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
            Issue.record("Jane was not let in.")
            return
        }
        #expect(token.idToken?.subject != nil && token.refreshToken != nil)

        let phones = try #require(URL(string: try sandbox.value(of: "Phones")))
        #expect((try await URLSession.shared.data(from: phones).1 as? HTTPURLResponse)?.statusCode == 200)

        let messages = try sandbox.value(of: "Messages")
        #expect(messages.hasPrefix("http://localhost:") && messages.hasSuffix("/api/messages"))
        var request = URLRequest(url: try #require(URL(string: messages)))
        request.setValue("close", forHTTPHeaderField: "Connection")
        let refused = try await URLSession.shared.data(for: request).1 as? HTTPURLResponse
        #expect(refused?.statusCode == 401)
        request.setValue("Bearer \(token.accessToken)", forHTTPHeaderField: "Authorization")
        let (body, answer) = try await URLSession.shared.data(for: request)
        #expect((answer as? HTTPURLResponse)?.statusCode == 200)
        #expect(String(decoding: body, as: UTF8.self).contains("I am a robot."))

        #expect(await sandbox.interrupt() == 0)
        let error = await thrown { try await client.revoke(token) }
        #expect(error != nil, "It still answers.")
    }

    @Test(
        "unless it is told otherwise the sandbox is where the guides have it",
        arguments: [("--port", "8080"), ("--https-port", "8443"), ("--messages-port", "8000"), ("--phone-port", "8081")])
    func standardPorts(option: String, port: String) async throws {
        let help = try await Command.run(["sandbox", "--help"]).output.split(whereSeparator: \.isWhitespace)
        let start = try #require(help.lastIndex { $0 == option })
        let description = help[start...].prefix { $0 == Substring(option) || !$0.hasPrefix("--") }.joined(separator: " ")
        #expect(description.contains("(default: \(port))"), "\(description)")
    }
}
