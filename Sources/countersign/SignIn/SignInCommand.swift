import ArgumentParser
import AuthFoundation
import BrowserSignin
import Foundation
import JOSE
import OAuth2Auth
import OktaDirectAuth

struct SignInCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign-in", abstract: "Sign in and store the credential.",
        subcommands: [
            SignInPasswordCommand.self, SignInDirectCommand.self, SignInBrowserCommand.self, SignInDeviceCommand.self,
            SignInClassicCommand.self, SignInPasskeyCommand.self,
        ])
}

struct SignInPasswordCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "password", abstract: "Sign in with user name and password.",
        discussion:
            "The command asks for the password without showing it. If standard input is not a terminal, its first line is the password."
    )

    @OptionGroup var options: SignInOptions

    @Argument(help: "The user name.")
    var username: String

    func run() async throws {
        let username = username
        try await options.keep { configuration in
            let password = try await PasswordPrompt.ask("Password for \(username): ")
            let signIn = DirectSignIn(client: OAuth2Client(configuration), takesSecondFactor: false)
            return try await signIn.token(for: username, password: password)
        }
    }
}

/// The options that the sign-in commands share.
struct SignInOptions: ParsableArguments {
    @OptionGroup var client: ClientOptions
    @OptionGroup var vault: VaultOptions

    @Flag(help: "Write JSON.")
    var json = false

    /// Runs a sign-in and stores its credential. Ctrl-C cancels the sign-in. Reports an error, which determines the exit code.
    func keep(_ signIn: @escaping @Sendable (OAuth2Client.Configuration) async throws -> Token) async throws {
        try await Outcome.of(json: json) {
            let configuration = try client.configuration()
            let (vault, json) = (vault, json)
            try await Interruption.cancels {
                try await vault.open { try CredentialSummary.keep(await signIn(configuration), json: json) }
            }
        }
    }
}

struct SignInDirectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "direct",
        abstract: "Sign in with user name, password and, if the issuer requires it, an approval on your phone or a code.",
        discussion: """
            The command asks for the password without showing it. If standard input is not a terminal, its first line is the password. \
            While the command waits for the phone, it shows the number of a number challenge. Ctrl-C cancels the sign-in with the exit \
            code 130. The command notifies the issuer, and the phone shows that the sign-in was cancelled.

            If the issuer accepts a passkey and you created one with `countersign passkey create`, the command signs with the passkey. \
            Otherwise, the command asks for the code of an authenticator app if the issuer accepts one. If the issuer also accepts an \
            approval, an empty answer requests an approval on your phone. If standard input is not a terminal, the command then requests \
            the approval at once and does not ask for a code.

            With --json, each line is a JSON object. While the command waits for an approval, it writes \
            {"status":"waiting","channel":"push"}, with the member "number" for a number challenge. The last line is the credential.
            """)

    @OptionGroup var options: SignInOptions
    @OptionGroup var passkeys: PasskeyFolder

    @Argument(help: "The user name; by default the command asks for it.")
    var username: String?

    func run() async throws {
        let (username, json, passkeys) = (username, options.json, passkeys.store)
        try await options.keep { configuration in
            let name = try await UserName.ask(unless: username)
            let password = try await PasswordPrompt.ask("Password for \(name): ")
            let signIn = DirectSignIn(
                client: OAuth2Client(configuration), notice: ApprovalNotice(json: json), codePrompt: CodePrompt(), passkeys: passkeys)
            return try await signIn.token(for: name, password: password)
        }
    }
}

enum UserName {
    static func ask(unless given: String?) async throws -> String {
        if let given { return given }
        guard let name = try await TerminalInput.line("User name: "), !name.isEmpty else {
            throw CommandFailure("The user name is missing.")
        }
        return name
    }
}

struct SignInBrowserCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "browser", abstract: "Sign in on the issuer's own pages, in the browser.",
        discussion: """
            The browser returns to a port of this machine, which the command opens for this sign-in only. Register the redirect URI \
            http://127.0.0.1/callback for the client. The issuer must allow any port with it (RFC 8252). Use --redirect-uri for another \
            redirect URI. The environment variable BROWSER selects the browser.

            With --json and --no-open, the first line is {"status":"waiting","url":"…"}. The last line is the credential.
            """)

    @OptionGroup var options: SignInOptions
    @OptionGroup var browser: BrowserUse

    @Option(name: .customLong("redirect-uri"), help: ArgumentHelp("The redirect URI of the sign-in.", valueName: "url"))
    var redirectURI: String?

    @Option(name: .customLong("logout-redirect-uri"), help: ArgumentHelp("The redirect URI of the sign-out.", valueName: "url"))
    var logoutRedirectURI: String?

    @Option(name: .customLong("login-hint"), help: ArgumentHelp("The user name to fill in.", valueName: "name"))
    var loginHint: String?

    @Flag(help: "Ask the user to sign in again even if the browser has a session.")
    var ephemeral = false

    func run() async throws {
        let (redirectURI, logoutRedirectURI) = (redirectURI, logoutRedirectURI)
        let (browser, hint, isEphemeral, json) = (browser, loginHint, ephemeral, options.json)
        try await options.keep { given in
            var configuration = given
            configuration.redirectUri = try Self.url(redirectURI) ?? configuration.redirectUri ?? OAuth2Client.Configuration.loopback.signIn
            configuration.logoutRedirectUri =
                try Self.url(logoutRedirectURI) ?? configuration.logoutRedirectUri ?? OAuth2Client.Configuration.loopback.signOut
            return try await Self.token(OAuth2Client(configuration), in: browser, hint: hint, isEphemeral: isEphemeral, json: json)
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
        guard let url = URL(string: text), url.scheme != nil else { throw ValidationError("“\(text)” is not a URL.") }
        return url
    }
}

/// Signs the user in through another device's browser (RFC 8628).
struct SignInDeviceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device", abstract: "Sign in with the browser of another device, for machines without a browser.",
        discussion: """
            The command shows an address, a code, and the address as a QR code for a phone's camera. Open the address on any device, sign \
            in there, and allow this machine to sign in. The command waits until then. Ctrl-C cancels the sign-in with the exit code 130.

            The command shows no QR code if the terminal is too narrow. By default, it also shows none if standard error is not a \
            terminal. The environment variable COLUMNS overrides the width of the terminal.

            With --json, the first line is {"status":"waiting","user_code":"…","verification_uri":"…","expires_in":600}. It also has the \
            member "verification_uri_complete" if the issuer sends one. The last line is the credential.
            """)

    @OptionGroup var options: SignInOptions

    @Option(
        help: ArgumentHelp(
            "The style of the QR code: auto for a terminal with colours; dark or light for the background of one without colours; never.",
            valueName: "how"))
    var qr = QRCodeDrawing.auto

    func run() async throws {
        let (notice, json) = (DeviceNotice(drawing: qr), options.json)
        try await options.keep { configuration in
            let flow = DeviceAuthorizationFlow(client: OAuth2Client(configuration))
            let verification = try await flow.start()
            if json { Terminal.write(json: notice.json(verification)) } else { Terminal.note(notice.text(verification)) }
            let waiting = ApprovalNotice(isQuiet: json)
            return try await waiting.show("Waiting until you have signed in there") { try await flow.resume() }
        }
    }
}
