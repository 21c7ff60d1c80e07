import Dispatch
import Foundation
import TestSupport
import Testing

@testable import AuthFoundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Locked credentials")
struct CredentialLockTests {
    private struct Refused: Error {}

    private let clock = ManualClock()
    private let device: KeychainDouble
    private let issuer: ScriptedIssuer
    private let instant: Locked<ContinuousClock.Instant>
    private let background: AppBackground
    private let request: URLRequest

    init() throws {
        device = KeychainDouble(clock: clock)
        issuer = ScriptedIssuer(clock: clock)
        let instant = Locked(ContinuousClock.now)
        self.instant = instant
        background = AppBackground { instant.withLock { $0 } }
        request = URLRequest(url: try url("https://api.example.com/messages"))
    }

    /// Runs a test with a stored session, whose Keychain item can require the user's authentication.
    private func with(
        asksUser: Bool = false, flags: UInt = 1, _ policy: Credential.LockPolicy? = nil,
        _ body: (Credential, KeychainTokenStorage) async throws -> Void
    ) async throws {
        let storage = KeychainTokenStorage(KeychainDouble.App(device: device), clock: clock)
        try await AppBackground.$ofTask.withValue(background) {
            try await Credential.withStorage(storage, session: issuer, clock: clock) {
                let options = KeychainOptions(accessControl: asksUser ? .flags(flags) : nil)
                try CredentialActor.synchronously {
                    try storage.add(token: .fixture(issuedAt: clock.now), metadata: nil, options: options)
                }
                let credential = try #require(try Credential.with(id: "session-1"))
                credential.lockPolicy = policy
                try await body(credential, storage)
            }
        }
    }

    private func wait(_ seconds: Double) { instant.withLock { $0 += .seconds(seconds) } }

    private func memory(of credential: Credential) -> String {
        var text = ""
        dump(credential.state.withLock { $0.token }, to: &text)
        return text + "\(credential.token.json)" + credential.token.accessToken + (credential.token.refreshToken ?? "")
    }

    @Test("A locked credential contains no access or refresh token, authorizes no request, does not refresh, and keeps the ID token")
    func locked() async throws {
        try await with { credential, _ in
            #expect(memory(of: credential).contains("refresh-1"))
            #expect(credential.lock() && credential.isLocked)
            #expect(!memory(of: credential).contains("refresh-1") && !memory(of: credential).contains("access-1"))
            let idToken = try Token.fixture(issuedAt: clock.now).idToken
            #expect(credential.token.id == "session-1" && credential.token.idToken == idToken)
            await #expect(throws: CredentialLockedError()) { try await credential.authorizing(request) }
            await #expect(throws: CredentialLockedError()) { try await credential.refresh() }
            await #expect(throws: CredentialLockedError()) { try await credential.refreshIfNeeded() }
            await #expect(throws: CredentialLockedError()) { try await credential.revoke() }
            var unsigned = request
            await credential.authorize(&unsigned)
            #expect(unsigned.value(forHTTPHeaderField: "Authorization") == nil)
            #expect(Credential.default === credential)
            #expect(try Credential.with(id: "session-1") === credential)
        }
    }

    @Test("Unlocking verifies the user with the prompt of the policy, and makes the tokens usable again")
    func unlocks() async throws {
        try await with(.init(prompt: "See your messages")) { credential, _ in
            credential.lock()
            let prompts = Locked<[String]>([])
            try await credential.unlock { prompt in prompts.withLock { $0.append(prompt) } }
            #expect(!credential.isLocked && prompts.withLock { $0 } == ["See your messages"])
            #expect(try await credential.authorizing(request).value(forHTTPHeaderField: "Authorization") == "Bearer access-1")
            try await credential.unlock { _ in throw Refused() }
        }
    }

    @Test("A user who is not verified does not unlock the credential")
    func notVerified() async throws {
        try await with { credential, _ in
            credential.lock()
            await #expect(throws: Refused.self) { try await credential.unlock { _ in throw Refused() } }
            #expect(credential.isLocked)
            #if os(Linux)
            await #expect(throws: CredentialLockedError()) { try await credential.unlock() }
            #endif
            #expect(credential.isLocked)
        }
    }

    @Test(
        "If the stored token has access control, the system asks the user once, and a cancelled prompt leaves the credential locked"
    )
    func accessControl() async throws {
        try await with(asksUser: true) { credential, _ in
            let before = device.prompts.count
            credential.lock()
            _ = try (Credential.loadDefault(), Credential.with(id: "session-1"))
            #expect(device.prompts.count == before)
            device.answer = .cancels
            await #expect(throws: KeychainError.self) { try await credential.unlock(prompt: "Open") { _ in throw Refused() } }
            #expect(credential.isLocked)
            device.answer = .approves
            try await credential.unlock(prompt: "Open") { _ in throw Refused() }
            #expect(!credential.isLocked && device.prompts.suffix(2) == ["Open", "Open"])
        }
    }

