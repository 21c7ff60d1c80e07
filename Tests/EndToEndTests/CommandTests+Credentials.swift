import CountersignSandbox
import Foundation
import JOSE
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Tests the command with several credentials, their tokens, and the folders that store them.
extension CommandTests {
    private static func signIn(_ sandbox: Sandbox, as user: SandboxUser, environment: [String: String]) async throws -> String {
        let ended = try await Command.run(
            ["sign-in", "password", user.login, "--json", "--issuer", sandbox.issuer.absoluteString, "--client-id", "password-app"],
            input: (user.password ?? "") + "\n", environment: environment)
        try #require(ended.status == 0, "\(ended.errors)")
        return try #require(try JSONValue(parsing: ended.output.trimmingCharacters(in: .newlines))["id"]?.stringValue)
    }

    private static func defaults(_ environment: [String: String]) async throws -> [String] {
        let ended = try await Command.run(["credential", "list", "--json"], environment: environment)
        let list = try JSONValue(parsing: ended.output.trimmingCharacters(in: .newlines))["credentials"]?.arrayValue ?? []
        return list.filter { $0["default"] == true }.compactMap { $0["id"]?.stringValue }
    }

    @Test(
        "countersign sign-in makes the new credential the default, and countersign credential use changes the default",
        .timeLimit(.minutes(5)))
    func defaultCredential() async throws {
        try await withSandbox { sandbox in
            let folder = try TemporaryFolder()
            let environment = ["COUNTERSIGN_VAULT": folder.path + "vault"]
            let first = try await Self.signIn(sandbox, as: .jane, environment: environment)
            let second = try await Self.signIn(sandbox, as: .jane, environment: environment)
            #expect(first != second)
            #expect(try await Self.defaults(environment) == [second])
            let used = try await Command.run(["credential", "use", String(first.prefix(8))], environment: environment)
            #expect(used.status == 0 && used.output.contains("\(first) of \(SandboxUser.jane.login) is now the default."), "\(used.errors)")
            #expect(try await Self.defaults(environment) == [first])
            let unknown = try await Command.run(["credential", "use", "nonsense"], environment: environment)
            #expect(unknown.status == 1 && unknown.errors.contains("There is no credential nonsense."))
            #expect(try await Self.defaults(environment) == [first])
        }
    }

    @Test("countersign token print writes only the access token, and countersign token verify accepts the output", .timeLimit(.minutes(5)))
    func printedToken() async throws {
        try await withSandbox { sandbox in
            let folder = try TemporaryFolder()
            let environment = ["COUNTERSIGN_VAULT": folder.path + "vault"]
            _ = try await Self.signIn(sandbox, as: .jane, environment: environment)
            let printed = try await Command.run(["token", "print"], environment: environment)
            #expect(printed.status == 0 && printed.errors.isEmpty, "\(printed.errors)")
            let verified = try await Command.run(
                ["token", "verify", "--issuer", sandbox.issuer.absoluteString], input: printed.output)
            #expect(verified.status == 0, "\(verified.errors)")
            let idToken = try await Command.run(["token", "print", "--type", "id"], environment: environment)
            #expect(idToken.output.split(separator: ".").count == 3 && idToken.output != printed.output)
            #expect(try await Command.run(["token", "print", "--type", "refresh"], environment: environment).status == 64)
        }
    }

    @Test(
        "The command stores credentials below XDG_DATA_HOME, or below HOME if XDG_DATA_HOME is empty", .timeLimit(.minutes(5)),
        arguments: ["XDG_DATA_HOME", "HOME"])
    func userFolders(variable: String) async throws {
        try await withSandbox { sandbox in
            let folder = try TemporaryFolder()
            var environment = ["HOME": folder.path + "home", "XDG_DATA_HOME": ""]
            if variable == "XDG_DATA_HOME" { environment["XDG_DATA_HOME"] = folder.path + "data" }
            _ = try await Self.signIn(sandbox, as: .jane, environment: environment)
            let data = folder.path + (variable == "HOME" ? "home/.local/share" : "data")
            #expect(FileManager.default.fileExists(atPath: data + "/countersign/countersign/credentials"))
        }
    }

    @Test(
        "Without --install, countersign trust writes no file and prints how to create the certificate authority or where its certificate is"
    )
    func trustWritesNothing() async throws {
        let folder = try TemporaryFolder()
        let ended = try await Command.run(["trust"], environment: ["HOME": folder.path, "XDG_DATA_HOME": ""])
        #expect(ended.status == 1 && ended.errors.contains("countersign sandbox --tls"), "\(ended.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        _ = try LocalAuthority(folder: folder.url.appending(path: ".local/share/countersign"), now: Date())
        let shown = try await Command.run(["trust"], environment: ["HOME": folder.path, "XDG_DATA_HOME": ""])
        #expect(shown.status == 0 && shown.output.contains("\(folder.path).local/share/countersign/sandbox-ca.pem"), "\(shown.output)")
    }

    @Test(
        "At an issuer without a revocation endpoint, countersign sign-out reports that the tokens stay valid until they expire",
        .timeLimit(.minutes(5)))
    func signOutWithoutRevocation() async throws {
        let issuer = try HostileIssuer(hasRevocation: false)
        let folder = try TemporaryFolder()
        let environment = ["COUNTERSIGN_VAULT": folder.path + "vault"]
        for arguments in [["sign-out"], ["sign-out", "--json"], ["credential", "revoke"]] {
            let signedIn = try await Command.run(
                ["sign-in", "password", "jane"] + issuer.arguments, input: "password\n", environment: environment)
            #expect(signedIn.status == 0, "\(signedIn.errors)")
            let ended = try await Command.run(arguments, environment: environment)
            #expect(ended.status == 0, "\(ended.errors)")
            if arguments.contains("--json") {
                #expect(ended.output.contains(#""tokens":"removed""#), "\(ended.output)")
            } else {
                #expect(
                    ended.output.contains("The issuer has no revocation endpoint, so they stay valid until they expire."), "\(ended.output)"
                )
            }
            #expect(try await Self.defaults(environment).isEmpty)
        }
    }
}
