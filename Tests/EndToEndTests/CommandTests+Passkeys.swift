import AuthorizationServer
import CountersignSandbox
import Foundation
import JOSE
import TestSupport
import Testing

/// Tests `countersign passkey` and the sign-ins with its passkeys.
extension CommandTests {
    private static let janesName = SandboxUser.jane.login
    private static let janesPassword = "Correct-Horse-7"

    /// An organization whose classic API requires a passkey.
    private static var requiringPasskeys: String {
        OrgFile.sandboxDefault.replacing("factors: { totp: optional,", with: "factors: { webauthn: required, totp: optional,")
    }

    private static func folders(_ folder: TemporaryFolder) -> [String] {
        ["--passkeys", folder.path + "passkeys", "--vault", folder.path + "vault"]
    }

    private static func create(
        _ sandbox: Sandbox, _ folder: TemporaryFolder, password: String = janesPassword
    ) async throws -> Command.Ended {
        try await Command.run(
            [
                "passkey", "create", janesName, "--issuer", sandbox.issuer.absoluteString, "--passkeys", folder.path + "passkeys", "--json",
            ], input: password + "\n")
    }

    @Test("A passkey of countersign passkey create signs in without a password, and as the second factor after one")
    func passkeySignsIn() async throws {
        try await withSandbox(.init(organization: Self.requiringPasskeys)) { sandbox in
            let folder = try TemporaryFolder()
            let created = try await Self.create(sandbox, folder)
            #expect(created.status == 0, "\(created.output) \(created.errors)")
            let passkey = try JSONValue(parsing: created.output.trimmingCharacters(in: .newlines))
            #expect(passkey["user"]?.stringValue == Self.janesName && passkey["rp_id"] == "localhost")
            let client = ["--issuer", sandbox.issuer.absoluteString, "--client-id", "directauth-app"]
            let alone = try await Command.run(["sign-in", "passkey", Self.janesName] + client + Self.folders(folder))
            #expect(alone.status == 0, "\(alone.errors)")
            #expect(alone.output.contains("Signed in as \(Self.janesName)"), "\(alone.output)")
            let second = try await Command.run(
                ["sign-in", "direct", Self.janesName] + client + Self.folders(folder), input: Self.janesPassword + "\n")
            #expect(second.status == 0, "\(second.errors)")
            #expect(second.output.contains("Signed in as \(Self.janesName)"), "\(second.output)")
        }
    }

    @Test("After the removal of a passkey from the account, countersign sign-in direct uses another factor")
    func stalePasskey() async throws {
        try await withSandbox(.init(organization: Self.requiringPasskeys)) { sandbox in
            let folder = try TemporaryFolder()
            #expect(try await Self.create(sandbox, folder).status == 0)
            // The reset removes the passkey from the account, and the account gets another one.
            try await sandbox.reset()
            let phone = try await sandbox.phone(for: Self.janesName)
            _ = try await sandbox.passkey(for: Self.janesName)
            let client = ["--issuer", sandbox.issuer.absoluteString, "--client-id", "directauth-app"]
            let alone = try await Command.run(["sign-in", "passkey", Self.janesName] + client + Self.folders(folder))
            #expect(alone.status == 1 && alone.errors.contains("`countersign passkey remove` deletes one"), "\(alone.errors)")
            async let approval = phone.approveNext()
            let pushed = try await Command.run(
                ["sign-in", "direct", Self.janesName] + client + Self.folders(folder), input: Self.janesPassword + "\n")
            _ = try await approval
            #expect(pushed.status == 0, "\(pushed.errors)")
            #expect(pushed.output.contains("Signed in as \(Self.janesName)"), "\(pushed.output)")
        }
    }

