import AuthFoundation
import BrowserSignin
import CountersignSandbox
import Foundation
import OAuth2Auth
import TestSupport
import Testing

/// Tests a complete sign-in in a real browser: the app opens the browser, the user signs in on the hosted pages and approves on the phone,
/// and the browser returns to the app's port.
///
/// With `COUNTERSIGN_SCREENSHOTS`, the screenshots stay in that folder.
@Suite(
    "Browser sign-in in Chromium", .serialized, .timeLimit(.minutes(10)),
    .enabled(if: OutsidePart.chromium.isEnabled, Comment(rawValue: OutsidePart.chromium.missingNote)))
@MainActor
struct BrowserSignInTests {
    @Test("After a sign-in in Chromium, the browser returns to the app's loopback address, and the app receives tokens")
    func loopback() async throws {
        let sandbox = try await Sandbox.forTest()
        let phone = try await sandbox.phone(for: SandboxUser.jane.login)
        phone.autoApprove = true
        var settings = sandbox.configuration(.browser)
        settings.redirectUri = URL(string: "http://127.0.0.1/callback")
        settings.logoutRedirectUri = URL(string: "http://127.0.0.1/")
        let client = OAuth2Client(settings, clock: sandbox.clock)
        let folder = try Self.folder()
        let script = Locked<Task<ChildProcess.Ended, any Error>?>(nil)
        let signin = BrowserSignin(loginFlow: try AuthorizationCodeFlow(client: client), logoutFlow: SessionLogoutFlow(client: client)) {
            _, _, _ in
            SystemBrowserProvider(clock: client.clock) { page in
                // The script runs in its own task, because it continues after the redirect and checks the final page.
                let browser = Task {
                    try await ForeignProgram.run(
                        .chromium,
                        [
                            OutsidePart.scripts.appending(path: "browser_signin.py").path, page.absoluteString, SandboxUser.jane.login,
                            SandboxUser.jane.password ?? "", folder.path,
                        ],
                        input: "", environment: ["SE_OFFLINE": "true", "SE_AVOID_STATS": "true"])
                }
                script.withLock { $0 = browser }
                // If the browser failed, the error ends the wait for the redirect.
                if try await browser.value.status != 0 { throw CocoaError(.executableLoad) }
            }
        }
        do {
            let token = try await signin.signIn()
            #expect(token.idToken?.preferredUsername == SandboxUser.jane.login && token.refreshToken != nil)
            #expect(token.context.configuration.redirectUri?.absoluteString == "http://127.0.0.1/callback")
        } catch {
            Issue.record(error)
        }
        let ended = try await script.withLock { $0 }?.value
        #expect(ended?.status == 0, "\(ended?.errors ?? "no browser")")
        await sandbox.stop()
        if Self.kept == nil { try FileManager.default.removeItem(at: folder) }
    }

    private static let kept = ProcessInfo.processInfo.environment["COUNTERSIGN_SCREENSHOTS"]

    private static func folder() throws -> URL {
        let folder =
            kept.map { URL(filePath: $0, directoryHint: .isDirectory) }
            ?? FileManager.default.temporaryDirectory.appending(path: "countersign-browser-\(ProcessInfo.processInfo.globallyUniqueString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }
}
