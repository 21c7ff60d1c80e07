import AuthorizationServer
import CountersignSandbox
import Delivery
import Foundation
import OktaAuthSdk
import TestSupport
import Testing

extension Sandbox.Configuration {
    /// Returns the configuration of a sandbox with a port, a fixed clock and other settings of the classic API.
    ///
    /// - Parameters:
    ///   - settings: The content of the org file's section for the classic API.
    ///   - more: Further sections of the org file.
    static func classic(_ settings: String, more: String = "") throws -> Sandbox.Configuration {
        // The SDK cannot enroll a passkey, so it would be offered again after every enrollment.
        let standard = OrgFile.sandboxDefault.replacing("passkeys:\n  user_verification: preferred\n  offer: never\n", with: "")
        let start = try #require(standard.range(of: "authn_api:\n"))
        let end = try #require(standard.range(of: "\n\n", range: start.upperBound..<standard.endIndex))
        let section = settings.split(separator: "\n").map { "  \($0)\n" }.joined()
        let organization = "\(standard[..<start.lowerBound])\(more)authn_api:\n\(section)\(standard[end.lowerBound...])"
        return Sandbox.Configuration(
            organization: organization,
            clock: SandboxClock(.standing, startingAt: Date(timeIntervalSince1970: 1_750_000_000)))
    }
}

extension Sandbox {
    /// Returns the code of the next unread message.
    func code(by channel: MessageChannel) async throws -> String {
        try #require(try await outbox.next(by: channel).code)
    }

    /// Returns the token in the link of the next mail.
    func mailedToken() async throws -> String {
        try #require(try await outbox.next(by: .mail).link?.lastPathComponent)
    }
}

/// Runs a test on the main actor, where statuses are used, with its own sandbox, and stops the sandbox afterwards.
@MainActor
func withClassicSandbox(_ configuration: Sandbox.Configuration = .init(), _ body: @MainActor (Sandbox) async throws -> Void) async throws {
    let sandbox = try await Sandbox.forTest(configuration)
    do {
        try await body(sandbox)
    } catch {
        await sandbox.stop()
        throw error
    }
    await sandbox.stop()
}

/// Returns the server's error for a call; `nil` if the call succeeded.
@MainActor
func classicRefusal(
    sourceLocation: SourceLocation = #_sourceLocation, _ call: @MainActor () async throws -> Void
) async -> OktaAPIErrorResponse? {
    do {
        try await call()
    } catch OktaError.serverRespondedWithError(let refusal) {
        return refusal
    } catch {
        Issue.record(error, sourceLocation: sourceLocation)
    }
    return nil
}

extension AuthenticatorApp {
    /// Six digits that the app does not show.
    var wrongCode: String { code == "000000" ? "111111" : "000000" }
}
