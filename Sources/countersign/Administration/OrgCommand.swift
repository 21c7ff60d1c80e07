import ArgumentParser
import AuthorizationServer
import Foundation
import IdentityCore
import JOSE
import Store

struct OrgCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "org",
        abstract: "Compare the org file with the running configuration, apply the org file, or export a new org file from the database.",
        subcommands: [OrgDiffCommand.self, OrgApplyCommand.self, OrgExportCommand.self])
}

struct OrgDiffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff", abstract: "Show what applying the org file would change.",
        discussion: "It changes nothing. Secrets and passwords are compared, but not shown.")

    @OptionGroup var options: AdministrationOptions

    func run() async throws {
        try await options.run("org-diff") { parts, context in
            Self.write(try await parts.engine.preview(parts.organization, context: context), isJSON: options.json)
        }
    }

    static func write(_ report: ApplyReport, isJSON: Bool) {
        let changes = report.entries.filter { $0.action != .unchanged }
        if isJSON {
            let list = changes.map { entry -> JSONValue in
                var json: JSONValue = [
                    "action": .string(entry.action.rawValue), "kind": .string(entry.kind.rawValue), "name": .string(entry.name),
                ]
                json["note"] = entry.note.map(JSONValue.string)
                return json
            }
            return Terminal.write(json: ["changes": .array(list)])
        }
        for line in report.description.split(separator: "\n") { Terminal.write("\(String(line))") }
    }
}

struct OrgApplyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apply", abstract: "Apply the org file, while the servers run.",
        discussion: """
            It shows the changes and asks before it makes them; --yes does not ask. All servers of the database use the new configuration \
            within a second. Sessions, grants and enrollments stay. Also give the new file to each server, because a server that starts applies its own. \
            The sections server, branding, messages and breached_passwords are read at the start of a server.
            """)

    @OptionGroup var options: AdministrationOptions

    @Flag(help: "Do not ask.")
    var yes = false

    @Flag(help: "Accept a changed origin. Each server must then be restarted with the new file; until then, sign-in fails.")
    var changeOrigin = false

    func run() async throws {
        try await options.run("org-apply") { parts, context in
            let preview = try await parts.engine.preview(parts.organization, context: context)
            if let origin = preview.previousOrigin, !changeOrigin {
                throw CommandFailure(
                    "Nothing was changed. The servers run with the origin \(origin), and the file has \(parts.organization.origin). All issuers, "
                        + "tokens and links contain the origin. To change it anyway, add --change-origin, and then restart the servers.")
            }
            if preview.isUnchanged {
                if options.json { return OrgDiffCommand.write(preview, isJSON: true) }
                return Terminal.write("The configuration is up to date.")
            }
            if !yes {
                guard TerminalInput.isInteractive, !options.json else {
                    throw CommandFailure("Nothing was changed. See the changes with countersign org diff, and add --yes to make them.")
                }
                OrgDiffCommand.write(preview, isJSON: false)
                let answer = try await TerminalInput.line("Apply these changes? [y/N] ") ?? ""
                guard ["y", "yes"].contains(answer.lowercased()) else { return Terminal.note("Nothing was changed.") }
            }
            let report = try await parts.engine.apply(parts.organization, context: context)
            OrgDiffCommand.write(report, isJSON: options.json)
            do { try await parts.engine.maintainKeys(context) } catch {
                Terminal.note(
                    "The file was applied, but new signing keys were not made: \(Outcome.explain(error)). The next maintenance of a server tries again."
                )
            }
        }
    }
}
