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

    /// Runs a sign-in, which Ctrl-C cancels, and stores its credential. Reports errors, which determine the exit code.
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
            While the command waits for the phone, it shows the number of a number challenge. Ctrl-C cancels the sign-in: the issuer is \
            told, and the phone then shows that it was cancelled; the exit code is 130.

            A code of an authenticator app is asked for where the issuer takes one; if it takes an approval as well, an empty answer \
            sends that to your phone, and so does a standard input that is no terminal. If the issuer takes a passkey and you have one of \
            `countersign passkey create`, the passkey signs instead.

            With --json, each line is an object: {"status":"waiting","channel":"push"}, with the member "number" if there is one, and at \
            the end the credential.
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
            The browser returns to a port of this machine, which is open for this sign-in only. The issuer must know the redirect URI \
            http://127.0.0.1/callback for the client, and allow any port with it (RFC 8252); name another with --redirect-uri. The variable \
            BROWSER names the browser.

            With --json, --no-open writes {"status":"waiting","url":"…"}; the last line is the credential.
            """)

    @OptionGroup var options: SignInOptions
    @OptionGroup var browser: BrowserUse

    @Option(name: .customLong("redirect-uri"), help: ArgumentHelp("The redirect URI of the sign-in.", valueName: "url"))
    var redirectURI: String?

    @Option(name: .customLong("logout-redirect-uri"), help: ArgumentHelp("The redirect URI of the sign-out.", valueName: "url"))
    var logoutRedirectURI: String?

    @Option(name: .customLong("login-hint"), help: ArgumentHelp("The user name to fill in.", valueName: "name"))
    var loginHint: String?

    @Flag(help: "Require the credentials even if the browser has a session.")
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
        commandName: "device", abstract: "Sign in with the browser of another device, for machines without one.",
        discussion: """
            The command shows an address and a code, and the address as a QR code for a phone's camera. Open it on any device, sign in \
            there, and allow the device. This command waits meanwhile. Ctrl-C cancels it with the exit code 130.

            The QR code is left out where no terminal shows it, or a terminal that is too narrow; the variable COLUMNS says how wide it is \
            if the terminal doesn't.

            With --json, the first line is {"status":"waiting","user_code":"…","verification_uri":"…","expires_in":600}, with the member \
            "verification_uri_complete" if there is one; the last line is the credential.
            """)

    @OptionGroup var options: SignInOptions

    @Option(
        help: ArgumentHelp(
            "How the QR code is drawn: auto, for terminals that know colours; dark or light, for the background of one that doesn't; never.",
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
