import AppSession
import AuthFoundation
import CountersignSandbox
import ExampleTestSupport
import Foundation
import Testing
import Wording

@testable import PasswordApp

@Suite("Actions of a signed-in user in the password app")
@MainActor
struct AuthenticatedTests {
    @Test("The password app loads the profile once and shows the profile in sections")
    func profile() async throws {
        try await Scene.play { scene in
            try await scene.signIn()
            let history = History { scene.model.profile }
            await scene.model.loadProfile()
            guard case .loaded(let user) = scene.model.profile else { throw Unexpected() }
            #expect(history.values == [.loading, .loaded(user)])
            let zone = try #require(TimeZone(identifier: "UTC"))
            let sections = user.sections(scene.model.wording, timeZone: zone)
            #expect(sections.map(\.title) == ["User Information", "Metadata"])
            #expect(
                sections[0].rows == [
                    .init(label: "Name", value: "Jane Doe"), .init(label: "Email", value: SandboxUser.jane.login),
                    .init(label: "Username", value: SandboxUser.jane.login), .init(label: "User ID", value: try #require(user.subject)),
                ])
            #expect(sections[1].rows.map(\.label) == ["Last Updated"])
            await scene.model.loadProfile()
            #expect(scene.sandbox.requests.count { $0.endpoint == .userInfo } == 1, "It is fetched once.")
        }
    }

