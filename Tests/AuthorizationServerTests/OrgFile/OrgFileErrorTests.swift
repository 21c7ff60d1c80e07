import Testing

@testable import AuthorizationServer

@Suite("Errors of the org file")
struct OrgFileErrorTests {
    /// The lines of a valid file.
    private static let lines = [
        "name: Test",  // 1
        "origin: https://id.test",
        "groups:",
        "  - name: Staff",
        "sign_on_policies:",  // 5
        "  - name: one-factor",
        "    rules:",
        "      - name: any",
        "        require: one_factor",
        "authorization_servers:",  // 10
        "  - id: default",
        "    audience: api://default",
        "    scopes:",
        "      - name: messages.read",
        "    access_policies:",  // 15
        "      - name: p",
        "        rules:",
        "          - name: r",
        "            grant_types: [password]",
        "            access_token_lifetime: 1h",  // 20
        "applications:",
        "  - id: app",
        "    grant_types: [password]",
        "    sign_on_policy: one-factor",
        "    redirect_uris:",  // 25
        "      - com.example.app:/callback",
        "users:",
        "  - login: jane",
        "    password: Correct-Horse-7",
        "    groups: [Staff]",  // 30
        "password_policy:",
        "  minimum_length: 8",
    ]

    struct Mistake: Sendable, CustomTestStringConvertible {
        var line: Int
        var text: String
        var key: String
        var hint: String
        /// The number of the reported line; `nil` if it is that of the changed line.
        var reported: Int?
        var testDescription: String { text.isEmpty ? "line \(line) removed" : text }

        init(_ line: Int, _ text: String, _ key: String, _ hint: String, reported: Int? = nil) {
            (self.line, self.text, self.key, self.hint, self.reported) = (line, text, key, hint, reported)
        }
    }

    static let mistakes = [
        Mistake(1, "", "", "name is missing. Add: name: Example", reported: 2),
        Mistake(1, "name: [a]", "name", "must be a text"),
        Mistake(2, "origin: http://id.test", "origin", "Write https://id.test"),
        Mistake(2, "orgin: https://id.test", "", "origin is missing", reported: 1),
        Mistake(3, "goups:", "goups", "Unknown key goups. Did you mean groups?"),
        Mistake(4, "  - {name: Staff, size: 3}", "groups[0].size", "Unknown key size. Known here: description, name."),
        Mistake(4, "  - Staff", "groups[0]", "must be keys with values"),
        Mistake(9, "        require: one_facter", "sign_on_policies[0].rules[0].require", "Did you mean “one_factor”?"),
        Mistake(9, "        groups: [Stafff]", "sign_on_policies[0].rules[0].groups[0]", "Did you mean “Staff”?"),
        Mistake(9, "        groups:", "sign_on_policies[0].rules[0].groups", "The list is empty"),
        Mistake(19, "            groups: ~", "authorization_servers[0].access_policies[0].rules[0].groups", "[] for none"),
        Mistake(11, "  - id: a/b", "authorization_servers[0].id", "part of an issuer"),
        Mistake(12, "    name: x", "authorization_servers[0]", "audience is missing. Add: audience: api://default", reported: 11),
        Mistake(14, "      - name: openid", "authorization_servers[0].scopes[0].name", "reserved"),
        Mistake(14, "      - {name: x, default: maybe}", "authorization_servers[0].scopes[0].default", "true or false"),
        Mistake(14, "      name: messages.read", "authorization_servers[0].scopes", "must be a list"),
        Mistake(
            19, "            grant_types: [pasword]", "authorization_servers[0].access_policies[0].rules[0].grant_types[0]",
            "Did you mean “password”?"),
        Mistake(
            20, "            access_token_lifetime: 1m", "authorization_servers[0].access_policies[0].rules[0].access_token_lifetime",
            "60 is out of range: 300 to 86400"),
        Mistake(
            20, "            access_token_lifetime: soon", "authorization_servers[0].access_policies[0].rules[0].access_token_lifetime",
            "“soon” is no time"),
        Mistake(23, "    grant_types: password", "applications[0].grant_types", "must be a list"),
        Mistake(
            23, "    grant_types: [client_credentials]", "applications[0].grant_types", "Add authentication: client_secret and"),
        Mistake(23, "    require_pkce: false", "applications[0].require_pkce", "A public client must use PKCE."),
        Mistake(23, "    strict_audience: true", "applications[0].strict_audience", "set authentication: private_key_jwt"),
        Mistake(23, "    authentication: client_secret", "applications[0].secret", "client_secret needs a secret", reported: 22),
        Mistake(23, "    type: phone", "applications[0].type", "not among: browser, native, service, web"),
        Mistake(23, "    assignment: {groups: [Stuff]}", "applications[0].assignment.groups[0]", "Did you mean “Staff”?"),
        Mistake(23, "    assignment: everybody", "applications[0].assignment", "Write everyone"),
        Mistake(23, "    refresh_token_leeway: 90", "applications[0].refresh_token_rotation", "0 to 60", reported: 22),
        Mistake(23, "    dpop_bound_access_tokens: always", "applications[0].dpop_bound_access_tokens", "true or false"),
        Mistake(
            23, "    dpop_bound_acess_tokens: true", "applications[0].dpop_bound_acess_tokens", "Did you mean dpop_bound_access_tokens?"),
        Mistake(24, "    sign_on_policy: two-factors", "applications[0].sign_on_policy", "There is no sign-on policy “two-factors”."),
        Mistake(26, "      - https://*.example.com/", "applications[0].redirect_uris[0]", "wildcard"),
        Mistake(26, "      - http://app.example.com/", "applications[0].redirect_uris[0]", "loopback only"),
        Mistake(23, "    backchannel_logout_uri: http://app.example.com/out", "applications[0].backchannel_logout_uri", "use https"),
        Mistake(23, "    apple_app_ids: [com.example.app]", "applications[0].apple_app_ids[0]", "ABCDE12345.com.example.app"),
        Mistake(23, "    apple_app_ids: [ABCDE12345.*]", "applications[0].apple_app_ids[0]", "is no app id"),
        Mistake(
            23, "    type: service\n    apple_app_ids: [ABCDE12345.com.example.app]", "applications[0].apple_app_ids",
            "no app on anybody's",
            reported: 24),
        Mistake(23, "    backchannel_logout_session_required: true", "applications[0].backchannel_logout_session_required", "Add one"),
        Mistake(23, "    type: browser\n    grant_types: [device_code]", "applications[0].grant_types", "type: native", reported: 24),
        Mistake(
            12, "    audience: a\n    trusted_issuers:\n      - {issuer: https://idp.test, keys: []}",
            "authorization_servers[0].trusted_issuers[0].keys", "needs its public keys", reported: 14),
        Mistake(29, "    password: short", "users[0].password", "at least 8 characters"),
        Mistake(29, "    password: ${MISSING}", "users[0].password", "The environment has no MISSING."),
        Mistake(29, "    totp_secret: JBSWY3DPEHPK3PXP", "users[0].totp_secret", "at least 16 bytes"),
        Mistake(29, "    totp_secret: not base 32", "users[0].totp_secret", "A to Z, 2 to 7"),
        Mistake(29, "    status: retired", "users[0].status", "not among: active"),
        Mistake(30, "    groups: [Unknown]", "users[0].groups[0]", "There is no group “Unknown”."),
        Mistake(
            32, "  minimum_length: 8\ndpop: {require_nonces: false}", "dpop.require_nonces", "Did you mean require_nonce?", reported: 33),
        Mistake(32, "  minimum_length: 4", "password_policy.minimum_length", "8 to 72"),
        Mistake(32, "  scrypt_log_n: 13", "password_policy.scrypt_log_n", "13 is out of range: 14 to 20"),
        Mistake(32, "  minimum_length: eight", "password_policy.minimum_length", "whole number"),
    ]

