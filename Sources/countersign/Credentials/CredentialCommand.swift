import ArgumentParser
import AuthFoundation
import Foundation
import JOSE

/// Works with kept credentials.
struct CredentialCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "credential", abstract: "List, show, use, refresh and revoke kept credentials.",
        subcommands: [
            CredentialListCommand.self, CredentialShowCommand.self, CredentialUseCommand.self, CredentialRefreshCommand.self,
            CredentialRevokeCommand.self,
            CredentialUserInfoCommand.self,
        ])
}

/// What the commands on one credential have in common.
struct CredentialOptions: ParsableArguments {
    @OptionGroup var vault: VaultOptions

    @Option(help: ArgumentHelp("The credential; the default one if it is left out.", valueName: "id"))
    var id: String?

    @Flag(help: "Write JSON.")
    var json = false

    /// Runs code with the credential; errors are told and become the exit code.
    func use(_ body: (Credential) async throws -> Void) async throws {
        try await Outcome.of(json: json) {
            try await vault.open {
                if let id {
                    guard let credential = try Credential.with(id: id) else {
                        throw CommandFailure("There is no credential \(id). `countersign credential list` shows what there is.")
                    }
                    try await body(credential)
                } else {
                    guard let credential = try Credential.loadDefault() else {
                        throw CommandFailure(
                            "There is no default credential. Sign in with `countersign sign-in`, choose one with `countersign credential use`, or name one with --id."
                        )
                    }
                    try await body(credential)
                }
            }
        }
    }

    func tell(_ text: TerminalText, json value: JSONValue) {
        Terminal.write(text, or: value, isJSON: json)
    }
}
