import AuthFoundation
import CountersignSandbox
import OktaDirectAuth
import Testing

@testable import CountersignUI

@Suite("Sign-in screens with a passkey")
@MainActor
struct PasskeyTests {
    private static let jane = SandboxUser.jane.login

    /// Runs a test in which Jane has a passkey.
    private func play(
        verifiesUser: Bool = true, _ body: @MainActor (SignInVisit, VirtualPasskey) async throws -> Void
    ) async throws {
        try await SignInVisit.play(.directAuth) { visit in
            let passkey = try await visit.sandbox.passkey(for: Self.jane, verifiesUser: verifiesUser)
            visit.session.passkeySigner = { try passkey.assertion(for: $0) }
            try await body(visit, passkey)
        }
    }

    /// A signer that waits until its task is cancelled, like a sheet that the user does not answer.
    private static let openSheet: SignInSession.PasskeySigner = { _ in
        let (never, end) = AsyncStream.makeStream(of: Never.self)
        for await _ in never {}
        end.finish()
        throw CancellationError()
    }

    @Test("A passkey that verifies the user signs in without a password where two factors are required")
    func alone() async throws {
        try await play { visit, _ in
            #expect(visit.session.offers(.passkey))
            visit.session.form.userName = Self.jane
            await visit.session.signInWithPasskey()
            #expect(visit.session.isSignedIn && visit.session.problem == nil)
            #expect(visit.count(grant: "password") == 0)
        }
    }

    @Test("Without a user name, the passkey button sends no request")
    func noName() async throws {
        try await play { visit, _ in
            await visit.session.signInWithPasskey()
            #expect(visit.session.state == .signedOut && visit.sandbox.requests.isEmpty)
        }
    }

    @Test("If the app cannot sign with passkeys, the screen offers none, and a user whose only second factor is a passkey cannot sign in")
    func noSigner() async throws {
        try await play { visit, _ in
            visit.session.passkeySigner = nil
            #expect(!visit.session.offers(.passkey))
            await visit.signIn()
            #expect(visit.session.state == .signedOut && visit.session.problem?.code == .notAllowed)
        }
    }

    @Test("After a password, a passkey that is the only second factor is requested at once")
    func secondFactor() async throws {
        try await play(verifiesUser: false) { visit, _ in
            await visit.signIn()
            #expect(visit.session.isSignedIn)
            #expect(visit.session.credential?.token.idToken?.authenticationMethods?.contains(.passwordBased) == true)
        }
    }

    @Test("If the user closes the passkey sheet of the first factor, the form appears without an error")
    func closedFirst() async throws {
        try await play { visit, _ in
            visit.session.passkeySigner = { _ in throw PasskeyError.cancelled }
            visit.session.form.userName = Self.jane
            await visit.session.signInWithPasskey()
            #expect(visit.session.state == .signedOut && visit.session.problem == nil && !visit.session.isBusy)
            #expect(visit.session.form.userName == Self.jane)
        }
    }

    @Test("If the user closes the passkey sheet of the second factor, the list of factors appears without an error")
    func closedSecond() async throws {
        try await play { visit, passkey in
            visit.session.passkeySigner = { _ in throw PasskeyError.cancelled }
            await visit.signIn()
            #expect(visit.session.step == SignInStep(.factors, factors: [.passkey]) && visit.session.problem == nil)
            visit.session.passkeySigner = { try passkey.assertion(for: $0) }
            await visit.session.choose(.passkey)
            #expect(visit.session.isSignedIn)
        }
    }

    @Test(
        "A device without the passkey and a passkey that fails have problems of their own",
        arguments: [(PasskeyError.noPasskey, SignInProblem.Code.noPasskey), (.failed("broken"), .passkeyFailed)])
    func failures(error: PasskeyError, expected: SignInProblem.Code) async throws {
        try await play { visit, _ in
            visit.session.passkeySigner = { _ in throw error }
            visit.session.form.userName = Self.jane
            await visit.session.signInWithPasskey()
            #expect(visit.session.state == .signedOut && visit.session.problem?.code == expected)
        }
    }

    @Test("A passkey that the server refuses is reported, and the password still signs the user in")
    func refused() async throws {
        try await play(verifiesUser: false) { visit, _ in
            visit.session.form.userName = Self.jane
            await visit.session.signInWithPasskey()
            #expect(visit.session.state == .signedOut && visit.session.problem?.code == .passkeyFailed)
            await visit.signIn()
            #expect(visit.session.isSignedIn)
        }
    }

    @Test("While the passkey sheet is open, the user can go back and use another factor")
    func goBackFromSheet() async throws {
        try await play { visit, _ in
            let app = try await visit.sandbox.authenticatorApp(for: Self.jane)
            var isOpen = false
            visit.session.passkeySigner = { options in
                isOpen = true
                return try await Self.openSheet(options)
            }
            await visit.signIn()
            let sheet = Task { await visit.session.choose(.passkey) }
            #expect(await eventually { isOpen })
            visit.session.goBack()
            await sheet.value
            #expect(visit.session.step.kind == .factors && visit.session.problem == nil && !visit.session.isBusy)
            await visit.session.choose(.authenticatorCode)
            visit.session.form.code = app.code
            await visit.session.submit()
            #expect(visit.session.isSignedIn)
        }
    }

