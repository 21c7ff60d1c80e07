import AppSession
import AuthFoundation
import CountersignSandbox
import ExampleTestSupport
import Foundation
import Testing

@testable import DirectAuthApp

@Suite("Sign-in with a password and a push in the direct authentication app")
@MainActor
struct SignInTests {
    @Test("An approved push signs the user in, and the model is idle, authenticating, waiting for the push and authorized in turn")
    func approval() async throws {
        try await Scene.play { scene in
            let history = History { scene.model.state }
            #expect(scene.model.state == .idle)
            let signIn = scene.pressSignIn()
            #expect(await scene.waitForPush())
            #expect(scene.model.isLoading && !scene.model.canSignIn)
            try await scene.phone.approveNext()
            scene.letTimePass()
            await signIn.value

            let token = try #require(Credential.default?.token)
            #expect(history.values == [.idle, .authenticating, .waitingForPush(), .authorized(token)])
            #expect(scene.model.accessToken == token.accessToken)
            #expect(scene.model.idToken == token.idToken?.rawValue)
            #expect(!scene.model.isLoading)
            #expect(scene.model.message == nil)
            #expect(scene.model.password.isEmpty, "It is not kept.")
        }
    }

    @Test("While a field is empty, the sign-in button of the direct authentication app is disabled and sends no request")
    func emptyFields() async throws {
        try await Scene.play { scene in
            for (name, password) in [("", ""), ("jane", ""), ("", "secret")] {
                (scene.model.username, scene.model.password) = (name, password)
                #expect(!scene.model.canSignIn)
                await scene.model.signIn()
            }
            #expect(scene.model.state == .idle)
            #expect(scene.sandbox.requests.count { $0.endpoint == .token && $0.grantType == "password" } <= 1, "Only the phone's own.")
            scene.model.username = "jane"
            #expect(scene.model.canSignIn)
        }
    }

    @Test("The direct authentication app shows a push's number, and signs the user in after the user picks the number on the phone")
    func number() async throws {
        try await Scene.play(asksForNumbers: true) { scene in
            let signIn = scene.pressSignIn()
            #expect(await eventually { if case .waitingForPush(.some) = scene.model.state { true } else { false } })
            guard case .waitingForPush(let number?) = scene.model.state else { return }
            let request = try await scene.phone.approveNext(number: number)
            #expect(request.numberChoices?.contains(number) == true)
            scene.letTimePass()
            await signIn.value
            #expect(scene.isSignedIn)
        }
    }

    @Test("After a denied push, the form shows the reason and allows another sign-in")
    func denial() async throws {
        try await Scene.play { scene in
            let signIn = scene.pressSignIn()
            try await scene.phone.denyNext()
            scene.letTimePass()
            await signIn.value
            guard case .failed(let message) = scene.model.state else { throw Unexpected(scene.model.state) }
            #expect(message == "The request was denied on your device. If it was you, sign in again.")
            #expect(scene.model.message == message)
            #expect(scene.model.username == SandboxUser.jane.login && scene.model.canSignIn, "Another attempt is one key away.")
            #expect(Credential.allIDs.isEmpty)
        }
    }

    @Test("If the user does not answer a push, the direct authentication app stops waiting and shows an error")
    func timeout() async throws {
        try await Scene.play { scene in
            let signIn = scene.pressSignIn()
            #expect(await scene.waitForPush())
            // The request is sent, so that it expires.
            #expect(await eventually { !scene.phone.waiting.isEmpty })
            scene.sandbox.advance(by: 600)
            await signIn.value
            guard case .failed(let message) = scene.model.state else { throw Unexpected(scene.model.state) }
            #expect(!message.isEmpty)
        }
    }

    @Test("The direct authentication app shows the same text for a wrong password and for an unknown user name")
    func wrongPassword() async throws {
        try await Scene.play { scene in
            await scene.pressSignIn(password: "Wrong-Horse-7").value
            guard case .failed(let first) = scene.model.state else { throw Unexpected(scene.model.state) }
            await scene.pressSignIn("unknown@example.com").value
            guard case .failed(let second) = scene.model.state else { throw Unexpected(scene.model.state) }
            #expect(first == second)
            #expect(first.hasPrefix("The user name or the password is incorrect."))
        }
    }

    @Test("If the user has no second factor, the direct authentication app shows that the account cannot sign in")
    func serverError() async throws {
        try await Scene.play { scene in
            await scene.pressSignIn(SandboxUser.john.login, password: "Battery-Staple-9").value
            guard case .failed(let message) = scene.model.state else { throw Unexpected(scene.model.state) }
            #expect(message.hasPrefix("This account can't sign in here."), "John has no phone: \(message)")
        }
    }

    @Test("The direct authentication app shows a network failure of a sign-in, and the next sign-in succeeds")
    func offline() async throws {
        try await Scene.play { scene in
            scene.sandbox.inject(Fault(.dropConnectionBeforeCommit, at: .token, count: 10))
            await scene.pressSignIn().value
            guard case .failed(let message) = scene.model.state else { throw Unexpected(scene.model.state) }
            #expect(!message.isEmpty)
            scene.sandbox.clearFaults()
            try await scene.signIn()
            #expect(scene.model.message == nil)
        }
    }

    @Test("Without a configuration, the direct authentication app reports at the sign-in that Okta.plist is missing")
    func noConfiguration() async throws {
        let settings = ClientSettings(file: URL(filePath: "/nowhere/Okta.plist"))
        try await Credential.withStorage(MemoryTokenStorage()) {
            let model = AuthViewModel(authService: AuthService(settings: settings, language: "en"), language: "en")
            (model.username, model.password) = ("jane", "secret")
            await model.signIn()
            guard case .failed(let message) = model.state else { throw Unexpected(model.state) }
            #expect(message.contains("Okta.plist"))
        }
    }

    struct Unexpected: Error, CustomStringConvertible {
        let description: String
        init(_ state: AuthService.State) { description = "\(state)" }
    }
}
