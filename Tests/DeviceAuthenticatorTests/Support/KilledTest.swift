#if os(Linux)
import Foundation

/// A test of this bundle, run once more in a process of its own that is killed.
enum KilledTest {
    /// Kills the process at once when it has written so many lines that begin so.
    ///
    /// - Returns: Those lines, also the ones written while it was being killed.
    static func lines(
        of test: String, variables: [String: String], beginning prefix: String, killingAfter count: Int
    ) async throws -> [String] {
        let process = Process()
        let output = Pipe()
        // Resolved here: in the child the link means the child.
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["--testing-library", "swift-testing", "--filter", test]
        process.environment = ProcessInfo.processInfo.environment.merging(variables) { _, new in new }
        process.standardOutput = output
        process.standardError = output
        try process.run()
        return await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                var text = Data()
                var lines: [String] {
                    String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init).filter { $0.hasPrefix(prefix) }
                }
                while lines.count < count {
                    let data = output.fileHandleForReading.availableData
                    if data.isEmpty { break }
                    text += data
                }
                kill(process.processIdentifier, SIGKILL)
                text += output.fileHandleForReading.readDataToEndOfFile()
                process.waitUntilExit()
                continuation.resume(returning: lines)
            }
        }
    }
}
#endif
