import AuthFoundation
import CountersignSandbox
import ExampleTestSupport
import Foundation
import Testing

@testable import DirectAuthApp

@Suite("The direct authentication app does not show a user's data to the next user")
@MainActor
struct NextPersonTests {
    enum Cover: CaseIterable { case tokens, profile }

    @Test(
        "When a session ends, the direct authentication app closes open sheets, and the next user sees no sheet of the previous user",
        arguments: Cover.allCases)
    func ended(under cover: Cover) async throws {
        try await Scene.play { scene in
            try await scene.signIn()
            switch cover {
            case .tokens: scene.model.showsTokenInfo = true
            case .profile: await scene.model.showUserInfo()
            }
            #expect(scene.model.showsTokenInfo == (cover == .tokens))
            #expect(scene.model.userInfo?.user.name == (cover == .profile ? "Jane Doe" : nil))

            try await scene.sandbox.signOutEverywhere(SandboxUser.jane.login)
            await scene.model.refreshToken()
            #expect(scene.model.state == .failed(errorMessage: "Your session has ended. Sign in again."))
            #expect(!scene.model.showsTokenInfo && scene.model.userInfo == nil)

            try await signInAsJohn(scene)
            #expect(!scene.model.showsTokenInfo && scene.model.userInfo == nil)
            await scene.model.showUserInfo()
            #expect(scene.model.userInfo?.user.preferredUsername == SandboxUser.john.login)
        }
    }

    @Test("If a profile request finds that the session has ended, the app opens no sheet and shows the reason")
    func endedByProfile() async throws {
        try await Scene.play { scene in
            try await scene.signIn()
            scene.model.showsTokenInfo = true
            scene.sandbox.advance(by: 4000)
            try await scene.sandbox.signOutEverywhere(SandboxUser.jane.login)
            await scene.model.showUserInfo()
            #expect(scene.model.state == .failed(errorMessage: "Your session has ended. Sign in again."))
            #expect(scene.model.userInfo == nil && !scene.model.showsTokenInfo)
            try await signInAsJohn(scene)
            #expect(scene.model.userInfo == nil && !scene.model.showsTokenInfo && scene.model.message == nil)
        }
    }

    @Test(
        "If the storage cannot delete the tokens, the direct authentication app shows an error, and the user stays signed in until a sign-out succeeds"
    )
    func stubbornStorage() async throws {
        let storage = StubbornStorage()
        try await Scene.play(storage: storage) { scene in
            try await scene.signIn()
            scene.model.showsTokenInfo = true
            await storage.refuse()
            await scene.model.signOut()
            #expect(scene.isSignedIn && scene.model.message == "The storage deletes nothing.")
            #expect(scene.model.showsTokenInfo && scene.model.username == SandboxUser.jane.login)
            #expect(Scene.model(scene.sandbox).accessToken == scene.model.accessToken, "A new instance of the app has the same token.")
            await storage.refuse(false)
            await scene.model.signOut()
            #expect(scene.model.state == .idle && scene.model.message == nil && Credential.allIDs.isEmpty)
        }
    }

    private func signInAsJohn(_ scene: Scene) async throws {
        let phone = try await scene.sandbox.phone(for: SandboxUser.john.login)
        let signIn = scene.pressSignIn(SandboxUser.john.login, password: try #require(SandboxUser.john.password))
        _ = try await phone.approveNext()
        scene.letTimePass()
        await signIn.value
        try #require(scene.isSignedIn, "\(scene.model.state)")
    }
}
