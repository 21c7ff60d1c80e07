import CountersignSandbox
import Foundation
import TestSupport
import Testing

/// The page in a real browser. With `COUNTERSIGN_SCREENSHOTS` the screenshots are kept in that folder, to be looked at.
@Suite(
    "The front page in Chromium", .serialized, .timeLimit(.minutes(5)),
    .enabled(if: OutsidePart.chromium.isEnabled, Comment(rawValue: OutsidePart.chromium.missingNote)))
struct FrontPageBrowserTests {
    @Test("The front page is accessible, fits windows from 320 px on, is light and dark, and needs no script.")
    func looks() async throws {
        let sandbox = try await Sandbox.start(.init(host: "localhost", messagesPort: 0, phonePort: 0))
        try await ChromiumScript("front_page.py").run("front", at: sandbox)
        await sandbox.stop()
    }
}
