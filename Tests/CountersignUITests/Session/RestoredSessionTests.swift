import AuthFoundation
import CountersignSandbox
import CountersignUI
import Foundation
import Observation
import OktaDirectAuth
import Testing

@Suite("The stored session of an app")
@MainActor
struct RestoredSessionTests {
    private static let deviceIsLocked = KeychainError.cannotGet(code: -25_308)

    @Test("The next launch restores the session without a request")
    func restored() async throws {
        try await SignInVisit.play { visit in
            await visit.signIn()
            visit.sandbox.clearRequests()
            let again = visit.relaunched()
            #expect(again.state == .signedIn && again.displayName == "Jane Doe")
            #expect(again.credential === visit.session.credential)
            #expect(visit.sandbox.requests.isEmpty)
        }
    }

    @Test("A sign-out removes the tokens and revokes them")
    func signOut() async throws {
        try await SignInVisit.play { visit in
            await visit.signIn()
            let token = try #require(visit.session.credential?.token)
            await visit.session.signOut()
            #expect(visit.session.state == .signedOut && visit.session.credential == nil && visit.session.problem == nil)
            #expect(Credential.allIDs.isEmpty)
            #expect(try await visit.sandbox.client().introspect(token: token, type: .refreshToken).active == false)
            #expect(visit.relaunched().state == .signedOut)
        }
    }

    @Test("An offline sign-out succeeds, and the tokens are revoked later")
    func signOutOffline() async throws {
        try await SignInVisit.play { visit in
            await visit.signIn()
            let token = try #require(visit.session.credential?.token)
            visit.sandbox.inject(Fault(.dropConnectionBeforeCommit, at: .revoke, count: 100))
            await visit.session.signOut()
            #expect(visit.session.state == .signedOut && visit.session.problem == nil && !visit.session.isBusy)
            visit.sandbox.clearFaults()
            #expect(try await Credential.deliverPendingRevocations() == 1)
            #expect(try await visit.sandbox.client().introspect(token: token, type: .refreshToken).active == false)
        }
    }

    @Test("While the revocation of a sign-out is underway, the form is visible, and the user can sign in again")
    func signInDuringRevocation() async throws {
        try await SignInVisit.play { visit in
            await visit.signIn()
            visit.sandbox.inject(Fault(.delay(30), at: .revoke))
            let signOut = Task { await visit.session.signOut() }
            #expect(await eventually { visit.session.state == .signedOut })
            #expect(!visit.session.isBusy)
            await visit.signIn()
            #expect(visit.session.state == .signedIn)
            #expect(await eventually { visit.sandbox.pendingFaults.isEmpty })
            visit.sandbox.advance(by: 31)
            await signOut.value
            #expect(visit.session.state == .signedIn && visit.session.problem == nil && Credential.allIDs.count == 1)
        }
    }

    @Test("A second user can sign out while the server still processes the first user's revocation")
    func secondSignOut() async throws {
        try await SignInVisit.play { visit in
            await visit.signIn()
            visit.sandbox.inject(Fault(.delay(30), at: .revoke))
            let first = Task { await visit.session.signOut() }
            #expect(await eventually { visit.session.state == .signedOut && visit.sandbox.pendingFaults.isEmpty })
            await visit.signIn(.john)
            let token = try #require(visit.session.credential?.token)
            await visit.session.signOut()
            #expect(visit.session.state == .signedOut && Credential.allIDs.isEmpty)
            #expect(try await visit.sandbox.client().introspect(token: token, type: .refreshToken).active == false)
            visit.sandbox.advance(by: 31)
            await first.value
            #expect(visit.session.state == .signedOut && visit.session.problem == nil)
        }
    }

