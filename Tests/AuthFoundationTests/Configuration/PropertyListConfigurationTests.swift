import Foundation
import TestSupport
import Testing

@testable import AuthFoundation

@Suite("Client settings")
struct PropertyListConfigurationTests {
    typealias Settings = OAuth2Client.PropertyListConfiguration
    typealias Failure = OAuth2Client.PropertyListConfigurationError

    private static let good = ["issuer": "https://id.example.com/oauth2/default", "clientId": "app", "scopes": "openid profile"]

    private func settings(_ changes: [String: Any?]) throws -> Settings {
        var dictionary: [String: Any] = Self.good
        for (key, value) in changes { dictionary[key] = value }
        return try Settings(dictionary)
    }

    @Test(
        "Client settings are read from every accepted spelling of their keys",
        arguments: [
            ["issuer", "clientId", "scopes", "redirectUri", "logoutRedirectUri"],
            ["issuer_url", "client_id", "scope", "redirect_uri", "logout_redirect_uri"],
            ["IssuerUrl", "ClientId", "Scope", "RedirectUri", "LogoutRedirectUri"],
            ["issuerUrl", "clientId", "scopes", "redirectUri", "logoutRedirectUri"],
        ])
    func readsKeys(keys: [String]) throws {
        let values = ["https://id.example.com", "app", "openid profile", "com.okta.app:/callback", "com.okta.app:/"]
        let settings = try Settings(Dictionary(uniqueKeysWithValues: zip(keys, values)))
        #expect(settings.issuerURL.absoluteString == values[0])
        #expect(settings.clientId == "app")
        #expect(settings.scope == ["openid", "profile"])
        #expect(settings.redirectUri?.absoluteString == values[3])
        #expect(settings.logoutRedirectUri?.absoluteString == values[4])
        #expect(settings.authentication == .none)
        #expect(settings.additionalParameters == nil)
    }

