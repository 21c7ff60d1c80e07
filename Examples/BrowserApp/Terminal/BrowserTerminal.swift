import AppArguments
import AppSession
import ArgumentParser
import AuthFoundation
import BrowserApp
import BrowserSignin
import Foundation
import OAuth2Auth
import TerminalKit

/// The app in a terminal. The user signs in with a browser, which returns to a loopback port.
@main
struct BrowserTerminal: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "BrowserTerminal", abstract: "Sign in with a browser, look at the tokens, and call an API with them.")

    @OptionGroup var client: ClientArguments
    @OptionGroup var terminal: TerminalOptions

    @Option(
        name: .customLong("messages-url"),
        help: ArgumentHelp("Where the resource server has its messages; by default http://localhost:8000/api/messages.", valueName: "url"))
    var messagesURL: String?

    @Flag(name: .customLong("no-open"), help: "Show the address instead of opening the browser. Open it on this machine.")
    var showsAddress = false

    /// The default redirect URIs: a loopback address with any port. Other settings override them.
    private static let loopback = ["redirectUri": "http://127.0.0.1/callback", "logoutRedirectUri": "http://127.0.0.1/"]

    @MainActor
    func run() async throws {
        // The language is set before the first text is read.
        if let language = terminal.language { setenv("LC_ALL", language, 1) }
        let settings = client.settings(sandboxClient: "browser-app", more: Self.loopback)
        let page = BrowserPage()
        let browser = Result { try browserSignin(OAuth2Client(settings.configuration()), page) }
        try await client.withVault(of: settings) {
            let model = AuthViewModel(authService: AuthService(browser: browser, messagesURL: messagesURL.flatMap { URL(string: $0) }))
            let face = AuthScreen(model: model, page: page)
            try await TerminalProgram(terminal).run {
                await model.cancel()
            } screen: {
                face.screen
            }
        }
    }

    @MainActor
    private func browserSignin(_ client: OAuth2Client, _ page: BrowserPage) throws -> BrowserSignin {
        let opener: (@Sendable (URL) async throws -> Void)? = showsAddress ? { @Sendable in await page.show($0) } : nil
        return BrowserSignin(
            loginFlow: try AuthorizationCodeFlow(client: client),
            logoutFlow: client.configuration.logoutRedirectUri == nil ? nil : SessionLogoutFlow(client: client)
        ) { _, _, _ in
            await page.hide()
            return SystemBrowserProvider(clock: client.clock, opener: opener)
        }
    }
}
