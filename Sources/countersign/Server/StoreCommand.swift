import ArgumentParser
import AuthorizationServer
import Foundation
import Store

struct StoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store", abstract: "Prepare, copy, back up and restore the server's database.",
        subcommands: [StoreMigrateCommand.self, StoreCopyCommand.self, StoreBackupCommand.self, StoreRestoreCommand.self])
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

struct StoreCopyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "copy", abstract: "Copy everything from SQLite to PostgreSQL, or back.",
        discussion: """
            Stop the servers first. A PostgreSQL target needs its tables: countersign store migrate. The copy is compared with the source row \
            by row. If it is interrupted, run the same command again to continue. Then start the servers with the new database and the same \
            master key.
            """)

    @Option(help: ArgumentHelp("The database to read: sqlite:data, or a URL of PostgreSQL.", valueName: "place"))
    var from: String

    @Option(help: ArgumentHelp("The database to write, which must be empty: the same forms.", valueName: "place"))
    var to: String

    @Option(
        name: .customLong("database-password-file"),
        help: ArgumentHelp("A file with the password of the PostgreSQL database.", valueName: "file"))
    var databasePasswordFile: String?

    func validate() throws {
        guard from != to else { throw ValidationError("--from and --to must name different databases.") }
    }

    func run() async throws {
        try await Outcome.of {
            let (from, to, passwordFile) = (from, to, databasePasswordFile)
            let report = try await onThread {
                try StoreSettings.copy(from: from, to: to, passwordFile: passwordFile) { count in
                    if count % 10_000 < 500, count >= 10_000 { Terminal.note("\(count) rows…") }
                }
            }
            Terminal.write(
                "Copied \(report.records) records and \(report.tickets) tickets. Both databases have the digest \(report.digest).")
        }
    }
}

/// Runs blocking work on its own thread.
private func onThread<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try work() }) }
    }
}
