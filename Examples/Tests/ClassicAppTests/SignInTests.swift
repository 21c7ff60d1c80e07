import AuthFoundation
import CountersignSandbox
import ExampleTestSupport
import Foundation
import OAuth2Auth
import OktaAuthSdk
import Testing

@testable import ClassicApp

@MainActor
@Suite("Sign-in with the classic app", .timeLimit(.minutes(5)))
struct SignInTests {
    private static let twoFactors = "sign_on_policy: two-factors\n"

    @Test("In the classic app, a password alone gets no tokens if two factors are required, and a sign-out removes and revokes the tokens")
    func password() async throws {
        try await withSandbox { sandbox in
            var settings = sandbox.configuration(.browser)
            settings.redirectUri = URL(string: "http://127.0.0.1/callback")
            let visit = ClassicVisit(sandbox, client: OAuth2Client(settings, clock: sandbox.clock))
            #expect(visit.model.stage == .start && !visit.model.canSignIn)
            await visit.signIn()
            // browser-app requires two factors, so a session with only a password does not give tokens.
            #expect(visit.model.stage == .start && visit.model.errorMessage?.contains("“browser-app” requires more") == true)
            _ = try await sandbox.authenticatorApp(for: ClassicVisit.jane)
        }
        try await withSandbox(.classic(Self.twoFactors)) { sandbox in
            var settings = sandbox.configuration(.browser)
            settings.redirectUri = URL(string: "http://127.0.0.1/callback")
            let client = OAuth2Client(settings, session: sandbox.transport, clock: sandbox.clock)
            let app = try await sandbox.authenticatorApp(for: ClassicVisit.jane)
            let visit = ClassicVisit(sandbox, client: client)
            await visit.signIn()
            try await visit.take("Google Authenticator")
            try await visit.take("Enter the code", ["code": app.code])
            #expect(visit.model.stage == .done(hasTokens: true) && visit.model.headline == "Signed in as \(ClassicVisit.jane)")
            #expect(visit.model.errorMessage == nil && visit.titles.isEmpty)
            let again = ClassicVisit(sandbox, client: client)
            #expect(again.model.stage == .done(hasTokens: true))
            let token = try #require(Credential.default?.token)
            await again.model.signOut()
            #expect(again.model.stage == .start && Credential.allIDs.isEmpty)
            #expect(try await client.introspect(token: token, type: .accessToken).active == false)
        }
    }

    @Test("The classic app shows that the user name or password is wrong, and clears the password field")
    func wrongPassword() async throws {
        try await withSandbox { sandbox in
            let visit = ClassicVisit(sandbox)
            await visit.signIn("wrong")
            #expect(visit.model.stage == .start && visit.model.password.isEmpty && visit.model.username == ClassicVisit.jane)
            #expect(visit.model.errorMessage == "The user name or password is wrong. Check both, then try again.")
            await visit.signIn()
            #expect(visit.model.stage == .done(hasTokens: false) && visit.model.errorMessage == nil)
            try await visit.take("Back to sign-in")
            #expect(visit.model.stage == .start)
        }
    }

    @Test("If the connection breaks, the app shows an error and keeps its state, and the user can repeat the step")
    func offline() async throws {
        try await withSandbox(.classic(Self.twoFactors)) { sandbox in
            let app = try await sandbox.authenticatorApp(for: ClassicVisit.jane)
            let visit = ClassicVisit(sandbox)
            sandbox.inject(Fault(.dropConnectionBeforeCommit, at: "authn"))
            await visit.signIn()
            #expect(visit.model.stage == .start && visit.model.errorMessage?.isEmpty == false && !visit.model.isLoading)
            await visit.signIn()
            try await visit.take("Google Authenticator")
            sandbox.inject(Fault(.dropConnectionBeforeCommit, at: "verify"))
            try await visit.take("Enter the code", ["code": app.code])
            #expect(visit.model.stage == .transaction(.MFAChallenge) && visit.model.errorMessage?.isEmpty == false)
            #expect(visit.model.openAction != nil)
            visit.model.values["code"] = app.code
            await visit.model.submit()
            #expect(visit.model.stage == .done(hasTokens: false))
        }
    }

