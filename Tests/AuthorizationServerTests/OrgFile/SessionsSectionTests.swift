import AuthorizationServer
import IdentityCore
import Testing

@Suite("Sessions and consent in the org file")
struct SessionsSectionTests {
    private static func load(_ sessions: String, consent: String) throws -> OrganizationDefinition {
        try OrgFile.load(
            yaml: """
                name: Test
                origin: https://id.test
                sign_on_policies:
                  - name: easy
                    rules:
                      - name: Everybody
                sessions:
                  \(sessions)
                applications:
                  - id: app
                    grant_types: [authorization_code]
                    redirect_uris: ["https://app.example.com/callback"]
                    sign_on_policy: easy
                    \(consent)

                """
        ).organization
    }

    @Test("Session lifetimes, consent and silent sign-in are read from the org file, and have defaults")
    func read() throws {
        let organization = try Self.load("idle_lifetime: 30m", consent: "consent: required")
        #expect(organization.sessions == SessionPolicy(idleLifetime: 1_800, lifetime: 86_400))
        #expect(organization.applications.first?.consent == .required)
        let defaults = try Self.load("lifetime: 8h", consent: "active: true")
        #expect(defaults.sessions == SessionPolicy(idleLifetime: 7_200, lifetime: 28_800))
        #expect(defaults.applications.first?.consent == Application.Consent.none)
        #expect(defaults.applications.first?.silentSignIn == .assured)
        let trusting = try Self.load("lifetime: 8h", consent: "silent_sign_in: always")
        #expect(trusting.applications.first?.silentSignIn == .always)
    }

    @Test(
        "An invalid session or consent setting is rejected with its line and a correction",
        arguments: [
            ("idle_lifetime: 5s", "active: true", 8, "60 to 31536000 seconds"),
            ("life_time: 1d", "active: true", 8, "Did you mean lifetime?"),
            ("lifetime: 1d", "consent: requird", 14, "Did you mean “required”?"),
            ("lifetime: 1d", "silent_sign_in: allways", 14, "Did you mean “always”?"),
        ])
    func refused(sessions: String, consent: String, line: Int, fix: String) throws {
        let error = try #require(throws: OrgFileError.self) { try Self.load(sessions, consent: consent) }
        let problem = try #require(error.problems.first)
        #expect(error.problems.count == 1)
        #expect(problem.line == line)
        #expect(problem.message.contains(fix))
    }
}
