import CountersignSandbox
import Foundation
import JOSE
import TestSupport
import Testing

/// Tests the command's device sign-in (RFC 8628), with a browser that the test controls.
extension CommandTests {
    @Test("countersign sign-in device stores a credential after the user allows the device in a browser", .timeLimit(.minutes(5)))
    func deviceSignIn() async throws {
        try await withSandbox { sandbox in
            let folder = try TemporaryFolder()
            let command = try Self.startDeviceSignIn(sandbox, folder, "--json")
            let waiting = try JSONValue(parsing: try await command.waitFor("}\n").trimmingCharacters(in: .newlines))
            #expect(waiting["status"] == "waiting" && waiting["expires_in"] == 600)
            #expect(waiting["verification_uri"] == .string(sandbox.origin.absoluteString + "/activate"))
            let code = try #require(waiting["user_code"]?.stringValue)
            let page = try #require(waiting["verification_uri_complete"]?.stringValue)
            #expect(page == sandbox.origin.absoluteString + "/activate?user_code=\(code)")
            let last = try await Self.connect(page, in: sandbox)
            #expect(last.title.contains("Device connected"), "\(last.text)")

            let (status, text) = await command.end()
            #expect(status == 0, "\(text)")
            let credential = try JSONValue(parsing: String(try #require(text.split(separator: "\n").last)))
            #expect(credential["name"] == .string(SandboxUser.jane.login) && credential["can_refresh"] == true)
            let list = try await Command.run(["credential", "list"], environment: ["COUNTERSIGN_VAULT": folder.path + "vault"])
            #expect(list.output.contains(try #require(credential["id"]?.stringValue)))
        }
    }

    @Test(
        "The QR code of countersign sign-in device contains the address with the user code, and is readable on light and dark terminals",
        .timeLimit(.minutes(5)),
        .enabled(if: OutsidePart.zbar.isEnabled, Comment(rawValue: OutsidePart.zbar.missingNote)), arguments: ["auto", "dark", "light"])
    func deviceQRCode(drawing: String) async throws {
        try await withSandbox { sandbox in
            let folder = try TemporaryFolder()
            let command = try Self.startDeviceSignIn(sandbox, folder, "--qr", drawing, on: .terminal)
            let text = try await command.waitFor("Waiting until you have signed in there")
            let drawn = text.split(whereSeparator: \.isNewline).filter { $0.contains("█") || $0.contains("▀") || $0.contains("▄") }
            #expect(drawn.allSatisfy { $0.contains("\u{1B}[38;5;231;48;5;16m") == (drawing == "auto") })
            let read = try await Picture.read([Picture(terminal: drawn.joined(separator: "\n"), inkIsDark: drawing == "light")])
            #expect(read.count == 1 && read.first?.hasPrefix(sandbox.origin.absoluteString + "/activate?user_code=") == true, "\(text)")
            _ = try await Self.connect(try #require(read.first), in: sandbox)
            let (status, all) = await command.end()
            #expect(status == 0 && all.contains("Signed in as jane.doe@example.com; credential "), "\(all)")
        }
    }

    @Test(
        "Without a wide terminal, or with --qr never, countersign sign-in device prints an address instead of a QR code",
        .timeLimit(.minutes(5)))
    func deviceWithoutQRCode() async throws {
        try await withSandbox { sandbox in
            let folder = try TemporaryFolder()
            let narrow = ["COLUMNS": "30"]
            for command in [
                try Self.startDeviceSignIn(sandbox, folder), try Self.startDeviceSignIn(sandbox, folder, on: .terminal, narrow),
                try Self.startDeviceSignIn(sandbox, folder, "--qr", "never", on: .terminal),
            ] {
                let text = try await command.waitFor("Waiting until you have signed in there")
                // A narrow terminal breaks lines at spaces, so the words are compared.
                let words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
                #expect(words.contains("Open this address in any browser, on your phone for example:"))
                #expect(text.contains("    \(sandbox.origin.absoluteString)/activate"))
                let code = try #require(words.firstMatch(of: /must show this one: (\S+)/)?.1.replacing(/\u{1B}\[[0-9;]*m/, with: ""))
                #expect(code.wholeMatch(of: /[BCDFGHJKLMNPQRSTVWXZ]{8}/) != nil, "\(code)")
                let entered = try await sandbox.send("GET", "/activate?user_code=\(code)")
                #expect(entered.text.contains("value=\"\(code)\""), "\(entered.text)")
                // A random user code can contain these letters.
                #expect(!text.contains("▀") && !text.contains("QR code"))
                command.interrupt()
                let (status, all) = await command.end()
                #expect(status == 130 && all.trimmingCharacters(in: .newlines).hasSuffix("Cancelled."), "\(all)")
            }
        }
    }

    @Test("If the user denies the device, countersign sign-in device exits with status 2 and stores no credential", .timeLimit(.minutes(5)))
    func deviceRefused() async throws {
        try await withSandbox { sandbox in
            let folder = try TemporaryFolder()
            let command = try Self.startDeviceSignIn(sandbox, folder, "--json")
            let waiting = try JSONValue(parsing: try await command.waitFor("}\n").trimmingCharacters(in: .newlines))
            let page = try #require(waiting["verification_uri_complete"]?.stringValue.flatMap { URL(string: $0) })
            let phone = try await sandbox.phone(for: SandboxUser.jane.login)
            let jane = SandboxBrowser.person(.jane, phone: phone)
            let last = try await sandbox.browser { page in
                for form in page.forms {
                    if let deny = form.buttons.first(where: { $0.value == "deny" }) { return .submit(form, button: deny) }
                }
                return try await jane(page)
            }.visit(page)
            #expect(last.forms.isEmpty)
            let (status, text) = await command.end()
            #expect(status == 2 && text.contains("access_denied"), "\(text)")
            let list = try await Command.run(
                ["credential", "list", "--json"], environment: ["COUNTERSIGN_VAULT": folder.path + "vault"])
            #expect(!list.output.contains("browser-app"))
        }
    }

    private static func startDeviceSignIn(
        _ sandbox: Sandbox, _ folder: TemporaryFolder, _ more: String..., on connection: ChildProcess.Connection = .input(""),
        _ environment: [String: String] = [:]
    ) throws -> ChildProcess {
        let variables = ["COUNTERSIGN_VAULT": folder.path + "vault", "TERM": "xterm", "COLUMNS": "80"]
        return try Command.start(
            ["sign-in", "device", "--issuer", sandbox.issuer.absoluteString, "--client-id", "browser-app"] + more, connection,
            environment: variables.merging(environment) { $1 })
    }

    /// Opens the address as Jane, signs in, and allows the device.
    private static func connect(_ page: String, in sandbox: Sandbox) async throws -> HostedPage {
        try await sandbox.browser(of: .jane).visit(try #require(URL(string: page)))
    }
}
