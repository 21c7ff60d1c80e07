import AppArguments
import ArgumentParser
import DirectAuthApp
import TerminalKit

/// The app in a terminal.
@main
struct DirectAuthTerminal: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "DirectAuthTerminal", abstract: "Sign in with a password and a push, in a terminal.",
        discussion: "With `countersign sandbox` running on this machine: DirectAuthTerminal --sandbox")

    @OptionGroup var client: ClientArguments
    @OptionGroup var terminal: TerminalOptions

    @MainActor
    func run() async throws {
        let settings = client.settings(sandboxClient: "directauth-app")
        try await client.withVault(of: settings) {
            let service = AuthService(settings: settings, language: terminal.language)
            let model = AuthViewModel(authService: service, language: terminal.language)
            let face = DirectAuthFace(model: model)
            try await TerminalProgram(terminal).run(onQuit: { await model.leave() }, screen: { face.screen })
        }
    }
}
