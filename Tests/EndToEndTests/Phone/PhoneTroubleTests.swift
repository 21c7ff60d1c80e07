import AuthFoundation
import AuthorizationServer
import CountersignSandbox
import DeviceAuthenticator
import Foundation
import OktaDirectAuth
import Synchronization
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Failures and restarts of a virtual phone", .timeLimit(.minutes(10)))
struct PhoneTroubleTests {
    private func reason(_ error: (any Error)?) -> DeviceAuthenticatorError.Reason? { (error as? DeviceAuthenticatorError)?.reason }

    @Test("An offline virtual phone gets no push and sends no response, and gets the stored push when the phone is online again")
    func offline() async throws {
        try await withSandbox(.standing()) { sandbox in
            let phone = try await sandbox.phone(for: SandboxUser.jane.login)
            await phone.setOffline(true)
            let signIn = PushSignIn(sandbox)
            let waiting = try await signIn.begin()
            await sandbox.pushGateway.waitForArrivals(1)
            let error = await thrown { try await phone.pending() }
            #expect(reason(error) == .network)
            #expect(phone.waiting.isEmpty)

            await phone.setOffline(false)
            let request = try #require(try await phone.shows { !$0.isEmpty }.first)
            await phone.setOffline(true)
            let unsent = await thrown { try await phone.approve(request.id) }
            #expect(reason(unsent) == .network)
            #expect(phone.waiting == [request])

            await phone.setOffline(false)
            try await phone.approve(request.id)
            _ = try await signIn.tokens(waiting)
            #expect(phone.outcomes == [.approved])
        }
    }

    @Test("If an offline phone fails to send a denial, the user can still approve the request later")
    func secondThoughts() async throws {
        try await withSandbox(.standing()) { sandbox in
            let phone = try await sandbox.phone(for: SandboxUser.jane.login)
            let signIn = PushSignIn(sandbox)
            let waiting = try await signIn.begin()
            let request = try #require(try await phone.shows { !$0.isEmpty }.first)
            await phone.setOffline(true)
            await #expect(throws: DeviceAuthenticatorError.self) { try await phone.deny(request.id) }
            await phone.setOffline(false)
            try await phone.approve(request.id)
            _ = try await signIn.tokens(waiting)
        }
    }

    @Test("A virtual phone shows a push that is delivered twice only once, and not again after the approval")
    func twice() async throws {
        try await withSandbox(.standing()) { sandbox in
            let phone = try await sandbox.phone(for: SandboxUser.jane.login)
            phone.deliversTwice = true
            let signIn = PushSignIn(sandbox)
            let waiting = try await signIn.begin()
            _ = try await phone.shows { !$0.isEmpty }
            try await phone.approveNext(within: .patience)
            _ = try await signIn.tokens(waiting)
            #expect(try await phone.pending().isEmpty)
            #expect(phone.outcomes == [.approved])
        }
    }

    @Test("A push that reaches the phone with a delay can still be approved")
    func late() async throws {
        try await withSandbox(.standing()) { sandbox in
            let phone = try await sandbox.phone(for: SandboxUser.jane.login)
            phone.delay = 60
            let signIn = PushSignIn(sandbox)
            let waiting = try await signIn.begin()
            await sandbox.pushGateway.waitForArrivals(1)
            // Another user's phone gets its push in the meantime. The first phone gets none.
            let other = try await sandbox.phone(for: SandboxUser.john.login)
            let otherWaiting = try await PushSignIn(sandbox).begin(.john)
            _ = try await other.shows { !$0.isEmpty }
            otherWaiting.cancel()
            #expect(phone.waiting.isEmpty)
            let start = sandbox.clock.now
            while phone.waiting.isEmpty, sandbox.clock.now < start.addingTimeInterval(290) {
                sandbox.advance(by: 1)
                for _ in 0..<100 { await Task.yield() }
            }
            try await phone.approveNext(within: .patience)
            _ = try await signIn.tokens(waiting)
        }
    }

