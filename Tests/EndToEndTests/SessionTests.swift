import AuthFoundation
import CountersignSandbox
import Foundation
import Testing

@Suite("A session: user info, refresh, revocation, sign-out")
struct SessionTests {
    @Test("A credential fetches the user info once and then returns the cached user info")
    func userInfo() async throws {
        try await withSandboxAndStore { sandbox in
            let credential = try Credential.store(try await sandbox.signIn())
            let info = try await credential.userInfo()
            #expect(info.name == "Jane Doe")
            #expect(info.email == "jane.doe@example.com")
            #expect(info.subject == credential.token.idToken?.subject)
            _ = try await credential.userInfo()
            #expect(sandbox.count(.userInfo) == 1)
            #expect(credential.userInfo?.name == "Jane Doe")
        }
    }

    @Test("A token refresh stores the new tokens in the existing credential")
    func refresh() async throws {
        try await withSandboxAndStore { sandbox in
            let credential = try Credential.store(try await sandbox.signIn())
            let before = credential.token
            sandbox.advance(by: 5)
            try await credential.refresh()
            #expect(credential.token.accessToken != before.accessToken)
            #expect(credential.token.refreshToken != before.refreshToken)
            let (old, new) = (try #require(before.idToken), try #require(credential.token.idToken))
            #expect(new.rawValue != old.rawValue && new.subject == old.subject)
            let issued = try #require(old.issuedAt)
            #expect(try #require(new.issuedAt).timeIntervalSince(issued) >= 5)
            #expect(credential.id == before.id)
            #expect(try Credential.with(id: before.id) === credential)
            #expect(try await credential.introspect(.accessToken).active == true)
        }
    }

    @Test("Two hundred concurrent refreshes of one credential send only one request")
    func concurrentRefresh() async throws {
        try await withSandboxAndStore { sandbox in
            let credential = try Credential.store(try await sandbox.signIn())
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<200 { group.addTask { try await credential.refresh() } }
                try await group.waitForAll()
            }
            #expect(sandbox.count(.token, grant: "refresh_token") == 1)
        }
    }

    @Test("refreshIfNeeded refreshes an access token shortly before its expiry, and the server reports an expired access token as inactive")
    func timeTravel() async throws {
        try await withSandboxAndStore { sandbox in
            let credential = try Credential.store(try await sandbox.signIn())
            try await credential.refreshIfNeeded()
            #expect(sandbox.count(.token, grant: "refresh_token") == 0)
            sandbox.advance(by: 3301)
            try await credential.refreshIfNeeded()
            #expect(sandbox.count(.token, grant: "refresh_token") == 1)
            sandbox.advance(by: 3601)
            #expect(try await credential.introspect(.accessToken).active == false)
        }
    }

    @Test("A previous refresh token is accepted within the leeway, and its use after the leeway also revokes its successors")
    func grace() async throws {
        try await withSandbox { sandbox in
            let client = sandbox.client(by: .port)
            let first = try await sandbox.signIn(with: client)
            _ = try await client.refresh(first)
            sandbox.advance(by: 25)
            let again = try await client.refresh(first)
            sandbox.advance(by: 31)
            #expect(serverCode(of: await thrown { _ = try await client.refresh(first) }) == "invalid_grant")
            #expect(serverCode(of: await thrown { _ = try await client.refresh(again) }) == "invalid_grant")
        }
    }

    @Test("Revoking only the access token keeps the stored credential, which can still be refreshed")
    func revokeAccessToken() async throws {
        try await withSandboxAndStore { sandbox in
            let credential = try Credential.store(try await sandbox.signIn())
            try await credential.revoke(type: .accessToken)
            #expect(try await credential.introspect(.accessToken).active == false)
            #expect(Credential.allIDs == [credential.id])
            try await credential.refresh()
            #expect(try await credential.introspect(.accessToken).active == true)
        }
    }

    @Test("Revoking a credential deletes the stored tokens and invalidates the tokens at the server")
    func signOut() async throws {
        try await withSandboxAndStore { sandbox in
            let client = sandbox.client(by: .port)
            let token = try await sandbox.signIn(with: client)
            let credential = try Credential.store(token)
            try await credential.revoke()
            #expect(Credential.allIDs.isEmpty)
            #expect(Credential.default == nil)
            #expect(try await client.introspect(token: token, type: .accessToken).active == false)
            #expect(serverCode(of: await thrown { _ = try await client.refresh(token) }) == "invalid_grant")
        }
    }

    @Test("After an offline sign-out, the next sign-in's credential is the default, and the failed revocation is repeated later")
    func offlineSignOut() async throws {
        try await withSandboxAndStore { sandbox in
            let client = sandbox.client(by: .port)
            let first = try await sandbox.signIn(with: client)
            let credential = try Credential.store(first)
            sandbox.inject(Fault(.dropConnectionBeforeCommit, at: .revoke, count: 100))
            let error = await thrown { try await credential.revoke() }
            #expect(error != nil)
            Credential.default = nil
            #expect(Credential.allIDs.isEmpty)

            sandbox.clearFaults()
            let second = try Credential.store(try await sandbox.signIn(.john, with: client))
            #expect(Credential.default == second)
            #expect(Credential.allIDs == [second.id])

            // The failed revocation is repeated as soon as the server is available again.
            for await event in Credential.events {
                if case .revocationDelivered(first.id) = event { break }
                if sandbox.count(.revoke) > 100 { break }
            }
            #expect(try await client.introspect(token: first, type: .refreshToken).active == false)
        }
    }
}
