import ArgumentParser
import AuthorizationServer
import Foundation
import IdentityCore
import Store

/// The options of the commands that read or change a server's store while the server runs.
struct AdministrationOptions: ParsableArguments {
    @OptionGroup var server: ServerOptions

    @Option(
        name: .customLong("as"),
        help: ArgumentHelp("Your name in the system log (default: the name that you are logged in with).", valueName: "name"))
    var administrator: String?

    @Flag(help: "Write JSON.")
    var json = false

    func validate() throws {
        if let administrator, !(1...100).contains(administrator.utf8.count) {
            throw ValidationError("--as must have 1 to 100 bytes.")
        }
    }

    /// The administrator's name. After `sudo`, it is the name of the caller, not root.
    private var name: String {
        administrator ?? ProcessInfo.processInfo.environment["SUDO_USER"].flatMap { $0.isEmpty ? nil : $0 } ?? NSUserName()
    }

    /// Opens the store, runs the command and closes the store. Reports errors, which determine the exit code.
    /// - Parameter command: The request id of the changes in the system log, such as `users-add`.
    func run(_ command: String, _ body: (ServerParts, RequestContext) async throws -> Void) async throws {
        try await Outcome.of(json: json) {
            let parts = try await server.assemble()
            do {
                // The lines that the command writes to the system log get the retention time of the configuration. If it cannot be read,
                // the command reports that itself.
                _ = try? await parts.engine.snapshot()
                try await body(parts, parts.context(command, administrator: name))
            } catch {
                try? await parts.store.close()
                throw error
            }
            try await parts.store.close()
        }
    }
}

/// The arguments of a command on one user.
struct OneUserOptions: ParsableArguments {
    @Argument(help: "The login or id.")
    var user: String

    @OptionGroup var options: AdministrationOptions

    var json: Bool { options.json }

    /// Runs a command on the user. An unknown user is reported as an error.
    func run(_ command: String, _ body: (ServerParts, UserOverview, RequestContext) async throws -> Void) async throws {
        try await options.run(command) { parts, context in
            guard let found = try await parts.engine.overview(of: user, now: context.now) else {
                throw CommandFailure("There is no user “\(user)”. List the users with: countersign users list")
            }
            try await body(parts, found, context)
        }
    }
}

extension AccountChange {
    /// Checks that the account was changed; throws ``CommandFailure`` otherwise.
    func checked() throws {
        switch self {
        case .changed: return
        case .unknownUser: throw CommandFailure("The user was deleted meanwhile.")
        case .unacceptablePassword(let sentence): throw CommandFailure(sentence)
        }
    }
}
