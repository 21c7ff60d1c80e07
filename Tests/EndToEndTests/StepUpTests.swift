import AuthFoundation
import BrowserSignin
import CountersignSandbox
import Foundation
import JOSE
import OAuth2Auth
import OktaDirectAuth
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Step-up authentication at the sample API (RFC 9470, RFC 9728)", .timeLimit(.minutes(10)))
struct StepUpTests {
    private static var configuration: Sandbox.Configuration {
        var configuration = Sandbox.Configuration.standing()
        configuration.messagesPort = 0
        return configuration
    }

    private static let jane = SandboxUser.jane

    private func ask(
        _ sandbox: Sandbox, _ path: String = "api/messages/private", token: Token? = nil
    ) async throws -> (body: JSONValue?, response: HTTPURLResponse) {
        var request = URLRequest(url: try #require(sandbox.messagesURL).appending(path: path))
        if let token { request.setValue("Bearer \(token.accessToken)", forHTTPHeaderField: "Authorization") }
        let (data, response) = try await PlainHTTP.data(for: request)
        return (try? JSONValue(parsing: Array(data)), response)
    }

    @Test("A token without acr is refused with a challenge, and the token of a browser sign-in that answers the challenge is accepted")
    func browser() async throws {
        try await withSandbox(Self.configuration) { sandbox in
            let signin = try await sandbox.browserSignin(in: sandbox.browser(of: Self.jane))
            let first = try await signin.signIn()
            #expect(try await ask(sandbox, "api/messages", token: first).response.statusCode == 200)
            let challenge = try #require(StepUpChallenge(try await ask(sandbox, token: first).response))
            #expect(challenge.acrValues == ["urn:okta:loa:2fa:any", "phr", "phrh"] && challenge.maxAge == 300)

            let second = try await signin.signIn(context: .init(steppingUp: challenge, from: first))
            let (body, response) = try await ask(sandbox, token: second)
            #expect(response.statusCode == 200 && body?["messages"]?.arrayValue?.count == 1)

            // A refreshed token repeats the time of the sign-in, so the API refuses it when the sign-in is too old.
            sandbox.advance(by: 400)
            let refreshed = try await signin.signInFlow.client.refresh(second)
            let old = try #require(StepUpChallenge(try await ask(sandbox, token: refreshed).response))
            #expect(old == StepUpChallenge(acrValues: challenge.acrValues, maxAge: 300, errorDescription: old.errorDescription))
            let third = try await signin.signIn(context: .init(steppingUp: old, from: refreshed))
            #expect(try await ask(sandbox, token: third).response.statusCode == 200)
            #expect(sandbox.requests.count { $0.path.hasSuffix("/password") && $0.method == "POST" } == 2)
        }
    }

    @Test("Direct authentication answers a step-up challenge with a password and a code")
    func direct() async throws {
        try await withSandbox(Self.configuration) { sandbox in
            let app = try await sandbox.authenticatorApp(for: Self.jane.login)
            let flow = DirectAuthenticationFlow(client: sandbox.client(.directAuth, by: .process))
            func signIn(_ context: DirectAuthenticationFlow.Context) async throws -> Token {
                guard
                    case .mfaRequired = try await flow.start(
                        Self.jane.login, with: .password(Self.jane.password ?? ""), context: context),
                    case .success(let token) = try await flow.resume(with: .otp(code: app.code))
                else { throw CancellationError() }
                return token
            }
            let first = try await signIn(.init())
            let challenge = try #require(StepUpChallenge(try await ask(sandbox, token: first).response))
            sandbox.advance(by: 30)
            let second = try await signIn(.init(steppingUp: challenge, from: first))
            #expect(try await ask(sandbox, token: second).response.statusCode == 200)
        }
    }

    @Test("The step-up of a user without a second factor fails with unmet_authentication_requirements")
    func unmet() async throws {
        try await withSandbox(Self.configuration) { sandbox in
            let client = sandbox.client(.password, by: .process)
            let token = try await sandbox.signIn(.john, with: client)
            let challenge = try #require(StepUpChallenge(try await ask(sandbox, token: token).response))
            let error = await thrown {
                _ = try await DirectAuthenticationFlow(client: client).start(
                    SandboxUser.john.login, with: .password(SandboxUser.john.password ?? ""),
                    context: .init(steppingUp: challenge, from: token))
            }
            #expect(serverCode(of: error) == "unmet_authentication_requirements")
        }
    }

    @Test("The challenges of the sample API name its metadata, which names the sandbox's issuer")
    func metadata() async throws {
        try await withSandbox(Self.configuration) { sandbox in
            let origin = try #require(sandbox.messagesURL).absoluteString
            let url = "\(origin)/.well-known/oauth-protected-resource/api/messages"
            let none = try await ask(sandbox, "api/messages").response
            #expect(none.value(forHTTPHeaderField: "WWW-Authenticate") == #"Bearer realm="api://default", resource_metadata="\#(url)""#)
            let (document, response) = try await ask(sandbox, ".well-known/oauth-protected-resource/api/messages")
            #expect(response.statusCode == 200)
            #expect(document?["resource"] == .string("\(origin)/api/messages"))
            #expect(document?["authorization_servers"] == [.string(sandbox.issuer.absoluteString)])
        }
    }
}
