import ArgumentParser
import AuthorizationServer
import Foundation
import IdentityCore
import JOSE
import Store

struct UsersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "users", abstract: "Show and change the accounts of a server.",
        discussion: """
            The commands work on the server's database, while the server runs or not. A user is named by login or id. The system log records
            each change with your name; read it with `countersign log`.
            """,
        subcommands: [
            UsersListCommand.self, UsersShowCommand.self, UsersAddCommand.self, UsersUnlockCommand.self, UsersResetFactorsCommand.self,
            UsersResetPasswordCommand.self, UsersSetGroupsCommand.self, UsersSuspendCommand.self, UsersDeactivateCommand.self,
            UsersActivateCommand.self,
            UsersDeleteCommand.self, UsersSessionsCommand.self, UsersEndSessionsCommand.self,
        ])
}

struct UsersListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the users.")

    @Argument(help: "Lists only users whose login, mail address or name contains this text.")
    var text: String?

    @Option(help: ArgumentHelp("Lists only users with this status: active, staged, suspended or deactivated.", valueName: "status"))
    var status: User.Status?

    @OptionGroup var options: AdministrationOptions

    func run() async throws {
        try await options.run("users-list") { parts, _ in
            var users: [User] = []
            var position: String?
            repeat {
                let page = try await parts.engine.users(matching: text, status: status, after: position)
                users += page.users
                position = page.next
            } while position != nil
            if options.json { return Terminal.write(json: ["users": .array(users.map(UserText.json))]) }
            if users.isEmpty { Terminal.note(text == nil && status == nil ? "There are no users." : "No user matches.") }
            let width = users.map(\.login.count).max() ?? 0
            for user in users.sorted(by: { $0.login < $1.login }) {
                Terminal.write("\(user.login.padded(to: width))  \(user.status.rawValue.padded(to: 11))  \(user.displayName ?? "")")
            }
        }
    }
}

struct UsersShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show a user's account, factors, sessions and locks.")

    @OptionGroup var options: OneUserOptions

    func run() async throws {
        try await options.run("users-show") { _, found, _ in
            if options.json { return Terminal.write(json: UserText.json(found)) }
            for line in UserText.lines(found) { Terminal.write(line) }
        }
    }
}

struct UsersAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Create a user with a temporary password.",
        discussion: """
            The command writes the password once. Tell it to the user, who must change it at the first sign-in. With --ask-password, you
            choose the temporary password; a script passes it on the standard input.
            """)

    @Argument(help: "The login, often a mail address.")
    var login: String

    @Option(help: ArgumentHelp("The mail address.", valueName: "address"))
    var email: String?

    @Option(name: .customLong("given-name"), help: ArgumentHelp("The given name.", valueName: "name"))
    var givenName: String?

    @Option(name: .customLong("family-name"), help: ArgumentHelp("The family name.", valueName: "name"))
    var familyName: String?

    @Option(help: ArgumentHelp("A group of the org file; repeat the option for several.", valueName: "group"))
    var group: [String] = []

    @Flag(name: .customLong("ask-password"), help: "Ask for the temporary password.")
    var asksPassword = false

    @OptionGroup var options: AdministrationOptions

    func run() async throws {
        let chosen = asksPassword ? try await PasswordPrompt.ask("Temporary password: ") : nil
        try await options.run("users-add") { parts, context in
            var profile: [String: JSONValue] = [:]
            profile["email"] = email.map(JSONValue.string)
            profile["given_name"] = givenName.map(JSONValue.string)
            profile["family_name"] = familyName.map(JSONValue.string)
            let password = if let chosen { chosen } else { try await parts.engine.temporaryPassword() }
            let user = try await parts.engine.addUser(
                NewAccount(login: login, profile: profile, groups: group, password: password), context: context)
            if options.json {
                var json = UserText.json(user)
                if chosen == nil { json = json.adding("temporary_password", .string(password)) }
                return Terminal.write(json: json)
            }
            Terminal.write("Created \(user.login) (\(user.id)).")
            if chosen == nil { Terminal.write("Temporary password: \(password)") }
            Terminal.note("The user must change it at the first sign-in.")
        }
    }
}

