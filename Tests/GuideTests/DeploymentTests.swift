import Foundation
import TestSupport
import Testing

/// Tests the files that operators install.
@Suite("Deployment files", .enabled(if: OutsidePart.python.isEnabled, Comment(rawValue: OutsidePart.python.missingNote)))
struct DeploymentTests {
    @Test("The deployment files are valid, and name only settings, metrics and events that exist")
    func files() async throws {
        let requiresAll = ProcessInfo.processInfo.environment["COUNTERSIGN_REQUIRE_ALL"] == "1"
        let ended = try await ChildProcess.run(
            OutsidePart.python.executable,
            [OutsidePart.scripts.appending(path: "deploy_files.py").path, OutsidePart.root.path] + (requiresAll ? ["--require-all"] : []))
        #expect(ended.status == 0, "\(ended.output)\(ended.errors)")
    }
}
