#if os(Linux)
import AuthFoundation
import Foundation
import OktaDirectAuth
import TestSupport
import Testing

/// The working directory belongs to the whole process, so each test runs itself again in a separate process.
@Suite("Default configuration of DirectAuthenticationFlow")
struct StandardConfigurationTests {
    /// Runs a test in a process that starts in a folder with these settings; `nil` for an empty folder.
    private func run(_ test: String, with settings: [String: String]?) async throws {
        let folder = TemporaryFolder()
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        if let settings {
            try PropertyListSerialization.data(fromPropertyList: settings, format: .xml, options: 0).write(
                to: folder.file("Okta.plist"))
        }
        let child = TestProcess("StandardConfigurationTests/\(test)", workingDirectory: folder.url)
        let (status, output) = try await child.run()
        #expect(status == 0, "\(output)")
        #expect(output.contains("Test run with 1 test "), "\(output)")
    }

    @Test(
        "A DirectAuthenticationFlow that is created without arguments uses the settings and the additional parameters of Okta.plist",
        .timeLimit(.minutes(5)))
    func takesPropertyList() async throws {
        if TestProcess.isChild {
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

    @Test(
        "If there is no Okta.plist, the initializer of DirectAuthenticationFlow throws an error that says where to add the file",
        .timeLimit(.minutes(5)))
    func needsPropertyList() async throws {
        if TestProcess.isChild {
            let error = #expect(throws: OAuth2Client.PropertyListConfigurationError.self) { try DirectAuthenticationFlow() }
            #expect(error?.debugDescription.hasPrefix("There is no Okta.plist. Add it to the app's target") == true)
            return
        }
        try await run("needsPropertyList", with: nil)
    }
}
#endif
