import AppSession
import AuthFoundation
import CountersignSandbox
import ExampleTestSupport
import Foundation
import Testing

@testable import DirectAuthApp

@Suite("Cancellation of a sign-in")
@MainActor
struct CancelTests {
    @Test("If the user cancels a push sign-in, the app shows the form immediately, and a later approval does not sign the user in")
    func cancelThenApprove() async throws {
        try await Scene.play { scene in
            let signIn = scene.pressSignIn()
            #expect(await scene.waitForPush())
            #expect(await eventually { !scene.phone.waiting.isEmpty })
            let request = try #require(scene.phone.waiting.first)
            // The set-up of the phone has revoked a token too.
            let earlier = scene.sandbox.requests.count { $0.endpoint == .revoke }

            scene.model.cancelSignIn()
            #expect(scene.model.state == .idle)
            await signIn.value
            await scene.model.leave()
            // The server knows of the cancellation: it has withdrawn the request from the phone, or accepts no approval any more.
            _ = try? await scene.phone.approve(request.id)
            scene.letTimePass()
            #expect(scene.model.state == .idle)
            #expect(scene.model.message == nil)
            #expect(Credential.allIDs.isEmpty)
            #expect(scene.sandbox.requests.count { $0.endpoint == .revoke } == earlier + 1)
            #expect(!scene.phone.history.contains { $0.outcome == .approved }, "The server has withdrawn its request.")
            #expect(scene.model.canSignIn)
        }
    }

    @Test("After a cancelled sign-in, the next sign-in succeeds")
    func again() async throws {
        try await Scene.play { scene in
            let signIn = scene.pressSignIn()
            #expect(await scene.waitForPush())
            #expect(await eventually { !scene.phone.waiting.isEmpty })
            let old = try #require(scene.phone.waiting.first)
            scene.model.cancelSignIn()
            await signIn.value
            let next = scene.pressSignIn()
            var new: VirtualPhone.Request?
            #expect(
                await eventually {
                    new = scene.phone.waiting.first { $0.id != old.id }
                    return new != nil
                })
            try await scene.phone.approve(try #require(new).id)
            scene.letTimePass()
            await next.value
            #expect(scene.isSignedIn)
        }
    }

    @Test("A sign-out while a push is pending ends the wait for the approval")
    func signOutWhileWaiting() async throws {
        try await Scene.play { scene in
            let signIn = scene.pressSignIn()
            #expect(await scene.waitForPush())
            await scene.model.signOut()
            await signIn.value
            #expect(scene.model.state == .idle)
            #expect(scene.model.username.isEmpty)
        }
    }
}
