import AppSession
import AuthFoundation
import CountersignSandbox
import ExampleTestSupport
import Foundation
import Testing
import Wording

@testable import DirectAuthApp

@Suite("Sessions in the direct authentication app")
@MainActor
struct SessionTests {
    @Test("The direct authentication app restores the session at the next launch")
    func restored() async throws {
        try await Scene.play { scene in
            try await scene.signIn()
            let again = Scene.model(scene.sandbox)
            #expect(again.state == scene.model.state)
            #expect(again.accessToken == scene.model.accessToken)
        }
    }

    @Test("A refresh changes the tokens that the direct authentication app shows, and disables the buttons while the refresh runs")
    func refresh() async throws {
        try await Scene.play { scene in
            try await scene.signIn()
            let (accessToken, idToken) = (scene.model.accessToken, scene.model.idToken)
            scene.sandbox.inject(Fault(.delay(30), at: .token))
            let refresh = Task { await scene.model.refreshToken() }
            #expect(await eventually { scene.model.isLoading })
            #expect(scene.isSignedIn)
            #expect(await scene.sandbox.endDelay(of: 31) { !scene.model.isLoading })
            await refresh.value
            #expect(!scene.model.isLoading)
            #expect(scene.model.accessToken != accessToken)
            #expect(scene.model.idToken != idToken)
            #expect(scene.model.accessToken == Credential.default?.token.accessToken)
        }
    }

    @Test("Pressing the refresh button again during a refresh sends no second request")
    func refreshTwice() async throws {
        try await Scene.play { scene in
            try await scene.signIn()
            scene.sandbox.inject(Fault(.delay(30), at: .token))
            let refresh = Task { await scene.model.refreshToken() }
            #expect(await eventually { scene.model.isLoading })
            await scene.model.refreshToken()
            #expect(await scene.sandbox.endDelay(of: 31) { !scene.model.isLoading })
            await refresh.value
            #expect(scene.sandbox.requests.count { $0.grantType == "refresh_token" } == 1)
        }
    }

    @Test("refreshTokenIfNeeded refreshes a token only shortly before its expiry")
    func refreshIfNeeded() async throws {
        try await Scene.play { scene in
            try await scene.signIn()
            let service = Scene.service(scene.sandbox)
            let token = service.accessToken
            try await service.refreshTokenIfNeeded()
            #expect(service.accessToken == token)
            scene.sandbox.advance(by: 3500)
            try await service.refreshTokenIfNeeded()
            #expect(service.accessToken != token)
        }
    }

    @Test("The direct authentication app refreshes a token automatically before its expiry, and shows the new token")
    func automaticRefresh() async throws {
        try await Scene.play(refreshesByItself: true) { scene in
            try await scene.signIn()
            let token = scene.model.accessToken
            #expect(Credential.default?.automaticRefresh == true)
            #expect(await scene.sandbox.moveOn(by: 3500) { scene.model.accessToken != token })
            #expect(scene.isSignedIn)
        }
    }

    @Test("If the connection breaks during a refresh, the app shows an error, and the user stays signed in with the previous token")
    func refreshOffline() async throws {
        try await Scene.play { scene in
            try await scene.signIn()
            let token = scene.model.accessToken
            scene.sandbox.inject(Fault(.dropConnectionBeforeCommit, at: .token, count: 10))
            await scene.model.refreshToken()
            #expect(scene.model.message != nil)
            #expect(scene.isSignedIn && scene.model.accessToken == token)
            scene.sandbox.clearFaults()
            await scene.model.refreshToken()
            #expect(scene.model.message == nil)
            #expect(scene.model.accessToken != token)
        }
    }

    @Test("If the server has ended the session, a refresh in the direct authentication app shows the form with the reason")
    func ended() async throws {
        try await Scene.play { scene in
            try await scene.signIn()
            try await scene.sandbox.signOutEverywhere(SandboxUser.jane.login)
            await scene.model.refreshToken()
            #expect(scene.model.state == .failed(errorMessage: "Your session has ended. Sign in again."))
            #expect(scene.model.accessToken == nil)
            #expect(Credential.allIDs.isEmpty)
            // The next launch shows the form without the message.
            #expect(Scene.model(scene.sandbox).state == .idle)
            try await scene.signIn()
        }
    }

    @Test("The direct authentication app fetches the profile only once, even if the token has expired")
    func userInfo() async throws {
        try await Scene.play { scene in
            try await scene.signIn()
            scene.sandbox.advance(by: 4000)
            await scene.model.showUserInfo()
            #expect(scene.model.userInfo?.user.name == "Jane Doe")
            scene.model.userInfo = nil
            await scene.model.showUserInfo()
            #expect(scene.model.userInfo != nil)
            #expect(scene.sandbox.requests.count { $0.endpoint == .userInfo } == 1)
        }
    }

    @Test("If a profile request fails, the direct authentication app shows an error, and the user can repeat the request")
    func userInfoFails() async throws {
        try await Scene.play { scene in
            try await scene.signIn()
            scene.sandbox.inject(Fault(.status(400), at: .userInfo))
            await scene.model.showUserInfo()
            #expect(scene.model.userInfo == nil)
            #expect(scene.model.message != nil)
            await scene.model.showUserInfo()
            #expect(scene.model.userInfo != nil)
            #expect(scene.model.message == nil)
        }
    }

    @Test("After a sign-out, the direct authentication app has no token, and the server reports the access token as inactive")
    func signOut() async throws {
        try await Scene.play { scene in
            try await scene.signIn()
            let token = try #require(Credential.default?.token)
            scene.model.showsTokenInfo = true
            await scene.model.signOut()
            #expect(scene.model.state == .idle)
            #expect(scene.model.username.isEmpty && scene.model.password.isEmpty && !scene.model.showsTokenInfo)
            #expect(Credential.default == nil && Credential.allIDs.isEmpty)
            #expect(try await scene.sandbox.client(.directAuth).introspect(token: token, type: .accessToken).active == false)
        }
    }

