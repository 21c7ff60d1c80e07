#if os(Linux)
import Foundation
import TestSupport
import Testing

@testable import AuthFoundation

@Suite("Credentials on one thread and after kill -9")
struct CredentialProcessTests {
    private let folder = TemporaryFolder()

    @Test("200 concurrent refreshes of a credential on a one-thread pool send one request", .timeLimit(.minutes(1)))
    func refreshesOnOneThread() async throws {
        let child = TestProcess("CredentialRefreshTests/sharesOne", isOnOneCore: true)
        let (status, output) = try await child.run()
        #expect(status == 0, "\(output)")
        #expect(output.contains("Test run with 1 test "))
    }

    @Test("The synchronous Credential API does not deadlock on a one-thread pool", .timeLimit(.minutes(1)))
    func worksOnOneThread() async throws {
        let child = TestProcess("CredentialRulesTests/worksFromAnywhere", isOnOneCore: true)
        let (status, output) = try await child.run()
        #expect(status == 0, "\(output)")
        #expect(output.contains("Test run with 1 test "))
    }

    @Test(
        "After kill -9, the vault contains the last refreshed token that the process reported, or its successor", .timeLimit(.minutes(1)),
        arguments: [1, 2, 5, 9, 14])
    func survivesKill(_ refreshes: Int) async throws {
        let child = TestProcess("CredentialProcessTests/refreshesAgainAndAgain", variables: [Self.variable: folder.url.path])
        let lines = try await child.run(killingAfter: refreshes, linesBeginning: Self.prefix)
        let reported = try #require(lines.last.flatMap { Int($0.dropFirst(Self.prefix.count)) })
        #expect(reported >= refreshes)
        try await Credential.withStorage(FileTokenStorage(directory: folder.url), session: ScriptedIssuer()) {
            let token = try #require(try Credential.loadDefault()).token
            let stored = try #require(token.refreshToken.flatMap { Int($0.dropFirst("refresh-".count)) })
            // Every confirmed token is stored. The next token may be stored without a confirmation.
            #expect(stored == reported || stored == reported + 1)
            #expect(token.accessToken == "access-\(stored)")
            try Credential.store(.fixture(id: "after"))
        }
    }

    private static let variable = "COUNTERSIGN_TEST_VAULT"
    private static let prefix = "refreshed "

    /// Run alone, it refreshes a few times. As the child of the test above, it refreshes until it is killed.
    @Test("After three refreshes, the vault contains the newest refresh token")
    func refreshesAgainAndAgain() async throws {
        let path = ProcessInfo.processInfo.environment[Self.variable]
        let session = ScriptedIssuer()
        session.on("/v1/token") { _, count in .tokens("access-\(count + 1)", refresh: "refresh-\(count + 1)") }
        let storage = FileTokenStorage(directory: path.map { URL(fileURLWithPath: $0) } ?? folder.url)
        try await Credential.withStorage(storage, session: session) {
            let credential = try Credential.store(.fixture())
            for count in 1...(path == nil ? 3 : 100_000) {
                try await credential.refresh()
                if path != nil { try FileHandle.standardOutput.write(contentsOf: Data("\(Self.prefix)\(count)\n".utf8)) }
            }
        }
        #expect(
            try CredentialActor.synchronously { try storage.get(token: "session-1", prompt: nil, authenticationContext: nil) }.refreshToken
                == "refresh-3")
    }
}
#endif