    @Test("The password app shows the profile's last update with a long date and a short time in English and German")
    func profileDate() throws {
        let user = try UserInfo(JSON(Data(#"{"updated_at":1700000000}"#.utf8)))
        let zone = try #require(TimeZone(identifier: "UTC"))
        for (language, date) in [("en", "November 14, 2023 at 10:13 PM"), ("de", "14. November 2023 um 22:13")] {
            let wording = LoginViewModel(authService: InMemoryAuthService(), language: language).wording
            let shown = user.sections(wording, timeZone: zone).last?.rows.last?.value
            #expect(shown?.replacing("\u{202F}", with: " ") == date)
        }
    }

    @Test("The password app marks missing profile values in English and German")
    func emptyProfile() throws {
        let nameless = try UserInfo(JSON(Data("{}".utf8)))
        for (language, lacking, unknown) in [("en", "Not provided", "Unknown"), ("de", "Nicht angegeben", "Unbekannt")] {
            let wording = LoginViewModel(authService: InMemoryAuthService(), language: language).wording
            let sections = nameless.sections(wording)
            #expect(sections.count == 1)
            #expect(sections[0].rows.map(\.value) == [lacking, lacking, lacking, unknown])
        }
    }

    @Test("If a profile request fails, the password app shows the reason, and the next attempt succeeds")
    func profileFails() async throws {
        try await Scene.play { scene in
            try await scene.signIn()
            scene.sandbox.inject(Fault(.status(400), at: .userInfo))
            await scene.model.loadProfile()
            #expect(scene.model.profile == .failed)
            #expect(try #require(scene.model.message).hasPrefix("Failed to fetch user profile: "))
            await scene.model.loadProfile()
            #expect(scene.model.profile != .failed)
            #expect(scene.model.message == nil)
        }
    }

    @Test("A refresh changes the password app's token, and pressing the button again during the refresh sends no second request")
    func refresh() async throws {
        try await Scene.play { scene in
            try await scene.signIn()
            let token = scene.model.token
            scene.sandbox.inject(Fault(.delay(30), at: .token))
            let refresh = Task { await scene.model.refreshToken() }
            #expect(await eventually { scene.model.isLoading })
            #expect(scene.model.authState == .authenticated)
            await scene.model.refreshToken()
            #expect(await scene.sandbox.endDelay(of: 31) { !scene.model.isLoading })
            await refresh.value
            #expect(!scene.model.isLoading)
            #expect(scene.model.token != token)
            #expect(scene.model.token == Credential.default?.token.accessToken)
            #expect(scene.sandbox.requests.count { $0.grantType == "refresh_token" } == 1)
        }
    }

    @Test("If a refresh fails, the password app shows an error message, and the user stays signed in")
    func refreshOffline() async throws {
        try await Scene.play { scene in
            try await scene.signIn()
            scene.sandbox.inject(Fault(.dropConnectionBeforeCommit, at: .token, count: 10))
            await scene.model.refreshToken()
            #expect(try #require(scene.model.message).hasPrefix("Token refresh failed: "))
            #expect(scene.model.authState == .authenticated)
        }
    }

    @Test("If the server has ended the session, a refresh in the password app shows the form with the reason")
    func ended() async throws {
        try await Scene.play { scene in
            try await scene.signIn()
            try await scene.sandbox.signOutEverywhere(SandboxUser.jane.login)
            await scene.model.refreshToken()
            #expect(scene.model.authState == .error("Your session has ended. Sign in again."))
            #expect(try #require(scene.model.message).contains("Your session has ended."))
            #expect(Credential.allIDs.isEmpty)
        }
    }

    @Test("If there is no credential, a refresh in the password app fails with the error “No credential available”")
    func refreshWithoutCredential() async throws {
        try await Scene.play { scene in
            let error = await #expect(throws: NSError.self) { try await Scene.service(scene.sandbox).refreshAccessToken() }
            #expect(error?.domain == "AuthService" && error?.code == -1)
            #expect(error?.localizedDescription == "No credential available")
            await scene.model.refreshToken()
            #expect(scene.model.message == "Token refresh failed: No credential available")
        }
    }

    @Test("After a sign-out, the password app has no input and no token, and the server reports the access token as inactive")
    func logout() async throws {
        try await Scene.play { scene in
            try await scene.signIn()
            let token = try #require(Credential.default?.token)
            scene.model.showsProfile = true
            await scene.model.logout()
            #expect(scene.model.authState == .notAuthenticated)
            #expect(scene.model.username.isEmpty && scene.model.password.isEmpty && !scene.model.showsProfile)
            #expect(scene.model.message == nil)
            #expect(scene.model.tokenDetails.isEmpty && scene.model.token == "No Token")
            #expect(Credential.allIDs.isEmpty)
            #expect(try await scene.sandbox.client().introspect(token: token, type: .accessToken).active == false)
        }
    }

    @Test("The token screen of the password app shows each token with an explanation, and the seconds until the expiry")
    func details() async throws {
        try await Scene.play { scene in
            try await scene.signIn()
            let token = try #require(Credential.default?.token)
            let details = scene.model.tokenDetails
            #expect(
                details.map(\.title) == ["Token Type", "Access Token", "Scopes", "ID Token", "Refresh Token", "Expires In"])
            #expect(details[0].value == "Bearer")
            #expect(details[1].value == token.accessToken && details[1].isMonospaced)
            #expect(details[2].value == token.scope?.joined(separator: ", "))
            #expect(details[3].value == token.idToken?.rawValue && details[3].isMonospaced)
            #expect(Set(details.map(\.meaning)).count == 6 && details[4].meaning.contains("without the password"))
            #expect(details[4].value == token.refreshToken)
            let left = try #require(Int(details[5].value.replacing(" seconds", with: "")))
            #expect((3500...3600).contains(left))
            scene.sandbox.advance(by: 100)
            let later = try #require(Int(scene.model.tokenDetails[5].value.replacing(" seconds", with: "")))
            #expect((99...110).contains(left - later))
        }
    }

    @Test("The German token screen omits missing tokens, and the title and the button Refresh Token have different German texts")
    func germanDetails() throws {
        let wording = LoginViewModel(authService: InMemoryAuthService(), language: "de").wording
        let details = { (keys: Set<String>) throws in
            try Sample.token(without: keys).details(wording, now: .distantPast).map(\.title)
        }
        #expect(try details([]) == ["Art des Tokens", "Access-Token", "Scopes", "Refresh-Token", "Läuft ab in"])
        #expect(try details(["scope", "refresh_token"]) == ["Art des Tokens", "Access-Token", "Läuft ab in"])
        #expect(wording("Refresh Token") == "Token erneuern")
    }

    @Test("The preview service of the password app handles every button")
    func previews() async throws {
        let model = LoginViewModel(authService: InMemoryAuthService(), language: "en")
        (model.username, model.password) = ("jane", "secret")
        await model.login()
        #expect(model.authState == .authenticated)
        let token = model.token
        await model.refreshToken()
        #expect(model.token != token)
        await model.loadProfile()
        #expect(model.profile != .failed)
        await model.logout()
        #expect(model.authState == .notAuthenticated)
    }

    struct Unexpected: Error {}
}
