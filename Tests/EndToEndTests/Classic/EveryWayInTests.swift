import AuthFoundation
import BrowserSignin
import CountersignSandbox
import DeviceAuthenticator
import Foundation
import OAuth2Auth
import OktaAuthSdk
import OktaDirectAuth
import Testing

/// Tests that a factor works in every protocol, whichever protocol the user enrolled it through.
@MainActor
@Suite("All sign-in methods for one user", .timeLimit(.minutes(5)))
struct EveryWayInTests {
    private static let jane = SandboxUser.jane

    @Test(
        "The same phone can approve sign-ins by direct authentication, in the browser and with the classic API"
    )
    func everyWay() async throws {
        try await withClassicSandbox(.classic("sign_on_policy: two-factors")) { sandbox in
            let phone = try await sandbox.phone(for: Self.jane.login)
            #expect(phone.enrollments.map(\.user.name) == [Self.jane.login])

            let tokens = [
                try await direct(sandbox, phone), try await browser(sandbox), try await classic(sandbox, phone),
                try await password(sandbox),
            ]
            #expect(Set(tokens.map { $0.idToken?.subject }).count == 1 && tokens[0].idToken?.subject != nil)
            for token in tokens.prefix(3) { #expect(Set(token.methods).isSuperset(of: ["pwd", "swk", "mfa"]), "\(token.methods)") }
            #expect(tokens[3].methods == ["pwd"])
            for token in tokens {
                #expect(try await sandbox.client(.password).userInfo(token: token).preferredUsername == Self.jane.login)
            }
            // Each push reached the same phone and named the client.
            #expect(phone.outcomes == [.approved, .approved, .approved])
            #expect(phone.history.map(\.request.applicationName) == ["Direct Authentication App", "Browser App", "Sandbox"])
        }
    }

    /// Signs in by direct authentication, with a push.
    private func direct(_ sandbox: Sandbox, _ phone: VirtualPhone) async throws -> Token {
        let signIn = PushSignIn(sandbox)
        let waiting = try await signIn.begin()
        try await phone.approveNext(within: .patience)
        return try await signIn.tokens(waiting)
    }

    /// Signs in on the pages in a browser, with an approval on the phone.
    private func browser(_ sandbox: Sandbox) async throws -> Token {
        let browser = try await sandbox.browser(of: .jane)
        return try await sandbox.browserSignin(in: browser).signIn()
    }

    /// Signs in by classic authentication, and exchanges the session token for tokens.
    private func classic(_ sandbox: Sandbox, _ phone: VirtualPhone) async throws -> Token {
        let start = OktaAuthStatusUnauthenticated(oktaDomain: sandbox.origin)
        let status = try await start.authenticate(username: Self.jane.login, password: Self.jane.password ?? "")
        let required = try #require(status as? OktaAuthStatusFactorRequired)
        let factor = try required.availableFactors.first(.push, as: OktaFactorPush.self)
        let challenge = try #require(try await factor.select() as? OktaAuthStatusFactorChallenge)
        try await phone.approveNext(within: .patience)
        let push = try #require(challenge.factor as? OktaFactorPush)
        let success = try #require(try await push.checkFactorResult() as? OktaAuthStatusSuccess)
        var settings = sandbox.configuration(.init(clientID: "sso-app"))
        settings.redirectUri = URL(string: "http://127.0.0.1/callback")
        let client = OAuth2Client(settings, session: sandbox.transport, clock: sandbox.clock)
        return try await SessionTokenFlow(client: client).start(with: try #require(success.sessionToken))
    }

    /// Signs in with a password alone, at an app whose policy requires one factor.
    private func password(_ sandbox: Sandbox) async throws -> Token {
        try await sandbox.signIn(.jane, with: sandbox.client(.password, by: .port))
    }
}
