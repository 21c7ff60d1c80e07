import ArgumentParser
internal import AuthorizationServer
import Foundation
internal import IdentityCore
import JOSE
import Store

struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "Rotate the server's signing keys and its master key.",
        subcommands: [KeysRotateCommand.self, RotateMasterCommand.self])
}

struct KeysRotateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate", abstract: "Publish the next signing keys.",
        discussion: """
            The next keys sign after the org file's days ahead, so that clients that read the key set once know them by then. The server may
            run meanwhile. With --now they sign at once, if they have been published for an hour: clients may cache the key set for so long,
            and reject tokens of a key that they don't know. --force skips that check. For when a key is no longer secret there is
            --withdraw: the old keys are not published any more, and every token that they signed is rejected; refresh tokens stay valid.
            """)

    @OptionGroup var options: ServerOptions

    @Flag(help: "Sign with the next keys at once, if they have been published for an hour.")
    var now = false

    @Flag(help: "With --now: sign with the next keys even if clients don't know them yet.")
    var force = false

    @Flag(help: "Sign with the next keys at once, and refuse what the old ones signed.")
    var withdraw = false

    @Flag(help: "Write JSON.")
    var json = false

    func validate() throws {
        if force, !now { throw ValidationError("--force requires --now.") }
    }

    private var handover: KeyHandover { withdraw ? .withdrawing : force ? .forced : now ? .immediate : .scheduled }

    func run() async throws {
        try await Outcome.of(json: json) {
            let parts = try await options.assemble()
            let changes: [KeyChange]
            do {
                changes = try await parts.engine.rotateKeys(handover, context: parts.context("keys-rotate"))
            } catch let error as KeyHandoverError {
                try await parts.store.close()
                throw CommandFailure(Self.text(of: error))
            }
            if json {
                let list = changes.map { change -> JSONValue in
                    ["key": .string(change.keyID), "action": .string(describe(change.action))]
                }
                Terminal.write(json: ["changes": .array(list)])
            } else if changes.isEmpty {
                Terminal.write("The next keys are published already. Use --now to sign with them at once.")
            } else {
                for change in changes { Terminal.write("\(change.keyID) \(describe(change.action))") }
            }
            try await parts.store.close()
        }
    }

    private static func text(of error: KeyHandoverError) -> String {
        let force = "Clients that cached the key set reject tokens of a key that they don't know. --force signs with it anyway."
        guard let date = error.knownFrom else {
            return "The next key is not published yet. Publish it with: countersign keys rotate. One hour later --now works. \(force)"
        }
        return "The next key was published by countersign keys rotate less than an hour ago; --now works from "
            + "\(date.formatted(.iso8601)). \(force)"
    }

    private func describe(_ action: KeyChange.Action) -> String {
        switch action {
        case .published(let date): "published, signs from \(date.formatted(.iso8601))"
        case .advanced: "signs from now on"
        case .removed: "removed"
        }
    }
}