struct UsersUnlockCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unlock", abstract: "Remove the locks that wrong passwords, codes and answers caused.")

    @OptionGroup var options: OneUserOptions

    func run() async throws {
        try await options.run("users-unlock") { parts, found, context in
            try await parts.engine.unlock(userID: found.user.id, context: context).checked()
            Terminal.write(
                found.isLocked ? "Unlocked \(found.user.login)." : "\(found.user.login) was not locked.",
                or: ["id": .string(found.user.id), "unlocked": .bool(found.isLocked)], isJSON: options.json)
        }
    }
}

struct UsersResetFactorsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset-factors", abstract: "Remove a user's second factors, for example after the loss of a phone.",
        discussion: """
            First make sure that the request is the user's own: until the next enrollment, the password alone is enough to enroll a factor.
            The command also forgets the remembered devices and signs the user out of every browser. At the next sign-in, the user sets up
            a new factor if the sign-on policy requires one. The tokens of the user's apps stay valid; if another person may have the phone,
            also run: countersign users end-sessions <user> --tokens
            """)

    @Option(
        help: ArgumentHelp(
            "Removes only this kind of factor: push, totp, sms, voice, email, question, hotp, token, webauthn or recovery_code.",
            valueName: "factor"))
    var only: String?

    @OptionGroup var options: OneUserOptions

    func validate() throws {
        let kinds = ["push", "totp", "sms", "voice", "email", "question", "hotp", "token", "webauthn", "recovery_code"]
        if let only, !kinds.contains(only) { throw ValidationError("--only must be one of \(kinds.joined(separator: ", ")).") }
    }

    func run() async throws {
        try await options.run("users-reset-factors") { parts, found, context in
            let removed = try await parts.engine.resetFactors(
                ofUser: found.user.id, only: only.map(FactorKind.init(rawValue:)), context: context
            ).map(\.rawValue)
            if options.json {
                return Terminal.write(json: ["id": .string(found.user.id), "removed": .array(removed.map(JSONValue.string))])
            }
            if removed.isEmpty {
                Terminal.write("\(found.user.login) has no \(only.map { "factor “\($0)”" } ?? "second factor").")
                guard only == nil else { return }
            } else {
                Terminal.write("Removed from \(found.user.login): \(removed.joined(separator: ", ")).")
            }
            Terminal.note(
                "The user is signed out of every browser, remembered devices are forgotten, and the next sign-in can set up a new factor.")
            if found.grants > 0 {
                Terminal.note(
                    "Apps of the user still hold tokens. To revoke them: countersign users end-sessions \(found.user.login) --tokens")
            }
        }
    }
}

struct UsersResetPasswordCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset-password", abstract: "Give a user a temporary password.",
        discussion: """
            The command writes the password once. Tell it to the user, who must change it at the next sign-in. The old password, the user's
            sessions and the tokens of the user's apps become invalid. With --ask-password, you choose the temporary password; a script
            passes it on the standard input.
            """)

    @Flag(name: .customLong("ask-password"), help: "Ask for the temporary password.")
    var asksPassword = false

    @OptionGroup var options: OneUserOptions

    func run() async throws {
        let chosen = asksPassword ? try await PasswordPrompt.ask("Temporary password: ") : nil
        try await options.run("users-reset-password") { parts, found, context in
            let password = if let chosen { chosen } else { try await parts.engine.temporaryPassword() }
            try await parts.engine.setPassword(userID: found.user.id, to: password, mustChange: true, context: context).checked()
            try await parts.engine.signOutEverywhere(userID: found.user.id, context: context)
            if options.json {
                var json: JSONValue = ["id": .string(found.user.id)]
                if chosen == nil { json = json.adding("temporary_password", .string(password)) }
                return Terminal.write(json: json)
            }
            Terminal.write(
                chosen == nil
                    ? "Temporary password of \(found.user.login): \(password)" : "\(found.user.login) has the temporary password.")
            Terminal.note(
                "The user must change it at the next sign-in. The user is signed out of every browser, and all tokens are revoked.")
        }
    }
}

