#if os(Linux)
import AuthFoundation
import Foundation
import OktaDirectAuth
import Testing

/// The working directory belongs to the whole process, so each test runs itself once more, in a process of its own.
@Suite("A flow that is given nothing")
struct StandardConfigurationTests {
    private static let childVariable = "COUNTERSIGN_TEST_DIRECT_AUTH_CHILD"
    private static var isChild: Bool { ProcessInfo.processInfo.environment[childVariable] != nil }

    /// Runs a test in a process that starts in a folder with these settings; nil for an empty folder.
    private func run(_ test: String, with settings: [String: String]?) async throws {
        let folder = URL.temporaryDirectory.appending(path: "countersign-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        if let settings {
            try PropertyListSerialization.data(fromPropertyList: settings, format: .xml, options: 0).write(
                to: folder.appending(path: "Okta.plist"))
        }
        let log = folder.appending(path: "log")
        try Data().write(to: log)
        let process = Process()
        process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["--testing-library", "swift-testing", "--filter", "StandardConfigurationTests/\(test)"]
        process.environment = ProcessInfo.processInfo.environment.merging([Self.childVariable: test]) { $1 }
        process.currentDirectoryURL = folder
        process.standardOutput = try FileHandle(forWritingTo: log)
        process.standardError = process.standardOutput
        let status: Int32 = try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do {
                try process.run()
            } catch {
                process.terminationHandler = nil
                continuation.resume(throwing: error)
            }
        }
        let output = try String(contentsOf: log, encoding: .utf8)
        #expect(status == 0, "\(output)")
        #expect(output.contains("Test run with 1 test "), "\(output)")
    }

    @Test("takes the client of Okta.plist, and its further parameters", .timeLimit(.minutes(5)))
    func takesPropertyList() async throws {
        if Self.isChild {
            let flow = try DirectAuthenticationFlow()
            let configuration = flow.client.configuration
            #expect(configuration.issuerURL.absoluteString == "https://id.example.com/oauth2/default")
            #expect(configuration.clientId == "app-of-the-list" && configuration.scope == ["openid", "offline_access"])
            #expect(flow.supportedGrantTypes == .directAuth)
            #expect(flow.additionalParameters?.mapValues(\.stringValue) == ["audience": "api://x"])
            return
        }
        try await run(
            "takesPropertyList",
            with: [
                "issuer": "https://id.example.com/oauth2/default", "clientId": "app-of-the-list", "scopes": "openid offline_access",
                "audience": "api://x",
            ])
    }

    @Test("is not made without Okta.plist, and the error says so", .timeLimit(.minutes(5)))
    func needsPropertyList() async throws {
        if Self.isChild {
            let error = #expect(throws: OAuth2Client.PropertyListConfigurationError.self) { try DirectAuthenticationFlow() }
            #expect(error?.localizedDescription.hasPrefix("There is no Okta.plist. Add it to the app's target") == true)
            return
        }
        try await run("needsPropertyList", with: nil)
    }
}
#endif