    @Test("After an offline sign-out, the classic app shows an error and removes the tokens, and the server revokes the tokens later")
    func offlineSignOut() async throws {
        try await withSandbox(.classic(Self.twoFactors)) { sandbox in
            var settings = sandbox.configuration(.browser)
            settings.redirectUri = URL(string: "http://127.0.0.1/callback")
            let client = OAuth2Client(settings, session: sandbox.transport, clock: sandbox.clock)
            let app = try await sandbox.authenticatorApp(for: ClassicVisit.jane)
            let visit = ClassicVisit(sandbox, client: client)
            await visit.signIn()
            try await visit.take("Google Authenticator")
            try await visit.take("Enter the code", ["code": app.code])
            #expect(visit.model.stage == .done(hasTokens: true))
            sandbox.inject(Fault(.dropConnectionBeforeCommit, at: .revoke, count: 100))
            let token = try #require(Credential.default?.token)
            async let signingOut: Void = visit.model.signOut()
            // The SDK retries with increasing delays.
            #expect(await sandbox.moveOn(by: 30) { visit.model.stage == .start && !visit.model.isLoading })
            await signingOut
            #expect(visit.model.errorMessage?.isEmpty == false)
            #expect(Credential.allIDs.isEmpty && ClassicVisit(sandbox, client: client).model.stage == .start)
            sandbox.clearFaults()
            #expect(try await Credential.deliverPendingRevocations() == 1)
            #expect(try await client.introspect(token: token, type: .accessToken).active == false)
        }
    }

    @Test("The classic app shows a push's number and denial, can send another push, and signs the user in automatically after the approval")
    func push() async throws {
        try await withSandbox(.classic(Self.twoFactors, numbers: true)) { sandbox in
            let phone = try await sandbox.phone(for: ClassicVisit.jane)
            let visit = ClassicVisit(sandbox)
            await visit.signIn()
            #expect(visit.model.headline == "A second factor is required.")
            try await visit.take("push")
            #expect(visit.model.isWaiting && visit.model.details.contains { $0.hasPrefix("Pick the number ") })
            #expect(!visit.titles.contains("Send another push"))
            try await phone.denyNext()
            #expect(await visit.asks { !visit.model.isWaiting })
            #expect(visit.model.details.contains("The request was denied.") && visit.model.stage == .transaction(.MFAChallenge))
            try await visit.take("Send another push")
            let number = try #require(visit.model.details.first { $0.hasPrefix("Pick the number ") }).filter(\.isNumber)
            try await phone.approveNext(number: number)
            #expect(await visit.reaches(.done(hasTokens: false)))
            #expect(!visit.model.isWaiting)
        }
    }

    @Test("If the user cancels a push in the classic app, a later approval fails, and the app stays signed out")
    func cancelledPush() async throws {
        try await withSandbox(.classic(Self.twoFactors)) { sandbox in
            let phone = try await sandbox.phone(for: ClassicVisit.jane)
            let visit = ClassicVisit(sandbox)
            await visit.signIn()
            try await visit.take("push")
            let request = try #require(try await phone.pending().first)
            try await visit.take("Cancel")
            #expect(visit.model.stage == .start && !visit.model.isWaiting && visit.model.errorMessage == nil)
            await #expect(throws: (any Error).self) { try await phone.approve(request.id) }
            let questions = sandbox.requests.count { $0.path.hasSuffix("/verify") }
            // A model that still waited would poll before the phone's two requests have completed.
            sandbox.advance(by: 5)
            for _ in 0..<2 { _ = try await phone.pending() }
            #expect(visit.model.stage == .start)
            #expect(sandbox.requests.count { $0.path.hasSuffix("/verify") } == questions)
        }
    }

