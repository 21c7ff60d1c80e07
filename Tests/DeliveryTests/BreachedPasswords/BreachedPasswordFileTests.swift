import Crypto
import Delivery
import Foundation
import TestSupport
import Testing

@Suite("File of breached passwords")
struct BreachedPasswordFileTests {
    static func digest(_ password: String) -> String {
        Insecure.SHA1.hash(data: Data(password.utf8)).map { String(format: "%02X", $0) }.joined()
    }

    /// Returns the sorted lines of a file with the first digits of the passwords' digests, by default with a count.
    static func lines(_ passwords: [String], digits: Int = 40, count: Bool = true) -> [String] {
        passwords.map { String(digest($0).prefix(digits)) }.sorted().enumerated().map { count ? "\($1):\($0 * 37 + 1)" : $1 }
    }

    private static func check(_ text: String, logs: RecordedLogs = RecordedLogs()) throws -> (BreachedPasswordCheck, TemporaryFolder) {
        let folder = TemporaryFolder()
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let path = folder.url.appending(path: "breached.txt")
        try Data(text.utf8).write(to: path)
        return (try BreachedPasswordCheck(file: BreachedPasswordFile(path: path.path), rangeURL: nil, logger: logs.logger), folder)
    }

    private static func contains(_ check: BreachedPasswordCheck, _ password: String) async -> Bool {
        await check.contains(sha1: Array(Insecure.SHA1.hash(data: Data(password.utf8))))
    }

    @Test(
        "The breach check finds every password of the list, and no other password, for each digest length and line ending",
        arguments: [10, 17, 39, 40], ["\n", "\r\n"])
    func found(digits: Int, end: String) async throws {
        let breached = (0..<500).map { "password\($0)" }
        for (isCounted, isEnded) in [(true, true), (false, false)] {
            let text = Self.lines(breached, digits: digits, count: isCounted).joined(separator: end) + (isEnded ? end : "")
            let (check, folder) = try Self.check(isCounted ? text : text.lowercased())
            for password in breached { #expect(await Self.contains(check, password), "\(password)") }
            for number in 0..<500 { #expect(await Self.contains(check, "another\(number)") == false) }
            withExtendedLifetime(folder) {}
        }
    }

    @Test("The breach check finds every password of a list with one, two or three lines", arguments: [1, 2, 3])
    func short(count: Int) async throws {
        let breached = (0..<count).map { "password\($0)" }
        let (check, folder) = try Self.check(Self.lines(breached).joined(separator: "\n"))
        for password in breached { #expect(await Self.contains(check, password)) }
        for number in 0..<100 { #expect(await Self.contains(check, "another\(number)") == false) }
        withExtendedLifetime(folder) {}
    }

    @Test(
        "A breach list that is not a sorted list of SHA-1 digests is rejected with an error that names the fix",
        arguments: [
            ("", "no file of hexadecimal digests"), ("password\n", "no file of hexadecimal digests"),
            ("5BAA6\n", "10 to 40 digits"), (String(repeating: "A", count: 32) + ":3\n", "Use the list of SHA-1 digests"),
            (String(repeating: "B", count: 40) + "\n" + String(repeating: "A", count: 40) + "\n", "LC_ALL=C sort"),
            (String(repeating: "B", count: 40) + "\n" + String(repeating: "C", count: 39) + "\n", "LC_ALL=C sort"),
        ])
    func refused(text: String, advice: String) throws {
        let error = try #require(throws: BreachedPasswordError.self) { try Self.check(text) }
        #expect(error.message.contains(advice), "\(error.message)")
    }

    @Test("A breach list file that is missing or is a folder is rejected")
    func missing() throws {
        let folder = TemporaryFolder()
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        for path in [folder.url.path, folder.url.appending(path: "none").path] {
            #expect(throws: BreachedPasswordError.self) { try BreachedPasswordFile(path: path) }
        }
    }

    @Test("If a breach list is damaged in the middle, a lookup returns a result, and the log reports the damage without a digest")
    func damaged() async throws {
        let good = Self.lines((0..<100).map { "password\($0)" })
        let logs = RecordedLogs()
        let text =
            good.prefix(50).joined(separator: "\n") + "\n" + String(repeating: "x", count: 4_000) + "\n"
            + good.suffix(50).joined(separator: "\n")
        let (check, folder) = try Self.check(text, logs: logs)
        // Each search begins in the middle.
        for number in 0..<100 {
            #expect(await !Self.contains(check, "password\(number)"))
            let reports = logs.lines.count { $0.hasPrefix("warning") && $0.contains("was not compared") && $0.contains("damaged") }
            #expect(reports == number + 1)
        }
        for number in 0..<100 {
            let digest = Self.digest("password\(number)").prefix(10).lowercased()
            #expect(!logs.lines.contains { $0.lowercased().contains(digest) })
        }
        withExtendedLifetime(folder) {}
    }
}
