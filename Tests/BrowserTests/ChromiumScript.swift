import CountersignSandbox
import Foundation
import TestSupport
import Testing

/// A script in Tests/Interop that uses a sandbox's pages with Chromium. If `COUNTERSIGN_SCREENSHOTS` names a folder, the screenshots stay
/// there.
struct ChromiumScript {
    private let name: String

    init(_ name: String) { self.name = name }

    /// Runs a scenario of the script, and checks that it succeeds.
    func run(_ scenario: String, at sandbox: Sandbox, environment: [String: String] = [:]) async throws {
        let folder = try BrowserScreenshots()
        let result = try await ForeignProgram.run(
            .chromium, [OutsidePart.scripts.appending(path: name).path, scenario, sandbox.origin.absoluteString, folder.url.path],
            input: "",
            environment: environment.merging(["SE_OFFLINE": "true", "SE_AVOID_STATS": "true"]) { $1 })
        #expect(result.status == 0, "\(result.errors)")
        folder.close()
    }
}
