#if PostgreSQL
import Foundation
import JOSE
import TestSupport
import Testing

@Suite(
    "Several servers on one PostgreSQL database",
    .enabled(if: OutsidePart.postgreSQL.isEnabled, Comment(rawValue: OutsidePart.postgreSQL.missingNote)))
struct InstancesTests {
    private static let token = "/oauth2/default/v1/token"

    private static func instances() async throws -> ServerInstances {
        try await ServerInstances(2) { origin in
            OrganizationText.passwordOnly(
                name: "Shared", origin: origin,
                application: "type: native\ngrant_types: [password, refresh_token]\nrefresh_token_leeway: 0s")
        }
    }

    private static func signIn(_ servers: ServerInstances, at index: Int, password: String = "Correct-Horse-7") async throws -> (
        status: Int, members: [String: JSONValue]
    ) {
        try await servers.post(
            token,
            [
                "grant_type": "password", "client_id": "app", "username": "jane@example.com", "password": password,
                "scope": "openid offline_access",
            ], to: index)
    }

    private static func refresh(_ servers: ServerInstances, _ secret: String, at index: Int) async throws -> (
        status: Int, members: [String: JSONValue]
    ) {
        try await servers.post(token, ["grant_type": "refresh_token", "client_id": "app", "refresh_token": secret], to: index)
    }

    @Test("Two servers on one database share sessions: each server can refresh a session, and token reuse or revocation ends the session")
    func sharedSession() async throws {
        let servers = try await Self.instances()
        let first = try #require(try await Self.signIn(servers, at: 0).members["refresh_token"]?.stringValue)
        let second = try #require(try await Self.refresh(servers, first, at: 1).members["refresh_token"]?.stringValue)
        let third = try #require(try await Self.refresh(servers, second, at: 0).members["refresh_token"]?.stringValue)
        // The first token is used again, as by a thief. Its reuse revokes the family.
        #expect(try await Self.refresh(servers, first, at: 1).members["error"] == "invalid_grant")
        #expect(try await Self.refresh(servers, third, at: 0).members["error"] == "invalid_grant")

        let other = try #require(try await Self.signIn(servers, at: 1).members["refresh_token"]?.stringValue)
        #expect(
            try await servers.post("/oauth2/default/v1/revoke", ["client_id": "app", "token": other], to: 0).status == 200)
        #expect(try await Self.refresh(servers, other, at: 1).members["error"] == "invalid_grant")
        await servers.stop()
    }

    @Test("Wrong passwords at two servers count together, and lock the account at both servers")
    func sharedLockout() async throws {
        let servers = try await Self.instances()
        for attempt in 0..<10 { #expect(try await Self.signIn(servers, at: attempt % 2, password: "wrong").status == 400) }
        for index in 0..<2 { #expect(try await Self.signIn(servers, at: index).members["error"] == "invalid_grant") }
        await servers.stop()
    }

    @Test("Concurrent refreshes of one token at two servers leave at most one valid refresh token")
    func concurrentRefreshes() async throws {
        let servers = try await Self.instances()
        for _ in 0..<5 {
            let secret = try #require(try await Self.signIn(servers, at: 0).members["refresh_token"]?.stringValue)
            let successors = try await withThrowingTaskGroup(of: String?.self) { group in
                for index in 0..<8 {
                    group.addTask { try await Self.refresh(servers, secret, at: index % 2).members["refresh_token"]?.stringValue }
                }
                return try await group.reduce(into: [String]()) { found, next in if let next { found.append(next) } }
            }
            // A retry within the leeway gets a second successor, and makes the first one invalid.
            var valid = 0
            for successor in successors where try await Self.refresh(servers, successor, at: 1).status == 200 { valid += 1 }
            #expect(!successors.isEmpty && valid <= 1, "\(valid) of \(successors.count) successors")
        }
        await servers.stop()
    }

    @Test("If a server is killed, another server can refresh the session, and the killed server can refresh the session after a restart")
    func killed() async throws {
        var servers = try await Self.instances()
        let first = try #require(try await Self.signIn(servers, at: 0).members["refresh_token"]?.stringValue)
        servers.processes[0].kill()
        await servers.processes[0].waitUntilEnded()
        let second = try #require(try await Self.refresh(servers, first, at: 1).members["refresh_token"]?.stringValue)
        try await servers.restart(0)
        #expect(try await Self.refresh(servers, second, at: 0).status == 200)
        await servers.stop()
    }

    @Test("countersign serve rejects a database without tables, or a password in --database, and names the command or flag to use")
    func refusals() async throws {
        let folder = try TemporaryFolder()
        let config = try folder.write(
            OrganizationText.passwordOnly(name: "Refused", origin: "http://127.0.0.1:8099", application: "type: native"), to: "org.yaml")
        let url = try await PostgreSQLServer.shared.value.newDatabase()
        let arguments = ["serve", "--config", config, "--data", folder.path + "data", "--port", "0"]
        let empty = try await Command.run(arguments, environment: ["COUNTERSIGN_DATABASE": url])
        #expect(empty.status == 1 && empty.errors.contains("countersign store migrate"), "\(empty)")
        let visible = try await Command.run(arguments + ["--database", "postgres://jane:Pa55-word@localhost/x"])
        #expect(visible.status != 0 && visible.errors.contains("database-password-file") && !visible.errors.contains("Pa55"), "\(visible)")
        let none = try await Command.run(["store", "migrate", "--config", config])
        #expect(none.status == 1 && none.errors.contains("No PostgreSQL database is set"), "\(none)")
    }
}
#endif
