import AuthFoundation
import CountersignSandbox
import Foundation
import JOSE
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Browser sign-in and sign-out by the command, with a browser that the test drives.
extension CommandTests {
    @Test("A browser at the shown address signs the command in", .timeLimit(.minutes(5)))
    func browserSignIn() async throws {
        try await withSandbox { sandbox in
            let folder = try TemporaryFolder()
            let command = try Self.startBrowserSignIn(sandbox, folder, "--json")
            let line = try await command.waitFor("}\n")
            let waiting = try JSONValue(parsing: line.trimmingCharacters(in: .newlines))
            #expect(waiting["status"] == "waiting")
            let page = try #require(waiting["url"]?.stringValue.flatMap { URL(string: $0) })
            let taken = try await Self.walk(page, in: sandbox)
            #expect(taken.contains("You can close this window."))

            let (status, text) = await command.end()
            #expect(status == 0, "\(text)")
            let credential = try JSONValue(parsing: String(try #require(text.split(separator: "\n").last)))
            #expect(credential["name"] == .string(SandboxUser.jane.login) && credential["client_id"] == "browser-app")

            let out = try await Command.run(["sign-out", "--keep-session", "--json"], environment: Self.vault(folder))
            #expect(out.status == 0, "\(out.errors)")
            let report = try JSONValue(parsing: out.output.trimmingCharacters(in: .newlines))
            #expect(report["session"] == "skipped" && report["tokens"] == "done" && report["id"] == credential["id"])
            let list = try await Command.run(["credential", "list", "--json"], environment: Self.vault(folder))
            #expect(!list.output.contains("browser-app"))
        }
    }

    @Test("Ctrl-C cancels a sign-in in the browser and closes the port", .timeLimit(.minutes(5)))
    func browserInterrupted() async throws {
        try await withSandbox { sandbox in
            let folder = try TemporaryFolder()
            let command = try Self.startBrowserSignIn(sandbox, folder)
            let text = try await command.waitFor("/authorize?")
            #expect(text.contains("Open this address in a browser on this machine"))
            command.interrupt()
            let (status, all) = await command.end()
            #expect(status == 130 && all.hasSuffix("countersign: Cancelled.\n"), "\(all)")
        }
    }

    @Test("A redirect URI that cannot be received is rejected with what to configure")
    func browserCustomScheme() async throws {
        let ended = try await Command.run([
            "sign-in", "browser", "--issuer", "http://127.0.0.1:9/oauth2/default", "--client-id", "browser-app",
            "--redirect-uri", "com.example.app:/callback", "--no-open",
        ])
        #expect(ended.status == 1 && ended.errors.contains("http://127.0.0.1/callback"), "\(ended.errors)")
    }

    private static func startBrowserSignIn(_ sandbox: Sandbox, _ folder: TemporaryFolder, _ more: String...) throws -> ChildProcess {
        try Command.start(
            ["sign-in", "browser", "--issuer", sandbox.issuer.absoluteString, "--client-id", "browser-app", "--no-open"] + more,
            environment: vault(folder))
    }

    private static func vault(_ folder: TemporaryFolder) -> [String: String] { ["COUNTERSIGN_VAULT": folder.path + "vault"] }

    /// Signs Jane in, and follows the redirects.
    ///
    /// - Returns: The final page.
    private static func walk(_ page: URL, in sandbox: Sandbox) async throws -> String {
        let browser = try await sandbox.browser(of: .jane)
        let target = try #require(URL(string: "http://127.0.0.1/callback"))
        let redirect = try await browser.open(authorizeUrl: page, redirectUri: target)
        let (body, _) = try await EphemeralSession.shared.data(for: URLRequest(url: redirect))
        return String(decoding: body, as: UTF8.self)
    }
}