    @Test("The storage keeps no unlocked token in memory while the credential is locked")
    func forgotten() async throws {
        try await with(asksUser: true) { credential, storage in
            let before = device.prompts.count
            _ = try CredentialActor.synchronously { try storage.storedToken(id: "session-1") }
            #expect(device.prompts.count == before)
            credential.lock()
            device.answer = .cancels
            #expect(throws: KeychainError.self) {
                try CredentialActor.synchronously { try storage.storedToken(id: "session-1") }
            }
        }
    }

    @Test("If the access control of the stored token requires nothing of the user, unlocking still verifies the user")
    func emptyAccessControl() async throws {
        try await with(asksUser: true, flags: 0) { credential, _ in
            credential.lock()
            await #expect(throws: Refused.self) { try await credential.unlock { _ in throw Refused() } }
            #expect(credential.isLocked)
            try await credential.unlock { _ in }
            #expect(!credential.isLocked && device.prompts.isEmpty)
        }
    }

    @Test("While the system asks the user to unlock the token, the main thread can use the credentials")
    func usableDuringPrompt() async throws {
        try await with(asksUser: true) { credential, _ in
            credential.lock()
            let isFree = Locked(false)
            device.beforeNextRead {
                let used = DispatchSemaphore(value: 0)
                Thread.detachNewThread {
                    CredentialActor.synchronously {}
                    used.signal()
                }
                let result = used.wait(timeout: .now() + 5)
                isFree.exchange(result == .success)
            }
            try await credential.unlock()
            #expect(isFree.withLock { $0 })
        }
    }

    @Test("A sign-out that began before the lock revokes the tokens of a protected session without a prompt", .timeLimit(.minutes(1)))
    func signOutUnderway() async throws {
        try await with(asksUser: true) { credential, _ in
            let answers = Gate()
            issuer.on("/v1/token") { _, _ in
                await answers.wait()
                return .tokens("access-2", refresh: "refresh-2")
            }
            let refresh = Task { try await credential.refresh() }
            await issuer.awaits("/v1/token", 1)
            let signOut = Task { try await credential.revoke() }
            while credential.refreshes.waiters(for: credential.id) < 2 { await Task.yield() }
            let prompts = device.prompts.count
            credential.lock()
            device.canAsk = false
            answers.open()
            _ = try await refresh.value
            try await signOut.value
            #expect(Set(issuer.forms("/v1/revoke").compactMap { $0["token"] }) == ["access-2", "refresh-2"])
            #expect(Credential.allIDs.isEmpty && device.prompts.count == prompts)
        }
    }

    @Test("After the limit in the background, the credential is locked, and before the limit it is not", arguments: [299.0, 300])
    func background(seconds: Double) async throws {
        try await with(.init(backgroundLimit: 300)) { credential, _ in
            background.enter()
            #expect(!credential.isLocked)
            wait(seconds)
            background.leave()
            #expect(credential.isLocked == (seconds >= 300))
        }
    }

    @Test("After the limit, work in the background gets no token, and with the limit 0 it never gets one", arguments: [0.0, 60])
    func inBackground(limit: Double) async throws {
        try await with(.init(backgroundLimit: limit)) { credential, _ in
            background.enter()
            #expect((credential.token.accessToken == "") == (limit == 0))
            wait(limit)
            await #expect(throws: CredentialLockedError()) { try await credential.authorizing(request) }
            #expect(credential.token.accessToken == "" && credential.isLocked)
        }
    }

    @Test(
        "A policy with an infinite limit never locks the credential, and a limit of NaN or below 0 locks it in the background",
        arguments: [(Double.infinity, false), (1e30, false), (.nan, true), (-.infinity, true)])
    func unusualLimits(_ limit: Double, _ isLocked: Bool) async throws {
        try await with { credential, _ in
            var policy = Credential.LockPolicy(backgroundLimit: limit)
            #expect(!policy.backgroundLimit.isNaN && policy.backgroundLimit >= 0)
            policy.backgroundLimit = limit
            credential.lockPolicy = policy
            background.enter()
            wait(100_000)
            #expect(credential.isLocked == isLocked)
        }
    }

    @Test("Several short times in the background do not lock the credential, and without a policy no time locks it")
    func separateTimes() async throws {
        try await with(.init(backgroundLimit: 60)) { credential, _ in
            for _ in 0..<3 {
                background.enter()
                wait(40)
                background.leave()
                wait(40)
            }
            #expect(!credential.isLocked)
            credential.lockPolicy = nil
            background.enter()
            wait(100_000)
            background.leave()
            #expect(!credential.isLocked)
        }
    }

    @Test("An unlock that began before the app entered the background does not unlock the credential")
    func unlockAcrossBackground() async throws {
        try await with(.init(backgroundLimit: 0)) { credential, _ in
            credential.lock()
            await #expect(throws: CredentialLockedError()) { try await credential.unlock { _ in background.enter() } }
            background.leave()
            #expect(credential.isLocked)
        }
    }

    @Test("A refresh that is underway when the credential is locked stores its token, and the credential stays locked")
    func refreshUnderway() async throws {
        try await with { credential, storage in
            issuer.on("/v1/token") { _, _ in
                credential.lock()
                return .tokens("access-2", refresh: "refresh-2")
            }
            try await credential.refresh()
            #expect(credential.isLocked && !memory(of: credential).contains("access-2"))
            try await credential.unlock { _ in }
            #expect(credential.token.refreshToken == "refresh-2")
        }
    }

    @Test("If a refresh stores a newer token while an unlock reads the old one, the unlocked credential has the newer token")
    func refreshDuringUnlock() async throws {
        try await with { credential, _ in
            let answers = Gate()
            issuer.on("/v1/token") { _, _ in
                await answers.wait()
                return .tokens("access-2", refresh: "refresh-2")
            }
            let refresh = Task { try await credential.refresh() }
            await issuer.awaits("/v1/token", 1)
            credential.lock()
            device.afterNextRead {
                let isStored = DispatchSemaphore(value: 0)
                Task {
                    answers.open()
                    _ = try? await refresh.value
                    isStored.signal()
                }
                #expect(isStored.wait(timeout: .now() + 5) == .success)
            }
            try await credential.unlock { _ in }
            try await refresh.value
            #expect(!credential.isLocked && credential.token.refreshToken == "refresh-2")
        }
    }

    @Test("A refresh that is underway when a protected credential is locked stores its token without a prompt")
    func protectedRefreshUnderway() async throws {
        try await with(asksUser: true) { credential, _ in
            let prompts = device.prompts.count
            issuer.on("/v1/token") { _, _ in
                credential.lock()
                return .tokens("access-2", refresh: "refresh-2")
            }
            try await credential.refresh()
            #expect(credential.isLocked && device.prompts.count == prompts)
            try await credential.unlock()
            #expect(credential.token.refreshToken == "refresh-2" && device.prompts.count == prompts + 1)
        }
    }

    @Test("If the credential of an app's own storage is locked during a refresh that fails, the refresh throws and the session ends")
    func failedRefreshUnderway() async throws {
        try await Credential.withStorage(MemoryTokenStorage(), session: issuer, clock: clock) {
            let credential = try Credential.store(.fixture(issuedAt: clock.now))
            issuer.on("/v1/token") { _, _ in
                credential.lock()
                return .invalidGrant
            }
            await #expect(throws: (any Error).self) { try await credential.refresh() }
            guard case .ended = credential.sessionState else {
                Issue.record("\(credential.sessionState)")
                return
            }
        }
    }

    @Test("A locked credential fetches no profile and introspects no token, and keeps no profile that arrives after the lock")
    func profile() async throws {
        try await with { credential, _ in
            issuer.on("/v1/userinfo") { _, _ in
                credential.lock()
                return .json(#"{"sub":"00u1"}"#)
            }
            _ = try await credential.userInfo()
            #expect(credential.isLocked && credential.userInfo == nil)
            await #expect(throws: CredentialLockedError()) { try await credential.userInfo() }
            await #expect(throws: CredentialLockedError()) { try await credential.introspect(.accessToken) }
            #expect(issuer.requests("/v1/userinfo").count == 1 && issuer.requests("/v1/introspect").isEmpty)
        }
    }

    @Test("A locked credential removes the token of an earlier call from a request")
    func clearsRequest() async throws {
        try await with { credential, _ in
            var signed = request
            credential.authorize(request: &signed)
            signed.setValue("proof", forHTTPHeaderField: "DPoP")
            #expect(signed.value(forHTTPHeaderField: "Authorization") == "Bearer access-1")
            credential.lock()
            credential.authorize(request: &signed)
            #expect(signed.value(forHTTPHeaderField: "Authorization") == nil && signed.value(forHTTPHeaderField: "DPoP") == nil)
        }
    }

    @Test("A locked credential can be removed, and a credential that is not stored cannot be locked")
    func removed() async throws {
        try await with { credential, _ in
            credential.lock()
            try credential.remove()
            #expect(Credential.allIDs.isEmpty)
            await #expect(throws: CredentialError.missingCoordinator) { try await credential.unlock { _ in } }
            let loose = try await Credential(token: .fixture(id: "loose"))
            #expect(!loose.lock() && loose.token.accessToken == "access-1")
        }
    }

    @Test("The file storage locks and unlocks a credential too, and keeps no decrypted token in memory meanwhile")
    func files() async throws {
        let folder = TemporaryFolder()
        let storage = FileTokenStorage(directory: folder.url)
        try await Credential.withStorage(storage, session: issuer, clock: clock) {
            let credential = try Credential.store(.fixture(issuedAt: clock.now))
            let name = try VaultFileName.credential(credential.id)
            let fingerprint = try #require(VaultFolder(path: folder.url.path).fingerprint(of: name))
            _ = try Credential.with(id: credential.id)
            #expect(CredentialActor.synchronously { storage.cache.token(of: credential.id, at: fingerprint) } != nil)
            credential.lock()
            #expect(CredentialActor.synchronously { storage.cache.token(of: credential.id, at: fingerprint) } == nil)
            #expect(credential.token.accessToken == "" && Credential.default === credential)
            try await credential.unlock { _ in }
            #expect(credential.token.accessToken == "access-1")
        }
    }
}
