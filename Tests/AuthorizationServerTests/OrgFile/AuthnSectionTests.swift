import AuthorizationServer
import IdentityCore
import Testing

@Suite("Section authn_api of the org file")
struct AuthnSectionTests {
    private static func load(_ lines: String...) throws -> OrganizationDefinition {
        try OrgFile.load(
            yaml: """
                name: Test
                origin: https://id.test
                sign_on_policies:
                  - name: easy
                    rules:
                      - name: Everybody
                authn_api:
                  \(lines.joined(separator: "\n  "))

                """, environment: ["PORTAL_TOKEN": "0123456789abcdef0123456789abcdef"]
        ).organization
    }

    @Test("The Authn API is disabled if the org file has no section authn_api, and has defaults if the section exists")
    func defaults() throws {
        #expect(try OrgFile.load(yaml: "name: Test\norigin: https://id.test\n").organization.classic == nil)
        #expect(try Self.load("sign_on_policy: easy").classic == ClassicPolicy(signOnPolicy: "easy"))
    }

    @Test("Every key of the section authn_api is read, and a trusted caller's token does not appear in descriptions")
    func read() throws {
        let policy = try #require(
            try Self.load(
                "sign_on_policy: easy", "show_lockout: true", "remember_devices: 30d", "factors:", "  totp: required", "  sms: not_allowed",
                "offer_optional_factors: true", "recovery: [sms, email]", "self_service_unlock: true",
                "trusted_origins: [https://portal.example.com]", "trusted_callers:", "  - name: portal", "    token: ${PORTAL_TOKEN}",
                "    gateways: [10.0.0.0/8]"
            ).classic)
        #expect(
            policy
                == ClassicPolicy(
                    signOnPolicy: "easy", showsLockout: true, remembering: .time(minutes: 43_200),
                    factors: [.totp: .required, .sms: .notAllowed], offersOptional: true, recovery: [.sms, .email],
                    unlocksBySelfService: true,
                    trustedCallers: [.init(name: "portal", token: "0123456789abcdef0123456789abcdef", gateways: ["10.0.0.0/8"])],
                    trustedOrigins: ["https://portal.example.com"]))
        #expect(!"\(policy)".contains("0123456789abcdef"))
    }

    private static func file(_ lines: [String], hasTokenService: Bool = false) throws -> OrgFile {
        try OrgFile.load(
            yaml: "name: Test\norigin: https://id.test\nsign_on_policies: [{name: easy, rules: [{name: Everybody}]}]\nauthn_api:\n  "
                + lines.joined(separator: "\n  "), hasTokenService: hasTokenService)
    }

    @Test("RSA and Symantec factors are rejected if the org file allows them and the server has no token service")
    func tokens() throws {
        let lines = ["sign_on_policy: easy", "factors: {rsa: optional, symantec: optional}"]
        #expect(throws: OrgFileError.self) { try Self.file(lines) }
        #expect(try Self.file(lines, hasTokenService: true).organization.classic?.factors == [.rsa: .optional, .symantec: .optional])
        #expect(throws: Never.self) { try Self.file(["sign_on_policy: easy", "factors: {rsa: not_allowed}"]) }
    }

    @Test("The factor webauthn is read, and rejected if the org file allows it without a section passkeys")
    func passkeys() throws {
        let lines = ["sign_on_policy: easy", "factors: {webauthn: required}"]
        let organization = try Self.file(lines + ["trusted_origins: []\npasskeys: {user_verification: preferred}"]).organization
        #expect(organization.classic?.factors == [.webauthn: .required])
        #expect(throws: OrgFileError.self) { try Self.file(lines) }
        #expect(throws: Never.self) { try Self.file(["sign_on_policy: easy", "factors: {webauthn: not_allowed}"]) }
    }

    @Test(
        "A warning names each channel that is both a second factor and a recovery method, with its line and a correction",
        arguments: [
            (["factors: {email: optional}", "recovery: [email]"], ["7 authn_api.recovery mailbox email"]),
            (
                ["recovery: [sms, call, email]", "factors: {sms: required, call: optional}"],
                ["6 authn_api.recovery telephone sms", "6 authn_api.recovery telephone call"]
            ),
            (["factors: {email: optional, sms: optional}", "recovery: [call]"], []),
            (["factors: {email: not_allowed}", "recovery: [email]"], []), (["recovery: [email]"], []),
            (["factors: {email: optional, question: required}", "recovery: [email]"], []),
        ] as [([String], [String])])
    func warnings(lines: [String], expected: [String]) throws {
        let warnings = try Self.file(["sign_on_policy: easy"] + lines).warnings
        #expect(warnings.count == expected.count)
        for (warning, text) in zip(warnings, expected) {
            let words = text.split(separator: " ").map(String.init)
            #expect("\(warning.line)" == words[0] && warning.key == words[1], "\(warning)")
            #expect(warning.message.contains("a user's \(words[2])") && warning.message.contains("Take \(words[3]) from recovery"))
        }
    }

    @Test(
        "An invalid authn_api section of the org file is rejected with its line and a correction",
        arguments: [
            (["sign_on_policy: eazy"], 8, "Did you mean “easy”?"),
            (["sign_on_policy: easy", "show_lockouts: true"], 9, "Did you mean show_lockout?"),
            (["sign_on_policy: easy", "remember_devices: sometimes"], 9, "is no time"),
            (["sign_on_policy: easy", "factors: {totp: perhaps}"], 9, "is not among"),
            (["sign_on_policy: easy", "factors: {totp: optional, rsa: optional}"], 9, "no service that judges tokens of RSA"),
            (["sign_on_policy: easy", "factors:", "  totp: optional", "  symantec: required"], 11, "Write not_allowed"),
            (["sign_on_policy: easy", "recovery: [pigeon]"], 9, "is not among: email, sms, call"),
            (["sign_on_policy: easy", "trusted_callers: [{name: a, token: short}]"], 9, "at least 32 characters"),
            (["sign_on_policy: easy", "trusted_callers: [{name: a, token: \"\"}]"], 9, "The token is empty"),
            (
                [
                    "sign_on_policy: easy", "trusted_callers:", "  - name: a", "    token: 0123456789abcdef0123456789abcdef",
                    "    gateways: [10.0.0.0/40]",
                ], 12, "neither an address nor a network"
            ),
            (["sign_on_policy: easy", "trusted_origins: [https://portal.example.com/]"], 9, "is no origin"),
        ])
    func refused(lines: [String], line: Int, fix: String) throws {
        let error = try #require(throws: OrgFileError.self) {
            try OrgFile.load(
                yaml: """
                    name: Test
                    origin: https://id.test
                    sign_on_policies:
                      - name: easy
                        rules:
                          - name: Everybody
                    authn_api:
                      \(lines.joined(separator: "\n  "))

                    """)
        }
        let problem = try #require(error.problems.first)
        #expect(error.problems.count == 1, "\(error.problems)")
        #expect(problem.line == line)
        #expect(problem.message.contains(fix), "\(problem.message)")
    }
}
