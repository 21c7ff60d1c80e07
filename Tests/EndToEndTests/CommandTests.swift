import AuthFoundation
import CountersignSandbox
import Foundation
import JOSE
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("The countersign command")
struct CommandTests {
    @Test("countersign demo --once passes every step and exits with status 0")
    func demo() async throws {
        let ended = try await Command.run(["demo", "--once", "--json"])
        #expect(ended.status == 0, "\(ended.errors)")
        let steps = try ended.output.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
        #expect(steps.allSatisfy { $0["passed"] == true })
        #expect(
            steps.compactMap { $0["step"]?.stringValue } == [
                "Sandbox started", "Phone enrolled", "Discovery read", "Password accepted, a second factor asked for",
                "Signed in by an approval on the phone", "Id token validated", "Passkey created",
                "Signed in by the passkey, without a password", "Credential stored",
                "Credential found again by a second process", "User info read", "Messages refused without a token",
                "Messages read with the access token", "Tokens refreshed", "Old refresh token refused after its grace",
                "Access token introspected: active", "Access token revoked", "Access token introspected: inactive", "Signed out",
                "Nothing left in the vault",
            ])
    }

    @Test("Without --once, countersign demo waits for an approval on the phone page, and Ctrl-C cancels the wait", .timeLimit(.minutes(5)))
    func waitingDemo() async throws {
        let demo = try Command.start(["demo", "--port", "0", "--messages-port", "0", "--phone-port", "0"])
        let text = try await demo.waitFor("Waiting for your approval on your phone.")
        #expect(text.contains("Password accepted, a second factor asked for"))
        #expect(text.contains("Approve the sign-in on Jane's phone: http://localhost:"))
        demo.interrupt()
        let (status, rest) = await demo.end()
        #expect(status == 130, "\(rest)")
        #expect(!rest.contains("Signed in by an approval") && !rest.contains("failed"))
    }

    @Test(
        "After the approval on the phone, countersign demo completes the remaining steps and keeps running until Ctrl-C",
        .timeLimit(.minutes(5)))
    func approvedDemo() async throws {
        let demo = try Command.start(["demo", "--port", "0", "--messages-port", "0", "--phone-port", "0"])
        let text = try await demo.waitFor("Waiting for your approval on your phone.")
        let issuer = try #require(text.split(whereSeparator: \.isWhitespace).first { $0.hasSuffix("/oauth2/default,") })
        let call = issuer.replacing("/oauth2/default,", with: "/sandbox/phones/\(PhoneFixture.jane)/approve")
        var request = URLRequest(url: try #require(URL(string: String(call))))
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = Data("{}".utf8)
        let (_, answer) = try await PlainHTTP.data(for: request)
        #expect(answer.statusCode == 200)
        let rest = try await demo.waitFor("Press Ctrl-C to stop.")
        #expect(rest.contains("approved by you") && rest.contains("Nothing left in the vault"))
        demo.interrupt()
        #expect(await demo.end().status == 0)
    }

    @Test("If the output pipe is closed, countersign exits with status 1 and prints no error")
    func closedPipe() async throws {
        let folder = try TemporaryFolder()
        let command = try Command.executable.path()
        let script = "{ '\(command)' demo --once 2>'\(folder.path)err'; echo $? >'\(folder.path)status'; } | true"
        #expect(try await ChildProcess.run(URL(filePath: "/bin/sh"), ["-c", script]).status == 0)
        let errors = try folder.text("err")
        #expect(try folder.text("status") == "1\n", "\(errors)")
        #expect(errors == "")
    }

    @Test("If its port is in use, countersign demo --once names the port and exits with status 1")
    func failingDemo() async throws {
        try await withSandbox { sandbox in
            // The test's own sandbox uses the port.
            let port = try #require(sandbox.origin.port)
            let ended = try await Command.run(["demo", "--once", "--port", "\(port)"])
            #expect(ended.status == 1)
            let reason = "Port \(port) (authorization server) is already in use. Choose another with --port."
            #expect(ended.errors.contains(reason), "\(ended.errors)")
        }
    }

    @Test("Other processes can list, refresh, use and revoke a credential that countersign sign-in stored")
    func credentials() async throws {
        try await withSandbox { sandbox in
            let folder = try TemporaryFolder()
            let vault = ["--vault", folder.path + "vault"]
            let client = ["--issuer", sandbox.issuer.absoluteString, "--client-id", "password-app"]
            let wrong = try await Command.run(["sign-in", "password", "jane.doe@example.com"] + client + vault, input: "wrong-password\n")
            #expect(wrong.status == 2)
            #expect(wrong.errors.contains("invalid_grant"))
            #expect(!wrong.errors.contains("wrong-password"))

            let signedIn = try await Command.run(
                ["sign-in", "password", "jane.doe@example.com", "--json"] + client + vault, input: "Correct-Horse-7\n")
            #expect(signedIn.status == 0, "\(signedIn.errors)")
            let id = try #require(try JSONValue(parsing: signedIn.output.trimmingCharacters(in: .newlines))["id"]?.stringValue)

            let list = try await Command.run(["credential", "list"] + vault)
            #expect(list.output.hasPrefix("* \(id)  jane.doe@example.com"))
            let refreshed = try await Command.run(["credential", "refresh"] + vault)
            #expect(refreshed.status == 0, "\(refreshed.errors)")
            let info = try await Command.run(["credential", "user-info", "--json"] + vault)
            #expect(info.output.contains("Jane Doe"))
            let revoked = try await Command.run(["credential", "revoke"] + vault)
            #expect(revoked.status == 0, "\(revoked.errors)")
            let after = try await Command.run(["credential", "show"] + vault)
            #expect(after.status == 1)
            #expect(after.errors.contains("There is no default credential"))
            #expect(sandbox.count(.revoke) == 2)
        }
    }

    @Test("countersign token decode prints a token's claims, and countersign token verify rejects a forged token or another client's token")
    func tokens() async throws {
        try await withSandbox { sandbox in
            let token = try await sandbox.signIn().accessToken
            let decoded = try await Command.run(["token", "decode", "--json"], input: token)
            #expect(decoded.status == 0)
            #expect(try JSONValue(parsing: decoded.output.trimmingCharacters(in: .newlines))["claims"]?["cid"] == "password-app")
            let verify = ["token", "verify", "--issuer", sandbox.issuer.absoluteString]
            #expect(try await Command.run(verify, input: token).status == 0)
            #expect(try await Command.run(verify + ["--client-id", "other"], input: token).status == 2)
            let forged = try sandbox.forgedToken(.badSignature, of: token)
            #expect(try await Command.run(verify, input: forged).status == 2)
            #expect(try await Command.run(["token", "verify", "--issuer", "http://127.0.0.1:1"], input: token).status == 3)
        }
    }

    @Test("countersign init writes an org file and does not overwrite an existing file")
    func initialize() async throws {
        let folder = try TemporaryFolder()
        let file = folder.path + "org.yaml"
        #expect(try await Command.run(["init", file]).status == 0)
        let first = try folder.text("org.yaml")
        #expect(first.contains("sign_on_policies"))
        let again = try await Command.run(["init", file])
        #expect(again.status == 1)
        #expect(again.errors.contains("already exists"))
        #expect(try folder.text("org.yaml") == first)
    }

    @Test(
        "A command with invalid arguments, or with a password as an argument, exits with status 64",
        arguments: [["serve", "--nonsense"], ["sign-in", "password", "x", "--password", "y"]])
    func wrongArguments(_ arguments: [String]) async throws {
        #expect(try await Command.run(arguments).status == 64)
    }
}