    @Test("An invalid or missing org file setting is reported with its line, its key and a correction", arguments: mistakes)
    func mistake(_ mistake: Mistake) throws {
        var lines = Self.lines
        lines[mistake.line - 1] = mistake.text
        let error = try #require(throws: OrgFileError.self) { try OrgFile.load(yaml: lines.joined(separator: "\n")) }
        let problem = try #require(error.problems.first)
        #expect(problem.line == mistake.reported ?? mistake.line)
        #expect(problem.column > 0)
        #expect(problem.key == mistake.key)
        #expect(problem.message.contains(mistake.hint), "\(problem.message)")
    }

    @Test("All errors of an org file are reported together, ordered by line, in the format of compiler messages")
    func together() throws {
        #expect(throws: Never.self) { try OrgFile.load(yaml: Self.lines.joined(separator: "\n")) }
        var lines = Self.lines
        lines[1] = "origin: https://id.test/path"
        lines[23] = "    sign_on_policy: one-facter"
        lines[31] = "  minimum_length: 4"
        let error = try #require(throws: OrgFileError.self) { try OrgFile.load(yaml: lines.joined(separator: "\n"), name: "my.yaml") }
        #expect(error.problems.map(\.line) == [2, 24, 32])
        #expect(
            error.description.split(separator: "\n").first
                == "my.yaml:2:9: origin: An origin has no path, query or user name. Write https://id.test.")
    }

    @Test("A duplicate name in the org file is reported at its second occurrence")
    func duplicates() throws {
        let yaml = (Self.lines + ["key_rotation: {signs_for_days: 90}"]).joined(separator: "\n")
            .replacing("  - name: Staff\n", with: "  - name: Staff\n  - name: Staff\n")
        let error = try #require(throws: OrgFileError.self) { try OrgFile.load(yaml: yaml) }
        #expect(error.problems.map(\.description) == ["5:11: groups[1].name: Group “Staff” is there twice. Rename or remove one."])
    }

    @Test(
        "Invalid YAML in an org file is reported as one error, with a line unless the file is empty",
        arguments: ["name: [", "name: a\nname: b", "name: \"x\n", "\tname: x", ""])
    func syntax(yaml: String) throws {
        let error = try #require(throws: OrgFileError.self) { try OrgFile.load(yaml: yaml) }
        #expect(error.problems.count == 1)
        #expect(yaml.isEmpty || (error.problems.first?.line ?? 0) > 0)
    }

    @Test("A missing org file is reported with the command that creates an org file")
    func missing() throws {
        let error = try #require(throws: OrgFileError.self) { try OrgFile.load(path: "/nowhere/org.yaml") }
        #expect(error.description.contains("countersign init"))
    }
}
