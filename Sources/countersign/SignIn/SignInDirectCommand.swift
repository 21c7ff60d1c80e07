import ArgumentParser
import AuthFoundation
import JOSE
import OktaDirectAuth

struct SignInDirectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "direct",
        abstract: "Sign in with user name, password and, if the issuer asks for it, an approval on your phone or a code.",
        discussion: """
            The password is asked for without showing it; where the standard input is no terminal, its first line is the password. \
            While the phone is waited for, the number to pick there is shown if there is one. Ctrl-C gives the sign-in up: the issuer is \
            told, and the phone then shows that it was cancelled; the exit code is 130.

            A code of an authenticator app is asked for where the issuer takes one; if it takes an approval as well, an empty answer \
            sends that to your phone, and so does a standard input that is no terminal.

            With --json, each line is an object: {"status":"waiting","channel":"push"}, with the member "number" if there is one, and at \
            the end the credential.
            """)

    @OptionGroup var client: ClientOptions
    @OptionGroup var vault: VaultOptions

    @Argument(help: "The user name; asked for if it is left out.")
    var username: String?

    @Flag(help: "Write JSON.")
    var json = false

    func run() async throws {
        try await Outcome.of(json: json) {
            let configuration = try client.configuration()
            let (username, vault, json) = (username, vault, json)
            try await Interruption.cancels {
                let name = try await UserName.ask(unless: username)
                let password = try await PasswordPrompt.ask("Password for \(name): ")
                try await vault.open {
                    let signIn = DirectSignIn(
                        client: OAuth2Client(configuration), notice: ApprovalNotice(json: json), codePrompt: CodePrompt())
                    let token = try await signIn.token(for: name, password: password)
                    try CredentialSummary.keep(token, json: json)
                }
            }
        }
    }
}

/// Asks for the user name if it is not an argument.
enum UserName {
    static func ask(unless given: String?) async throws -> String {
        if let given { return given }
        guard let name = try await TerminalInput.line("User name: "), !name.isEmpty else { throw CommandFailure("No user name was given.") }
        return name
    }
}
