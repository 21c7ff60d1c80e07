import AuthFoundation
import CountersignSandbox
import Foundation
import OktaDirectAuth
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Independent implementations receive our tokens and verify them over HTTP and TLS, as any client of theirs would.
@Suite("Independent implementations verify the sandbox's tokens")
struct ForeignJudgesTests {
    @Test(
        "The Python library Authlib signs in, refreshes tokens, gets tokens for a service, and validates ID tokens with the sandbox's keys",
        .enabled(if: OutsidePart.python.isEnabled, Comment(rawValue: OutsidePart.python.missingNote)))
    func authlib() async throws {
        let sandbox = try await Sandbox.forTest()
        let result = try await ForeignProgram.run(
            .python, [OutsidePart.scripts.appending(path: "authlib_client.py").path, sandbox.issuer.absoluteString],
            input: """
                {"user": "jane.doe@example.com", "password": "Correct-Horse-7", "public_client": "password-app",
                 "service_client": "service-app", "service_secret": "service-app-secret"}
                """,
            // Authlib accepts plain http only in its test mode.
            environment: ["AUTHLIB_INSECURE_TRANSPORT": "1"])
        #expect(result.status == 0, "\(result.errors)")
        let seen = try #require(try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
        #expect((seen["subject"] as? String)?.hasPrefix("00u") == true)
        #expect(seen["rotated"] as? Bool == true)
        #expect(seen["service_scopes"] as? String == "messages.read")
        await sandbox.stop()
    }

    @Test(
        "The Python library okta-jwt-verifier accepts an access token of the sandbox over TLS, and rejects a forged token",
        .enabled(if: OutsidePart.python.isEnabled, Comment(rawValue: OutsidePart.python.missingNote)))
    func oktaVerifier() async throws {
        let sandbox = try await Sandbox.forTest(.init(host: "localhost", usesTLS: true))
        let authority = try #require(sandbox.authority)
        let token = try await Self.accessToken(sandbox)
        let cases = [(token, true), (try sandbox.forgedToken(.badSignature, of: token), false)]
        for (token, isGood) in cases {
            let result = try await ForeignProgram.run(
                .python,
                [OutsidePart.scripts.appending(path: "okta_verifier.py").path, sandbox.issuer.absoluteString, "api://default"],
                input: token, environment: ["REQUESTS_CA_BUNDLE": authority.certificateFile.path])
            #expect((result.status == 0) == isGood, "\(result.errors)")
        }
        await sandbox.stop()
    }

    @Test(
        "The JavaScript library jose accepts an access token of the sandbox only with the token's issuer, audience and client",
        .enabled(if: OutsidePart.nodeJOSE.isEnabled, Comment(rawValue: OutsidePart.nodeJOSE.missingNote)))
    func nodeJOSE() async throws {
        let sandbox = try await Sandbox.forTest()
        let token = try await Self.accessToken(sandbox)
        let (keys, _) = try await URLSession.shared.data(from: sandbox.issuer.appending(path: "v1/keys"))
        let input = "{\"token\": \"\(token)\", \"keys\": \(String(decoding: keys, as: UTF8.self))}"
        let script = OutsidePart.scripts.appending(path: "node_jose.js").path
        let issuer = sandbox.issuer.absoluteString
        for (arguments, isGood) in [
            ([issuer, "api://default", "password-app"], true),
            ([issuer, "api://other", "password-app"], false),
            ([issuer + "/", "api://default", "password-app"], false),
            ([issuer, "api://default", "service-app"], false),
        ] {
            let result = try await ForeignProgram.run(.nodeJOSE, ["node", script] + arguments, input: input)
            #expect((result.status == 0) == isGood, "\(arguments): \(result.errors)")
        }
        await sandbox.stop()
    }

    private static func accessToken(_ sandbox: Sandbox) async throws -> String {
        let flow = DirectAuthenticationFlow(client: sandbox.client())
        guard case .success(let token) = try await flow.start("jane.doe@example.com", with: .password("Correct-Horse-7")) else {
            throw CancellationError()
        }
        return token.accessToken
    }
}
