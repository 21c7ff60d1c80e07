import AuthFoundation
import CountersignSandbox
import Foundation
import JOSE
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Tests the command's browser sign-in and sign-out, with a browser that the test controls.
extension CommandTests {
    @Test(
        "After a sign-in at the printed address, countersign sign-in browser stores a credential, and countersign sign-out removes the credential",
        .timeLimit(.minutes(5)))
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

    @Test("Ctrl-C cancels countersign sign-in browser with exit status 130", .timeLimit(.minutes(5)))
    func browserInterrupted() async throws {
        try await withSandbox { sandbox in
            let folder = try TemporaryFolder()
            let command = try Self.startBrowserSignIn(sandbox, folder)
            let text = try await command.waitFor("/authorize?")
            #expect(text.contains("Open this address in a browser on this machine"))
            command.interrupt()
            let (status, all) = await command.end()
            #expect(status == 130 && all.hasSuffix("countersign: Cancelled.\n"), "\(all)")
            // The command sent its address in the pushed authorization request.
            let callback = try #require(sandbox.requests.compactMap { $0.parameters["redirect_uri"] }.last.flatMap { URL(string: $0) })
            #expect(callback.host() == "127.0.0.1" && callback.port != nil)
            await #expect(throws: PlainHTTP.Failure.self) { try await PlainHTTP.data(for: URLRequest(url: callback)) }
        }
    }

    @Test("With a redirect URI that is not a loopback address, countersign sign-in browser fails and names a redirect URI to configure")
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

    /// Signs Jane in on the page, and follows the redirects.
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