    @Test("The token text of the direct authentication app contains each token and the seconds until the expiry")
    func tokenInfo() async throws {
        try await Scene.play { scene in
            #expect(scene.model.tokenInfo == "No token found")
            try await scene.signIn()
            let token = try #require(Credential.default?.token)
            let parts = scene.model.tokenInfo.components(separatedBy: "\n\n")
            #expect(parts.count == 7 && parts[6].isEmpty)
            #expect(parts[0] == "Token type: Bearer")
            #expect(parts[1] == "Access Token: \(token.accessToken)")
            #expect(parts[2] == "Scopes: \(try #require(token.scope).joined(separator: ","))")
            #expect(parts[3] == "ID Token: \(try #require(token.idToken).rawValue)")
            #expect(parts[4] == "Refresh Token: \(try #require(token.refreshToken))")
            let left = try #require(parts[5].split(separator: " ").compactMap { Int($0) }.first)
            #expect((3500...3600).contains(left))
            scene.sandbox.advance(by: 5000)
            #expect(scene.model.tokenInfo.contains("Expires in: 0 seconds"))
        }
    }

    @Test("The token text of the direct authentication app omits missing tokens and shows that scopes are missing")
    func sparseTokenInfo() throws {
        let token = try Sample.token(without: ["scope", "refresh_token"])
        let model = AuthViewModel(authService: InMemoryAuthService(.authorized(token)), language: "en")
        #expect(
            model.tokenInfo
                == "Token type: Bearer\n\nAccess Token: sample-access-token-1\n\nScopes: No scopes found\n\nExpires in: 3600 seconds\n\n")
        #expect(model.idToken == "(no id token)")
    }

    @Test("The token text for screen readers in the direct authentication app contains no token")
    func spokenTokenInfo() async throws {
        try await Scene.play { scene in
            try await scene.signIn()
            let token = try #require(Credential.default?.token)
            let spoken = scene.model.spokenTokenInfo
            for secret in [token.accessToken, token.refreshToken, token.idToken?.rawValue] {
                #expect(!spoken.contains(try #require(secret)))
            }
            #expect(spoken.hasPrefix("Token type: Bearer\n\nScopes: openid") && spoken.contains("Expires in: "))
        }
    }

    @Test("Without a session, a refresh and a profile request in the direct authentication app send no request")
    func unknownUser() async throws {
        try await withSandbox { sandbox in
            let model = Scene.model(sandbox)
            await model.refreshToken()
            await model.showUserInfo()
            let service = Scene.service(sandbox)
            try await service.refreshTokenIfNeeded()
            #expect(model.state == .idle && model.message == nil && model.userInfo == nil && sandbox.requests.isEmpty)
        }
    }

    @Test("While the app loads the profile, no button starts another operation")
    func userInfoBusy() async throws {
        try await Scene.play { scene in
            try await scene.signIn()
            scene.sandbox.inject(Fault(.delay(30), at: .userInfo))
            let userInfo = Task { await scene.model.showUserInfo() }
            #expect(await eventually { scene.model.isLoading })
            await scene.model.showUserInfo()
            await scene.model.refreshToken()
            #expect(scene.model.isLoading && scene.model.userInfo == nil)
            #expect(await scene.sandbox.endDelay(of: 31) { !scene.model.isLoading })
            await userInfo.value
            #expect(scene.model.userInfo != nil)
            #expect(scene.sandbox.requests.count { $0.endpoint == .userInfo } == 1)
            #expect(!scene.sandbox.requests.contains { $0.grantType == "refresh_token" })
        }
    }

    @Test("The direct authentication app shows the profile in English and in German, and marks missing values")
    func profileText() throws {
        let info = try UserInfo(JSON(Data(#"{"sub":"00u1","name":"Jane Doe","updated_at":1700000000}"#.utf8)))
        let zone = try #require(TimeZone(identifier: "UTC"))
        let model = AuthViewModel(authService: InMemoryAuthService(), language: "en")
        #expect(
            info.text(model.wording, timeZone: zone).replacing("\u{202F}", with: " ") == """
                Name: Jane Doe

                Username: No username set

                User ID: 00u1

                Updated at: Nov 14, 2023 at 10:13 PM
                """)
        let unknown = try UserInfo(JSON(Data("{}".utf8)))
        #expect(unknown.text(model.wording) == "Name: No name set\n\nUsername: No username set\n\nUser ID: No ID found")
        let german = AuthViewModel(authService: InMemoryAuthService(), language: "de")
        #expect(
            info.text(german.wording, timeZone: zone) == """
                Name: Jane Doe

                Benutzername: Kein Benutzername angegeben

                Benutzer-ID: 00u1

                Geändert am: 14.11.2023, 22:13
                """)
    }

    @Test("The preview service of the direct authentication app handles every button")
    func previews() async throws {
        let service = InMemoryAuthService()
        let model = AuthViewModel(authService: service, language: "en")
        (model.username, model.password) = ("jane", "secret")
        await model.signIn()
        #expect(model.state == .waitingForPush(number: "42"))
        try service.approve()
        let token = try #require(model.accessToken)
        await model.refreshToken()
        #expect(model.accessToken != nil && model.accessToken != token)
        await model.showUserInfo()
        #expect(model.userInfo?.user.name == "Jane Doe")
        await model.signOut()
        #expect(model.state == .idle && model.userInfo == nil)
    }
}
