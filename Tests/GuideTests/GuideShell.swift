import Foundation
import TestSupport

/// A script of all shell blocks of a guide, which runs in its own folder and network namespace.
///
/// The namespace has only a loopback interface. The script can use the ports that the guide names, and cannot reach other hosts. All
/// processes of the script end together with the script.
struct GuideShell {
    /// The result of a run.
    struct Run {
        let status: Int32
        /// The output of the whole script, for the message of a failed test.
        let log: String
        /// The output of each block, by its line number.
        let outputs: [Int: String]
    }

    private let guide: Guide
    private let folder: URL
    private let built: BuiltModules

    init(_ guide: Guide, in folder: URL, with built: BuiltModules) {
        (self.guide, self.folder, self.built) = (guide, folder, built)
    }

    /// Whether the guides can run on this system. They need a network namespace, which some containers do not allow.
    @Sendable static func isEnabled() async -> Bool {
        #if os(Linux)
        if ProcessInfo.processInfo.environment["COUNTERSIGN_REQUIRE_ALL"] == "1" { return true }
        let parts = ["/usr/bin/unshare", "/usr/bin/curl"].allSatisfy(FileManager.default.isExecutableFile(atPath:))
        return parts ? (try? await ChildProcess.run(URL(filePath: "/usr/bin/unshare"), isolation + ["true"]))?.status == 0 : false
        #else
        return false
        #endif
    }

    private static let isolation = ["--user", "--map-root-user", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]

    /// Whether the guide has no block to run.
    var isEmpty: Bool { runnable.isEmpty }

    /// The shell blocks that run on this machine.
    var runnable: [GuideBlock] {
        guide.blocks.filter { block in
            if case .notRun = block.role { return false }
            return block.language == "shell" && (LocalPostgreSQL.isThere || !LocalPostgreSQL.isUsed(by: block))
        }
    }

    /// Writes the files of the guide and runs its shell blocks.
    func run() async throws -> Run {
        let work = folder.appending(path: "work", directoryHint: .isDirectory)
        let logs = folder.appending(path: "logs", directoryHint: .isDirectory)
        let programs = folder.appending(path: "bin", directoryHint: .isDirectory)
        for each in [work, logs, programs] {
            try FileManager.default.createDirectory(at: each, withIntermediateDirectories: true)
        }
        try FileManager.default.createSymbolicLink(at: programs.appending(path: "countersign"), withDestinationURL: built.command)
        try writeSwiftRun(to: programs.appending(path: "swift"))
        let database = runnable.contains(where: LocalPostgreSQL.isUsed) ? try await LocalPostgreSQL.prepared() : []
        try Data(script(after: database).utf8).write(to: folder.appending(path: "guide.sh"))
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let ended = try await ChildProcess.run(
            URL(filePath: "/usr/bin/unshare"), Self.isolation + ["bash", folder.appending(path: "guide.sh").path()],
            environment: [
                "PATH": "\(programs.path()):\(path)", "HOME": work.path(), "GUIDE": folder.path(),
            ])
        var outputs: [Int: String] = [:]
        for block in runnable {
            outputs[block.line] = try? String(contentsOf: logs.appending(path: "\(block.line).out"), encoding: .utf8)
        }
        let written = outputs.sorted { $0.key < $1.key }.map { "line \($0.key):\n\($0.value)" }.joined()
        return Run(status: ended.status, log: ended.errors + written, outputs: outputs)
    }

    /// Returns the script with all blocks in order. Each block writes its output to a file.
    ///
    /// - Parameter database: The lines that make the database reachable.
    private func script(after database: [String]) -> String {
        let runnable = Set(runnable.map(\.line))
        var lines =
            [
                "set -euo pipefail", "unset ${!COUNTERSIGN_@} BROWSER", "export XDG_DATA_HOME=\"$GUIDE/data\"", "ip link set lo up",
                "cd \"$GUIDE/work\"",
                "trap 'kill $(jobs -p) 2>/dev/null || true; wait' EXIT",
            ] + database
        for (index, block) in guide.blocks.enumerated() {
            if case .file(let path) = block.role {
                let end = "END_OF_BLOCK_\(index)"
                lines.append("mkdir -p \"$(dirname '\(path)')\"; cat >'\(path)' <<'\(end)'\n\(block.text)\(end)")
            }
            guard runnable.contains(block.line) else { continue }
            let output = "\"$GUIDE/logs/\(block.line).out\""
            switch block.role {
            case .notRun, .file: continue
            case .background(let text):
                lines.append("echo '--- \(block.place), in the background' >&2")
                lines.append(": >\(output)\n{ \(block.text)} >>\(output) 2>&1 &")
                // `tail` ends with the process of the block, not with this script.
                lines.append(
                    "timeout 60 grep -q -m1 -- '\(text)' <(tail -f -n +1 --pid=$! \(output)) || { cat \(output) >&2; exit 1; }")
            default:
                lines.append("echo '--- \(block.place)' >&2")
                // Not in a subshell, because later blocks use the variables and the folder of earlier blocks.
                lines.append("exec 3>&1 4>&2 >\(output) 2>&1\n\(block.text)exec >&3 2>&4 3>&- 4>&-")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Writes a replacement of `swift run`. It compiles a guide's package against the built modules instead of building them again.
    private func writeSwiftRun(to file: URL) throws {
        let quoted = { (words: [String]) in words.map { "'\($0)'" }.joined(separator: " ") }
        let program = """
            #!/usr/bin/env bash
            set -euo pipefail
            [ "$*" = run ] || { echo "The test of the guides knows 'swift run' only." >&2; exit 64; }
            \(quoted(["\(GuideSources.toolchain)/bin/swiftc", "-swift-version", "6"] + built.arguments)) \\
                Sources/*/*.swift -o "$GUIDE/program" -lstdc++ \(quoted(built.clientObjects.map(\.path)))
            exec "$GUIDE/program"

            """
        try Data(program.utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path())
    }
}