    @Test("If the user leaves the passkey step before the sheet opens, the sheet does not open")
    func leftBeforeSheet() async throws {
        try await play { visit, _ in
            _ = try await visit.sandbox.authenticatorApp(for: Self.jane)
            var opened = 0
            visit.session.passkeySigner = { _ in
                opened += 1
                throw PasskeyError.cancelled
            }
            await visit.signIn()
            visit.sandbox.inject(Fault(.delay(30), at: "challenge"))
            let left = Task { await visit.session.choose(.passkey) }
            #expect(await eventually { visit.session.step.kind == .passkey && visit.sandbox.pendingFaults.isEmpty })
            visit.session.goBack()
            visit.sandbox.advance(by: 31)
            await left.value
            #expect(visit.session.step.kind == .factors && visit.session.problem == nil && opened == 0)
        }
    }

    @Test("Cancelling while the passkey sheet is open closes the sheet and ends the sign-in")
    func cancelSheet() async throws {
        try await play { visit, _ in
            visit.session.passkeySigner = Self.openSheet
            visit.session.form.userName = Self.jane
            let sheet = Task { await visit.session.signInWithPasskey() }
            #expect(await eventually { visit.session.step.kind == .passkey })
            visit.session.cancel()
            await sheet.value
            #expect(visit.session.state == .signedOut && visit.session.problem == nil)
        }
    }

    @Test("A passkey that the user chooses above the keyboard signs in")
    func autoFill() async throws {
        try await play { visit, passkey in
            visit.session.form.userName = Self.jane
            await visit.session.offerPasskeys { try passkey.assertion(for: $0) }
            #expect(visit.session.isSignedIn)
        }
    }

    @Test("After the user has chosen a passkey above the keyboard, the end of the offer does not end the sign-in")
    func autoFillContinues() async throws {
        try await play { visit, passkey in
            visit.session.form.userName = Self.jane
            visit.sandbox.inject(Fault(.delay(30), at: .token))
            let offer = Task { await visit.session.offerPasskeys { try passkey.assertion(for: $0) } }
            #expect(await eventually { visit.session.step.kind == .passkey })
            offer.cancel()
            #expect(await visit.endDelay(of: 31) { visit.session.isSignedIn })
            await offer.value
        }
    }

    @Test("A submitted password ends the offer of passkeys above the keyboard, and signs the user in")
    func autoFillReplaced() async throws {
        try await play(verifiesUser: false) { visit, _ in
            visit.session.form.userName = Self.jane
            let offer = Task { await visit.session.offerPasskeys(by: Self.openSheet) }
            #expect(await eventually { !visit.sandbox.requests.isEmpty })
            #expect(visit.session.state == .signedOut && !visit.session.isBusy, "The offer does not disturb the form.")
            await visit.signIn()
            await offer.value
            #expect(visit.session.isSignedIn)
        }
    }

    /// An offer of passkeys that does not end before the test resumes it, like a system that is slow to close its list.
    @MainActor private final class SlowOffer {
        private var continuation: CheckedContinuation<Void, Never>?
        var isOpen: Bool { continuation != nil }

        func sign(_ options: WebAuthn.CredentialRequestOptions) async throws -> WebAuthn.AuthenticatorAssertionResponse {
            await withCheckedContinuation { continuation = $0 }
            throw CancellationError()
        }

        func end() { continuation?.resume() }
    }

    /// Runs a test in which an offer of passkeys is open, and the user has pressed the passkey button.
    private func playWithSlowOffer(_ body: @MainActor (SignInVisit, SlowOffer, _ tap: Task<Void, Never>) async throws -> Void) async throws
    {
        try await play { visit, _ in
            visit.session.form.userName = Self.jane
            let list = SlowOffer()
            let offer = Task { await visit.session.offerPasskeys(by: list.sign) }
            #expect(await eventually { list.isOpen })
            visit.sandbox.clearRequests()
            let tap = Task { await visit.session.signInWithPasskey() }
            #expect(await eventually { visit.session.autoFill?.isCancelled == true })
            try await body(visit, list, tap)
            await offer.value
        }
    }

    @Test("Two taps on the passkey button while an offer of passkeys ends begin one sign-in")
    func twoTaps() async throws {
        try await playWithSlowOffer { visit, list, tap in
            let second = Task { await visit.session.signInWithPasskey() }
            await Task.yield()
            list.end()
            await tap.value
            await second.value
            #expect(visit.session.isSignedIn && Credential.allIDs.count == 1)
            #expect(
                visit.sandbox.requests.count { $0.endpoint == "primary-authenticate" } == 1, "\(visit.sandbox.requests.map(\.endpoint))")
        }
    }

    @Test("A password that is submitted while the passkey button waits for the end of an offer is not replaced by the passkey")
    func passkeyThenPassword() async throws {
        try await playWithSlowOffer { visit, list, tap in
            visit.sandbox.inject(Fault(.delay(30), at: .token))
            let submission = try await visit.begin(until: .credentials)
            let attempt = try #require(visit.session.attempt)
            list.end()
            await tap.value
            #expect(visit.session.attempt === attempt && visit.session.isBusy)
            visit.session.cancel()
            await submission.value
            #expect(visit.session.state == .signedOut)
        }
    }

    @Test("A failed offer of passkeys above the keyboard shows no problem")
    func autoFillFails() async throws {
        try await play { visit, _ in
            visit.session.form.userName = Self.jane
            await visit.session.offerPasskeys { _ in throw PasskeyError.noPasskey }
            #expect(visit.session.state == .signedOut && visit.session.problem == nil)
            await visit.session.offerPasskeys { _ in throw PasskeyError.noPasskey }
            await visit.session.signInWithPasskey()
            #expect(visit.session.isSignedIn)
        }
    }
}
