import AuthFoundation
import CountersignSandbox
import CountersignUI
import OktaDirectAuth
import Testing

@Suite("Locked sessions of an app")
@MainActor
struct LockTests {
    private struct WrongFace: Error {}

    private static let options = SignInOptions(lockPolicy: Credential.LockPolicy(backgroundLimit: 60))

    /// Runs a test with a session that was restored and is locked.
    private func play(_ body: @MainActor (SignInVisit, SignInSession) async throws -> Void) async throws {
        try await SignInVisit.play(options: Self.options) { visit in
            await visit.signIn()
            #expect(visit.session.state == .signedIn, "The user has just signed in.")
            try await body(visit, SignInSession(client: visit.sandbox.client(), options: Self.options))
        }
    }

    @Test("With a lock policy, the next launch starts locked, and unlocking shows the signed-in user")
    func unlocks() async throws {
        try await play { visit, again in
            #expect(again.state == .locked && !again.isSignedIn && !again.canSubmit)
            #expect(again.credential?.isLocked == true && again.displayName == "Jane Doe")
            #expect(await eventually { visit.session.state == .locked }, "It is the same credential.")
            await again.unlock { _ in }
            #expect(again.state == .signedIn && again.problem == nil && !again.isBusy)
            #expect(await eventually { visit.session.state == .signedIn })
        }
    }

    @Test("A user who is not verified stays locked, and can try again")
    func wrongFace() async throws {
        try await play { _, again in
            await again.unlock { _ in throw WrongFace() }
            #expect(again.state == .locked && again.problem?.code == .notUnlocked && !again.isBusy)
            await again.unlock { _ in }
            #expect(again.state == .signedIn && again.problem == nil)
        }
    }

    @Test("A user who cancels the verification stays locked, without an error")
    func cancelled() async throws {
        try await play { _, again in
            await again.unlock { _ in throw CancellationError() }
            #expect(again.state == .locked && again.problem == nil)
        }
    }

    @Test("If the device is locked when the app is launched, the session is locked as soon as it can be read", arguments: [false, true])
    func lockedDevice(opensByUnlock: Bool) async throws {
        let storage = FaultyStorage()
        try await SignInVisit.play(options: Self.options, storage: storage) { visit in
            await visit.signIn()
            await storage.fail(with: KeychainError.cannotGet(code: -25_308), at: .reading)
            await Credential.withStorage(storage, session: visit.sandbox.transport, clock: visit.sandbox.clock) {
                let again = SignInSession(client: visit.sandbox.client(), options: Self.options)
                #expect(again.state == .locked && again.credential == nil)
                await storage.fail(with: nil, at: .reading)
                if opensByUnlock {
                    await again.unlock { _ in throw WrongFace() }
                    #expect(again.problem?.code == .notUnlocked)
                } else {
                    await again.activate()
                }
                #expect(again.state == .locked && again.credential?.isLocked == true)
                await again.unlock { _ in }
                #expect(again.state == .signedIn && again.problem == nil)
                await again.activate()
                #expect(again.state == .signedIn)
            }
        }
    }

    @Test("If the storage was damaged when the app was launched, the session of the next sign-in needs no unlock")
    func damagedStorage() async throws {
        let storage = FaultyStorage()
        try await SignInVisit.play(options: Self.options, storage: storage) { visit in
            await visit.signIn()
            await storage.fail(with: TokenError.contextMissing, at: .reading)
            await Credential.withStorage(storage, session: visit.sandbox.transport, clock: visit.sandbox.clock) {
                let again = SignInSession(client: visit.sandbox.client(), options: Self.options)
                #expect(again.state == .signedOut && again.problem?.code == .storageFailed)
                await storage.fail(with: nil, at: .reading)
                (again.form.userName, again.form.password) = (SignInVisit.jane.login, SignInVisit.password)
                await again.submit()
                await again.activate()
                #expect(again.state == .signedIn && again.credential?.isLocked == false)
            }
        }
    }

    @Test("While the session is locked, no sign-in begins, so that the session is not replaced")
    func noSignIn() async throws {
        try await play { visit, locked in
            let session = SignInSession(
                client: visit.sandbox.client(),
                options: SignInOptions(methods: [.password, .passkey, .browser], lockPolicy: Self.options.lockPolicy))
            session.passkeySigner = { _ in throw PasskeyError.noPasskey }
            (session.form.userName, session.form.password) = (SignInVisit.jane.login, SignInVisit.password)
            visit.sandbox.clearRequests()
            await session.submit()
            await session.signInWithPasskey()
            await session.signInWithBrowser()
            await session.offerPasskeys { _ in throw PasskeyError.noPasskey }
            #expect(session.state == .locked && session.problem == nil && visit.sandbox.requests.isEmpty)
            #expect(session.credential === locked.credential)
        }
    }

    @Test("A locked session can be signed out, which removes its tokens")
    func signOut() async throws {
        try await play { _, again in
            await again.signOut()
            #expect(again.state == .signedOut && again.problem == nil && Credential.allIDs.isEmpty)
        }
    }

    @Test("If the app locks the credential, the session is locked at once")
    func lockedByApp() async throws {
        try await SignInVisit.play { visit in
            await visit.signIn()
            visit.session.credential?.lock()
            #expect(await eventually { visit.session.state == .locked })
            await visit.session.unlock { _ in }
            #expect(visit.session.state == .signedIn)
        }
    }

    @Test("Unlocking a session that is not locked changes nothing")
    func notLocked() async throws {
        try await SignInVisit.play { visit in
            await visit.session.unlock { _ in throw WrongFace() }
            #expect(visit.session.state == .signedOut && visit.session.problem == nil)
        }
    }
}
