import ArgumentParser
import AuthFoundation
import Foundation
import JOSE

struct CredentialCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "credential", abstract: "List, show, use, refresh and revoke stored credentials.",
        subcommands: [
            CredentialListCommand.self, CredentialShowCommand.self, CredentialUseCommand.self, CredentialRefreshCommand.self,
            CredentialRevokeCommand.self,
            CredentialUserInfoCommand.self,
        ])
}

/// The options that commands for one credential share.
struct CredentialOptions: ParsableArguments {
    @OptionGroup var vault: VaultOptions

    @Option(help: ArgumentHelp("The credential; by default the default credential.", valueName: "id"))
    var id: String?

    @Flag(help: "Write JSON.")
    var json = false

    /// Runs `body` with the credential. Reports errors, which determine the exit code.
    func use(_ body: (Credential) async throws -> Void) async throws {
        try await Outcome.of(json: json) {
            try await vault.open {
                if let id {
                    guard let credential = try Credential.with(id: id) else {
                        throw CommandFailure("There is no credential \(id). `countersign credential list` shows all credentials.")
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

struct CredentialListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the stored credentials; * marks the default.")

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

struct CredentialRefreshCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "refresh", abstract: "Refresh the tokens of a credential.")

    @OptionGroup var options: CredentialOptions

    func run() async throws {
        try await options.use { credential in
            try await credential.refresh()
            let summary = CredentialSummary(credential)
            options.tell("Refreshed; good until \(summary.expiresAt?.formatted(.iso8601) ?? "an unknown time").", json: summary.json)
        }
    }
}

struct CredentialRevokeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Revoke a credential at the issuer and remove it.",
        discussion: "The credential is removed even if the issuer can't be reached; the revocation is then repeated later.")

    @OptionGroup var options: CredentialOptions

    func run() async throws {
        try await options.use { credential in
            do {
                try await credential.revoke()
                options.tell("Signed out.", json: ["id": .string(credential.id), "revoked": true])
            } catch let error where error.isMissingRevocationEndpoint {
                options.tell("\(SignOutCommand.withoutRevocation)", json: ["id": .string(credential.id), "revoked": false])
            }
        }
    }
}

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

struct CredentialUseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "use", abstract: "Make a credential the default.",
        discussion: "A new sign-in becomes the default automatically. `countersign credential list` shows the ids.")

    @OptionGroup var vault: VaultOptions

    @Argument(help: "The credential's id or its beginning.")
    var id: String

    @Flag(help: "Write JSON.")
    var json = false

    func run() async throws {
        try await Outcome.of(json: json) {
            try await vault.open {
                let ids = Credential.allIDs
                let found = ids.filter { $0 == id }.first.map { [$0] } ?? ids.filter { $0.hasPrefix(id) }
                guard found.count < 2 else {
                    throw CommandFailure("More than one credential begins with \(id). Use a longer part of the id.")
                }
                guard let name = found.first, let credential = try Credential.with(id: name) else {
                    throw CommandFailure("There is no credential \(id). `countersign credential list` shows all credentials.")
                }
                try Credential.setDefault(credential)
                let summary = CredentialSummary(credential)
                Terminal.write("\(summary.id) of \(summary.name) is now the default.", or: summary.json, isJSON: json)
            }
        }
    }
}

struct CredentialUserInfoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user-info", abstract: "Fetch and show the user's profile from the issuer.")

    @OptionGroup var options: CredentialOptions

    func run() async throws {
        try await options.use { credential in
            let info = try await credential.userInfo()
            let claims = info.allClaims.sorted().map { name -> TerminalText in "\(name)  \(info.payload[name].map { "\($0)" } ?? "")" }
            let json = JSONValue.object(info.payload.mapValues { JSONValue.string("\($0)") })
            options.tell(claims.joined(separator: "\n"), json: json)
        }
    }
}
