import Foundation
import JOSE
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("A server whose disk is full or read-only", .timeLimit(.minutes(5)), .enabled(SmallDisk.missingNote, SmallDisk.isEnabled))
struct DiskTests {
    /// A server with Jane and a folder for its data.
    private struct Company {
        let folder: TemporaryFolder
        let config: String
        let port: Int

        init() throws {
            (folder, port) = (try TemporaryFolder(), try SitePort().number)
            config = try folder.write(
                OrganizationText.passwordOnly(
                    name: "Company", origin: "http://127.0.0.1:\(port)",
                    application: "type: native\ngrant_types: [password, refresh_token]"), to: "org.yaml")
            try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }

        var data: String { folder.path + "data" }

        var serve: [String] { ["serve", "--config", config, "--data", data, "--port", "\(port)"] }

        /// Requests tokens, and returns the status and the refresh token.
        func token(_ form: [String: String]) async throws -> (status: Int, refreshToken: String?) {
            var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(port)/oauth2/default/v1/token")))
            request.httpMethod = "POST"
            request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
            var components = URLComponents()
            components.queryItems = form.merging(["client_id": "app"]) { $1 }.map { URLQueryItem(name: $0.key, value: $0.value) }
            request.httpBody = Data((components.percentEncodedQuery ?? "").utf8)
            let (body, response) = try await PlainHTTP.data(for: request)
            return (response.statusCode, try JSONValue(parsing: body)["refresh_token"]?.stringValue)
        }

        func signIn() async throws -> (status: Int, refreshToken: String?) {
            try await token([
                "grant_type": "password", "username": "jane@example.com", "password": "Correct-Horse-7", "scope": "openid offline_access",
            ])
        }

        func refresh(_ token: String) async throws -> (status: Int, refreshToken: String?) {
            try await self.token(["grant_type": "refresh_token", "refresh_token": token])
        }

        func status(_ path: String) async throws -> Int {
            try await PlainHTTP.data(for: URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(port)\(path)")))).1.statusCode
        }

        /// Runs an operator command on the server's disk.
        func run(_ disk: SmallDisk, _ arguments: String...) async throws -> ChildProcess.Ended {
            try await disk.run(try Command.executable, arguments + ["--config", config, "--data", data])
        }
    }

    @Test(
        "While the disk is full, requests that must write get 503 and the log names the remedy; afterwards the server continues with complete data"
    )
    func fullDisk() async throws {
        let company = try Company()
        let disk = try await SmallDisk(data: company.data, kilobytes: 8_192, company.serve)
        try await disk.waitFor(" listening")
        let first = try #require(try await company.signIn().refreshToken)

        try await disk.fill()
        // More than one attempt, because the failure of one must not break the next.
        for _ in 0..<3 {
            #expect(try await company.signIn().status == 503)
            #expect(try await company.refresh(first).status == 503)
        }
        try await disk.waitFor("The disk under \(company.data)/countersign.sqlite is full. Make room and try again.")
        #expect(try await company.status("/health/live") == 200)
        #expect(try await company.status("/oauth2/default/v1/keys") == 200)
        let command = try await company.run(disk, "users", "suspend", "jane@example.com")
        #expect(command.status == 1 && command.errors.contains("is full. Make room and try again."), "\(command.errors)")

        try await disk.free()
        // The refresh token was not consumed by the failed requests.
        let second = try await company.refresh(first)
        #expect(second.status == 200)
        #expect(try await company.refresh(try #require(second.refreshToken)).status == 200)
        #expect(try await company.signIn().status == 200)
        // Each acknowledged request left its grant and its line in the log, and no other request did.
        let shown = try JSONValue(parsing: Data(try await company.run(disk, "users", "show", "jane@example.com", "--json").output.utf8))
        #expect(shown["grants"]?.integerValue == 2 && shown["status"] == "active", "\(shown)")
        let log = try await company.run(disk, "log", "--type", "token.grant", "--outcome", "success", "--json")
        let types = try log.output.split(separator: "\n").map { try JSONValue(parsing: Data($0.utf8))["type"]?.stringValue }
        #expect(
            types == ["token.grant.password", "token.grant.refresh_token", "token.grant.refresh_token", "token.grant.password"],
            "\(log.output)")
        disk.interrupt()
        #expect(await disk.end().status == 0)
    }

    @Test("A server that starts with too little space for its database ends, and its error names the remedy")
    func startOnFullDisk() async throws {
        let company = try Company()
        let disk = try await SmallDisk(data: company.data, kilobytes: 32, company.serve)
        let (status, text) = await disk.end()
        #expect(status == 1 && text.contains("is full. Make room and try again."), "\(text)")
    }

    @Test("A server that starts in an empty read-only folder ends, and its error says to name another folder")
    func emptyReadOnlyFolder() async throws {
        let company = try Company()
        let disk = try await SmallDisk(data: company.data, kilobytes: 8_192, isReadOnly: true, company.serve)
        let (status, text) = await disk.end()
        #expect(status == 1 && text.contains("Read-only file system") && text.contains("Name a folder that can be written to."), "\(text)")
    }

    @Test("A server whose database is on a read-only file system ends, and its error names the file system as a reason")
    func readOnlyDatabase() async throws {
        let company = try Company()
        let process = try Command.start(company.serve)
        try await process.waitFor(" listening")
        process.interrupt()
        #expect(await process.end().status == 0)
        let disk = try await SmallDisk(data: company.data, kilobytes: 8_192, isReadOnly: true, company.serve)
        let (status, text) = await disk.end()
        #expect(status == 1 && text.contains("cannot be opened for writing"), "\(text)")
        #expect(text.contains("who owns it, and that its file system is not mounted read-only."), "\(text)")
    }
}