struct UsersSuspendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "suspend", abstract: "Block a user until `users activate`; sessions and tokens are not accepted meanwhile.")

    @OptionGroup var options: OneUserOptions

    func run() async throws { try await options.setStatus(.suspended, "users-suspend") }
}

struct UsersDeactivateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "deactivate", abstract: "Close a user's account: sessions and tokens end, and the data is kept.")

    @OptionGroup var options: OneUserOptions

    func run() async throws { try await options.setStatus(.deactivated, "users-deactivate") }
}

struct UsersActivateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "activate", abstract: "Let a suspended or deactivated user sign in again.")

    @OptionGroup var options: OneUserOptions

    func run() async throws { try await options.setStatus(.active, "users-activate") }
}

extension OneUserOptions {
    fileprivate func setStatus(_ status: User.Status, _ command: String) async throws {
        try await run(command) { parts, found, context in
            try await parts.engine.setStatus(userID: found.user.id, to: status, context: context).checked()
            if status == .deactivated { try await parts.engine.signOutEverywhere(userID: found.user.id, context: context) }
            Terminal.write(
                "\(found.user.login) is \(status.rawValue).",
                or: ["id": .string(found.user.id), "status": .string(status.rawValue)], isJSON: json)
            if !json, status == .active, found.user.passwordHash == nil {
                Terminal.note("The user has no password yet. Set one with: countersign users reset-password \(found.user.login)")
            }
            if !json, found.isInOrgFile {
                Terminal.note("The org file also names this user. A later change of the user's status there replaces this one.")
            }
        }
    }
}

struct UsersDeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete a user's account, factors, sessions and tokens permanently.",
        discussion: """
            The lines of the system log stay until they expire; `countersign log erase` removes the personal data from them.
            """)

    @Flag(help: "Delete without a question.")
    var yes = false

    @OptionGroup var options: OneUserOptions

    func run() async throws {
        try await options.run("users-delete") { parts, found, context in
            let login = found.user.login
            if !yes {
                guard TerminalInput.isInteractive else {
                    throw CommandFailure("\(login) was not deleted. Add --yes to confirm the deletion.")
                }
                let answer = try await TerminalInput.line("Type the login to delete \(login) permanently: ")
                guard answer == login else { throw CommandFailure("\(login) was not deleted.") }
            }
            guard try await parts.engine.deleteUser(id: found.user.id, context: context) else {
                throw CommandFailure("The user was deleted meanwhile.")
            }
            Terminal.write("Deleted \(login).", or: ["id": .string(found.user.id), "deleted": true], isJSON: options.json)
        }
    }
}

struct UsersSessionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "sessions", abstract: "List the browsers that a user is signed in with.")

    @OptionGroup var options: OneUserOptions

    func run() async throws {
        try await options.run("users-sessions") { _, found, _ in
            if options.json { return Terminal.write(json: ["sessions": .array(found.sessions.map(UserText.json))]) }
            if found.sessions.isEmpty { Terminal.note("\(found.user.login) is not signed in with a browser.") }
            for session in found.sessions { Terminal.write(UserText.line(session)) }
        }
    }
}

struct UsersEndSessionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "end-sessions", abstract: "Sign a user out of every browser.",
        discussion: "The server notifies the applications that registered a back-channel logout URI.")

    @Flag(help: "Also revoke the tokens of the user's apps.")
    var tokens = false

    @OptionGroup var options: OneUserOptions

    func run() async throws {
        try await options.run("users-end-sessions") { parts, found, context in
            try await parts.engine.signOutEverywhere(userID: found.user.id, revokesGrants: tokens, context: context)
            Terminal.write(
                "Signed \(found.user.login) out of every browser\(tokens ? ", and revoked the tokens" : "").",
                or: ["id": .string(found.user.id), "sessions": .integer(Int64(found.sessions.count)), "tokens": .bool(tokens)],
                isJSON: options.json)
        }
    }
}

extension User.Status: ExpressibleByArgument {}