    @Test("A sign-out that fails after another user has signed in shows that user no problem")
    func lateFailure() async throws {
        let storage = FaultyStorage()
        try await SignInVisit.play(storage: storage) { visit in
            await visit.signIn()
            await storage.fail(with: TokenError.invalidConfiguration, at: .removing)
            visit.sandbox.inject(Fault(.delay(30), at: .revoke))
            let first = Task { await visit.session.signOut() }
            #expect(await eventually { visit.sandbox.pendingFaults.isEmpty })
            let flow = DirectAuthenticationFlow(client: visit.sandbox.client())
            let john = SandboxUser.john
            let status = try await flow.start(john.login, with: .password(try #require(john.password)))
            guard case .success(let token) = status else { throw CancellationError() }
            try Credential.setDefault(try Credential.store(token))
            #expect(await eventually { visit.session.credential?.id == token.id })
            visit.sandbox.advance(by: 31)
            await first.value
            #expect(visit.session.state == .signedIn && visit.session.credential?.id == token.id && visit.session.problem == nil)
        }
    }

    @Test("If the tokens cannot be removed, the user stays signed in, and the screen reports it")
    func signOutFails() async throws {
        let storage = FaultyStorage()
        try await SignInVisit.play(storage: storage) { visit in
            await visit.signIn()
            await storage.fail(with: TokenError.invalidConfiguration, at: .removing)
            await visit.session.signOut()
            #expect(visit.session.state == .signedIn && visit.session.problem?.code == .storageFailed)
            await storage.fail(with: nil, at: .removing)
            await visit.session.signOut()
            #expect(visit.session.state == .signedOut && visit.session.problem == nil)
        }
    }

    @Test("If the server has ended the session, the next refresh asks the user to sign in again, with the user name filled in")
    func expired() async throws {
        try await SignInVisit.play { visit in
            await visit.signIn()
            let old = try #require(visit.session.credential)
            try await visit.sandbox.signOutEverywhere(SignInVisit.jane.login)
            visit.sandbox.advance(by: 3_550)
            await visit.session.activate()
            #expect(visit.session.state == .expired && !visit.session.isSignedIn)
            #expect(visit.session.form.userName == SignInVisit.jane.login)
            #expect(visit.session.credential === old, "The app can still read the user's data.")
            await visit.signIn(password: "Wrong-Horse-7")
            #expect(visit.session.state == .expired && visit.session.problem?.code == .wrongCredentials)
            await visit.signIn()
            #expect(visit.session.state == .signedIn && visit.session.credential !== old)
            #expect(Credential.allIDs.count == 1, "The ended session is removed.")
        }
    }

    @Test("An automatic refresh finds the end of the session without an action of the user")
    func expiredByItself() async throws {
        try await SignInVisit.play { visit in
            await visit.signIn()
            try await visit.sandbox.signOutEverywhere(SignInVisit.jane.login)
            #expect(await visit.moveOn(by: 3_550) { visit.session.state == .expired })
        }
    }

    @Test("The user can sign out of an expired session, which removes its tokens")
    func signOutExpired() async throws {
        try await SignInVisit.play { visit in
            await visit.signIn()
            try await visit.sandbox.signOutEverywhere(SignInVisit.jane.login)
            visit.sandbox.advance(by: 3_550)
            await visit.session.activate()
            await visit.session.signOut()
            #expect(visit.session.state == .signedOut && Credential.allIDs.isEmpty)
        }
    }

    @Test("After a refresh without a network, the session is offline but signed in, and the next refresh ends this state")
    func offlineThenBack() async throws {
        try await SignInVisit.play(options: SignInOptions(refreshesAutomatically: false)) { visit in
            await visit.signIn()
            visit.sandbox.advance(by: 3_550)
            visit.sandbox.inject(Fault(.dropConnectionBeforeCommit, at: .token, count: 10))
            await visit.session.activate()
            #expect(visit.session.state == .offline && visit.session.isSignedIn && visit.session.credential != nil)
            visit.sandbox.clearFaults()
            await visit.session.activate()
            #expect(visit.session.state == .signedIn)
        }
    }

    @Test("Tokens are refreshed before they expire, and the state stays the same")
    func refreshed() async throws {
        try await SignInVisit.play { visit in
            await visit.signIn()
            let token = visit.session.credential?.token.accessToken
            #expect(await visit.moveOn(by: 3_550) { visit.session.credential?.token.accessToken != token })
            #expect(visit.session.state == .signedIn)
        }
    }

    @Test("After a refresh, a view that shows data of the tokens is drawn again, although the state stays the same")
    func observedRefresh() async throws {
        try await SignInVisit.play(options: SignInOptions(refreshesAutomatically: false)) { visit in
            await visit.signIn()
            let isChanged = Locked(false)
            withObservationTracking {
                _ = visit.session.displayName
            } onChange: {
                isChanged.exchange(true)
            }
            try await visit.session.credential?.refresh()
            #expect(await eventually { isChanged.withLock { $0 } })
            #expect(visit.session.state == .signedIn)
        }
    }

    @Test("While the device is locked, the user is neither signed in nor out, and unlocking restores the session")
    func locked() async throws {
        let storage = FaultyStorage()
        try await SignInVisit.play(storage: storage) { visit in
            await visit.signIn()
            await storage.fail(with: Self.deviceIsLocked, at: .reading)
            try await visit.withNewProcess(storage) { again in
                #expect(again.state == .locked && !again.isSignedIn && again.credential == nil)
                #expect(again.problem == nil && !again.canSubmit)
                await again.activate()
                #expect(again.state == .locked)
                await storage.fail(with: nil, at: .reading)
                await again.activate()
                #expect(again.state == .signedIn && again.displayName == "Jane Doe")
            }
        }
    }

    @Test("A damaged storage is reported, and is not treated as that of a signed-out user")
    func damaged() async throws {
        let storage = FaultyStorage()
        try await SignInVisit.play(storage: storage) { visit in
            await visit.signIn()
            await storage.fail(with: TokenError.contextMissing, at: .reading)
            try await visit.withNewProcess(storage) { again in
                #expect(again.state == .signedOut && again.problem?.code == .storageFailed)
            }
        }
    }

    @Test("A sign-in and a sign-out in another part of the app reach the session")
    func elsewhere() async throws {
        try await SignInVisit.play { visit in
            let other = visit.relaunched()
            #expect(other.state == .signedOut)
            (other.form.userName, other.form.password) = (SignInVisit.jane.login, SignInVisit.password)
            await visit.signIn()
            #expect(await eventually { other.state == .signedIn })
            #expect(other.form.password.isEmpty, "The password is not kept.")
            try await Credential.default?.revoke()
            #expect(await eventually { other.state == .signedOut && visit.session.state == .signedOut })
        }
    }

    @Test("If another part of the app signs in while a push waits, the sign-in in progress ends")
    func elsewhereMeanwhile() async throws {
        try await SignInVisit.play(.directAuth) { visit in
            _ = try await visit.sandbox.phone(for: SignInVisit.jane.login)
            let task = try await visit.begin(until: .push)
            let other = visit.relaunched(.password)
            (other.form.userName, other.form.password) = (SignInVisit.jane.login, SignInVisit.password)
            await other.submit()
            #expect(await eventually { visit.session.state == .signedIn })
            await task.value
            #expect(!visit.session.isBusy && Credential.allIDs.count == 1)
        }
    }

    @Test("Without a refresh token, the session ends with the access token")
    func noRefreshToken() async throws {
        try await withSandbox { sandbox in
            let session = SignInSession(client: sandbox.client(scope: ["openid", "profile"]))
            (session.form.userName, session.form.password) = (SignInVisit.jane.login, SignInVisit.password)
            await session.submit()
            #expect(session.state == .signedIn)
            await session.activate()
            #expect(session.state == .signedIn)
            sandbox.advance(by: 3_700)
            #expect(await eventually { session.state == .expired })
            #expect(session.form.userName == SignInVisit.jane.login)
        }
    }
}
