import ArgumentParser
import AuthFoundation
import CountersignSandbox
import Foundation
import JOSE

struct PasskeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "passkey", abstract: "Create passkeys in software, for development.",
        discussion: """
            The command stores each passkey in a file with the private key. Any program that you run can copy the file. The passkey \
            reports user verification to the server, although the command does not ask for a PIN or biometrics. Use these passkeys with \
            accounts for tests only.

            Create a passkey, then sign in with it: countersign sign-in passkey. The default server is the sandbox that \
            `countersign sandbox` starts.
            """,
        subcommands: [PasskeyCreateCommand.self, PasskeyListCommand.self, PasskeyRemoveCommand.self])
}

/// The option for the folder of the passkeys in software.
struct PasskeyFolder: ParsableArguments {
    @Option(
        name: .customLong("passkeys"),
        help: ArgumentHelp(
            "The folder of the passkeys; by default $COUNTERSIGN_PASSKEYS or a folder in ~/.local/share.", valueName: "folder"))
    var path: String?

    var store: PasskeyStore {
        let environment = ProcessInfo.processInfo.environment
        let given = path ?? environment["COUNTERSIGN_PASSKEYS"].flatMap { $0.isEmpty ? nil : $0 }
        let standard = UserFolders.data(environment: environment).appending(path: "countersign/passkeys", directoryHint: .isDirectory)
        return PasskeyStore(given.map { URL(filePath: $0, directoryHint: .isDirectory) } ?? standard)
    }
}

struct PasskeyCreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Sign in with the classic AuthN API and create a passkey in software, for development.",
        discussion: """
            The command asks for the password without showing it. If standard input is not a terminal, its first line is the password. The \
            server must offer the factor webauthn during this sign-in. Configure it in the org file's sections passkeys and authn_api. The \
            sandbox's default organization does not offer it.

            The private key is in a file. Any program that you run can read the file. Use the passkey with accounts for tests only.
            """)

    @OptionGroup var folder: PasskeyFolder

    @Option(
        name: [.customLong("issuer"), .customLong("org")],
        help: ArgumentHelp("The organization, or one of its issuers; by default the sandbox, http://localhost:8080.", valueName: "url"))
    var issuer = "http://localhost:8080"

    @Argument(help: "The user name; by default the command asks for it.")
    var username: String?

    @Flag(help: "Write JSON.")
    var json = false

    func run() async throws {
        try await Outcome.of(json: json) {
            guard let url = URL(string: issuer), url.host()?.isEmpty == false, LoopbackRule.isAcceptable(url) else {
                throw ValidationError("“\(issuer)” is not an issuer. Use a URL with https, or with http on this machine.")
            }
            let (username, store) = (username, folder.store)
            let passkey = try await Interruption.cancels {
                let name = try await UserName.ask(unless: username)
                let password = try await PasswordPrompt.ask("Password for \(name): ")
                return try await PasskeyEnrollment(origin: PasskeyOrigin(url), store: store).create(username: name, password: password)
            }
            Terminal.write("Created: \(passkey.line)", or: passkey.json, isJSON: json)
            if !json { Terminal.note("The private key is in \(store.folder.path()). Use the passkey with accounts for tests only.") }
        }
    }
}

struct PasskeyListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the stored passkeys.")

    @OptionGroup var folder: PasskeyFolder

    @Flag(help: "Write JSON.")
    var json = false

    func run() async throws {
        try await Outcome.of(json: json) {
            let passkeys = try folder.store.all()
            if json {
                Terminal.write(json: ["passkeys": .array(passkeys.map(\.json))])
            } else if passkeys.isEmpty {
                Terminal.note("There are no passkeys in \(folder.store.folder.path()). Create one: countersign passkey create")
            } else {
                for passkey in passkeys { Terminal.write(passkey.line) }
            }
        }
    }
}

struct PasskeyRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Delete a stored passkey.",
        discussion: """
            The server keeps the public key, which is useless without the private key. An administrator can remove the public key \
            together with the user's other factors: countersign users reset-factors
            """)

    @OptionGroup var folder: PasskeyFolder

    @Argument(help: "The passkey's id or its beginning.")
    var id: String

    @Flag(help: "Write JSON.")
    var json = false

    func run() async throws {
        try await Outcome.of(json: json) {
            let passkey = try folder.store.passkey(id)
            try folder.store.remove(passkey)
            Terminal.write("Removed: \(passkey.line)", or: ["id": .string(passkey.id), "removed": true], isJSON: json)
        }
    }
}

extension SoftwarePasskey {
    var line: TerminalText { "\(id.prefix(12))…  \(userName) at \(relyingPartyID)" }

    /// The passkey without its private key.
    var json: JSONValue { ["id": .string(id), "user": .string(userName), "rp_id": .string(relyingPartyID)] }
}
