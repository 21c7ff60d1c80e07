import Crypto
import Foundation
import JOSE
import Store
import TestSupport
import Testing

@testable import AuthorizationServer
@testable import IdentityCore

@Suite("Export of the org file")
struct OrgFileExportTests {
    /// Exports a definition, and loads the text with the values of its variables.
    private func loaded(_ definition: OrganizationDefinition) throws -> OrganizationDefinition {
        let export = try OrgFileExport(definition, includesUsers: true)
        let values = FullOrganization.values(of: export, for: definition)
        return try OrgFile.load(yaml: export.text, environment: values).organization
    }

    private static let plain = """
        name: Test
        origin: https://id.test
        sign_on_policies: [{name: p, rules: [{name: r}]}]

        """

    @Test("The template, the sandbox's org file and an org file with every setting survive the export")
    func files() throws {
        for definition in [
            try OrgFile.load(yaml: OrgFile.template).organization, try FullOrganization.definition(),
            try OrgFile.load(yaml: OrgFile.sandboxDefault, origin: "http://localhost:51234").organization,
        ] {
            var exported = definition
            // The sandbox's caller has another token than the full organization's.
            if exported.name == "Sandbox" { exported.classic?.trustedCallers = [] }
            #expect(try loaded(exported) == exported)
        }
    }

    @Test("The full organization of these tests sets every field of the definition")
    func everyField() throws {
        let json = try JSONValue(parsing: RecordCoding.encode(FullOrganization.definition()))
        #expect(try FieldReader.unsetFields(of: OrganizationDefinition.self, in: json) == [])
    }

    @Test("A change of any single field of the definition survives the export")
    func everyChange() throws {
        let definition = try FullOrganization.definition()
        let changed = try ChangedFields(of: definition)
        for change in changed.changes where !Self.isUnknownToken(change.path) && !Self.renamesOrgServer(change.definition) {
            let loaded = try loaded(change.definition)
            #expect(loaded == change.definition, "\(change.path) is not exported.")
        }
        let untried = changed.fields.subtracting(changed.changes.map(\.path)).filter { !Self.isData($0) }
        #expect(untried.isEmpty, "No other valid value of these fields is known: add one to ChangedFields.")
    }

    /// The token of a caller is stored as its digest, so that the test does not know the token of a changed digest.
    private static func isUnknownToken(_ path: String) -> Bool { path.hasSuffix("tokenDigest[]") }

    /// The org file has no setting for the name of the org server.
    private static func renamesOrgServer(_ definition: OrganizationDefinition) -> Bool {
        definition.authorizationServers.first { $0.id == nil }?.name != "Organization"
    }

    /// Parts of keys and profiles, which other tests change.
    private static func isData(_ path: String) -> Bool {
        path.contains(".keys.keys[]") || path.hasPrefix("users[].profile.") || path == "authenticators[].credentials.privateKey"
    }

    @Test("Applying an exported file to the store that it was exported from changes nothing, with and without users in the org file")
    func unchanged() async throws {
        for hasUsers in [true, false] {
            var definition = try FullOrganization.definition()
            // The store keeps no counter of the file.
            definition.users[0].hardwareDevice?.counter = 0
            if !hasUsers { definition.users = [] }
            let engine = Engine(
                store: InMemoryStore(),
                environment: EngineEnvironment(
                    random: SystemRandomSource(), masterKey: SymmetricKey(size: .bits256), passwordHasher: PasswordHasher(width: 2)))
            let context = RequestContext(now: ManualClock.start, requestID: "test")
            _ = try await engine.apply(definition, context: context)
            let stored = try await engine.storedDefinition()
            let export = try OrgFileExport(stored, includesUsers: hasUsers)
            let file = try OrgFile.load(yaml: export.text, environment: FullOrganization.values(of: export, for: definition))
            let report = try await engine.preview(file.organization, context: context)
            #expect(report.isUnchanged, "\(report)")
            #expect(report.count(.unchanged) > 15)
        }
    }

