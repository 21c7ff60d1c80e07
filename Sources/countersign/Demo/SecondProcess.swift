import Foundation
import JOSE

/// Runs this program a second time, to show what another process sees.
enum SecondProcess {
    /// The ids of the credentials in a vault.
    static func credentialIDs(vault: URL) async throws -> [String] {
        let output = try await run(["credential", "list", "--json", "--vault", vault.path()])
        let list = try JSONValue(parsing: output)
        return list["credentials"]?.arrayValue?.compactMap { $0["id"]?.stringValue } ?? []
    }

    private static func run(_ arguments: [String]) async throws -> [UInt8] {
        guard let executable = Bundle.main.executableURL else { throw CommandFailure("The path of this program is not known.") }
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        let output = URL.temporaryDirectory.appending(path: "countersign-\(ProcessInfo.processInfo.processIdentifier)-output.json")
        // A file and not a pipe: nothing has to read while the process runs.
        guard FileManager.default.createFile(atPath: output.path(), contents: nil, attributes: [.posixPermissions: 0o600]) else {
            throw CommandFailure("\(output.path()) can't be written.")
        }
        defer { try? FileManager.default.removeItem(at: output) }
        process.standardOutput = try FileHandle(forWritingTo: output)
        let status: Int32 = try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do {
                try process.run()
            } catch {
                process.terminationHandler = nil
                continuation.resume(throwing: error)
            }
        }
        guard status == 0 else { throw CommandFailure("`countersign \(arguments.joined(separator: " "))` ended with \(status).") }
        return Array(try Data(contentsOf: output))
    }
}
