import ArgumentParser
import AuthFoundation
import Foundation
import JOSE

/// Lists the kept credentials.
struct CredentialListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the kept credentials; * marks the default.")

    @OptionGroup var vault: VaultOptions

    @Flag(help: "Write JSON.")
    var json = false

    func run() async throws {
        try await Outcome.of(json: json) {
            try await vault.open {
                let summaries = try Credential.allIDs.compactMap { try Credential.with(id: $0).map(CredentialSummary.init) }
                if json {
                    Terminal.write(json: ["credentials": .array(summaries.map(\.json))])
                } else if summaries.isEmpty {
                    Terminal.note("There are no credentials in \(vault.directory.path()).")
                } else {
                    for summary in summaries { Terminal.write(summary.line) }
                }
            }
        }
    }
}
