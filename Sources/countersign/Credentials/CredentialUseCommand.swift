import ArgumentParser
import AuthFoundation
import JOSE

/// Makes a credential the default.
struct CredentialUseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "use", abstract: "Make a credential the default one.",
        discussion: "A new sign-in becomes the default by itself. `countersign credential list` shows the ids.")

    @OptionGroup var vault: VaultOptions

    @Argument(help: "The credential, by its id or the beginning.")
    var id: String

    @Flag(help: "Write JSON.")
    var json = false

    func run() async throws {
        try await Outcome.of(json: json) {
            try await vault.open {
                let ids = Credential.allIDs
                let found = ids.filter { $0 == id }.first.map { [$0] } ?? ids.filter { $0.hasPrefix(id) }
                guard found.count < 2 else { throw CommandFailure("More than one credential begins with \(id). Give more of the id.") }
                guard let name = found.first, let credential = try Credential.with(id: name) else {
                    throw CommandFailure("There is no credential \(id). `countersign credential list` shows what there is.")
                }
                try Credential.setDefault(credential)
                let summary = CredentialSummary(credential)
                Terminal.write("\(summary.id) of \(summary.name) is now the default.", or: summary.json, isJSON: json)
            }
        }
    }
}
