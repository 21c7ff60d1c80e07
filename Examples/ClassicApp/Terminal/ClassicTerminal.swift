import AppArguments
import AppSession
import ArgumentParser
import AuthFoundation
import ClassicApp
import Foundation
import QRCode
import TerminalKit

/// The app in a terminal.
@main
struct ClassicTerminal: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ClassicTerminal", abstract: "Sign in with the classic AuthN API, state by state, or get back into an account.")

    @OptionGroup var client: ClientArguments
    @OptionGroup var terminal: TerminalOptions

    @Option(
        name: .customLong("device-token"),
        help: ArgumentHelp("A stable identifier of this device, by which the server can remember it.", valueName: "token"))
    var deviceToken: String?

    @Flag(name: .customLong("light"), help: "The terminal's background is light: codes to scan are drawn for it.")
    var isLight = false

    @MainActor
    func run() async throws {
        // The language is set before the first text is read.
        if let language = terminal.language { setenv("LC_ALL", language, 1) }
        let settings = client.settings(sandboxClient: "sso-app", more: ["redirectUri": "http://127.0.0.1/callback"])
        let oauth2 = OAuth2Client(try settings.configuration())
        try await client.withVault(of: settings) {
            let model = ClassicViewModel(
                service: ClassicService(
                    organization: oauth2.configuration.issuerURL, client: oauth2, deviceToken: deviceToken))
            let face = ClassicScreen(model: model, colors: isLight ? .lightBackground : .darkBackground)
            try await TerminalProgram(terminal).run {
                await model.giveUp()
            } screen: {
                face.screen
            }
        }
    }
}
