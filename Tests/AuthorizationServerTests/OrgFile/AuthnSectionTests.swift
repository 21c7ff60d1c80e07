import AuthorizationServer
import IdentityEngine
import Testing

@Suite("The classic API in the org file")
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

    @Test("is off without its section, and has safe defaults")
    func defaults() throws {
        #expect(try OrgFile.load(yaml: "name: Test\norigin: https://id.test\n").organization.classic == nil)
        #expect(try Self.load("sign_on_policy: easy").classic == ClassicPolicy(signOnPolicy: "easy"))
    }

    @Test("is read, and of a caller's token only the digest is kept")
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

    @Test(
        "is refused with its line and what would do",
        arguments: [
            (["sign_on_policy: eazy"], 8, "Did you mean “easy”?"),
            (["sign_on_policy: easy", "show_lockouts: true"], 9, "Did you mean show_lockout?"),
            (["sign_on_policy: easy", "remember_devices: sometimes"], 9, "is no time"),
            (["sign_on_policy: easy", "factors: {totp: perhaps}"], 9, "is not among"),
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
