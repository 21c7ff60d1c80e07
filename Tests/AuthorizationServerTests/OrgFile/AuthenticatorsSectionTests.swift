import Foundation
import JOSE
import Testing

@testable import AuthorizationServer
@testable import IdentityCore

@Suite("Section authenticators of the org file")
struct AuthenticatorsSectionTests {
    private static let head = """
        name: Test
        origin: https://id.test
        sign_on_policies: [{name: p, rules: [{name: r, require: one_factor}]}]
        applications:
          - {id: phone-app, grant_types: [password, jwt-bearer], sign_on_policy: p}
          - {id: plain-app, grant_types: [password], sign_on_policy: p}
        authenticators:

        """

    private static func load(_ section: String, environment: [String: String] = [:]) throws -> [PushAuthenticator] {
        try OrgFile.load(yaml: head + section, environment: environment).organization.authenticators
    }

    private static func indented(_ pem: String) -> String { pem.split(separator: "\n").map { "        \($0)" }.joined(separator: "\n") }

    @Test("An org file authenticator with only an id, a name and a client has safe defaults")
    func least() throws {
        #expect(
            try Self.load("  - {id: autphone, name: Acme, client: phone-app}") == [
                PushAuthenticator(
                    id: "autphone", kind: .customApp, name: "Acme", clientID: "phone-app", isActive: true, userVerification: .preferred,
                    numberChallenge: .risky, credentials: nil)
            ])
    }

    @Test("Every key of an authenticator is read from the org file, with push on or off", arguments: ["on", "off"])
    func everything(push: String) throws {
        let pem = try #require(try SigningKey.generate(.es256).privatePEM)
        let authenticator = try #require(
            try Self.load(
                """
                  - id: autverify
                    type: okta_verify
                    name: Verify
                    client: plain-app
                    push: \(push)
                    user_verification: required
                    number_challenge: always
                    apns:
                      team_id: ABCDE12345
                      key_id: FGHIJ67890
                      key: |
                \(Self.indented(pem))
                      topic: com.example.app
                      development_topic: com.example.app.dev
                """
            ).first)
        #expect(authenticator.kind == .oktaVerify && authenticator.isActive == (push == "on"))
        #expect(authenticator.userVerification == .required && authenticator.numberChallenge == .always)
        let credentials = try #require(authenticator.credentials)
        #expect(credentials.teamID == "ABCDE12345" && credentials.keyID == "FGHIJ67890" && credentials.topic == "com.example.app")
        #expect(credentials.developmentTopic == "com.example.app.dev")
        #expect(
            credentials.privateKey?.trimmingCharacters(in: .whitespacesAndNewlines) == pem.trimmingCharacters(in: .whitespacesAndNewlines))
    }

    @Test("An APNs key is read from the environment, or from a file that only its owner may read")
    func keySources() throws {
        let pem = try #require(try SigningKey.generate(.es256).privatePEM)
        func section(_ key: String) -> String {
            "  - {id: a, name: A, client: phone-app, apns: {team_id: ABCDE12345, key_id: FGHIJ67890, topic: x.y, \(key)}}"
        }
        #expect(try Self.load(section("key: \"${APNS_KEY}\""), environment: ["APNS_KEY": pem]).first?.credentials?.privateKey == pem)

        let folder = FileManager.default.temporaryDirectory.appending(path: "authenticators-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let keyFile = folder.appending(path: "AuthKey.p8")
        try pem.write(to: keyFile, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: keyFile.path)
        let file = folder.appending(path: "org.yaml")
        try (Self.head + section("key_file: AuthKey.p8")).write(to: file, atomically: true, encoding: .utf8)
        #expect(try OrgFile.load(path: file.path).organization.authenticators.first?.credentials?.privateKey == pem)

        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: keyFile.path)
        let error = #expect(throws: OrgFileError.self) { try OrgFile.load(path: file.path) }
        let problem = try #require(error?.problems.first)
        #expect(problem.key == "authenticators[0].apns.key_file" && problem.message.contains("chmod 600 \(keyFile.path)"))
    }

    struct Mistake: Sendable, CustomTestStringConvertible {
        let text: String
        let key: String
        let hint: String
        var testDescription: String { text }

        init(_ text: String, _ key: String, _ hint: String) { (self.text, self.key, self.hint) = (text, key, hint) }

        static func apns(_ text: String, _ key: String, _ hint: String) -> Mistake {
            Mistake(
                "{id: a, name: A, client: phone-app, apns: {\(text)}}", "authenticators[0].apns" + (key.isEmpty ? "" : "." + key), hint)
        }
    }

    @Test(
        "An invalid authenticator in the org file is reported with its key path and a correction",
        arguments: [
            Mistake("{name: A, client: phone-app}", "authenticators[0]", "id is missing. Add: id: autphone"),
            Mistake("{id: a, client: phone-app}", "authenticators[0]", "name is missing"),
            Mistake("{id: a, name: A}", "authenticators[0]", "client is missing. Add: client: phone-app"),
            Mistake("{id: a, name: A, client: phone-ap}", "authenticators[0].client", "Did you mean “phone-app”?"),
            Mistake("{id: a, name: A, client: plain-app}", "authenticators[0].client", "lacks the grant type jwt-bearer"),
            Mistake("{id: a, name: A, client: phone-app, type: fax}", "authenticators[0].type", "custom_app, okta_verify"),
            Mistake("{id: a, name: A, client: phone-app, push: maybe}", "authenticators[0].push", "off, on"),
            Mistake("{id: a, name: A, client: phone-app, number: always}", "authenticators[0].number", "Unknown key number"),
            Mistake(
                "{id: a, name: A, client: phone-app}\n  - {id: a, name: B, client: phone-app, push: off}", "authenticators[1].id",
                "is there twice"),
            Mistake(
                "{id: a, name: A, client: phone-app}\n  - {id: b, name: B, client: phone-app}", "authenticators[1].client",
                "linked to another authenticator"),
            .apns("key_id: FGHIJ67890, topic: x.y, key: k", "", "team_id is missing. Add: team_id: ABCDE12345"),
            .apns("team_id: ABCDE12345, key_id: FGHIJ67890, topic: x.y", "", "Add key_file: AuthKey.p8"),
            .apns("team_id: ABCDE12345, key_id: FGHIJ67890, topic: x.y, key: k, key_file: f", "key_file", "Remove one"),
            .apns("team_id: ABCDE12345, key_id: FGHIJ67890, topic: x.y, key_file: /nowhere/f.p8", "key_file", "can not be read"),
            .apns("team_id: ABCDE12345, key_id: FGHIJ67890, topic: x.y, key: nonsense", "key", "Take the .p8 file"),
            .apns("team_id: ABCDE, key_id: FGHIJ67890, topic: x.y, key: \"${K}\"", "team_id", "10 letters and digits"),
            .apns("team_id: ABCDE12345, key_id: FGHIJ-7890, topic: x.y, key: \"${K}\"", "key_id", "10 letters and digits"),
            .apns("team_id: ABCDE12345, key_id: FGHIJ67890, topic: \"\", key: \"${K}\"", "topic", "the app's bundle id"),
            .apns(
                "team_id: ABCDE12345, key_id: FGHIJ67890, topic: x.y, key: \"${K}\", development_topic: a b", "development_topic",
                "bundle id"),
        ])
    func mistakes(mistake: Mistake) throws {
        let pem = try #require(try SigningKey.generate(.es256).privatePEM)
        let error = #expect(throws: OrgFileError.self) { try Self.load("  - " + mistake.text, environment: ["K": pem]) }
        let problems = try #require(error?.problems)
        #expect(problems.count == 1, "\(problems)")
        #expect(problems.first?.key == mistake.key)
        #expect(problems.first?.message.contains(mistake.hint) == true, "\(problems)")
        #expect(problems.first.map { $0.line > 7 } == true)
    }

    @Test("The sandbox has an app that enrolls phones and is linked to an authenticator without push credentials")
    func sandbox() throws {
        let organization = try OrgFile.load(yaml: OrgFile.sandboxDefault).organization
        let authenticator = try #require(organization.authenticators.first)
        #expect(organization.authenticators.count == 1 && authenticator.kind == .customApp && authenticator.isActive)
        #expect(authenticator.clientID == "phone-app" && authenticator.numberChallenge == .never && authenticator.credentials == nil)
        let app = try #require(organization.applications.first { $0.id == "phone-app" })
        #expect(
            app.grantTypes == [
                "password", "refresh_token", "http://auth0.com/oauth/grant-type/mfa-oob",
                "http://auth0.com/oauth/grant-type/mfa-otp", "urn:okta:params:oauth:grant-type:oob",
                "urn:ietf:params:oauth:grant-type:jwt-bearer", "urn:countersign:params:oauth:grant-type:enrollment-ticket",
            ])
        #expect(app.grantedAPIScopes.count == 4 && app.authentication == .none && app.kind == .native)
    }
}