    @Test("After a phone replaces its push token, the server sends pushes to the new token")
    func newToken() async throws {
        try await withSandbox(.standing()) { sandbox in
            let phone = try await sandbox.phone(for: SandboxUser.jane.login)
            var tokens: Set<String> = []
            for _ in 0..<2 {
                let signIn = PushSignIn(sandbox)
                let waiting = try await signIn.begin()
                try await phone.approveNext(within: .patience)
                _ = try await signIn.tokens(waiting)
                tokens.insert(try #require(sandbox.pushGateway.received.last).deviceToken)
                try await phone.replaceToken()
            }
            #expect(tokens.count == 2)
            #expect(sandbox.pushGateway.received.allSatisfy { $0.status == 200 })
        }
    }

    @Test("A phone that does not send its new push token to the server gets no push, but can fetch and approve pending requests")
    func untoldToken() async throws {
        try await withSandbox(.standing()) { sandbox in
            let phone = try await sandbox.phone(for: SandboxUser.jane.login)
            try await phone.replaceToken(telling: false)
            let signIn = PushSignIn(sandbox)
            let waiting = try await signIn.begin()
            await sandbox.pushGateway.waitForArrivals(1)
            while sandbox.pushGateway.received.isEmpty { await Task.yield() }
            #expect(sandbox.pushGateway.received.map(\.reason) == ["Unregistered"])
            #expect(phone.waiting.isEmpty)
            let request = try #require(try await phone.pending().first)
            try await phone.approve(request.id)
            _ = try await signIn.tokens(waiting)
        }
    }

    // MARK: - User verification

    @Test(
        "After a failed user verification, an approval succeeds only if the policy prefers verification; after a cancelled verification, an approval fails",
        arguments: [
            ("preferred", VirtualPhone.Verification.succeeds, true), ("preferred", .fails, true), ("preferred", .cancels, false),
            ("required", .succeeds, true), ("required", .fails, false), ("required", .cancels, false),
        ])
    func verification(policy: String, verification: VirtualPhone.Verification, isApproved: Bool) async throws {
        let organization = OrgFile.sandboxDefault.replacing(
            "number_challenge: never", with: "number_challenge: never\n    user_verification: \(policy)")
        try await withSandbox(.standing(organization: organization)) { sandbox in
            let phone = try await sandbox.phone(for: SandboxUser.jane.login, userVerification: true)
            phone.verification = verification
            let signIn = PushSignIn(sandbox)
            let waiting = try await signIn.begin()
            let error = await thrown { try await phone.approveNext(within: .patience) }
            if isApproved {
                #expect(error == nil)
                let token = try await signIn.tokens(waiting)
                #expect(token.methods.contains("pin") == (verification == .succeeds))
                #expect(phone.outcomes == [.approved])
            } else {
                #expect([.userVerificationFailed, .userVerificationCancelled].contains(reason(error)))
                let refused = await thrown { _ = try await signIn.tokens(waiting) }
                #expect(serverCode(of: refused) == "access_denied")
                guard case .failed? = phone.outcomes.last else {
                    Issue.record("\(phone.outcomes)")
                    return
                }
            }
        }
    }

    // MARK: - Restarts

    @Test("A restarted phone can fetch pending requests and approve them")
    func phoneRestart() async throws {
        try await withSandbox(.standing()) { sandbox in
            let phone = try await sandbox.phone(for: SandboxUser.jane.login)
            let signIn = PushSignIn(sandbox)
            let waiting = try await signIn.begin()
            let shown = try await phone.shows { !$0.isEmpty }
            try phone.restart()
            #expect(phone.waiting.isEmpty)
            #expect(try await phone.pending() == shown)
            try await phone.approve(shown[0].id)
            _ = try await signIn.tokens(waiting)
        }
    }

    @Test("A sign-in completes if the server and the phone are restarted before the approval")
    func serverRestart() async throws {
        let folder = try TemporaryFolder()
        let first = try await Sandbox.start(.standing(folder: folder.url))
        let phone = try await first.phone(for: SandboxUser.jane.login)
        let session = SwitchedSession(first.transport)
        let signIn = PushSignIn(first, session: session)
        let waiting = try await signIn.begin()
        let wait = try await signIn.clock.nextWait()
        let shown = try await phone.shows { !$0.isEmpty }
        await first.stop()
        await #expect(throws: PhoneError.self) { try await phone.approveNext(within: .patience) }

        try await withSandbox(.standing(folder: folder.url)) { second in
            session.session = second.transport
            let samePhone = try await second.phone(for: SandboxUser.jane.login)
            #expect(samePhone.enrollments.count == 1)
            #expect(try await samePhone.pending() == shown)
            try await samePhone.approve(shown[0].id)
            signIn.clock.pass(wait)
            guard case .success = try await waiting.value else { throw CancellationError() }

            // Pushes reach the phone again.
            let next = PushSignIn(second)
            let nextWaiting = try await next.begin()
            try await samePhone.approveNext(within: .patience)
            _ = try await next.tokens(nextWaiting)
        }
    }
}

/// A network session whose destination can be replaced.
private final class SwitchedSession: URLSessionProtocol {
    private let current: Mutex<any URLSessionProtocol>

    init(_ session: any URLSessionProtocol) {
        current = Mutex(session)
    }

    var session: any URLSessionProtocol {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }

    var configuration: URLSessionConfiguration { session.configuration }

    func data(for request: URLRequest) async throws -> (Data, URLResponse) { try await session.data(for: request) }
}