    @Test("An issuer without a scheme becomes an https URL, and a trailing slash of the issuer is removed")
    func bareHost() throws {
        #expect(
            try settings(["issuer": "id.example.com/oauth2/default"]).issuerURL.absoluteString == "https://id.example.com/oauth2/default")
        #expect(try settings(["issuer": "https://id.example.com/"]).issuerURL.absoluteString == "https://id.example.com")
    }

    @Test("The scopes in client settings can be a list of strings")
    func scopeList() throws {
        #expect(try settings(["scopes": ["openid", "offline_access"]]).scope == ["openid", "offline_access"])
    }

    @Test(
        "A client_secret in the settings enables client authentication, and unknown settings with string values become sign-in parameters")
    func secretAndParameters() throws {
        let settings = try settings(["client_secret": "s3cret", "audience": "api://x", "answer": 42])
        #expect(settings.authentication == .clientSecret("s3cret"))
        #expect(settings.additionalParameters?.keys.sorted() == ["audience"])
        #expect(!"\(settings.authentication)".contains("s3cret"))
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let key: String
        let value: String?
        let words: [String]
    }

    @Test(
        "The error for an invalid client setting contains the key and the reason",
        arguments: [
            Case(testDescription: "no issuer", key: "issuer", value: nil, words: ["issuer", "lacks"]),
            Case(testDescription: "no client id", key: "clientId", value: nil, words: ["clientId", "lacks"]),
            Case(testDescription: "empty scopes", key: "scopes", value: "", words: ["scopes", "lacks"]),
            Case(
                testDescription: "placeholder for the domain", key: "issuer", value: "https://{yourOktaDomain}/oauth2/default",
                words: ["issuer", "placeholder", "{yourOktaDomain}"]),
            Case(
                testDescription: "placeholder for the client", key: "clientId", value: "{yourClientID}", words: ["clientId", "placeholder"]),
            Case(testDescription: "plain http", key: "issuer", value: "http://id.example.com", words: ["issuer", "https", "loopback"]),
            Case(testDescription: "another scheme", key: "issuer", value: "ftp://id.example.com", words: ["issuer", "https://"]),
            Case(
                testDescription: "redirect without a scheme", key: "redirectUri", value: "callback",
                words: ["“redirectUri”", "callback", "scheme"]),
            Case(
                testDescription: "unreadable redirect", key: "redirect_uri", value: "https://[id.example.com/callback",
                words: ["“redirect_uri”", "https://[id.example.com/callback", "com.example.app:/callback"]),
            Case(
                testDescription: "redirect with a space", key: "redirectUri", value: "com.example.app:/call back",
                words: ["“redirectUri”", "call back"]),
            Case(
                testDescription: "placeholder in the redirect", key: "redirectUri", value: "com.okta.{yourOktaDomain}:/callback",
                words: ["“redirectUri”", "placeholder"]),
            Case(
                testDescription: "logout redirect without a scheme", key: "logoutRedirectUri", value: "/signed-out",
                words: ["“logoutRedirectUri”", "/signed-out", "scheme"]),
            Case(
                testDescription: "unreadable logout redirect", key: "LogoutRedirectUri", value: "://",
                words: ["“LogoutRedirectUri”", "scheme"]),
            Case(
                testDescription: "unreadable discovery", key: "discoveryUrl", value: "id.example.com",
                words: ["“discoveryUrl”", "https://"]),
        ])
    func namesProblem(_ row: Case) throws {
        let error = #expect(throws: Failure.self) { try settings([row.key: row.value]) }
        for word in row.words { #expect(error?.debugDescription.contains(word) == true, "\(error?.debugDescription ?? "")") }
    }

    @Test(
        "An issuer with a plain http URL is accepted on loopback",
        arguments: ["http://localhost:8080/oauth2/default", "http://127.0.0.1:1", "http://[::1]:8080"])
    func loopback(issuer: String) throws {
        #expect(try settings(["issuer": issuer]).issuerURL.absoluteString == issuer)
    }

    @Test("Client settings can be given on the command line as --key=value or --key value")
    func commandLine() throws {
        let settings = try Settings(commandLine: [
            "sign-in", "--issuer=https://id.example.com", "--client-id", "app", "--scopes", "openid profile", "--verbose",
            "--login_hint=jane",
        ])
        #expect(settings.clientId == "app")
        #expect(settings.scope == ["openid", "profile"])
        #expect(settings.additionalParameters?["login_hint"]?.stringValue == "jane")
    }

    @Test("Client settings are read from environment variables with the prefix COUNTERSIGN_")
    func environment() throws {
        let settings = try Settings(environment: [
            "PATH": "/bin", "COUNTERSIGN_ISSUER": "https://id.example.com", "COUNTERSIGN_CLIENT_ID": "app", "COUNTERSIGN_SCOPES": "openid",
        ])
        #expect(settings.clientId == "app" && settings.additionalParameters == nil)
    }

    @Test("Environment variables such as COUNTERSIGN_MASTER_KEY do not become sign-in parameters")
    func environmentKeepsOthersSecrets() throws {
        let settings = try Settings(environment: [
            "COUNTERSIGN_ISSUER": "https://id.example.com", "COUNTERSIGN_CLIENT_ID": "app", "COUNTERSIGN_SCOPES": "openid",
            "COUNTERSIGN_VAULT": "/home/jane/vault", "COUNTERSIGN_MASTER_KEY": "s3cret",
        ])
        #expect(settings.additionalParameters == nil)
    }

    @Test("A client secret can contain braces, and the error for a placeholder as client secret does not contain the secret")
    func secretWithBraces() throws {
        #expect(try settings(["client_secret": "a{s3}cret"]).authentication == .clientSecret("a{s3}cret"))
        let error = #expect(throws: Failure.self) { try settings(["client_secret": "{s3cret}"]) }
        #expect(error?.debugDescription.contains("client_secret") == true)
        #expect(error?.debugDescription.contains("s3cret") == false)
        #expect(error.map { !"\($0)".contains("s3cret") } == true)
    }

    @Test("A property list and a JSON file provide the same client settings, and an unreadable property list causes an error")
    func files() throws {
        let folder = TemporaryFolder()
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let plist = folder.file("Okta.plist")
        try PropertyListSerialization.data(fromPropertyList: Self.good, format: .xml, options: 0).write(to: plist)
        let json = folder.file("okta.json")
        try JSONEncoder().encode(Self.good).write(to: json)
        let (first, second) = (try Settings(plist: plist), try Settings(json: json))
        #expect(first.issuerURL == second.issuerURL && first.clientId == second.clientId && first.scope == second.scope)
        let client = try OAuth2Client(first)
        #expect(
            client.configuration.discoveryURL.absoluteString == "https://id.example.com/oauth2/default/.well-known/openid-configuration")
        let missing = folder.file("none.plist")
        let error = #expect(throws: Failure.self) { try Settings(plist: missing) }
        #expect(error?.debugDescription.contains("none.plist") == true)
        try Data("not a list".utf8).write(to: plist)
        #expect(throws: Failure.self) { try Settings(plist: plist) }
    }

    @Test("Okta.plist is read from the first folder that contains the file, even if the folder's name has a space")
    func folders() throws {
        let (empty, full) = (TemporaryFolder(), TemporaryFolder())
        let folder = full.file("my app")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try PropertyListSerialization.data(fromPropertyList: Self.good, format: .xml, options: 0).write(
            to: folder.appending(path: "Okta.plist"))
        let found = try #require(PropertyListFile.first(in: [empty.url, folder]))
        #expect(try Settings(plist: found).clientId == "app")
        #expect(PropertyListFile.first(in: [empty.url]) == nil)
    }

    @Test("A client configuration accepts scopes as a string or as a list")
    func scopeLiterals() throws {
        let issuer = try url("https://id.example.com")
        let one = OAuth2Client.Configuration(issuerURL: issuer, clientId: "app", scope: "openid profile")
        let two = OAuth2Client.Configuration(issuerURL: issuer, clientId: "app", scope: ["openid", "profile"])
        #expect(one == two && one.scope == ["openid", "profile"] && one.$scope.rawValue == "openid profile")
        #expect(try JSONDecoder().decode(OAuth2Client.Configuration.self, from: JSONEncoder().encode(one)) == one)
    }
}
