import AuthorizationServer
import CountersignSandbox
import Foundation
import JOSE
import TestSupport
import Testing

/// Tests `countersign sign-in classic` as a separate process.
@Suite("countersign sign-in classic", .timeLimit(.minutes(5)))
struct ClassicCommandTests {
    private static let jane = "jane.doe@example.com"
    private static let password = "Correct-Horse-7"
    private static let twoFactors = Sandbox.Configuration(
        organization: OrgFile.sandboxDefault.replacing(
            "authn_api:\n  sign_on_policy: one-factor", with: "authn_api:\n  sign_on_policy: two-factors"))

    private func arguments(_ sandbox: Sandbox, _ more: String...) -> [String] {
        ["sign-in", "classic", Self.jane, "--issuer", sandbox.issuer.absoluteString] + more
    }

    @Test("With a password, countersign sign-in classic prints the stored credential, and does not print the password")
    func password() async throws {
        try await withSandbox { sandbox in
            let folder = try TemporaryFolder()
            let ended = try await Command.run(
                arguments(sandbox, "--client-id", "sso-app", "--scopes", "openid profile", "--json"), input: Self.password + "\n",
                environment: ["COUNTERSIGN_VAULT": folder.path + "vault"])
            #expect(ended.status == 0, "\(ended.output)\(ended.errors)")
            let credential = try JSONValue(parsing: String(try #require(ended.output.split(separator: "\n").last)))
            #expect(credential["name"]?.stringValue == Self.jane)
            #expect(!(ended.output + ended.errors).contains(Self.password))
        }
    }

    @Test("With a wrong password, countersign sign-in classic exits with status 2 and prints that the authentication failed")
    func wrongPassword() async throws {
        try await withSandbox { sandbox in
            let ended = try await Command.run(arguments(sandbox), input: "wrong\n")
            #expect(ended.status == 2)
            #expect(ended.errors.contains("Authentication failed"))
        }
    }

    @Test("countersign sign-in classic lists the actions of each state, and after a wrong code asks for the code again")
    func code() async throws {
        try await withSandbox(Self.twoFactors) { sandbox in
            let app = try await sandbox.authenticatorApp(for: Self.jane)
            let wrong = app.code == "000000" ? "111111" : "000000"
            let input = [Self.password, "1", "1", wrong, "1", app.code].joined(separator: "\n") + "\n"
            let ended = try await Command.run(arguments(sandbox), input: input)
            #expect(ended.status == 0, "\(ended.output)\(ended.errors)")
            #expect(ended.errors.contains("A second factor is needed. [MFA_REQUIRED]\n  1) "))
            #expect(ended.errors.contains("[MFA_CHALLENGE]\n  1) Enter the code\n  b) Back\n  c) Cancel\n"))
            #expect(ended.output == "Signed in. Without --client-id there are no tokens.\n")
        }
    }

    @Test("countersign sign-in classic waits until the phone approves the push")
    func push() async throws {
        try await withSandbox(Self.twoFactors) { sandbox in
            let phone = try await sandbox.phone(for: Self.jane)
            phone.autoApprove = true
            let ended = try await Command.run(arguments(sandbox), input: Self.password + "\n1\n1\n")
            #expect(ended.status == 0, "\(ended.output)\(ended.errors)")
            #expect(ended.errors.contains("Waiting for your approval on your phone."))
        }
    }

    @Test("If the user cancels or the input ends, countersign sign-in classic cancels the transaction at the server")
    func cancel() async throws {
        try await withSandbox(Self.twoFactors) { sandbox in
            _ = try await sandbox.authenticatorApp(for: Self.jane)
            let cancelled = try await Command.run(arguments(sandbox), input: Self.password + "\nc\n")
            #expect(cancelled.status == 1)
            #expect(cancelled.errors.contains("The sign-in was cancelled."))
            let left = try await Command.run(arguments(sandbox, "--json"), input: Self.password + "\n")
            #expect(left.status == 1)
            let lines = try left.output.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
            #expect(lines.first?["status"]?.stringValue == "MFA_REQUIRED")
            #expect(lines.last?["error"]?.stringValue?.contains("the input ended") == true)
            #expect(sandbox.requests.count { $0.path.hasSuffix("/authn/cancel") } == 2)
        }
    }
}