    @Test("The file of a passkey is readable only by its owner, and no command prints the private key")
    func passkeyFile() async throws {
        try await withSandbox(.init(organization: Self.requiringPasskeys)) { sandbox in
            let folder = try TemporaryFolder()
            let created = try await Self.create(sandbox, folder)
            let passkeys = folder.url.appending(path: "passkeys")
            let name = try #require(try FileManager.default.contentsOfDirectory(atPath: passkeys.path()).first { $0.hasPrefix("passkey-") })
            let file = passkeys.appending(path: name).path()
            let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            let key = try #require(try JSONValue(parsing: Array(Data(contentsOf: URL(filePath: file))))["private_key"]?.stringValue)
            let listed = try await Command.run(["passkey", "list", "--passkeys", passkeys.path()])
            #expect(listed.output.contains("\(Self.janesName) at localhost"), "\(listed.output)")
            for ended in [created, listed] { #expect(!(ended.output + ended.errors).contains(key)) }
            // Under another name, a removal would not find the file.
            let renamed = passkeys.appending(path: "passkey-other.json").path()
            try FileManager.default.copyItem(atPath: file, toPath: renamed)
            let copied = try await Command.run(["passkey", "list", "--passkeys", passkeys.path()])
            #expect(copied.status == 1 && copied.errors.contains("passkey-other.json is not a passkey of this command."))
            try FileManager.default.removeItem(atPath: renamed)
            try Data("{\"private_key\": \"\(key)\"".utf8).write(to: URL(filePath: file))
            let damaged = try await Command.run(["passkey", "list", "--passkeys", passkeys.path()])
            #expect(damaged.status == 1 && damaged.errors.contains("is not a passkey of this command. Remove the file."))
            #expect(!damaged.errors.contains(key))
        }
    }

    @Test("After countersign passkey remove, a sign-in with the passkey fails and names the command that creates one")
    func passkeyRemoved() async throws {
        try await withSandbox(.init(organization: Self.requiringPasskeys)) { sandbox in
            let folder = try TemporaryFolder()
            let created = try await Self.create(sandbox, folder)
            let id = try #require(try JSONValue(parsing: created.output.trimmingCharacters(in: .newlines))["id"]?.stringValue)
            let removed = try await Command.run(["passkey", "remove", String(id.prefix(8)), "--passkeys", folder.path + "passkeys"])
            #expect(removed.status == 0 && removed.output.contains("Removed: "), "\(removed.errors)")
            let again = try await Command.run(["passkey", "remove", id, "--passkeys", folder.path + "passkeys"])
            #expect(again.status == 1 && again.errors.contains("There is no passkey"))
            let client = ["--issuer", sandbox.issuer.absoluteString, "--client-id", "directauth-app"]
            let refused = try await Command.run(["sign-in", "passkey", Self.janesName] + client + Self.folders(folder))
            #expect(refused.status == 1)
            #expect(refused.errors.contains("Create one: countersign passkey create \(Self.janesName)"), "\(refused.errors)")
        }
    }

    @Test("Where the classic API offers no passkey, countersign passkey create stores none and names the setting of the org file")
    func passkeyNotOffered() async throws {
        try await withSandbox { sandbox in
            let folder = try TemporaryFolder()
            let ended = try await Self.create(sandbox, folder)
            #expect(ended.status == 1)
            #expect(ended.output.contains("authn_api.factors with webauthn: required"), "\(ended.output)")
            let listed = try await Command.run(["passkey", "list", "--passkeys", folder.path + "passkeys"])
            #expect(listed.errors.contains("There are no passkeys"))
            let wrong = try await Self.create(sandbox, folder, password: "wrong-password")
            #expect(wrong.status == 2, "\(wrong.output)")
            #expect(!(wrong.output + wrong.errors).contains("wrong-password"))
        }
    }

    @Test("A passkey of one server's domain is not used for a sign-in at a server of another domain")
    func passkeyOfAnotherDomain() async throws {
        try await withSandbox(.init(organization: Self.requiringPasskeys)) { sandbox in
            let folder = try TemporaryFolder()
            #expect(try await Self.create(sandbox, folder).status == 0)
            let client = ["--issuer", "https://id.example.com/oauth2/default", "--client-id", "directauth-app"]
            let refused = try await Command.run(["sign-in", "passkey", Self.janesName] + client + Self.folders(folder))
            #expect(refused.status == 1)
            #expect(refused.errors.contains("has no passkey of \(Self.janesName) that https://id.example.com accepts"), "\(refused.errors)")
        }
    }

    @Test("A server of the same domain that did not register the passkey gets no signature, because it could forward a challenge")
    func passkeyOfAnotherServer() async throws {
        try await withSandbox(.init(organization: Self.requiringPasskeys)) { sandbox in
            let folder = try TemporaryFolder()
            #expect(try await Self.create(sandbox, folder).status == 0)
            let client = ["--issuer", "http://localhost:1/oauth2/default", "--client-id", "directauth-app"]
            let refused = try await Command.run(["sign-in", "passkey", Self.janesName] + client + Self.folders(folder))
            #expect(refused.status == 1)
            #expect(refused.errors.contains("has no passkey of \(Self.janesName) that http://localhost:1 accepts"), "\(refused.errors)")
        }
    }

    @Test("The help of countersign passkey says that its passkeys are for development", arguments: [["passkey"], ["passkey", "create"]])
    func passkeyHelp(_ command: [String]) async throws {
        let ended = try await Command.run(command + ["--help"])
        let text = ended.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(ended.status == 0 && text.contains("for development") && text.contains("accounts for tests only"), "\(text)")
    }
}
