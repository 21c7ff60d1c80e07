import ArgumentParser
import AuthFoundation
import Foundation
import JOSE
import OAuth2Auth
import OktaAuthSdk

struct SignInClassicCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "classic",
        abstract: "Sign in with the classic AuthN API: state by state, with the choices that the server offers.",
        discussion: """
            Each state is shown with what can be done in it; a number or a letter chooses, an empty line takes the first. What is needed is \
            asked for: passwords without showing them. A code to scan is drawn where an authenticator is enrolled, and a push is waited for. \
            Where the standard input is no terminal, its lines are the answers, in the order of the questions. Ctrl-C cancels the sign-in at \
            the server; the exit code is 130.

            At the end the session token is traded for tokens; without --client-id it is not, and the sign-in ends with its success. The \
            client needs the redirect URI http://127.0.0.1/callback, or another one in the property list.

            --recover and --unlock begin a recovery instead: by sms, call or email.

            With --json, each line is an object: {"status":"MFA_REQUIRED","choices":["…"]}, and at the end the credential.
            """)

    @OptionGroup var client: ClientOptions
    @OptionGroup var vault: VaultOptions

    @Argument(help: "The user name; by default the command asks for it.")
    var username: String?

    @Option(help: ArgumentHelp("Recover a forgotten password.", valueName: "sms|call|email"))
    var recover: RecoveryWay?

    @Option(help: ArgumentHelp("Unlock the account.", valueName: "sms|call|email"))
    var unlock: RecoveryWay?

    @Flag(help: "Ask the server to remember this device.")
    var remember = false

    @Option(
        name: .customLong("device-token"),
        help: ArgumentHelp("A stable identifier of this device, by which the server can remember it.", valueName: "token"))
    var deviceToken: String?

    @Option(
        name: .customLong("qr"),
        help: ArgumentHelp(
            "How the code of an enrollment is drawn: auto, for terminals that know colours; dark or light, for the background of one that "
                + "doesn't; never.", valueName: "how"))
    var drawing = QRCodeDrawing.auto

    @Flag(help: "Write JSON.")
    var json = false

    func validate() throws {
        if recover != nil, unlock != nil { throw ValidationError("Use either --recover or --unlock, not both.") }
    }

    func run() async throws {
        try await Outcome.of(json: json) {
            let configuration = try configuration()
            let organization = try organization(configuration)
            let (username, vault, drawing, json) = (username, vault, drawing, json)
            let beginning: ClassicSession.Beginning =
                if let recover { .recovery(recover.factors) } else if let unlock { .unlocking(unlock.factors) } else { .signIn }
            let wishes = (remember: remember, deviceToken: deviceToken)
            try await Interruption.cancels {
                let name = try await UserName.ask(unless: username)
                let session = await ClassicSession(organization: organization, username: name, drawing: drawing, json: json)
                let sessionToken = try await session.run(beginning, remember: wishes.remember, deviceToken: wishes.deviceToken)
                guard let sessionToken, let configuration else { return await session.tellEnd(hasSessionToken: sessionToken != nil) }
                try await vault.open {
                    let token = try await SessionTokenFlow(client: OAuth2Client(configuration)).start(with: sessionToken)
                    try CredentialSummary.keep(token, json: json)
                }
            }
        }
    }

    /// Returns the client that gets the tokens; `nil` if the arguments name none.
    private func configuration() throws -> OAuth2Client.Configuration? {
        if client.issuer != nil, client.clientID == nil, client.config == nil { return nil }
        var configuration = try client.configuration()
        configuration.redirectUri = configuration.redirectUri ?? OAuth2Client.Configuration.loopback.signIn
        return configuration
    }

    private func organization(_ configuration: OAuth2Client.Configuration?) throws -> URL {
        if let configuration { return configuration.issuerURL }
        guard let url = client.issuer.flatMap({ URL(string: $0) }), url.scheme != nil else {
            throw ValidationError("--issuer must be the URL of an issuer or of the organization.")
        }
        return url
    }
}

enum RecoveryWay: String, ExpressibleByArgument, CaseIterable {
    case sms
    case call
    case email

    var factors: OktaRecoveryFactors {
        switch self {
        case .sms: .sms
        case .call: .call
        case .email: .email
        }
    }
}
