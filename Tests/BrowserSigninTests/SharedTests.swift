#if os(Linux)
import AuthFoundation
import Foundation
import TestSupport
import Testing

@testable import BrowserSignin

/// Tests state of the whole process. Each test runs itself again in a separate process.
@Suite("Shared BrowserSignin of a process")
@MainActor
struct SharedTests {
    @Test("If there is no Okta.plist, BrowserSignin.shared is nil, and the log gives the reason once", .timeLimit(.minutes(5)))
    func unconfigured() async throws {
        if TestProcess.isChild {
            #expect(BrowserSignin.shared == nil)
            #expect(BrowserSignin.shared == nil)
            return
        }
        let folder = TemporaryFolder()
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let (status, output) = try await TestProcess("SharedTests/unconfigured", workingDirectory: folder.url).run()
        #expect(status == 0, "\(output)")
        let told = output.split(separator: "\n").filter { $0.hasPrefix("countersign: BrowserSignin.shared is nil: ") }
        #expect(told.count == 1 && told.first?.contains("There is no Okta.plist.") == true, "\(output)")
    }

    @Test("BrowserSignin.shared is created once, from Okta.plist", .timeLimit(.minutes(5)))
    func configured() async throws {
        if TestProcess.isChild {
            let shared = try #require(BrowserSignin.shared)
            #expect(shared === BrowserSignin.shared)
            #expect(shared.signInFlow.client.configuration.clientId == "of-the-plist")
            #expect(shared.signOutFlow?.client.configuration.logoutRedirectUri?.absoluteString == "com.example.app:/")
            return
        }
        let folder = TemporaryFolder()
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let settings = [
            "issuer": "https://id.example.com/oauth2/default", "clientId": "of-the-plist", "scopes": "openid profile",
            "redirectUri": "com.example.app:/callback", "logoutRedirectUri": "com.example.app:/",
        ]
        try PropertyListSerialization.data(fromPropertyList: settings, format: .xml, options: 0).write(
            to: folder.url.appending(path: "Okta.plist"))
        let (status, output) = try await TestProcess("SharedTests/configured", workingDirectory: folder.url).run()
        #expect(status == 0 && output.contains("Test run with 1 test "), "\(output)")
    }
}
#endif
