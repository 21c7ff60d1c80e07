import AuthorizationServer
import IdentityCore
import Testing

@Suite("Setting mfa_token_lifetime of the org file")
struct TokenLifetimeSettingTests {
    private static func load(_ line: String) throws -> OrganizationDefinition {
        try OrgFile.load(
            yaml: """
                name: Example
                origin: https://id.example.com
                \(line)
                """
        ).organization
    }

    @Test("The lifetime of MFA tokens is read from the org file, and is 900 seconds if the setting is missing")
    func read() throws {
        #expect(try Self.load("groups: []").mfaTokenLifetime == 900)
        #expect(try Self.load("mfa_token_lifetime: 10m").mfaTokenLifetime == 600)
    }

    @Test(
        "An MFA token lifetime that is out of range is rejected with its line and the allowed range",
        arguments: ["299", "61m", "999999999"])
    func refused(lifetime: String) throws {
        let error = try #require(throws: OrgFileError.self) { try Self.load("mfa_token_lifetime: \(lifetime)") }
        let problem = try #require(error.problems.first)
        #expect(error.problems.count == 1 && problem.line == 3 && problem.message.contains("300 to 3600 seconds"))
    }
}
