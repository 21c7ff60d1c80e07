import ArgumentParser
import AuthFoundation
import BrowserSignin
import Foundation

struct SignInBrowserCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "browser", abstract: "Sign in on the issuer's own pages, in the browser.",
        discussion: """
            The browser returns to a port of this machine, which is open for this sign-in only. The issuer must know the redirect URI \
            http://127.0.0.1/callback for the client, and allow any port with it (RFC 8252); name another with --redirect-uri. The variable \
            BROWSER names the browser.

            With --json, --no-open writes {"status":"waiting","url":"…"}; the last line is the credential.
            """)

    @OptionGroup var client: ClientOptions
    @OptionGroup var browser: BrowserUse
    @OptionGroup var vault: VaultOptions

    @Option(name: .customLong("redirect-uri"), help: ArgumentHelp("Where the browser returns to after signing in.", valueName: "url"))
    var redirectURI: String?

    @Option(name: .customLong("logout-redirect-uri"), help: ArgumentHelp("Where it returns to after signing out.", valueName: "url"))
    var logoutRedirectURI: String?

    @Option(name: .customLong("login-hint"), help: ArgumentHelp("The user name to begin with.", valueName: "name"))
    var loginHint: String?

    @Flag(help: "Ask for the credentials, whatever session the browser has.")
    var ephemeral = false

    @Flag(help: "Write JSON.")
    var json = false

    func run() async throws {
        try await Outcome.of(json: json) {
            var configuration = try client.configuration()
            configuration.redirectUri = try Self.url(redirectURI) ?? configuration.redirectUri ?? OAuth2Client.Configuration.loopback.signIn
            configuration.logoutRedirectUri =
                try Self.url(logoutRedirectURI) ?? configuration.logoutRedirectUri ?? OAuth2Client.Configuration.loopback.signOut
            let (browser, vault, hint, isEphemeral, json) = (browser, vault, loginHint, ephemeral, json)
            try await Interruption.cancels { [configuration] in
                try await vault.open {
                    let token = try await Self.token(
                        OAuth2Client(configuration), in: browser, hint: hint, isEphemeral: isEphemeral, json: json)
                    try CredentialSummary.keep(token, json: json)
                }
            }
        }
    }

    @MainActor
    private static func token(
        _ client: OAuth2Client, in browser: BrowserUse, hint: String?, isEphemeral: Bool, json: Bool
    ) async throws -> Token {
        let signin = try browser.browserSignin(client, json: json)
        signin.ephemeralSession = isEphemeral
        return try await signin.signIn(context: .init(additionalParameters: hint.map { ["login_hint": $0] }))
    }

    private static func url(_ text: String?) throws -> URL? {
        guard let text else { return nil }
        guard let url = URL(string: text), url.scheme != nil else { throw ValidationError("“\(text)” is no URL.") }
        return url
    }
}
