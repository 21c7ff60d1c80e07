import AuthFoundation
import CountersignSandbox
import Foundation
import OktaDirectAuth
import Synchronization
import Testing

/// A session as its client knows it.
private struct ClientSession: Sendable {
    /// The tokens of the last response.
    var held: Token
    /// The time of the first request with the current refresh token that got no response; `nil` if there was none.
    var unansweredSince: Date?
    /// The tokens that a response replaced, with the times of these responses.
    var superseded: [(token: Token, at: Date)] = []
}

/// A countdown that several tasks share.
private final class Countdown: Sendable {
    private let left: Mutex<Int>

    init(_ count: Int) {
        left = Mutex(count)
    }

    /// Counts one step. Returns whether it was the last one.
    func step() -> Bool {
        left.withLock { left in
            left -= 1
            return left == 0
        }
    }
}

@Suite("Kills of a running server")
struct KillTests {
    private static let rounds = ProcessInfo.processInfo.environment["COUNTERSIGN_KILL_ROUNDS"].flatMap(Int.init) ?? 5
    private static let grace: TimeInterval = 4
    private static let sessions = 4

    private static func organization(port: Int) -> String {
        OrganizationText.passwordOnly(
            name: "Killed", origin: "http://127.0.0.1:\(port)",
            settings: "rate_limits: {per_client: 1000000, per_address: 1000000, per_address_sign_ins: 1000000, per_user: 1000000}",
            application: """
                type: native
                grant_types: [password, refresh_token]
                refresh_token_leeway: \(Int(grace))s
                """)
    }

    @Test(
        "After each kill and restart of the server, confirmed tokens are valid, and superseded refresh tokens are rejected after the leeway",
        .timeLimit(.minutes(10)))
    func killedAtRandomMoments() async throws {
        let folder = try TemporaryFolder()
        let port = try await freePort()
        let config = try folder.write(Self.organization(port: port), to: "org.yaml")
        let client = OAuth2Client(
            issuerURL: try #require(URL(string: "http://127.0.0.1:\(port)/oauth2/default")), clientId: "app",
            scope: "openid profile offline_access")

        var server = try await ServerProcess(config: config, data: folder.path + "data", port: port)
        var sessions: [ClientSession] = []
        for _ in 0..<Self.sessions { sessions.append(ClientSession(held: try await signIn(client))) }
        for _ in 0..<Self.rounds {
            sessions = await refreshUntilKilled(sessions, client: client, server: server)
            await server.waitUntilEnded()
            server = try await ServerProcess(config: config, data: folder.path + "data", port: port)
            for index in sessions.indices { sessions[index] = try await checkHeld(sessions[index], client: client) }
        }
        for session in sessions { try await checkSuperseded(session, client: client) }
        server.kill()
        await server.waitUntilEnded()
    }

    // MARK: - The steps

    /// Refreshes all sessions as fast as possible, and kills the server after a random number of responses.
    private func refreshUntilKilled(_ sessions: [ClientSession], client: OAuth2Client, server: ServerProcess) async -> [ClientSession] {
        let answersLeft = Countdown(Int.random(in: 1...60))
        return await withTaskGroup(of: (Int, ClientSession).self) { group in
            for (index, session) in sessions.enumerated() {
                group.addTask {
                    var session = session
                    while true {
                        let sentAt = Date()
                        do {
                            let next = try await client.refresh(session.held)
                            session.superseded.append((session.held, Date()))
                            session.held = next
                        } catch {
                            session.unansweredSince = sentAt
                            if serverCode(of: error) != nil { Issue.record("Refused before the kill: \(error)") }
                            return (index, session)
                        }
                        if answersLeft.step() { server.kill() }
                    }
                }
            }
            var after = sessions
            for await (index, session) in group { after[index] = session }
            // If a request failed in every session before that number of responses, the server still runs.
            server.kill()
            return after
        }
    }

    /// Checks that a client's token is valid, or that its first failed request is older than the retry grace.
    private func checkHeld(_ session: ClientSession, client: OAuth2Client) async throws -> ClientSession {
        var session = session
        let introspected = try await client.introspect(token: session.held, type: .accessToken)
        #expect(introspected.active == true, "An access token that was confirmed is unknown after the restart.")
        do {
            let next = try await client.refresh(session.held)
            session.superseded.append((session.held, Date()))
            session.held = next
        } catch {
            let isOver = session.unansweredSince.map { Date().timeIntervalSince($0) > Self.grace } ?? false
            #expect(serverCode(of: error) == "invalid_grant" && isOver, "A refresh token that should be good: \(error)")
            return ClientSession(held: try await signIn(client))
        }
        session.unansweredSince = nil
        return session
    }

    /// Checks that a refresh token with a used successor is rejected, and that its reuse after the grace revokes the newest token too. The
    /// oldest one is the clearest case.
    private func checkSuperseded(_ session: ClientSession, client: OAuth2Client) async throws {
        var session = session
        while session.superseded.count < 2 {
            let next = try await client.refresh(session.held)
            session.superseded.append((session.held, Date()))
            session.held = next
        }
        let oldest = try #require(session.superseded.first)
        let isPastGrace = Date().timeIntervalSince(oldest.at) > Self.grace + 1
        #expect(serverCode(of: await thrown { _ = try await client.refresh(oldest.token) }) == "invalid_grant")
        if isPastGrace { #expect(serverCode(of: await thrown { _ = try await client.refresh(session.held) }) == "invalid_grant") }
    }

    private func signIn(_ client: OAuth2Client) async throws -> Token {
        let status = try await DirectAuthenticationFlow(client: client).start("jane@example.com", with: .password("Correct-Horse-7"))
        guard case .success(let token) = status else { throw UnexpectedStatus(status: status) }
        return token
    }

    /// Returns a port that no program used at the time of the call.
    private func freePort() async throws -> Int {
        let sandbox = try await Sandbox.start()
        let port = try #require(sandbox.origin.port)
        await sandbox.stop()
        return port
    }
}
