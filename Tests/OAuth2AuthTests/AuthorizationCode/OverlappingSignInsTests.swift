import AuthFoundation
import Foundation
import JOSE
import TestSupport
import Testing

@testable import OAuth2Auth

@Suite("Overlapping browser sign-ins")
struct OverlappingSignInsTests {
    private let issuer = ScriptedIssuer()

    private func redirect(_ state: String?) throws -> URL { try url("com.example.app:/callback?code=c&state=\(state ?? "none")") }

    private func answerTokens(nonce: String?) {
        issuer.on("/v1/token") { [issuer] _, _ in .tokens(["id_token": try issuer.idToken(["nonce": nonce.map(JSONValue.string)])]) }
    }

    @Test("A redirect is rejected before a sign-in starts and after the flow is reset")
    func notStarted() async throws {
        let flow = try AuthorizationCodeFlow(client: issuer.client())
        await #expect(throws: OAuth2Error.invalidContext) { try await flow.resume(with: redirect("s")) }
        _ = try await flow.start()
        let state = flow.context?.state
        await flow.reset()
        #expect(!flow.isAuthenticating && flow.context == nil)
        await #expect(throws: OAuth2Error.invalidContext) { try await flow.resume(with: redirect(state)) }
    }

    @Test("If a flow starts a second sign-in, only the redirect of the second sign-in is accepted")
    func stale() async throws {
        let flow = try AuthorizationCodeFlow(client: issuer.client())
        _ = try await flow.start()
        let older = flow.context?.state
        _ = try await flow.start()
        let newer = try #require(flow.context)
        #expect(older != newer.state)
        await #expect(throws: OAuth2Error.self) { try await flow.resume(with: redirect(older)) }
        answerTokens(nonce: newer.nonce)
        _ = try await flow.resume(with: redirect(newer.state))
    }

    @Test("A second redirect of a sign-in is rejected, even while the first redirect is processed", .timeLimit(.minutes(1)))
    func second() async throws {
        let flow = try AuthorizationCodeFlow(client: issuer.client())
        _ = try await flow.start()
        let context = try #require(flow.context)
        let gate = Gate()
        let idToken = try issuer.idToken(["nonce": context.nonce.map(JSONValue.string)])
        issuer.on("/v1/token") { _, _ in
            await gate.wait()
            return .tokens(["id_token": idToken])
        }
        let url = try redirect(context.state)
        async let first = flow.resume(with: url)
        await issuer.awaits("/v1/token", 1)
        await #expect(throws: OAuth2Error.invalidContext) { try await flow.resume(with: url) }
        gate.open()
        #expect(try await first.accessToken == "access-1")
        await #expect(throws: OAuth2Error.invalidContext) { try await flow.resume(with: url) }
        #expect(issuer.requests("/v1/token").count == 1)
    }

    @Test("A reused authorization context gets a new state, nonce and PKCE challenge, except for values that the app set")
    func reusedContext() async throws {
        let flow = try AuthorizationCodeFlow(client: issuer.client())
        let context = AuthorizationCodeFlow.Context()
        let first = Form.query(try await flow.start(with: context))
        let second = Form.query(try await flow.start(with: context))
        for name in ["state", "nonce", "code_challenge"] { #expect(first[name] != second[name], "\(name)") }
        // The values also differ after another sign-in, and in another flow with a copy of the context.
        _ = try await flow.start()
        let later = Form.query(try await flow.start(with: context))
        let elsewhere = Form.query(try await AuthorizationCodeFlow(client: issuer.client()).start(with: try #require(flow.context)))
        for name in ["state", "nonce", "code_challenge"] {
            #expect(Set([first, second, later, elsewhere].map { $0[name] ?? "" }).count == 4, "\(name)")
        }
        let chosen = AuthorizationCodeFlow.Context(state: "mine", additionalParameters: ["nonce": "my-nonce"])
        let third = Form.query(try await flow.start(with: chosen))
        let fourth = Form.query(try await flow.start(with: chosen))
        #expect(third["state"] == "mine" && fourth["state"] == "mine" && fourth["nonce"] == "my-nonce")
        #expect(third["code_challenge"] != fourth["code_challenge"])
    }

    @Test("Each of two concurrent authorization code flows accepts only its own redirect")
    func twoFlows() async throws {
        let client = try issuer.client()
        let flows = try [AuthorizationCodeFlow(client: client), AuthorizationCodeFlow(client: client)]
        for flow in flows { _ = try await flow.start() }
        let other = flows[1].context?.state
        await #expect(throws: OAuth2Error.self) { try await flows[0].resume(with: redirect(other)) }
        for flow in flows {
            answerTokens(nonce: flow.context?.nonce)
            _ = try await flow.resume(with: redirect(flow.context?.state))
        }
    }

    @Test("If the start of a sign-in fails, the flow ends and informs its delegates")
    func failedStart() async throws {
        let issuer = ScriptedIssuer(["issuer": "https://other.example.com"])
        let flow = try AuthorizationCodeFlow(client: issuer.client())
        let watcher = Watcher()
        flow.add(delegate: watcher)
        await #expect(throws: IssuerMismatchError.self) { try await flow.start() }
        #expect(!flow.isAuthenticating && watcher.events == ["started", "error", "finished"])
    }

    @Test(
        "If a sign-in is cancelled or replaced during the code exchange, the app gets no tokens, and the received tokens are revoked",
        .timeLimit(.minutes(1)),
        arguments: ["reset", "start", "cancel"])
    func superseded(how: String) async throws {
        let flow = try AuthorizationCodeFlow(client: issuer.client())
        _ = try await flow.start()
        let context = try #require(flow.context)
        let gate = Gate()
        let idToken = try issuer.idToken(["nonce": context.nonce.map(JSONValue.string)])
        issuer.on("/v1/token") { _, _ in
            await gate.wait()
            return .tokens(["id_token": idToken])
        }
        let url = try redirect(context.state)
        let call = Task { try await flow.resume(with: url) }
        await issuer.awaits("/v1/token", 1)
        switch how {
        case "reset": await flow.reset()
        case "start": _ = try await flow.start()
        default: call.cancel()
        }
        let error = await #expect(throws: (any Error).self) { try await call.value }
        #expect(how == "cancel" ? error is CancellationError : error as? OAuth2Error == .invalidContext)
        #expect(flow.isAuthenticating == (how == "start"))
        gate.open()
        await issuer.awaits("/v1/revoke", 2)
        #expect(Set(issuer.forms("/v1/revoke").compactMap { $0["token"] }) == ["access-1", "refresh-1"])
    }
}
