#if os(Linux)
import Foundation
import TestSupport
import Testing

@testable import AuthFoundation

/// Tests state of the whole process: its folders and its standard error. Each test runs itself again in a separate process.
@Suite("Default Okta.plist and the log of client settings")
struct StandardPropertyListTests {
    typealias Settings = OAuth2Client.PropertyListConfiguration

    private static func write(client: String, to folder: URL) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let settings = ["issuer": "https://id.example.com/oauth2/default", "clientId": client, "scopes": "openid profile"]
        try PropertyListSerialization.data(fromPropertyList: settings, format: .xml, options: 0).write(
            to: folder.appendingPathComponent("Okta.plist"))
    }

    private static func expectSuccess(_ child: TestProcess) async throws {
        let (status, output) = try await child.run()
        #expect(status == 0, "\(output)")
        #expect(output.contains("Test run with 1 test "), "\(output)")
    }

    @Test("By default, client settings are read from Okta.plist in the working directory", .timeLimit(.minutes(5)))
    func workingDirectory() async throws {
        if TestProcess.isChild {
            #expect(try Settings().clientId == "from-working-directory")
            return
        }
        let folder = TemporaryFolder()
        try Self.write(client: "from-working-directory", to: folder.url)
        try await Self.expectSuccess(TestProcess("StandardPropertyListTests/workingDirectory", workingDirectory: folder.url))
    }

    @Test("Okta.plist beside the executable has priority over Okta.plist in the working directory", .timeLimit(.minutes(5)))
    func besideExecutable() async throws {
        if TestProcess.isChild {
            #expect(try Settings().clientId == "from-executable")
            return
        }
        // The test uses a hard link to this executable in its own folder, so that it needs no copy.
        let executable = TestProcess.executable
        let folder = executable.deletingLastPathComponent().appendingPathComponent("beside-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try Self.write(client: "from-executable", to: folder)
        let link = folder.appendingPathComponent(executable.lastPathComponent)
        try FileManager.default.linkItem(at: executable, to: link)
        let elsewhere = TemporaryFolder()
        try Self.write(client: "from-working-directory", to: elsewhere.url)
        try await Self.expectSuccess(
            TestProcess("StandardPropertyListTests/besideExecutable", executable: link, workingDirectory: elsewhere.url))
    }

    @Test("If there is no Okta.plist, the error says where to put the file", .timeLimit(.minutes(5)))
    func missing() async throws {
        if TestProcess.isChild {
            let error = #expect(throws: OAuth2Client.PropertyListConfigurationError.self) { try Settings() }
            guard case .defaultPropertyListNotFound = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(
                error?.debugDescription
                    == "There is no Okta.plist. Add it to the app's target; on Linux put it beside the executable or into the working directory."
            )
            return
        }
        let folder = TemporaryFolder()
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        try await Self.expectSuccess(TestProcess("StandardPropertyListTests/missing", workingDirectory: folder.url))
    }

    @Test("A warning about an issuer without a scheme is logged once for each issuer", .timeLimit(.minutes(5)))
    func tellsOfBareHost() async throws {
        if TestProcess.isChild {
            for issuer in ["one.example.com", "one.example.com", "https://good.example.com", "two.example.com", "one.example.com"] {
                _ = try Settings(["issuer": issuer, "clientId": "app", "scopes": "openid"])
            }
            return
        }
        let (status, output) = try await TestProcess("StandardPropertyListTests/tellsOfBareHost").run()
        #expect(status == 0, "\(output)")
        let told = output.split(separator: "\n").map(String.init).filter { $0.contains("has no scheme") }
        #expect(
            told
                == ["one", "two"].map {
                    "countersign: “issuer” in the dictionary has no scheme; https://\($0).example.com is used. Write it with https:// to be rid of this message."
                })
    }
}
#endif