    @Test("An exported file contains no secret, names the variable of each, and says where the rest of the configuration is")
    func secrets() throws {
        let definition = try FullOrganization.definition()
        let export = try OrgFileExport(definition, includesUsers: true)
        let user = try #require(definition.users.first)
        let secrets =
            Array(FullOrganization.environment.values)
            + [
                user.password, user.totpSecret, user.hardwareDevice?.secret,
            ].compactMap(\.self)
        #expect(secrets.count == 7)
        for secret in secrets {
            let line = secret.split(separator: "\n").dropFirst().first.map(String.init) ?? secret
            #expect(!export.text.contains(line), "The file contains a secret.")
        }
        #expect(
            export.variables.map(\.name) == [
                "SITE_SECRET", "REPORTS_SECRET", "PORTAL_MAIN_TOKEN", "AUTPHONE_APNS_KEY", "JANE_EXAMPLE_COM_PASSWORD",
                "JANE_EXAMPLE_COM_TOTP_SECRET", "JANE_EXAMPLE_COM_HOTP_SECRET",
            ])
        for variable in export.variables { #expect(export.text.contains("#   \(variable.name) "), "\(variable.name)") }
        #expect(export.text.contains("The sections server, branding, messages and breached_passwords are not stored"))
    }

    @Test("Users are exported only on request, and a file without them says how many the org file defined")
    func users() throws {
        let definition = try FullOrganization.definition()
        let without = try OrgFileExport(definition, includesUsers: false).text
        #expect(!without.contains("login:") && without.contains("defined 2 users"))
        #expect(try OrgFileExport(definition, includesUsers: true).text.contains("login: jane@example.com"))
        let none = try OrgFileExport(try OrgFile.load(yaml: Self.plain).organization, includesUsers: false).text
        #expect(none.contains("They stay as they are when you apply it."))
    }

    @Test(
        "Names that YAML or the org file could misread survive the export",
        arguments: [
            "a: b", "#", "a # b", "yes", "No", "null", "~", "1e3", "007", "1.5", "0x1F", "1:30", "\"", "'", "it's", "a\nb", "\r\n", "\t",
            " padded ", "🎉", "ä", "-", "- a", "[a]", "{a}", "&a", "*a", "!a", "%a", "@a", "`a`", "|", ">", "?", "a,b", "any", "all",
            "unlimited",
            "${HOME}", "${", "env:HOME", "env:", "\u{1B}[31m", "\u{2028}", "a\u{FEFF}", "\u{202E}a", "---", "...", "<<", "=",
        ])
    func names(name: String) throws {
        var definition = try OrgFile.load(yaml: Self.plain).organization
        definition.name = name
        definition.groups = [Group(name: name, description: name), Group(name: "last")]
        definition.signOnPolicies[0].name = name
        definition.signOnPolicies[0].rules[0].groups = [name, "last"]
        definition.users = [UserDefinition(login: "jane", profile: [name: .string(name), "list": [.string(name)]], groups: [name])]
        #expect(definition.problems().isEmpty)
        let loaded = try loaded(definition)
        #expect(loaded == definition)
    }

    @Test("Numbers, Booleans and null values of a profile survive the export, also beyond the range of plain decimal numbers")
    func profiles() throws {
        var definition = try OrgFile.load(yaml: Self.plain).organization
        definition.users = [
            UserDefinition(
                login: "jane",
                profile: [
                    "integer": -5, "large": .integer(.max), "half": 0.5, "huge": 1e20, "tiny": 1e-9, "negative": -2.5e-7, "flag": false,
                    "nothing": .null, "empty": "", "list": [], "object": [:], "nested": ["a": [1, "1", .null, 1.0]],
                ])
        ]
        #expect(try loaded(definition) == definition)
    }

    @Test("Two secrets never share a variable, and no variable is a setting of the server or begins with a digit")
    func variables() throws {
        let ids = ["a-b", "a.b", "a_b", "1st", "countersign"]
        var definition = try OrgFile.load(yaml: Self.plain).organization
        definition.applications = ids.map {
            .service($0, secret: "a-secret-of-the-application-\($0)", by: .clientSecretBasic) { $0.signOnPolicy = "" }
        }
        let export = try OrgFileExport(definition, includesUsers: false)
        #expect(
            export.variables.map(\.name) == [
                "A_B_SECRET", "A_B_SECRET_2", "A_B_SECRET_3", "ORG_1ST_SECRET", "ORG_COUNTERSIGN_SECRET",
            ])
        #expect(try loaded(definition) == definition)
    }

    @Test("A name with a line break in the list of variables cannot end the comment")
    func comment() throws {
        var definition = try OrgFile.load(yaml: Self.plain).organization
        definition.classic = ClassicPolicy(
            signOnPolicy: "p", trustedCallers: [.init(name: "a\nname: Evil\u{2028}x", token: FullOrganization.callerToken)])
        #expect(try loaded(definition) == definition)
    }
}
