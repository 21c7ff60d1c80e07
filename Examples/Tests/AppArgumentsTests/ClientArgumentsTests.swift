import AppSession
import ArgumentParser
import AuthFoundation
import Foundation
import Testing

@testable import AppArguments

@Suite("Command line arguments of the example apps")
struct ClientArgumentsTests {
    private static let usual = URL(filePath: "/home/jane/.local/share/countersign/App/credentials", directoryHint: .isDirectory)

    /// Returns the folder of the credentials for these arguments.
    private func vault(_ arguments: String..., environment: [String: String] = [:]) throws -> String {
        let client = try ClientArguments.parse(arguments)
        return client.vaultFolder(of: client.settings(sandboxClient: "an-app"), environment: environment, usual: Self.usual)
            .path(percentEncoded: false)
    }

    private func withPropertyList(_ settings: [String: String], _ body: (String) throws -> Void) throws {
        let file = URL.temporaryDirectory.appending(path: "settings-\(UUID().uuidString).plist")
        try PropertyListSerialization.data(fromPropertyList: settings, format: .xml, options: 0).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        try body(file.path)
    }

    @Test("Each issuer and each client has a separate credential vault beside the example app's default vault")
    func vaults() throws {
        let one = try vault("--issuer", "https://a.example.com/oauth2/default", "--client-id", "x")
        #expect(
            one == "/home/jane/.local/share/countersign/App/https%3A%2F%2Fa%2Eexample%2Ecom%2Foauth2%2Fdefault%20x/")
        #expect(try vault("--issuer", "https://a.example.com/oauth2/default", "--client-id", "x") == one)
        let others = [
            try vault("--issuer", "https://b.example.com/oauth2/default", "--client-id", "x"),
            try vault("--issuer", "https://a.example.com/oauth2/default", "--client-id", "y"),
            try vault("--issuer", "https://a.example.com/oauth2/other", "--client-id", "x"), try vault("--sandbox"),
        ]
        #expect(Set(others + [one]).count == 5)
    }

    @Test("An issuer that is too long for a file name gets a shortened vault name, distinct for each host, path and client")
    func longNames() throws {
        let path = String(repeating: "a/", count: 200)
        let clients = [
            ("https://a.example.com/\(path)", "x"), ("https://b.example.com/\(path)", "x"), ("https://a.example.com/\(path)b/", "x"),
            ("https://a.example.com/\(path)", "y"),
        ]
        let folders = try clients.map { (issuer, client) throws in try vault("--issuer", issuer, "--client-id", client) }
        #expect(Set(folders).count == clients.count)
        #expect(try vault("--issuer", clients[0].0, "--client-id", "x") == folders[0])
        let names = folders.map { ($0 as NSString).lastPathComponent }
        #expect(names.allSatisfy { $0.hasPrefix("https%3A%2F%2F") && $0.utf8.count <= 255 })
    }

    @Test("A client has the same credential vault whether arguments or a property list name the client")
    func propertyList() throws {
        try withPropertyList(["issuer": "https://a.example.com", "clientId": "x", "scopes": "openid"]) { (file) throws in
            #expect(try vault("--config", file) == vault("--issuer", "https://a.example.com", "--client-id", "x"))
        }
    }

    @Test("A credential vault that --vault or COUNTERSIGN_VAULT names is used for every client")
    func chosen() throws {
        #expect(try vault("--sandbox", "--vault", "/tmp/mine") == "/tmp/mine/")
        #expect(try vault("--sandbox", "--vault", "/tmp/mine", environment: ["COUNTERSIGN_VAULT": "/tmp/other"]) == "/tmp/mine/")
        // With `COUNTERSIGN_VAULT`, the folder is the default folder and does not depend on the client.
        #expect(try vault("--sandbox", environment: ["COUNTERSIGN_VAULT": "/tmp/other"]) == Self.usual.path(percentEncoded: false))
        #expect(try vault("--sandbox", environment: ["COUNTERSIGN_VAULT": ""]) != Self.usual.path(percentEncoded: false))
    }

    @Test("Code in withVault can access only the credentials of that vault")
    func scope() async throws {
        let folders = ["one", "two"].map { URL.temporaryDirectory.appending(path: "vault-\($0)-\(UUID().uuidString)") }
        defer { for folder in folders { try? FileManager.default.removeItem(at: folder) } }
        for folder in folders {
            let client = try ClientArguments.parse(["--sandbox", "--vault", folder.path])
            await client.withVault(of: client.settings(sandboxClient: "an-app")) { #expect(Credential.allIDs.isEmpty) }
            try await client.withVault(of: client.settings(sandboxClient: "an-app")) { _ = try Credential.store(Sample.token()) }
            await client.withVault(of: client.settings(sandboxClient: "an-app")) { #expect(Credential.allIDs.count == 1) }
        }
    }

    @Test("Arguments override the scopes and redirect URIs of the property list, and the client stays that of the property list")
    func scopes() throws {
        try withPropertyList([
            "issuer": "https://a.example.com", "clientId": "x", "scopes": "openid profile", "redirectUri": "com.example.app:/callback",
        ]) { (file) throws in
            let settings = { (arguments: [String]) throws in
                try ClientArguments.parse(["--config", file] + arguments).settings(sandboxClient: "an-app").propertyList()
            }
            let plain = try settings([])
            #expect(plain.scope == ["openid", "profile"] && plain.clientId == "x")
            #expect(plain.redirectUri?.absoluteString == "com.example.app:/callback" && plain.logoutRedirectUri == nil)
            let said = try settings([
                "--scopes", "openid offline_access", "--redirect-uri", "http://127.0.0.1/a", "--logout-redirect-uri", "http://127.0.0.1/b",
            ])
            #expect(said.scope == ["openid", "offline_access"] && said.clientId == "x")
            #expect(said.redirectUri?.absoluteString == "http://127.0.0.1/a")
            #expect(said.logoutRedirectUri?.absoluteString == "http://127.0.0.1/b")
            #expect(throws: OAuth2Client.PropertyListConfigurationError.self) { try settings(["--redirect-uri", "nowhere"]) }
        }
    }

    @Test("Without a property list, an example app takes its settings from the arguments and the sandbox's defaults")
    func said() throws {
        let settings = try ClientArguments.parse(["--sandbox", "--scopes", "openid"]).settings(
            sandboxClient: "an-app", more: ["redirectUri": "http://127.0.0.1/callback"])
        let list = try settings.propertyList()
        #expect(list.scope == ["openid"] && list.clientId == "an-app" && list.issuerURL.absoluteString == ClientSettings.sandboxIssuer)
        #expect(list.redirectUri?.absoluteString == "http://127.0.0.1/callback")
        #expect(throws: (any Error).self) { try ClientArguments.parse(["--issuer", "https://a.example.com"]) }
    }
}
