import ArgumentParser
import AuthorizationServer
import Foundation
import IdentityCore
import JOSE

struct UsersSetGroupsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set-groups", abstract: "Replace the groups of a user.",
        discussion: """
            The user is then in the named groups only. Sessions and tokens stay:

            - Sign-ins from now on use the new groups in sign-on policies, access policies and assignments, also those with an open session.
            - A refresh puts the new groups into the new tokens, and fails if the app is no longer assigned to the user. It does not evaluate \
            the access policy again.
            - Tokens that were issued before contain the old groups until they expire.

            To end the sessions and tokens too, also run: countersign users end-sessions <user> --tokens
            """)

    @Option(help: ArgumentHelp("A group of the org file; repeat the option for several.", valueName: "group"))
    var group: [String] = []

    @Flag(help: "Remove the user from all groups.")
    var none = false

    @OptionGroup var options: OneUserOptions

    func validate() throws {
        if group.isEmpty != none { throw ValidationError("Name the user's groups with --group, or use --none for no group.") }
    }

    func run() async throws {
        try await options.run("users-set-groups") { parts, found, context in
            var groups: [String] = []
            for name in group where !groups.contains(name) { groups.append(name) }
            try await parts.engine.setGroups(userID: found.user.id, to: groups, context: context).checked()
            let text: String = groups.isEmpty ? "no group" : "the groups: \(groups.joined(separator: ", "))"
            Terminal.write(
                "\(found.user.login) is in \(text).",
                or: ["id": .string(found.user.id), "groups": .array(groups.map(JSONValue.string))], isJSON: options.json)
            if !options.json, found.isInOrgFile {
                Terminal.note("The org file also names this user. A later change of the user's groups there replaces these.")
            }
        }
    }
}
