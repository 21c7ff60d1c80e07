import ArgumentParser
import AuthFoundation
import JOSE

/// Shows one credential.
struct CredentialShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "show", abstract: "Show a credential, without its tokens.")

    @OptionGroup var options: CredentialOptions

    func run() async throws {
        try await options.use { credential in
            let summary = CredentialSummary(credential)
            options.tell(summary.details, json: summary.json)
        }
    }
}
