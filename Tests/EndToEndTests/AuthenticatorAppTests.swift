import AuthFoundation
import CountersignSandbox
import Foundation
import JOSE
import OktaDirectAuth
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Signing in with an authenticator app")
struct AuthenticatorAppTests {
    private static let jane = SandboxUser.jane

    private func flow(_ sandbox: Sandbox, by reach: Reach = .process) -> DirectAuthenticationFlow {
        DirectAuthenticationFlow(client: sandbox.client(.directAuth, by: reach))
    }

    @Test(
        "With a password and an authenticator app's code, a user can sign in to an application that requires two factors",
        arguments: Reach.allCases)
    func passwordThenCode(by reach: Reach) async throws {
        try await withSandbox { sandbox in
            let app = try await sandbox.authenticatorApp(for: Self.jane.login)
            let flow = flow(sandbox, by: reach)
            guard case .mfaRequired(let context) = try await flow.start(Self.jane.login, with: .password(Self.jane.password ?? "")) else {
                throw CancellationError()
            }
            #expect(context.supportedChallengeTypes == [.otpMFA])
            let wrong = app.code == "000000" ? "111111" : "000000"
            let error = await thrown { _ = try await flow.resume(with: .otp(code: wrong)) }
            #expect(serverCode(of: error) == "invalid_grant")
            guard case .success(let token) = try await flow.resume(with: .otp(code: app.code)) else { throw CancellationError() }
            #expect(token.idToken?.authenticationMethods == [.passwordBased, .oneTimePassword, .multipleFactor])
            #expect(
                sandbox.requests.filter { $0.endpoint == .token }.map(\.grantType) == [
                    "password", GrantType.otpMFA.rawValue, GrantType.otpMFA.rawValue,
                ])
        }
    }

    @Test("An authenticator app's code is accepted only once, and 30 seconds later the app's next code is accepted")
    func once() async throws {
        try await withSandbox { sandbox in
            let app = try await sandbox.authenticatorApp(for: Self.jane.login)
            func signIn(_ code: String) async throws -> DirectAuthenticationFlow.Status {
                let flow = flow(sandbox)
                _ = try await flow.start(Self.jane.login, with: .password(Self.jane.password ?? ""))
                return try await flow.resume(with: .otp(code: code))
            }
            let code = app.code
            guard case .success = try await signIn(code) else { throw CancellationError() }
            #expect(serverCode(of: await thrown { _ = try await signIn(code) }) == "invalid_grant")
            sandbox.advance(by: 30)
            guard case .success = try await signIn(app.code) else { throw CancellationError() }
        }
    }

    @Test("An authenticator app's code alone is rejected for an application that requires two factors")
    func codeAlone() async throws {
        try await withSandbox { sandbox in
            let app = try await sandbox.authenticatorApp(for: Self.jane.login)
            let error = await thrown { _ = try await flow(sandbox).start(Self.jane.login, with: .otp(code: app.code)) }
            #expect(serverCode(of: error) == "access_denied")
        }
    }

    @Test("For a user with a phone and an authenticator app, the app's code completes the sign-in instead of a push")
    func insteadOfPush() async throws {
        try await withSandbox { sandbox in
            _ = try await sandbox.phone(for: Self.jane.login)
            let app = try await sandbox.authenticatorApp(for: Self.jane.login)
            let flow = flow(sandbox)
            guard case .mfaRequired(let context) = try await flow.start(Self.jane.login, with: .password(Self.jane.password ?? "")) else {
                throw CancellationError()
            }
            #expect(context.supportedChallengeTypes == [.oobMFA, .otpMFA])
            guard case .success = try await flow.resume(with: .otp(code: app.code)) else { throw CancellationError() }
        }
    }

    @Test("A phone can be added for a user with an authenticator app, and the app's codes stay valid")
    func phoneBesideApp() async throws {
        try await withSandbox(.standing()) { sandbox in
            let app = try await sandbox.authenticatorApp(for: Self.jane.login)
            let phone = try await sandbox.phone(for: Self.jane.login)
            #expect(phone.enrollments.count == 1)
            let flow = flow(sandbox)
            guard case .mfaRequired(let context) = try await flow.start(Self.jane.login, with: .password(Self.jane.password ?? "")) else {
                throw CancellationError()
            }
            #expect(context.supportedChallengeTypes == [.oobMFA, .otpMFA])
            guard case .success = try await flow.resume(with: .otp(code: app.code)) else { throw CancellationError() }
            // The last code is consumed, so another phone must wait for the next time step.
            try await phone.remove()
            _ = try await sandbox.phone(for: Self.jane.login)
        }
    }

    @Test("A sandbox user's configured TOTP secret is enrolled at the start and after a reset, and the control API returns its codes")
    func fromTheStart() async throws {
        let secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
        let users = [SandboxUser(login: "ada@example.com", password: "Correct-Horse-7", totpSecret: secret), .john]
        // The time is forty seconds into a minute, where the rest of a 30-second step differs from the rest of a 60-second step.
        let clock = SandboxClock(.standing, startingAt: Date(timeIntervalSince1970: 1_750_000_000))
        try await withSandbox(.init(users: users, clock: clock)) { sandbox in
            let app = try #require(sandbox.currentAuthenticatorApp(of: "ADA@example.com"))
            #expect(
                app.uri.contains("secret=\(secret)&issuer=Sandbox") && sandbox.currentAuthenticatorApp(of: "john.roe@example.com") == nil)
            let flow = flow(sandbox)
            _ = try await flow.start("ada@example.com", with: .password("Correct-Horse-7"))
            guard case .success = try await flow.resume(with: .otp(code: app.code)) else { throw CancellationError() }

            func call(_ method: String, _ path: String, _ body: JSONValue? = nil) async throws -> (status: Int, json: JSONValue) {
                var request = URLRequest(url: try #require(URL(string: sandbox.origin.absoluteString + "/sandbox/" + path)))
                request.httpMethod = method
                request.httpBody = body.map { Data($0.serialized()) }
                let (data, response) = try await PlainHTTP.data(for: request)
                return (response.statusCode, try JSONValue(parsing: data))
            }
            let shown = try await call("GET", "authenticator-apps/ada%40example.com").json
            #expect(shown["code"] == .string(app.code) && shown["next_code"] == .string(app.code(after: 1)))
            #expect(shown["seconds_left"] == .integer(30 - Int64(sandbox.clock.now.timeIntervalSince1970) % 30))
            #expect(try await call("GET", "authenticator-apps").json["authenticator_apps"] == [shown])
            #expect(try await call("GET", "authenticator-apps/john.roe%40example.com").status == 404)

            let given = try await call("POST", "authenticator-apps", ["login": "john.roe@example.com"]).json
            let johns = try #require(sandbox.currentAuthenticatorApp(of: "john.roe@example.com"))
            #expect(given["code"] == .string(johns.code) && given["uri"] == .string(johns.uri))
            let scanned = try await call("POST", "authenticator-apps", ["login": "john.roe@example.com", "uri": .string(app.uri)]).json
            #expect(scanned["code"] == .string(app.code))
            let unknown = try await call("POST", "authenticator-apps", ["login": "unknown@example.com"])
            #expect(unknown.status == 409 && unknown.json["code"] == "unknownPerson")
            #expect(try await call("POST", "authenticator-apps", ["login": "ada@example.com", "uri": "x"]).status == 400)
            #expect(try await call("POST", "authenticator-apps", [:]).status == 400)
            #expect(try await !call("GET", "users").json.serializedString.contains(secret))

            // Another authenticator app replaces the first one until the sandbox is reset.
            let other = try await sandbox.authenticatorApp(for: "ada@example.com")
            #expect(other.code != app.code && sandbox.currentAuthenticatorApp(of: "ada@example.com")?.code == other.code)
            #expect(try await call("POST", "reset").status < 300)
            #expect(sandbox.currentAuthenticatorApp(of: "ada@example.com")?.uri == app.uri)
            let again = self.flow(sandbox)
            _ = try await again.start("ada@example.com", with: .password("Correct-Horse-7"))
            guard case .success = try await again.resume(with: .otp(code: app.code)) else { throw CancellationError() }
        }
    }

    @Test("The sandbox creates an authenticator app from the otpauth URI of a QR code, and rejects any other text")
    func scanning() async throws {
        try await withSandbox { sandbox in
            let app = try await sandbox.authenticatorApp(for: Self.jane.login)
            #expect(app.uri.hasPrefix("otpauth://totp/") && app.uri.contains(":jane.doe%40example.com?secret="))
            #expect(try sandbox.authenticatorApp(scanning: app.uri).code == app.code)
            #expect(app.code(after: 1) != app.code && !"\(app)".contains(app.uri))
            for text in [
                "", "https://example.com", "otpauth://hotp/a?secret=AAAAAAAA", "otpauth://totp/a",
                "otpauth://totp/a?secret=AAAAAAAA&digits=8",
            ] {
                #expect(throws: FactorError.self) { try sandbox.authenticatorApp(scanning: text) }
            }
            let error = await thrown { _ = try await sandbox.authenticatorApp(for: "unknown@example.com") }
            #expect((error as? FactorError)?.code == .unknownPerson)
        }
    }
}