    @Test(
        "In the classic app, a sign-in on a remembered device needs no second factor, and a sign-in on another device needs the second factor"
    )
    func remembered() async throws {
        try await withSandbox(.classic(Self.twoFactors + "remember_devices: device")) { sandbox in
            let app = try await sandbox.authenticatorApp(for: ClassicVisit.jane)
            let device = OktaAPI.makeDeviceToken()
            let visit = ClassicVisit(sandbox, deviceToken: device)
            await visit.signIn()
            try await visit.take("Remember this device")
            #expect(visit.titles.contains("Don't remember this device"))
            try await visit.take("Google Authenticator")
            try await visit.take("Enter the code", ["code": app.code])
            let again = ClassicVisit(sandbox, deviceToken: device)
            await again.signIn()
            #expect(again.model.stage == .done(hasTokens: false))
            let elsewhere = ClassicVisit(sandbox, deviceToken: OktaAPI.makeDeviceToken())
            await elsewhere.signIn()
            #expect(elsewhere.model.stage == .transaction(.MFARequired))
        }
    }

    @Test("The classic app can resume a sign-in with its state token, and returns to the start screen when the sign-in has expired")
    func restored() async throws {
        try await withSandbox(.classic(Self.twoFactors)) { sandbox in
            let app = try await sandbox.authenticatorApp(for: ClassicVisit.jane)
            let begun = try await OktaAuthSdk.authenticate(
                with: sandbox.origin, username: ClassicVisit.jane, password: ClassicVisit.password)
            let visit = ClassicVisit(sandbox)
            try await visit.take("Continue with a token", ["kind": "state", "token": try #require(begun.model.stateToken)])
            #expect(visit.model.stage == .transaction(.MFARequired))
            try await visit.take("Google Authenticator")
            sandbox.advance(by: 86_400)
            try await visit.take("Enter the code", ["code": app.code])
            #expect(visit.model.stage == .start && visit.model.errorMessage?.isEmpty == false && visit.model.openAction == nil)
        }
    }

    @Test("While an operation runs in the classic app, no other operation starts")
    func busy() async throws {
        try await withSandbox(.classic(Self.twoFactors)) { sandbox in
            _ = try await sandbox.authenticatorApp(for: ClassicVisit.jane)
            let visit = ClassicVisit(sandbox)
            sandbox.inject(Fault(.delay(5), at: "authn"))
            async let signingIn: Void = visit.signIn()
            #expect(await eventually { visit.model.isLoading })
            #expect(!visit.model.canSignIn)
            let recovery = try #require(visit.model.actions.first)
            await visit.model.select(recovery)
            await visit.model.signIn()
            #expect(visit.model.openAction == nil && visit.model.isLoading)
            #expect(await sandbox.endDelay(of: 5) { !visit.model.isLoading })
            await signingIn
            #expect(visit.model.stage == .transaction(.MFARequired))
        }
    }

    @Test("The preview service of the classic app shows each of its sample states", arguments: InMemoryClassicService.Sample.allCases)
    func previews(sample: InMemoryClassicService.Sample) async {
        let model = ClassicViewModel(service: InMemoryClassicService(sample))
        model.username = ClassicVisit.jane
        model.password = "secret"
        await model.signIn()
        let titles = model.actions.map(\.title)
        #expect(model.errorMessage == nil)
        switch sample {
        case .factors:
            #expect(model.headline == "A second factor is required.")
            #expect(
                titles == [
                    "push: iPhone", "push: iPhone (2)", "text message: +1 XXX-XXX-4821", "security question: What was your first award?",
                    "Cancel",
                ])
        case .push:
            #expect(model.isWaiting && model.details.contains("Pick the number 42 on your phone.") && titles == ["Back", "Cancel"])
        case .enrollment:
            #expect(model.symbolText?.hasPrefix("otpauth://totp/") == true && titles == ["Enter the code", "Back", "Cancel"])
            #expect(model.symbolLabel == "QR code for an authenticator app. Alternatively, enter the secret above.")
        case .password:
            #expect(model.headline == "Your password expires in 4 days.")
            #expect(titles == ["Change the password", "Keep the password for now", "Cancel"])
        }
        await model.giveUp()
        let signedIn = ClassicViewModel(service: InMemoryClassicService(user: ClassicVisit.jane))
        #expect(signedIn.stage == .done(hasTokens: true) && signedIn.headline == "Signed in as \(ClassicVisit.jane)")
        await signedIn.signOut()
        #expect(signedIn.stage == .start)
    }
}
