import ExampleTestSupport
import Foundation

/// The README of the examples, and the commands in it.
struct Readme {
    /// A block of code.
    struct Block {
        /// The info string of the fence, such as `sh`.
        let language: String
        /// The line number of the block's first line.
        let line: Int
        let lines: [String]
        var text: String { lines.map { $0 + "\n" }.joined() }
    }

    /// The folder of the package.
    static let examples = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    /// The `countersign` command, from the build folder of this test or of the package.
    static let command = Pane.programs.appending(path: "countersign")
    static let unshare = URL(filePath: "/usr/bin/unshare")
    /// The arguments for a separate network and process namespace. The ports of the README are free in it, no traffic leaves it, and no
    /// process remains.
    static let isolation = ["--user", "--map-root-user", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]

    /// Returns whether the test can run the commands of the README on this machine.
    @Sendable static func isEnabled() async -> Bool {
        #if os(Linux)
        if ProcessInfo.processInfo.environment["COUNTERSIGN_REQUIRE_ALL"] == "1" { return true }
        let parts = [unshare.path, "/usr/bin/curl", command.path].allSatisfy(FileManager.default.isExecutableFile(atPath:))
        return parts ? (try? await Program.run(unshare, isolation + ["true"]))?.status == 0 : false
        #else
        return false
        #endif
    }

    let blocks: [Block]

    init() throws {
        let text = try String(contentsOf: Self.examples.appending(path: "README.md"), encoding: .utf8)
        var blocks: [Block] = []
        var open: (language: String, line: Int, lines: [String])?
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if let block = open, line == "```" {
                blocks.append(Block(language: block.language, line: block.line, lines: block.lines))
                open = nil
            } else if open != nil {
                open?.lines.append(String(line))
            } else if line.hasPrefix("```") {
                open = (String(line.dropFirst(3)), index + 2, [])
            }
        }
        self.blocks = blocks
    }
}
