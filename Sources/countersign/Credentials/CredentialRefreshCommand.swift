import ArgumentParser
import AuthFoundation
import Foundation
import JOSE

/// Refreshes a credential.
struct CredentialRefreshCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "refresh", abstract: "Get new tokens for a credential.")

    @OptionGroup var options: CredentialOptions

    func run() async throws {
        try await options.use { credential in
            try await credential.refresh()
            let summary = CredentialSummary(credential)
            options.tell("Refreshed; good until \(summary.expiresAt?.formatted(.iso8601) ?? "an unknown time").", json: summary.json)
        }
    }
}
