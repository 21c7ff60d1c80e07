import AuthorizationServer
import IdentityCore
import Testing

@Suite("Section system_log of the org file")
struct SystemLogSectionTests {
    private static func load(_ line: String) throws -> OrganizationDefinition {
        try OrgFile.load(
            yaml: """
                name: Example
                origin: https://id.example.com
                \(line)
                """
        ).organization
    }

    @Test("The retention time of the system log is read, and is 90 days without the setting")
    func read() throws {
        #expect(try Self.load("groups: []").systemLog.retentionDays == 90)
        #expect(try Self.load("system_log: {}").systemLog.retentionDays == 90)
        for days in [1, 30, 3_650] { #expect(try Self.load("system_log: {retention_days: \(days)}").systemLog.retentionDays == days) }
    }

    @Test(
        "A retention time out of range and an unknown key are rejected with their line and the correction",
        arguments: [
            ("retention_days: 0", "1 to 3650 days"), ("retention_days: 3651", "1 to 3650 days"), ("retention: 30", "retention_days"),
        ])
    func refused(setting: String, fix: String) throws {
        let error = try #require(throws: OrgFileError.self) { try Self.load("system_log: {\(setting)}") }
        let problem = try #require(error.problems.first)
        #expect(error.problems.count == 1 && problem.line == 3 && problem.message.contains(fix), "\(error)")
    }
}
