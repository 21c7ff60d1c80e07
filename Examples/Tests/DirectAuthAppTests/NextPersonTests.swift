import AuthFoundation
import CountersignSandbox
import ExampleTestSupport
import Foundation
import Testing

@testable import DirectAuthApp

@Suite("What is presented is of who is signed in")
@MainActor
struct NextPersonTests {
    enum Cover: CaseIterable { case tokens, profile }

    @Test("a session that ends closes what covers the screen, and who signs in next does not see it", arguments: Cover.allCases)
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

    @Test("a request for the profile that ends the session presents nothing, and says why")
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

    @Test("a sign-out that the storage refuses is told, and the person stays signed in until one works")
    func stubbornStorage() async throws {
        let storage = StubbornStorage()
        try await Scene.play(storage: storage) { scene in
            try await scene.signIn()
            scene.model.showsTokenInfo = true
            await storage.refuse()
            await scene.model.signOut()
            #expect(scene.isSignedIn && scene.model.message == "The storage deletes nothing.")
            #expect(scene.model.showsTokenInfo && scene.model.username == SandboxUser.jane.login)
            #expect(Scene.model(scene.sandbox).accessToken == scene.model.accessToken, "So is who opens the app anew.")
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
