import AuthFoundation
import CountersignSandbox
import Foundation
import Testing

@Suite("Network failures, clock differences and key rotation")
struct HardCaseTests {
    @Test("A device clock that is ten minutes off prevents neither a sign-in nor a refresh", arguments: [-600.0, 600.0])
    func wrongClock(_ offset: TimeInterval) async throws {
        try await withSandbox { sandbox in
            let deviceClock = SandboxClock(startingAt: sandbox.clock.now.addingTimeInterval(offset))
            let client = sandbox.client(by: .port, clock: deviceClock)
            try await Credential.withStorage(MemoryTokenStorage(), clock: deviceClock) {
                let credential = try Credential.store(try await sandbox.signIn(with: client))
                try await credential.refresh()
                #expect(try await credential.introspect(.accessToken).active == true)
                let seen = try #require(client.clockOffset)
                #expect(abs(seen + offset) < 5)
            }
        }
    }

    @Test("After the server rotates its keys, the client fetches the keys again at the next sign-in")
    func rotation() async throws {
        try await withSandbox { sandbox in
            let client = sandbox.client(by: .port)
            let first = try await sandbox.signIn(with: client)
            try await sandbox.rotateKeys()
            let second = try await sandbox.signIn(with: client)
            #expect(first.idToken?.header.keyId != second.idToken?.header.keyId)
            #expect(sandbox.count(.keys) == 2)
            // A token that the old key signed stays valid until it expires.
            #expect(try await client.introspect(token: first, type: .accessToken).active == true)
        }
    }

    @Test("After a 429 response, the client waits until the rate limit resets, and then retries the request")
    func rateLimit() async throws {
        try await withSandbox(.init(clock: SandboxClock(.skipping))) { sandbox in
            let before = sandbox.clock.now
            sandbox.inject(Fault(.rateLimited(resetAfter: 7), at: .token))
            _ = try await sandbox.signIn()
            let waited = sandbox.clock.now.timeIntervalSince(before)
            #expect(waited >= 6 && waited <= 9)
            let attempts = sandbox.requests.filter { $0.endpoint == .token }
            #expect(attempts.map(\.status) == [429, 200])
            #expect(attempts.last?.headers["x-okta-retry-count"] == "1")
        }
    }

    @Test(
        "The client rejects a truncated token response, stores no credential, and does not send the password again",
        arguments: Reach.allCases)
    func truncatedTokens(by reach: Reach) async throws {
        try await withSandboxAndStore { sandbox in
            sandbox.inject(Fault(.truncatedBody, at: .token))
            let error = await thrown { try Credential.store(try await sandbox.signIn(with: sandbox.client(by: reach))) }
            #expect(error != nil)
            #expect(serverCode(of: error) == nil)
            #expect(Credential.allIDs.isEmpty)
            // The client does not send the password twice.
            #expect(sandbox.count(.token) == 1)
        }
    }

    @Test(
        "The client repeats a request for the user info after a broken connection, a truncated response or status 503",
        arguments: [Fault.Effect.truncatedBody, .dropConnectionBeforeCommit, .status(503)])
    func readingAgain(_ effect: Fault.Effect) async throws {
        try await withSandboxAndStore(.init(clock: SandboxClock(.skipping))) { sandbox in
            let credential = try Credential.store(try await sandbox.signIn())
            sandbox.inject(Fault(effect, at: .userInfo))
            #expect(try await credential.userInfo().name == "Jane Doe")
            #expect(sandbox.count(.userInfo) == 2)
        }
    }

    @Test("If the connection is lost after the server committed a refresh, the client repeats the refresh within the leeway")
    func lostRefresh() async throws {
        try await withSandboxAndStore { sandbox in
            let credential = try Credential.store(try await sandbox.signIn())
            let before = credential.token
            sandbox.inject(Fault(.dropConnectionAfterCommit, at: .token))
            try await credential.refresh()
            #expect(sandbox.requests.filter { $0.grantType == "refresh_token" }.map(\.status) == [nil, 200])
            #expect(credential.token.refreshToken != before.refreshToken)
            sandbox.advance(by: 31)
            try await credential.refresh()
            #expect(try await credential.introspect(.accessToken).active == true)
        }
    }

    @Test(
        "After a server error, a lost connection or a wrong content type during a refresh, the session is kept and can be refreshed later",
        arguments: [Fault.Effect.status(500), .status(503), .dropConnectionBeforeCommit, .contentType("text/html")])
    func unreachable(_ effect: Fault.Effect) async throws {
        try await withSandboxAndStore(.init(clock: SandboxClock(.skipping))) { sandbox in
            let credential = try Credential.store(try await sandbox.signIn())
            sandbox.inject(Fault(effect, at: .token, count: 10))
            // A client may accept a correct body with a wrong content type. In either case it must not sign the user out.
            _ = await thrown { try await credential.refresh() }
            if case .ended = credential.sessionState { Issue.record("The session was ended by \(effect).") }
            #expect(Credential.default == credential)
            sandbox.clearFaults()
            try await credential.refresh()
        }
    }

    @Test("After the server revokes the refresh token, a refresh fails, and the credential reports an ended session but is not deleted")
    func endedSession() async throws {
        try await withSandboxAndStore { sandbox in
            let client = sandbox.client(by: .port)
            let token = try await sandbox.signIn(with: client)
            let credential = try Credential.store(token)
            try await client.revoke(token, type: .refreshToken)
            #expect(serverCode(of: await thrown { try await credential.refresh() }) == "invalid_grant")
            guard case .ended(let error) = credential.sessionState else {
                Issue.record("The session counts as \(credential.sessionState).")
                return
            }
            #expect(error.code == .invalidGrant)
            #expect(Credential.allIDs == [credential.id])
        }
    }
}
