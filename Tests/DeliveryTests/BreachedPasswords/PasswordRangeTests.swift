import Crypto
import Delivery
import Foundation
import TestSupport
import Testing

@Suite("Range endpoint for breached passwords", .timeLimit(.minutes(2)))
struct PasswordRangeTests {
    private static let digest = BreachedPasswordFileTests.digest("password1")
    private static var prefix: String { String(digest.prefix(5)) }
    private static var suffix: String { String(digest.dropFirst(5)) }

    /// Returns a response like that of Have I Been Pwned: lines of suffixes and counts.
    private static func answer(_ lines: [String]) -> String {
        let body = lines.joined(separator: "\r\n")
        return "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)"
    }

    private static let padding = (0..<800).map { String(format: "%035X:0", $0) }

    private func ask(
        _ answers: [String], path: String = "/range", timing: PushTiming = .system, logs: RecordedLogs = RecordedLogs()
    ) async throws -> (Bool, [PlainListener.Request]) {
        let double = try PlainListener(answering: answers)
        defer { double.close() }
        let check = try BreachedPasswordCheck(
            file: nil, rangeURL: "http://127.0.0.1:\(double.port)\(path)", timeout: .seconds(60), timing: timing, logger: logs.logger)
        let found = await check.contains(sha1: Array(Insecure.SHA1.hash(data: Data("password1".utf8))))
        return (found, double.received)
    }

    @Test(
        "The range endpoint gets only the first five digits of the password's digest, and the request asks for padding",
        arguments: ["/range", "/range/"])
    func request(path: String) async throws {
        let (found, requests) = try await ask([Self.answer(Self.padding + ["\(Self.suffix):3"])], path: path)
        #expect(found)
        let request = try #require(requests.first)
        #expect(requests.count == 1)
        #expect(request.head.hasPrefix("GET /range/\(Self.prefix) HTTP/1.1\r\n"))
        #expect(request.head.lowercased().contains("\r\nadd-padding: true\r\n"))
        #expect(request.head.lowercased().contains("\r\nuser-agent: countersign"))
        #expect(!request.text.uppercased().contains(Self.suffix.prefix(6)) && request.body.isEmpty)
    }

    @Test("A password is breached if the range response lists its digest suffix, in upper or lower case, with a count above zero")
    func lines() async throws {
        for (line, isBreached) in [
            ("\(Self.suffix):1", true), ("\(Self.suffix.lowercased()):10", true), ("\(Self.suffix):0", false), ("\(Self.suffix)", false),
            ("\(Self.suffix)0:5", false), (":5", false), ("", false),
        ] {
            #expect(try await ask([Self.answer([Self.padding[0], line, Self.padding[1]])]).0 == isBreached, "\(line)")
        }
    }

    @Test(
        "If the range endpoint fails, the password is accepted, and the log reports the failure without digits of the digest",
        arguments: [
            "", "nonsense\r\n\r\n", PlainListener.answer(500), PlainListener.answer(404), PlainListener.answer(429),
            PlainListener.answer(302, fields: "Location: http://127.0.0.1:9/range\r\n"),
        ])
    func failing(answer: String) async throws {
        let logs = RecordedLogs()
        #expect(try await ask([answer], logs: logs).0 == false)
        let lines = logs.lines.filter { $0.hasPrefix("warning") }
        #expect(lines.count == 1 && lines[0].contains("was not compared with breached ones"), "\(lines)")
        #expect(!logs.lines.contains { $0.uppercased().contains(Self.prefix) })
    }

    @Test("A range response of more than 1 MiB is discarded, and the log reports that the password was not compared")
    func large() async throws {
        let logs = RecordedLogs()
        let lines = (0..<40_000).map { String(format: "%035X:0", $0) } + ["\(Self.suffix):3"]
        #expect(try await ask([Self.answer(lines)], logs: logs).0 == false)
        #expect(logs.lines.contains { $0.contains("was not compared") })
    }

    @Test("If the range endpoint times out, the password is accepted")
    func slow() async throws {
        let logs = RecordedLogs()
        // The endpoint of the test never completes its response, and the timeout elapses at once.
        let double = try PlainListener(answering: ["HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"])
        defer { double.close() }
        let check = try BreachedPasswordCheck(
            file: nil, rangeURL: "http://127.0.0.1:\(double.port)", timeout: .seconds(60),
            timing: PushTiming(now: { Date() }, sleep: { _ in }, jitter: { 1 }), logger: logs.logger)
        #expect(await check.contains(sha1: [UInt8](repeating: 7, count: 20)) == false)
        #expect(logs.lines.contains { $0.contains("was not compared") })
    }

    @Test("After three failures in a row, the range endpoint is not requested for a minute, and is then requested once")
    func pausing() async throws {
        let (logs, clock) = (RecordedLogs(), ManualClock())
        let known = Self.answer(["\(Self.suffix):3"])
        let double = try PlainListener(
            answering: [PlainListener.answer(503), known] + [String](repeating: PlainListener.answer(503), count: 6))
        defer { double.close() }
        let check = try BreachedPasswordCheck(
            file: nil, rangeURL: "http://127.0.0.1:\(double.port)", timeout: .seconds(60),
            timing: PushTiming(now: { clock.now }, sleep: { try await Task.sleep(for: $0) }), logger: logs.logger)
        func ask(_ count: Int) async -> [Bool] {
            var found: [Bool] = []
            for _ in 0..<count { found.append(await check.contains(sha1: Array(Insecure.SHA1.hash(data: Data("password1".utf8))))) }
            return found
        }
        // A response resets the count of failures.
        #expect(await ask(4) == [false, true, false, false] && double.received.count == 4)
        #expect(await ask(10).contains(true) == false && double.received.count == 5)
        clock.advance(by: 59)
        #expect(await ask(10).contains(true) == false && double.received.count == 5)
        clock.advance(by: 2)
        #expect(await ask(10).contains(true) == false && double.received.count == 6)
        let lines = logs.lines.filter { $0.hasPrefix("warning") }
        #expect(lines.filter { $0.contains("is not asked for 60 seconds") }.count == 2, "\(lines)")
        #expect(lines.count == 7, "\(lines)")
    }

    @Test(
        "A range endpoint URL that is invalid, or uses http for a remote host, is rejected",
        arguments: ["http://example.com/range", "ftp://127.0.0.1/", "https://user@example.com/", "https://example.com/?a=b", "range", ""])
    func address(url: String) {
        #expect(throws: BreachedPasswordError.self) {
            try BreachedPasswordCheck(file: nil, rangeURL: url, logger: RecordedLogs().logger)
        }
    }
}
