import AuthFoundation
import Foundation
import TestSupport
import Testing

@testable import OktaDirectAuth

@Suite("Direct authentication")
struct DirectAuthenticationFlowTests {
    private let server = ScriptedIssuer.directAuthentication()
    private typealias Failure = DirectAuthenticationFlowError

    private func flow(_ parameters: [String: any APIRequestArgument]? = nil) throws -> DirectAuthenticationFlow {
        try DirectAuthenticationFlow(client: server.directClient(), additionalParameters: parameters)
    }

    private func challengedFlow() async throws -> DirectAuthenticationFlow { try await server.challengedFlow() }

    @Test("A sign-in with a password returns tokens, and its request lists the grant types that the app supports")
    func password() async throws {
        let flow = try flow(["audience": "api://x", "scope": "never"])
        server.answer("token", .tokens())
        let status = try await flow.start("jane", with: .password("Correct-Horse-7 &"))
        guard case .success(let token) = status else { throw Failure.flowNotStarted }
        #expect(token.accessToken == "access-1" && !flow.isAuthenticating && flow.context?.currentStatus == status)
        #expect(
            server.forms("token") == [
                [
                    "grant_type": "password", "username": "jane", "password": "Correct-Horse-7 &", "client_id": "app",
                    "scope": "openid profile",
                    "audience": "api://x",
                    "grant_types_supported": [GrantType].directAuth.map(\.rawValue).joined(separator: " "),
                ]
            ])
    }

    @Test("The parameters of the sign-in's context are sent to the server, and stored in the token's context")
    func context() async throws {
        let flow = try flow()
        server.answer("token", .tokens())
        guard
            case .success(let token) = try await flow.start(
                "jane", with: .otp(code: "123"), context: .init(acrValues: ["a", "b"], intent: .recovery))
        else { throw Failure.flowNotStarted }
        let form = try #require(server.forms("token").first)
        #expect(form["acr_values"] == "a b" && form["intent"] == "recovery" && form["scope"] == "okta.myAccount.password.manage")
        #expect(form["grant_type"] == "urn:okta:params:oauth:grant-type:otp" && form["login_hint"] == "jane" && form["otp"] == "123")
        #expect(token.context.acrValues == ["a", "b"])
    }

    @Test("A sign-in with a wrong password ends with the server's error, whose text says that the user name or password is wrong")
    func wrongPassword() async throws {
        let flow = try flow()
        server.answer("token", .refusal("invalid_grant"))
        let error = await #expect(throws: APIClientError.self) { try await flow.start("jane", with: .password("wrong")) }
        #expect(error?.serverError?.code == .invalidGrant)
        #expect(error?.userText == .wrongPassword)
        #expect(error?.debugDescription == "Said the server. (invalid_grant, status 400)")
        #expect(!flow.isAuthenticating)
        await #expect(throws: Failure.flowNotStarted) { try await flow.resume(with: .otp(code: "1")) }
    }

    @Test("If the server requires a second factor, the flow returns the status mfaRequired with the supported challenge types")
    func mfaRequired() async throws {
        let flow = try await challengedFlow()
        guard case .mfaRequired(let context)? = flow.context?.currentStatus else { throw Failure.flowNotStarted }
        #expect(context.supportedChallengeTypes == [.otpMFA, .oobMFA] && flow.isAuthenticating)
        #expect(!"\(context)".contains("mfa-1"))
    }

    @Test(
        "An mfa_required response is decoded with and without the list of supported challenge types",
        arguments: [
            (#","mfa_token":"m""#, nil),
            (#","mfa_token":"m","supported_challenge_types":["http://auth0.com/oauth/grant-type/mfa-oob"]"#, [GrantType.oobMFA]),
        ])
    func mfaForms(more: String, types: [GrantType]?) async throws {
        let flow = try flow()
        server.answer("token", .refusal("mfa_required", status: 400, more: more))
        guard case .mfaRequired(let context) = try await flow.start("jane", with: .password("x")) else { throw Failure.flowNotStarted }
        #expect(context.supportedChallengeTypes == types)
    }

    @Test("An mfa_required response without mfa_token causes an error that names this member")
    func mfaWithoutToken() async throws {
        let flow = try flow()
        server.answer("token", .refusal("mfa_required"))
        await #expect(throws: OAuth2Error.missingOAuth2ResponseKey("mfa_token")) { try await flow.start("jane", with: .password("x")) }
    }

    @Test("After a wrong one-time code, the user can enter another code, which is sent with the same mfa_token")
    func secondFactorCode() async throws {
        let flow = try await challengedFlow()
        server.answer("token", .refusal("invalid_grant"), .tokens())
        await #expect(throws: APIClientError.self) { try await flow.resume(with: .otp(code: "1")) }
        guard case .success = try await flow.resume(with: .otp(code: "2")) else { throw Failure.flowNotStarted }
        let form = try #require(server.forms("token").last)
        #expect(form["grant_type"] == "http://auth0.com/oauth/grant-type/mfa-otp" && form["mfa_token"] == "mfa-1" && form["otp"] == "2")
    }

    @Test(
        "A network failure during a sign-in has a text for the user, and a technical description that names the cause",
        arguments: [
            (URLError.Code.notConnectedToInternet, ErrorText.offline, "This device is not connected to the internet."),
            (.networkConnectionLost, .interrupted, "The connection to the server was lost. Try again."),
            (.timedOut, .timedOut, "did not answer in time. Try again."),
            (.cannotFindHost, .unreachable, "can't be found. Check the issuer in the app's configuration and the network."),
            (.cannotConnectToHost, .unreachable, "can't be reached. Check that the server runs and that the issuer's port is right."),
            (.serverCertificateUntrusted, .insecure, "its certificate is not trusted."),
            (.badURL, .unreachable, "Check the network and try again."),
        ])
    func networkFailure(code: URLError.Code, text: ErrorText, words: String) async throws {
        let flow = try flow()
        server.answer("token", .init(body: "", error: code))
        // The test catches any error and reads its description, as an app does.
        let error = try #require(await #expect(throws: (any Error).self) { try await flow.start("jane", with: .password("x")) })
        #expect(ErrorText(of: error) == text && DirectAuthenticationFlowError(error).userText == text)
        #expect(technicalText(of: error).hasSuffix("\(words) (URL error \(code.rawValue))"), "\(error)")
    }

    @Test("A number challenge returns the number, and polling starts only when the app resumes the flow", arguments: [#""95""#, "95"])
    func transfer(code: String) async throws {
        let flow = try flow()
        server.answer("primary-authenticate", .outOfBand(binding: "transfer", more: ",\"binding_code\":\(code)"))
        guard case .continuation(.transfer(_, "95")) = try await flow.start("jane", with: .oob(channel: .push)) else {
            throw Failure.flowNotStarted
        }
        #expect(server.forms("token").isEmpty)
        server.answer("token", .pending, .tokens())
        guard case .success = try await flow.resume(with: .transfer) else { throw Failure.flowNotStarted }
        let form = try #require(server.forms("token").last)
        #expect(form["grant_type"] == "urn:okta:params:oauth:grant-type:oob" && form["binding_code"] == nil)
        #expect(server.forms("primary-authenticate").first?["challenge_hint"] == "urn:okta:params:oauth:grant-type:oob")
    }

    @Test("A number challenge whose response contains no number causes an error")
    func missingCode() async throws {
        server.answer("primary-authenticate", .outOfBand(binding: "transfer"))
        await #expect(throws: Failure.bindingCodeMissing) { try await flow().start("jane", with: .oob(channel: .push)) }
    }

    @Test("A text message code requires no polling, and the app can request another message")
    func prompt() async throws {
        let flow = try await challengedFlow()
        server.answer("challenge", .outOfBand(binding: "prompt", interval: nil))
        guard case .continuation(.prompt) = try await flow.resume(with: .oob(channel: .sms)) else { throw Failure.flowNotStarted }
        guard case .continuation(.prompt) = try await flow.resume(with: .oob(channel: .sms)) else { throw Failure.flowNotStarted }
        #expect(server.forms("challenge").count == 2)
        server.answer("token", .refusal("invalid_grant"), .tokens())
        await #expect(throws: APIClientError.self) { try await flow.resume(with: .prompt(code: "1")) }
        guard case .success = try await flow.resume(with: .prompt(code: "2")) else { throw Failure.flowNotStarted }
        #expect(server.forms("token").last?["binding_code"] == "2")
        #expect(server.clock.waits.isEmpty)
    }

    @Test("The flow rejects the answer to a challenge that the app has not requested, without a request")
    func wrongState() async throws {
        let flow = try await challengedFlow()
        let before = server.forms("token").count
        await #expect(throws: Failure.invalidContinuationContext) { try await flow.resume(with: .transfer) }
        await #expect(throws: Failure.invalidContinuationContext) { try await flow.resume(with: .prompt(code: "1")) }
        server.answer("token", .tokens())
        _ = try await flow.resume(with: .otp(code: "1"))
        await #expect(throws: Failure.missingArguments(["login_hint", "mfa_token"])) { try await flow.resume(with: .oob(channel: .push)) }
        #expect(server.forms("token").count == before + 1)
    }

    @Test(
        "A passkey sign-in returns the server's challenge and sends the passkey's response, as the first or the second factor",
        arguments: [false, true])
    func passkey(isSecondFactor: Bool) async throws {
        let options = ScriptedIssuer.Reply(
            body:
                #"{"publicKey":{"challenge":"q0x3bX","rpId":"id.test","timeout":60000,"userVerification":"new","hints":["hybrid","new"]}}"#)
        let flow = isSecondFactor ? try await challengedFlow() : try flow()
        server.answer("challenge", options)
        server.answer("primary-authenticate", options)
        let status = isSecondFactor ? try await flow.resume(with: .webAuthn) : try await flow.start("jane", with: .webAuthn)
        guard case .continuation(.webAuthn(let context)) = status else { throw Failure.flowNotStarted }
        let asked = context.request.publicKey
        #expect(
            asked.challenge == "q0x3bX" && asked.rpID == "id.test" && asked.timeout == 60 && asked.userVerification == nil
                && asked.hints == [.hybrid])
        server.answer("token", .tokens())
        _ = try await flow.resume(
            with: .webAuthn(response: .init(clientDataJSON: "c", authenticatorData: "a", signature: "s", userHandle: "u")))
        let form = try #require(server.forms("token").last)
        #expect(
            form["grant_type"]
                == (isSecondFactor ? "urn:okta:params:oauth:grant-type:mfa-webauthn" : "urn:okta:params:oauth:grant-type:webauthn"))
        #expect(form["mfa_token"] == (isSecondFactor ? "mfa-1" : nil) && form["clientDataJSON"] == "c" && form["userHandle"] == "u")
    }

    @Test("A DirectAuthenticationFlow can be used for several sign-ins in sequence")
    func again() async throws {
        let flow = try flow()
        server.answer("token", .refusal("invalid_grant"), .tokens(), .tokens())
        await #expect(throws: APIClientError.self) { try await flow.start("jane", with: .password("x")) }
        for _ in 0..<2 {
            guard case .success = try await flow.start("jane", with: .password("y")) else { throw Failure.flowNotStarted }
        }
        await flow.reset()
        #expect(flow.context == nil && !flow.isAuthenticating)
    }

    @Test("The completion handler of direct authentication receives the server's error as the case server")
    func completion() async throws {
        let flow = try flow()
        server.answer("token", .refusal("invalid_grant"))
        let result = await withCheckedContinuation { continuation in
            flow.start("jane", with: .password("x")) { continuation.resume(returning: $0) }
        }
        #expect(result == .failure(.server(error: OAuth2ServerError(code: "invalid_grant", description: "Said the server."))))
    }

    @Test("Delegates of direct authentication are called in order, on the main actor")
    func delegates() async throws {
        final class Observer: DirectAuthenticationFlowDelegate {
            let heard = Locked<[String]>([])
            func authenticationStarted<Flow>(flow: Flow) { note("started") }
            func authenticationFinished<Flow>(flow: Flow) { note("finished") }
            func authentication<Flow>(flow: Flow, received token: Token) { note("token") }
            func authentication<Flow>(flow: Flow, received error: OAuth2Error) { note("error") }
            func authentication<Flow>(flow: Flow, received status: DirectAuthenticationFlow.Status) { note("status") }
            private func note(_ word: String) {
                MainActor.assertIsolated()
                heard.withLock { $0.append(word) }
            }
        }
        let flow = try flow()
        let observer = Observer()
        flow.add(delegate: observer)
        server.answer("token", .tokens(), .refusal("invalid_grant"))
        _ = try await flow.start("jane", with: .password("x"))
        _ = try? await flow.start("jane", with: .password("x"))
        #expect(observer.heard.withLock { $0 } == ["started", "status", "token", "finished", "started", "error", "finished"])
    }

    @Test("The description of a password or one-time code factor does not contain the secret")
    func redacts() {
        #expect(!"\(DirectAuthenticationFlow.PrimaryFactor.password("s3cret"))".contains("s3cret"))
        #expect(!String(reflecting: DirectAuthenticationFlow.SecondaryFactor.otp(code: "s3cret")).contains("s3cret"))
    }
}
