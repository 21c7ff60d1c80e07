import AppArguments
import ArgumentParser
import PasswordApp
import TerminalKit

/// The app in a terminal.
@main
struct PasswordTerminal: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "PasswordTerminal", abstract: "Sign in with a password, in a terminal.",
        discussion: "With `countersign sandbox` running on this machine: PasswordTerminal --sandbox")

    @OptionGroup var client: ClientArguments
    @OptionGroup var terminal: TerminalOptions

    @MainActor
    func run() async throws {
        let settings = client.settings(sandboxClient: "password-app")
        try await client.withVault(of: settings) {
            let service = AuthService(settings: settings, language: terminal.language)
            let face = PasswordFace(model: LoginViewModel(authService: service, language: terminal.language))
            try await TerminalProgram(terminal).run { face.screen }
        }
    }
}