extension CommandTests {
    @Test(
        "countersign sign-in direct asks for the code of an authenticator app, and fails if the code is wrong or missing",
        .timeLimit(.minutes(5)))
    func signInWithCode() async throws {
        try await withSandbox { sandbox in
            let app = try await sandbox.authenticatorApp(for: SandboxUser.jane.login)
            let folder = try TemporaryFolder()
            func signIn(_ code: String?) async throws -> Command.Ended {
                let arguments = [
                    "sign-in", "direct", SandboxUser.jane.login, "--issuer", sandbox.issuer.absoluteString, "--client-id", "directauth-app",
                    "--vault", folder.path,
                ]
                return try await Command.run(
                    arguments, input: "\(SandboxUser.jane.password ?? "")\n" + (code.map { $0 + "\n" } ?? ""))
            }
            let refused = try await signIn(app.code == "000000" ? "111111" : "000000")
            #expect(refused.status != 0)
            let ended = try await signIn(app.code)
            #expect(ended.status == 0, "\(ended.errors)")
            #expect(ended.output.contains(SandboxUser.jane.login) && !ended.output.contains(app.code))
            let missing = try await signIn(nil)
            #expect(missing.status != 0 && missing.errors.contains("none was entered. Start again and enter the code."))
        }
    }
}
