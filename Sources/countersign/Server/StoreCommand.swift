import ArgumentParser
import AuthorizationServer
import Foundation

struct StoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store", abstract: "Prepare, back up and restore the server's database.",
        subcommands: [StoreMigrateCommand.self, StoreBackupCommand.self, StoreRestoreCommand.self])
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
            let place = try await onThread { try StoreSettings.migrate(settings) }
            Terminal.write("The tables of \(place) are up to date.")
        }
    }
}

struct StoreBackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copy the SQLite database into a new file, while the server runs.",
        discussion: """
            The copy contains every change up to one moment, and is checked. Keep the master key in another place: a backup is useless without
            it, and with it an attacker can issue tokens.
            """)

    @Argument(help: "The file to write; it must not exist.")
    var file: String

    @OptionGroup var options: ServerOptions

    func run() async throws {
        try await Outcome.of {
            let (settings, file) = (try options.settings(), file)
            try await onThread { try StoreSettings.copySQLite(settings, backup: file, restores: false) }
            Terminal.write("Wrote \(file).")
            Terminal.note("Keep the master key in another place; the backup is useless without it.")
        }
    }
}

struct StoreRestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Put a backup into a data folder that has no database.",
        discussion: """
            Stop the server and move its database away first. Start it afterwards with the master key of the time of the backup. Refresh tokens
            that were renewed since the backup are rejected, and their users sign in again.
            """)

    @Argument(help: "The backup.")
    var file: String

    @OptionGroup var options: ServerOptions

    func run() async throws {
        try await Outcome.of {
            let (settings, file) = (try options.settings(), file)
            try await onThread { try StoreSettings.copySQLite(settings, backup: file, restores: true) }
            Terminal.write("Restored \(settings.storePath). Start the server with the same master key as before.")
        }
    }
}

/// Runs blocking work on a thread of its own.
private func onThread<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try work() }) }
    }
}
