import AppArguments
import AppSession
import ArgumentParser
import AuthFoundation
import DeviceAuthenticator
import Foundation
import PushAuthenticatorApp
import TerminalKit

/// The app in a terminal, which acts as a phone. It receives no pushes and fetches pending requests every two seconds.
@main
struct PushAuthenticatorTerminal: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "PushAuthenticatorTerminal", abstract: "Be a phone that approves sign-ins.")

    @OptionGroup var client: ClientArguments
    @OptionGroup var terminal: TerminalOptions

    @Option(
        name: .customLong("phone"),
        help: ArgumentHelp("The folder of the phone; each folder is a phone of its own.", valueName: "folder"))
    var folder: String?

    @MainActor
    func run() async throws {
        // The language is set before the first text is read.
        if let language = terminal.language { setenv("LC_ALL", language, 1) }
        let settings = try client.settings(sandboxClient: "phone-app").configuration()
        let pin = PINPrompt()
        let device = try device(pin)
        let authenticator = DeviceAuthenticatorConfig(orgURL: settings.issuerURL, oidcClientId: settings.clientId)
        let model = AuthenticatorViewModel(device: device, authenticator: authenticator, pin: pin)
        let face = PhoneScreen(model: model)
        let listening = Task { await model.listen() }
        defer { listening.cancel() }
        try await TerminalProgram(terminal).run {
            await model.leave()
        } screen: {
            face.screen
        }
    }

    private func device(_ pin: PINPrompt) throws -> any DeviceAuthenticatorProtocol {
        let application = ApplicationConfig(
            applicationName: "Push Authenticator", applicationVersion: "1.0", applicationGroupId: "example.push-authenticator")
        let builder = DeviceAuthenticatorBuilder(applicationConfig: application).userVerifier(pin).addLogger(SilentLog())
        if let folder {
            let directory = URL(filePath: folder, directoryHint: .isDirectory)
            builder.storageDirectory(directory).keyStore(FileDeviceKeyStore(directory: directory))
        }
        return try builder.create()
    }
}
