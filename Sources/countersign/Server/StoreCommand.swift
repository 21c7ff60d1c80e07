import ArgumentParser
import AuthorizationServer
import Foundation

struct StoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store", abstract: "Prepare the server's database.", subcommands: [StoreMigrateCommand.self])
}

struct StoreMigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate", abstract: "Create or upgrade the tables of a PostgreSQL database.",
        discussion: """
            Run it before the first start, and before the servers of a new version start. The servers of the version before can serve
            meanwhile. It changes nothing if the tables are up to date.
            """)

    @OptionGroup var options: ServerOptions

    func run() async throws {
        try await Outcome.of {
            let settings = try options.settings()
            // Blocks a thread of its own, because the database may have to be waited for.
            let place = try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<String, any Error>) in
                Thread.detachNewThread { continuation.resume(with: Result { try StoreSettings.migrate(settings) }) }
            }
            Terminal.write("The tables of \(place) are up to date.")
        }
    }
}
