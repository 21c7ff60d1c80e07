import AuthorizationServer
import Foundation
import TestSupport
import Testing

@Suite("Section breached_passwords of the org file")
struct BreachedPasswordsSectionTests {
    private static func yaml(_ section: String) -> String {
        """
        name: Example
        origin: https://id.example.com
        breached_passwords:
          \(section)
        """
    }

    @Test("The URL and the timeout of the breach list endpoint are read from the org file, and have defaults if the section is missing")
    func read() throws {
        let file = try OrgFile.load(yaml: Self.yaml("{range_url: \"https://range.example.com/range\", timeout: 5s}"))
        #expect(file.breachedPasswords == BreachedPasswordSettings(rangeURL: "https://range.example.com/range", timeout: 5))
        let without = try OrgFile.load(yaml: "name: Example\norigin: https://id.example.com\n")
        #expect(without.breachedPasswords == BreachedPasswordSettings())
    }

    @Test("A relative path of a breach list file is resolved against the org file's folder, and a missing file is rejected")
    func folder() throws {
        let folder = TemporaryFolder()
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        try Data(String(repeating: "A", count: 40).utf8).write(to: folder.url.appending(path: "list.txt"))
        let path = folder.url.appending(path: "org.yaml")
        try Data(Self.yaml("file: list.txt").utf8).write(to: path)
        let file = try OrgFile.load(path: path.path)
        #expect(file.breachedPasswords.file?.hasSuffix("/list.txt") == true)
        #expect(throws: OrgFileError.self) { try OrgFile.load(yaml: Self.yaml("file: list-that-is-nowhere.txt")) }
    }

    @Test(
        "An invalid breached_passwords section of the org file is rejected with its line and a correction",
        arguments: [
            ("{}", "names no list"), ("range_url: http://example.com/range", "https address"),
            ("{range_url: \"https://range.example.com\", timeout: 11s}", "1 to 10 seconds"),
            ("{range_url: \"https://range.example.com\", time_out: 2s}", "Did you mean timeout?"),
        ])
    func refused(section: String, advice: String) throws {
        let error = try #require(throws: OrgFileError.self) { try OrgFile.load(yaml: Self.yaml(section)) }
        let problem = try #require(error.problems.first)
        #expect(error.problems.count == 1 && (3...4).contains(problem.line) && problem.message.contains(advice), "\(error)")
    }
}
