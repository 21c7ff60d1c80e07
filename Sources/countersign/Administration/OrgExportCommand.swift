import ArgumentParser
import AuthorizationServer
import Foundation
import IdentityCore

struct OrgExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Write the configuration that the servers run with as an org file.",
        discussion: """
            The configuration is read from the database, so the command also works without the org file, for example after its loss. Secrets are
            not written: the file reads each from an environment variable, and its first lines list the variables. The sections server, branding,
            messages and breached_passwords are not stored in the database.

              countersign org export --data data >org.yaml
              countersign org export --data data --to org.yaml --users
            """)

    @Option(
        help: ArgumentHelp("The file to write, readable for you only; it must not exist. Default: the standard output.", valueName: "file"))
    var to: String?

    @Flag(help: "Also write the users that the org file created. They are personal data.")
    var users = false

    @OptionGroup var options: ServerOptions

    func run() async throws {
        try await Outcome.of {
            let definition = try await options.storedServer().run { try await $0.storedDefinition() }
            let export = try OrgFileExport(definition, includesUsers: users)
            guard let to else { return Terminal.write(file: export.text) }
            do {
                guard try PrivateFile.create(to, holding: Data(export.text.utf8)) else {
                    throw CommandFailure("\(to) already exists and was not changed. Name another file.")
                }
            } catch let error as PrivateFile.Failure {
                throw CommandFailure("\(to) could not be written: \(error.reason). Name a file in a folder that you can write to.")
            }
            Terminal.write("Wrote \(to).")
            if !export.variables.isEmpty {
                Terminal.note("Before you use it, set: \(export.variables.map(\.name).joined(separator: ", "))")
            }
        }
    }
}
