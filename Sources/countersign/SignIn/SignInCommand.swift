import ArgumentParser
import AuthFoundation
import Foundation

struct SignInCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign-in", abstract: "Sign a person in and keep the credential.",
        subcommands: [
            SignInPasswordCommand.self, SignInDirectCommand.self, SignInBrowserCommand.self, SignInDeviceCommand.self,
            SignInClassicCommand.self,
        ])
}

struct SignInPasswordCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "password", abstract: "Sign in with user name and password.",
        discussion: "The password is asked for without showing it; where the standard input is no terminal, its first line is the password."
    )

    @OptionGroup var client: ClientOptions
    @OptionGroup var vault: VaultOptions

    @Argument(help: "The user name.")
    var username: String

    @Flag(help: "Write JSON.")
    var json = false

    func run() async throws {
        try await Outcome.of(json: json) {
            let configuration = try client.configuration()
            let (username, vault, json) = (username, vault, json)
            try await Interruption.cancels {
                let password = try await PasswordPrompt.ask("Password for \(username): ")
                try await vault.open {
                    let signIn = DirectSignIn(client: OAuth2Client(configuration), takesSecondFactor: false)
                    let token = try await signIn.token(for: username, password: password)
                    try CredentialSummary.keep(token, json: json)
                }
            }
        }
    }
}
