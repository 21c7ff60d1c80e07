import ArgumentParser
import AuthFoundation
import Foundation
import OktaDirectAuth

/// Signs a person in.
struct SignInCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign-in", abstract: "Sign a person in and keep the credential.",
        subcommands: [SignInPasswordCommand.self, SignInDirectCommand.self])
}

/// Signs a person in with a password.
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
            let password = try await PasswordPrompt.ask("Password for \(username): ")
            try await vault.open {
                let flow = DirectAuthenticationFlow(client: OAuth2Client(configuration))
                let status = try await flow.start(username, with: .password(password))
                guard case .success(let token) = status else {
                    throw CommandFailure(
                        "\(configuration.issuerURL.host() ?? "The issuer") asks for a second factor. Use `countersign sign-in direct`.")
                }
                CredentialSummary(try Credential.store(token)).tellSignedIn(json: json)
            }
        }
    }
}
