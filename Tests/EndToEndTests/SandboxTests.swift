import AuthFoundation
import CountersignSandbox
import Foundation
import JOSE
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("The sandbox")
struct SandboxTests {
    @Test("A sandbox without a port accepts a sign-in within the process, and its transport reaches no other server")
    func inProcess() async throws {
        try await withSandbox(.init(listening: .inProcess)) { sandbox in
            let token = try await sandbox.signIn(with: sandbox.client())
            #expect(token.idToken?.issuer == "http://127.0.0.1/oauth2/default")
            let elsewhere = URLRequest(url: try #require(URL(string: "http://127.0.0.1:1/")))
            await #expect(throws: URLError.self) { try await sandbox.transport.data(for: elsewhere) }
        }
    }

    @Test("A preview credential contains tokens of a sign-in at the sandbox, and the sandbox accepts the tokens")
    func preview() async throws {
        try await withSandbox(.init(listening: .inProcess)) { sandbox in
            let credential = try await sandbox.previewCredential(of: .john)
            #expect(credential.token.idToken?.name == "John Roe")
            #expect(try await credential.userInfo().email == "john.roe@example.com")
            #expect(try await credential.introspect(.accessToken).active == true)
        }
    }

    @Test("A restarted sandbox with a folder accepts a refresh token from before the restart")
    func folder() async throws {
        let folder = try TemporaryFolder()
        let first = try await Sandbox.start(.init(listening: .inProcess, folder: folder.url))
        let token = try await first.signIn(with: first.client())
        await first.stop()
        let second = try await Sandbox.start(.init(listening: .inProcess, folder: folder.url))
        let refreshed = try await second.client().refresh(token)
        #expect(refreshed.accessToken != token.accessToken)
        #expect(try second.forgedToken(.expired, of: refreshed.accessToken) != refreshed.accessToken)
        await second.stop()
    }

    @Test(
        "A sandbox with TLS sends no HSTS header, which would affect other servers on the same host",
        arguments: ["localhost", "127.0.0.1"])
    func noTransportSecurity(host: String) async throws {
        try await withSandbox(.init(listening: .inProcess, host: host, usesTLS: true)) { sandbox in
            let url = sandbox.origin.appending(path: "health/live")
            let answer = try await sandbox.transport.data(for: URLRequest(url: url)).1 as? HTTPURLResponse
            #expect(url.scheme == "https" && answer?.statusCode == 200)
            #expect(answer?.value(forHTTPHeaderField: "Strict-Transport-Security") == nil)
        }
    }

    @Test("Starting the sandbox on a port that is in use throws an error")
    func portTaken() async throws {
        try await withSandbox { sandbox in
            let port = try #require(sandbox.origin.port)
            let error = await thrown { _ = try await Sandbox.start(.init(listening: .port(port))) }
            let text = "\(try #require(error))"
            #expect(text.contains("Port \(port) ") && text.contains("in use"), "\(text)")
        }
    }

    @Test("An organization in the sandbox's configuration replaces the default organization")
    func ownOrganization() async throws {
        let organization = """
            name: Own
            origin: http://localhost:8080
            sign_on_policies:
              - name: one-factor
                rules: [{name: All, require: one_factor}]
            authorization_servers:
              - id: default
                name: Default
                audience: api://own
                access_policies:
                  - name: All
                    rules: [{name: All}]
            applications:
              - {id: own-app, name: Own, type: native, grant_types: [password], assignment: everyone, sign_on_policy: one-factor}
            users:
              - {login: ann@example.com, password: Own-Password-1, profile: {name: Ann, email: ann@example.com}}
            """
        try await withSandbox(.init(listening: .inProcess, organization: organization)) { sandbox in
            #expect(sandbox.applications.map(\.clientID) == ["own-app"])
            let ann = try #require(sandbox.users.first)
            let client = sandbox.client(SandboxApplication(clientID: "own-app"), scope: ["openid", "profile"])
            let token = try await sandbox.signIn(ann, with: client)
            #expect(token.idToken?.name == "Ann")
        }
    }

    // MARK: - The clock

    @Test("A sleep on a standing sandbox clock returns when the clock has been advanced by the whole duration")
    func standingClock() async throws {
        let clock = SandboxClock(.standing, startingAt: Date(timeIntervalSince1970: 0))
        async let woken: Void = clock.sleep(for: 10)
        await clock.waitForSleepers(1)
        clock.advance(by: 4)
        // The waiting task needs the remaining time too.
        await clock.waitForSleepers(1)
        clock.advance(by: 6)
        try await woken
        #expect(clock.now.timeIntervalSince1970 == 10)
    }

    @Test("Cancelling a task that sleeps on the sandbox clock ends the sleep immediately with CancellationError")
    func cancelledWait() async throws {
        let clock = SandboxClock(.standing)
        let waiting = Task { try await clock.sleep(for: 3600) }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }

    // MARK: - The resource server

    @Test("The resource server rejects each kind of forged access token", arguments: Forgery.allCases.filter { $0 != .wrongNonce })
    func forgedAccessToken(_ forgery: Forgery) async throws {
        try await withSandbox(.init(messagesPort: 0)) { sandbox in
            let token = try await sandbox.signIn().accessToken
            let good = try await messages(sandbox, token: token)
            #expect(good == 200)
            let forged = try await messages(sandbox, token: try sandbox.forgedToken(forgery, of: token))
            #expect(forged == 401)
        }
    }

    private func messages(_ sandbox: Sandbox, token: String) async throws -> Int {
        var request = URLRequest(url: try #require(sandbox.messagesURL).appending(path: "api/messages"))
        request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        let (_, response) = try await PlainHTTP.data(for: request)
        return response.statusCode
    }
}
