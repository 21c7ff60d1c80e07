import ArgumentParser
import Foundation
import IdentityEngine
import JOSE
import StoreSQLite

/// Works with the server's signing keys.
struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "Rotate the server's signing keys.", subcommands: [KeysRotateCommand.self])
}

/// Rotates the signing keys.
struct KeysRotateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate", abstract: "Publish the next signing keys.",
        discussion: """
            The next keys sign after the org file's days ahead, so that clients that read the key set once know them by then. The server may
            run meanwhile. With --now they sign at once. For when a key is no longer secret there is --withdraw: the old keys are not
            published any more, and every token that they signed is refused; refresh tokens stay good.
            """)

    @OptionGroup var options: ServerOptions

    @Flag(help: "Sign with the next keys at once.")
    var now = false

    @Flag(help: "Sign with the next keys at once, and refuse what the old ones signed.")
    var withdraw = false

    @Flag(help: "Write JSON.")
    var json = false

    func run() async throws {
        try await Outcome.of(json: json) {
            let parts = try options.assemble()
            let changes = try await parts.engine.rotateKeys(
                immediately: now || withdraw, withdrawing: withdraw, context: parts.context("keys-rotate"))
            if json {
                let list = changes.map { change -> JSONValue in
                    ["key": .string(change.keyID), "action": .string(describe(change.action))]
                }
                Terminal.write(JSONText.line(["changes": .array(list)]))
            } else if changes.isEmpty {
                Terminal.write("The next keys are published already. Use --now to sign with them at once.")
            } else {
                for change in changes { Terminal.write("\(change.keyID) \(describe(change.action))") }
            }
            try await parts.store.close()
        }
    }

    private func describe(_ action: KeyChange.Action) -> String {
        switch action {
        case .published(let date): "published, signs from \(date.formatted(.iso8601))"
        case .advanced: "signs from now on"
        case .removed: "removed"
        }
    }
}
