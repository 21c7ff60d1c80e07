import AuthorizationServer
import CountersignSandbox
import Foundation
import JOSE
import TestSupport
import Testing

/// Independent relying parties send a user's browser to our server and verify the response. The user walks through the hosted pages without
/// JavaScript.
@Suite("Independent relying parties")
struct RelyingPartyTests {
    @Test(
        "A Flask site with Authlib signs in, signs in again without a prompt, refreshes tokens, reads userinfo and signs out",
        .enabled(if: OutsidePart.python.isEnabled, Comment(rawValue: OutsidePart.python.missingNote)))
    func flask() async throws {
        let seen = try await use("flask_relying_party.py", .python, environment: ["AUTHLIB_INSECURE_TRANSPORT": "1"])
        // The user entered the password twice: at the first sign-in, and because the site required a fresh sign-in.
        #expect(seen == ["name": "Jane Doe", "amr": ["pwd"], "asked": 2])
    }

    @Test(
        "Apache's mod_auth_openidc gives access after a sign-in, refreshes the tokens, and signs the user out",
        .enabled(if: OutsidePart.apache.isEnabled, Comment(rawValue: OutsidePart.apache.missingNote)))
    func apache() async throws {
        let seen = try await use("apache_relying_party.py", .apache)
        #expect(seen == ["name": "Jane Doe", "amr": ["pwd"]])
    }

    @Test(
        "A relying party with the wrong client secret gets the error invalid_client and no tokens",
        .enabled(if: OutsidePart.apache.isEnabled, Comment(rawValue: OutsidePart.apache.missingNote)))
    func wrongSecret() async throws {
        let judged = await #expect(throws: JudgedWrong.self) {
            try await use("apache_relying_party.py", .apache, secret: "another-secret-than-its")
        }
        #expect(judged?.errors.contains("invalid_client") == true)
    }

    /// An error for a relying party that ended with a failure.
    private struct JudgedWrong: Error { let errors: String }

    private func use(
        _ script: String, _ part: OutsidePart, secret: String = "web-app-secret-01", environment: [String: String] = [:]
    ) async throws -> JSONValue {
        let port = try SitePort()
        let sandbox = try await Sandbox.forTest(.init(organization: port.place(in: OrgFile.sandboxDefault)))
        let given: JSONValue = [
            "user": "jane.doe@example.com", "password": "Correct-Horse-7", "client": "web-app", "secret": .string(secret),
            "port": .integer(Int64(port.number)),
        ]
        let result = try await ForeignProgram.run(
            part, [OutsidePart.scripts.appending(path: script).path, sandbox.issuer.absoluteString], input: given.serializedString,
            environment: environment)
        await sandbox.stop()
        guard result.status == 0 else { throw JudgedWrong(errors: result.errors) }
        return try JSONValue(parsing: result.output)
    }
}
