import ExampleTestSupport
import Foundation
import Testing

@Suite("README of the example apps")
struct ReadmeTests {
    /// The user's actions in each app, as scripts that run without a terminal.
    private static let visits = [
        "DirectAuthTerminal": """
        type jane.doe@example.com
        field Password
        type Correct-Horse-7
        press Sign In
        expect Approve the push
        expect Signed in
        """,
        "BrowserTerminal": "expect [ Sign In s ]",
        "PushAuthenticatorTerminal": "press Add Account\nexpect Password",
        "ClassicTerminal": """
        expect Forgot password
        type john.roe@example.com
        field Password
        type Battery-Staple-9
        press Sign In
        expect Signed in as john.roe@example.com
        press Sign Out
        expect Forgot password
        """,
        // The prefix is the name of the organization's file.
        "two-factors-ClassicTerminal": """
        expect Forgot password
        type john.roe@example.com
        field Password
        type Battery-Staple-9
        press Sign In
        expect Set up another way to sign in.
        """,
    ]

    @Test(
        "The commands in the README of the example apps run unchanged",
        .enabled(
            "The page's commands are run on Linux, with unshare (and leave to use it), ip and curl, after the package's own tests",
            Readme.isEnabled),
        .timeLimit(.minutes(5)))
    func commands() async throws {
        let readme = try Readme()
        let folder = URL.temporaryDirectory.appending(path: "readme-\(UUID().uuidString)", directoryHint: .isDirectory)
        for each in ["bin", "scripts", "data", "work"] {
            try FileManager.default.createDirectory(at: folder.appending(path: each), withIntermediateDirectories: true)
        }
        defer { try? FileManager.default.removeItem(at: folder) }
        let script = try #require(readme.blocks.first { $0.lines.first?.hasPrefix("# ") == true && $0.language.isEmpty }).text
        for (program, visit) in Self.visits.merging(["PasswordTerminal": script], uniquingKeysWith: { $1 }) {
            // The timeout allows for a busy machine.
            try Data("within 60\n\(visit)".utf8).write(to: folder.appending(path: "scripts/\(program).txt"))
        }
        try FileManager.default.createSymbolicLink(at: folder.appending(path: "work/Examples"), withDestinationURL: Readme.examples)
        let swift = folder.appending(path: "bin/swift")
        try Data(Self.swiftRun.utf8).write(to: swift)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: swift.path)
        let file = folder.appending(path: "readme.sh")
        try Data(try shell(readme).utf8).write(to: file)
        let (status, text) = try await Program.run(
            Readme.unshare,
            Readme.isolation + ["env", "GUIDE=\(folder.path)", "PROGRAMS=\(Pane.programs.path)", "bash", file.path])
        #expect(status == 0, "\(text)")
    }

    @Test(
        "The Swift code in the README of the example apps has no syntax errors",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/env")))
    func code() async throws {
        let folder = URL.temporaryDirectory.appending(path: "readme-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let blocks = try Readme().blocks.filter { $0.language == "swift" }
        #expect(!blocks.isEmpty)
        for block in blocks {
            let file = folder.appending(path: "main.swift")
            try Data(block.text.utf8).write(to: file)
            let (status, text) = try await Program.run(URL(filePath: "/usr/bin/env"), ["swiftc", "-frontend", "-parse", file.path])
            #expect(status == 0, "README.md:\(block.line): \(text)")
        }
    }

    /// Returns a shell script with the commands of the README. A phone is ready before the app that needs it, and approves while the app
    /// waits.
    private func shell(_ readme: Readme) throws -> String {
        var sandbox: [String] = []
        var phones: [String] = []
        var apps: [String] = []
        var waiting: [String] = []
        var approvals: [String] = []
        var script = [
            "set -euo pipefail", "shopt -s expand_aliases", "unset ${!COUNTERSIGN_@} BROWSER LC_ALL", "export LANG=C.UTF-8",
            "export PATH=\"$GUIDE/bin:$PATH\" HOME=\"$GUIDE/work\" XDG_DATA_HOME=\"$GUIDE/data\"", "ip link set lo up",
            "cd \"$GUIDE/work\"", "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT",
            // Waits for a text in a file, with a timeout.
            "seen() { for _ in {1..600}; do grep -qs -- \"$1\" \"$2\" && return; sleep 0.1; done; cat \"$2\"; return 1; }",
        ]
        func endScenario() {
            guard !sandbox.isEmpty else { return }
            #expect(waiting.count == approvals.count, "Each sign-in that waits is approved.")
            script += [": >sandbox.out", "\(sandbox[0]) >sandbox.out 2>&1 & sandbox=$!", "seen 'Press Ctrl-C' sandbox.out"]
            // The script of an app depends on the organization.
            script.append("export VISIT=\(sandbox[0].firstMatch(of: /([^ \/]+)\.yaml/).map { "\($0.1)-" } ?? "")")
            #expect(!apps.isEmpty, "No app uses “\(sandbox[0])”.")
            script += phones + apps
            for (app, approval) in zip(waiting, approvals) {
                script += [": >app.out", "\(app) >app.out 2>&1 & app=$!", "seen 'Approve the push' app.out", approval]
                script += ["wait $app || { cat app.out; exit 1; }"]
            }
            // The stored data of the apps belongs to this sandbox.
            script += ["kill $sandbox; wait $sandbox || true", "rm -rf \"$GUIDE/data\"; mkdir \"$GUIDE/data\""]
            (sandbox, phones, apps, waiting, approvals) = ([], [], [], [], [])
        }
        for block in readme.blocks where block.language == "sh" {
            for (offset, line) in block.lines.enumerated() where !line.isEmpty {
                let command = String(line.prefix { $0 != "#" })
                switch command {
                case _ where command.contains("countersign sandbox"):
                    endScenario()
                    sandbox = [command]
                case _ where command.hasPrefix("alias "): script.append(command)
                case _ where command.contains("DirectAuthTerminal"): waiting.append(command)
                case _ where command.hasPrefix("example "): apps.append("echo '--- \(command)'\n\(command)")
                case _ where command.contains("/approve"): approvals.append(command)
                case _ where command.hasPrefix("curl "): phones.append(command)
                default: Issue.record("README.md:\(block.line + offset): no test runs “\(line)”.")
                }
            }
            try #require(!sandbox.isEmpty, "Nothing runs before a sandbox does.")
        }
        endScenario()
        return script.joined(separator: "\n") + "\n"
    }

    /// A shell script that replaces `swift run` and runs the built product. An app gets the script with the user's actions.
    private static let swiftRun = """
        #!/usr/bin/env bash
        set -euo pipefail
        [ "$1" = run ]; shift
        if [ "$1" != --package-path ]; then exec "$PROGRAMS/$1" "${@:2}"; fi
        [ "$1 $2 $3 $4" = '--package-path Examples --scratch-path .build' ] && [ -d "$2" ]
        program=$5; shift 5
        exec "$PROGRAMS/$program" "$@" --script "$GUIDE/scripts/$VISIT$program.txt"

        """
}
