import AuthFoundation
import CountersignSandbox
import ExampleTestSupport
import Foundation
import Testing

@testable import PasswordApp

@Suite("The password app does not show a user's data to the next user")
@MainActor
struct NextPersonTests {
    @Test("When a session ends, the password app closes the profile, and the next user does not see the previous user's profile")
    func endedUnderProfile() async throws {
        try await Scene.play { scene in
            try await scene.signIn()
            scene.model.showsProfile = true
            await scene.model.loadProfile()
            try await scene.sandbox.signOutEverywhere(SandboxUser.jane.login)
            await scene.model.refreshToken()
            #expect(scene.model.authState == .error("Your session has ended. Sign in again."))
            #expect(!scene.model.showsProfile)

            try await signInAsJohn(scene)
            #expect(!scene.model.showsProfile && scene.model.profile == .loading)
            await scene.model.loadProfile()
            guard case .loaded(let user) = scene.model.profile else { throw AuthenticatedTests.Unexpected() }
            #expect(user.preferredUsername == SandboxUser.john.login)
        }
    }

    @Test("When a session ends, the password app clears the token screen, and the token screen is closed for the next user")
    func endedUnderTokens() async throws {
        try await Scene.play { scene in
            try await scene.signIn()
            scene.model.showsTokenDetails = true
            try await scene.sandbox.signOutEverywhere(SandboxUser.jane.login)
            await scene.model.refreshToken()
            #expect(scene.model.showsTokenDetails && scene.model.tokenDetails.isEmpty)
            try await signInAsJohn(scene)
            #expect(!scene.model.showsTokenDetails && !scene.model.tokenDetails.isEmpty)
        }
    }

    @Test("If a profile request finds that the session has ended, the password app closes the profile, and the form shows the reason")
    func endedByProfile() async throws {
        try await Scene.play { scene in
            try await scene.signIn()
            scene.sandbox.advance(by: 4000)
            try await scene.sandbox.signOutEverywhere(SandboxUser.jane.login)
            scene.model.showsProfile = true
            await scene.model.loadProfile()
            #expect(!scene.model.showsProfile && scene.model.authState == .error("Your session has ended. Sign in again."))
            #expect(scene.model.message == "Failed to fetch user profile: Your session has ended. Sign in again.")
            try await signInAsJohn(scene)
            #expect(!scene.model.showsProfile && scene.model.profile == .loading && scene.model.message == nil)
        }
    }

    @Test("A profile response that arrives after the sign-out is not shown to the next user")
    func late() async throws {
        try await Scene.play { scene in
            try await scene.signIn()
            scene.sandbox.inject(Fault(.delay(30), at: .userInfo))
            let load = Task { await scene.model.loadProfile() }
            #expect(await eventually { scene.sandbox.pendingFaults.isEmpty })
            await scene.model.logout()
            try await signInAsJohn(scene)
            scene.sandbox.advance(by: 31)
            await load.value
            #expect(scene.model.profile == .loading && scene.model.message == nil)
        }
    }

    @Test(
        "If the storage cannot delete the tokens, the password app shows an error, and the user stays signed in until a sign-out succeeds")
    func stubbornStorage() async throws {
        let storage = StubbornStorage()
        try await Scene.play(storage: storage) { scene in
            try await scene.signIn()
            scene.model.showsTokenDetails = true
            await storage.refuse()
            await scene.model.logout()
            #expect(scene.model.authState == .authenticated)
            #expect(scene.model.message == "Logout failed: The storage deletes nothing.")
            #expect(scene.model.showsTokenDetails && scene.model.username == SandboxUser.jane.login)
            await storage.refuse(false)
            await scene.model.logout()
            #expect(scene.model.authState == .notAuthenticated && scene.model.message == nil && Credential.allIDs.isEmpty)
        }
    }

    private func signInAsJohn(_ scene: Scene) async throws {
        await scene.pressSignIn(SandboxUser.john.login, password: try #require(SandboxUser.john.password))
        try #require(scene.model.authState == .authenticated)
    }
}
